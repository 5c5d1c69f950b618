# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed between two scenes, in words: why a cache is stale. Works on what `job.describe` returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Values = Mapping[str, Any]

#: What an array that differs means to the user.
ARRAYS = {
    "triangles": "its faces have changed",
    "rest_positions": "its mesh or its place at the first frame has changed",
    "positions": "its mesh or its motion has changed",
    "velocities": "its start velocity has changed",
    "warp": "its UV map has changed",
    "world_to_object": "the object's motion has changed",
    "pin_vertices": "its pin group has changed",
    "pin_targets": "its pins move otherwise",
    "pin_weights": "the weights of its pin group have changed",
    "seams": "its sewing edges have changed",
}
NOT_THE_RESULT = frozenset({"backend", "name", "key", "arrays"})


def differences(held: Values, asked: Values) -> list[str]:
    """One line for each object and property that differs, settings first; empty where both scenes bake alike.

    Arrays are compared only where both sides know them, so that numbers alone can be compared too.
    """
    lines = list(_numbers("Scene", held["settings"], asked["settings"]))
    for kind, word in (("cloths", "cloth"), ("colliders", "collider")):
        before = _by_key(held[kind])
        after = _renamed(before, _by_key(asked[kind]))
        lines += [f"{before[key]['name']} is no longer a {word}" for key in before if key not in after]
        lines += [f"{after[key]['name']} is a new {word}" for key in after if key not in before]
        for key in before:
            if key in after:
                lines += _object(before[key], after[key])
    return lines


def _by_key(entries: Iterable[Values]) -> dict[str, Values]:
    """Cloths are known by their cache key, which outlives renaming, colliders by name."""
    return {entry.get("key") or entry["name"]: entry for entry in entries}


def _renamed(before: Mapping[str, Values], after: Mapping[str, Values]) -> dict[str, Values]:
    """What is new takes the key of what is gone, one by one in their order: it has another name and may be the same."""
    gone = [key for key in before if key not in after]
    new = [key for key in after if key not in before]
    if len(gone) != len(new) or any(_moved(before[a], after[b]) for a, b in zip(gone, new, strict=True)):
        return dict(after)
    keys = dict(zip(new, gone, strict=True))
    return {keys.get(key, key): entry for key, entry in after.items()}


def _moved(held: Values, asked: Values) -> bool:
    """Are both known to be of different shape or motion?"""
    before, after = held.get("arrays"), asked.get("arrays")
    return before is not None and after is not None and before != after


def _object(held: Values, asked: Values) -> Iterator[str]:
    name = asked["name"]
    yield from _numbers(name, {**held, **held.get("material", {})}, {**asked, **asked.get("material", {})})
    before, after = held.get("arrays"), asked.get("arrays")
    if before is None or after is None:
        return
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    yield from dict.fromkeys(f"{name}: {ARRAYS.get(key, key)}" for key in changed)


def _numbers(name: str, held: Values, asked: Values) -> Iterator[str]:
    for key, value in asked.items():
        if key not in NOT_THE_RESULT and key != "material" and held.get(key) != value:
            yield f"{name}: {key.replace('_', ' ')} is {_text(value)}, was {_text(held.get(key))}"


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

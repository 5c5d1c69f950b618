# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed between two scenes, in words: why a cache is stale. Works on what `job.describe` returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .air import WEIGHTS
from .fabrics import FABRIC_NUMBERS, fabric_of
from .older import of_today
from .scene import PAINTABLE
from .settings import MOST_FRAMES
from .shape import Shape

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
    "vertices": "they hold other vertices",
    "targets": "they move otherwise",
    "weights": "their weights have changed",
    "seams": "its sewing edges have changed",
    "fold_ends": "its folds have changed",
    "fold_weights": "its folds have changed",
    "cord_ends": "its cords have changed",
    "cord_lengths": "its cords have changed",
    "rest_corners": "its pattern has changed",
    "left_out_of_bodies": "which of its vertices bodies do not stop has changed",
    "left_out_of_itself": "which of its vertices do not collide with itself has changed",
    "whole": "which of its faces stop cloth has changed",
    "location": "it moves otherwise",
    "axis": "it turns otherwise",
    **{f"painted_{name}": f"where its {name.replace('_', ' ')} is painted has changed" for name in PAINTABLE},
}
NOT_THE_RESULT = frozenset(
    {"backend", "name", "key", "arrays", "keys", "material", "form", "painted", "field_weights", "pins", "drawn"}
)
#: numbers of a material that an older version has not, 0 where they do nothing
NEWER = ("stretch_damping", "shear_damping", "bend_damping", "stretch_yield", "bend_yield", "velocity_damping")
#: what caches of older versions do not say
LATER = {
    "preroll": 0, "samples_per_frame": 1, "frame_budget": 0, "layer": 0,
    "time_scale": 1.0, "resolve_start": False, "pin_strength": 1.0,
    "cord_shrink": 0.0, "seam_stiffness": 1.0, "fold_angle": 0.0, **vars(Shape()), **dict.fromkeys(NEWER, 0.0),
}  # fmt: skip
KINDS = {"cloths": "cloth", "colliders": "collider", "fields": "force field"}


class Difference(NamedTuple):
    text: str  #: names the object and the property
    frames: int = 0  #: so many first frames of the range bake alike all the same


def differences(held: Values, asked: Values) -> list[Difference]:
    """One for each object and property that differs, settings first; empty where both scenes bake alike.

    Arrays are compared only where both sides know them, so that numbers alone can be compared too.
    """
    first, preroll = asked["settings"]["frame_start"], asked["settings"].get("preroll", 0)
    frames = range(first - preroll, asked["settings"].get("frame_end", first + MOST_FRAMES) + 1)
    before, after = ({**of_today(scene["settings"]), "keys": scene.get("keys", {})} for scene in (held, asked))
    lines = list(_numbers("Scene", before, after, frames))
    if "threads" in held and "threads" in asked and held["threads"] != asked["threads"]:
        lines.append(Difference("Scene: cloths are sewn to each other otherwise"))
    lines += _encounters(held, asked, frames)
    for kind, word in KINDS.items():
        before = _by_key(held.get(kind, ()))
        after = _renamed(before, _by_key(asked.get(kind, ())))
        lines += [Difference(f"{before[key]['name']} is no longer a {word}") for key in before if key not in after]
        lines += [Difference(f"{after[key]['name']} is a new {word}") for key in after if key not in before]
        for key in before:
            if key in after:
                lines += _object(before[key], after[key], frames)
    return [line._replace(frames=max(line.frames - preroll, 0)) for line in lines]


def _encounters(held: Values, asked: Values, frames: range) -> Iterator[Difference]:
    """Of the exceptions for pairs of objects, which are known by their places among the others."""
    names = [entry["name"] for kind in ("cloths", "colliders") for entry in asked.get(kind, ())]
    before, after = (scene.get("encounters", ()) for scene in (held, asked))
    for pair in dict.fromkeys((min(e["first"], e["second"]), max(e["first"], e["second"])) for e in (*before, *after)):
        looked = sorted(k for k in _turns([*before, *after], frames) if 0 <= k < len(frames))
        same = next((k for k in looked if _met(before, pair, frames[k], k) != _met(after, pair, frames[k], k)), None)
        if same is not None:
            first, second = (names[index] if index < len(names) else "an object" for index in pair)
            own, other = (_met(scene, pair, frames[same], same) or (None, None) for scene in (before, after))
            what = "friction" if own[0] == other[0] else "whether they collide"
            text = f"{first} and {second if second != first else 'itself'}: {what} is another"
            yield Difference(f"{text} from frame {frames[same]} on" if same else text, same)


def _turns(encounters: Sequence[Values], frames: range) -> set[int]:
    """The places in the range where one of them may become another."""
    turns = {0}
    for entry in encounters:
        ends = (entry["since"], None if entry["until"] is None else entry["until"] + 1)
        turns |= {frame - frames.start for frame in ends if frame is not None}
        turns |= set(range(len(_series(entry, "friction"))))
    return turns


def _met(encounters: Sequence[Values], pair: tuple[int, int], frame: int, index: int) -> tuple[Any, Any] | None:
    """What holds for a pair of objects at a frame, which has this place in the range."""
    holding = None
    for entry in encounters:
        since, until = entry["since"], entry["until"]
        own = (min(entry["first"], entry["second"]), max(entry["first"], entry["second"]))
        if own == pair and (since is None or frame >= since) and (until is None or frame <= until):
            holding = entry["collides"], _at(_series(entry, "friction"), index)
    return holding


def alike(found: Sequence[Difference], frames: int) -> int:
    """How many of so many first frames bake alike where these differences were found."""
    return min([frames, *(difference.frames for difference in found)])


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


def _object(held: Values, asked: Values, frames: range) -> Iterator[Difference]:
    name = asked["name"]
    before, after = flat(held), flat(asked)
    if own := _other_fabric(before, after):
        yield Difference(f"{name}: {own}")
        before = {**before, **{number: after[number] for number in FABRIC_NUMBERS}}
    yield from _numbers(name, before, after, frames)
    yield from _pin_groups(name, held.get("pins", ()), asked.get("pins", ()), frames)
    arrays, others = held.get("arrays"), asked.get("arrays")
    if arrays is None or others is None:
        return
    changed = [key for key in {**arrays, **others} if arrays.get(key) != others.get(key)]
    yield from dict.fromkeys(Difference(f"{name}: {ARRAYS.get(key, key)}") for key in changed)


def _other_fabric(held: Values, asked: Values) -> str:
    """“fabric is Silk, was Cotton” where all its numbers are one preset's, then another's; else nothing."""
    if "density" not in held or not {*held.get("keys", {}), *asked.get("keys", {})}.isdisjoint(FABRIC_NUMBERS):
        return ""
    before, after = fabric_of(held), fabric_of(asked)
    return f"fabric is {after.name}, was {before.name}" if before and after and before is not after else ""


def _pin_groups(name: str, held: Sequence[Values], asked: Sequence[Values], frames: range) -> Iterator[Difference]:
    """Of the groups beside the first, which are known by their order."""
    if len(held) != len(asked):
        yield Difference(f"{name}: groups of pins beside the first are {len(asked)}, were {len(held)}")
        return
    for before, after in zip(held, asked, strict=True):
        yield from _object(before, {**after, "name": f"{name}: pins “{after['name']}”"}, frames)


def flat(entry: Values) -> dict[str, Any]:
    """All numbers of an object by one name each."""
    maxima = {f"{key}_max": entry.get("painted", {}).get(key) for key in PAINTABLE}
    weights = {**dict.fromkeys(WEIGHTS, 1.0), **entry.get("field_weights", {})} if "material" in entry else {}
    parts = {**entry, **entry.get("material", {}), **entry.get("form", {}), **weights, **maxima}
    return {"fields": None, "meets": None, **parts}


def without_later(values: Values) -> dict[str, Any]:
    """Numbers by name as an older version would say them, where it could have."""
    return {name: value for name, value in values.items() if name not in LATER or value != LATER[name]}


def _numbers(name: str, held: Values, asked: Values, frames: range) -> Iterator[Difference]:
    for key in asked:
        if key in NOT_THE_RESULT:
            continue
        before, after = _series(held, key), _series(asked, key)
        same = next((k for k in range(max(len(before), len(after))) if _at(before, k) != _at(after, k)), None)
        if same is None:
            continue
        shown = f"{name}: {key.replace('_', ' ')}"
        if key == "fields":
            yield Difference(f"{name}: other force fields act on it")
        elif key == "meets":
            yield Difference(f"{name}: it collides with other bodies")
        elif len(before) == len(after) == 1:
            yield Difference(f"{shown} is {_text(after[0])}, was {_text(before[0])}")
        elif same < len(frames):
            yield Difference(f"{shown} is another from frame {frames[same]} on", same)


def _series(values: Values, key: str) -> Sequence[Any]:
    """The value of each frame; the last one stays."""
    keyed: Sequence[Any] = values.get("keys", {}).get(key) or [values.get(key, LATER.get(key))]
    return keyed


def _at(series: Sequence[Any], frame: int) -> Any:
    return series[min(frame, len(series) - 1)]


def _text(value: Any) -> str:
    if value is None:
        return "not painted"
    return f"{value:g}" if isinstance(value, float) else str(value)

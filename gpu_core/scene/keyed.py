# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers that change over a bake: one value a frame, linear between frames.

A step has the numbers of its end. So a key at a frame changes nothing before the frame before it, and the first frame
that is another is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from . import air
from .arrays import Array
from .material import Material
from .pins import Pins, pulling, together
from .scene import OF_CLOTH, Cloth, Collider, Keys, Painted, Scene
from .shape import Shape

Item = TypeVar("Item", Cloth, Collider)
Part = TypeVar("Part", Material, Shape, air.FieldWeights)


def at(scene: Scene, frame: float) -> Scene:
    """The scene with the numbers of a moment, and without keys. frame: between those that are simulated."""
    when = frame - scene.settings.begins
    return replace(
        scene,
        cloths=tuple(_cloth(cloth, when, scene.settings.samples_per_frame) for cloth in scene.cloths),
        colliders=tuple(_with(collider, moment(collider.keys, when)) for collider in scene.colliders),
        settings=replace(scene.settings, **moment(scene.keys, when)),
        keys={},
        fields=tuple(_field(item, when) for item in scene.fields),
    )


def moment(keys: Keys, when: float) -> dict[str, Any]:
    """The values (a number, or a tuple) so many frames after the first, by name."""
    return {name: plain(value_at(values, when)) for name, values in keys.items()}


def value_at(values: Array, when: float) -> Array:
    """(…) of (K, …), linear between frames; exactly a value that does not change."""
    before = min(max(int(np.floor(when)), 0), len(values) - 1)
    after, share = min(before + 1, len(values) - 1), when - before
    return np.asarray(values[before] + share * (values[after] - values[before]))


def plain(value: Array) -> Any:
    """A number, or a tuple of numbers."""
    return tuple(value.tolist()) if value.ndim else value.item()


def rest_of(keys: Keys, kept: int) -> dict[str, Array]:
    """The keys of a range that begins with frame number `kept` (1 is the first) of this one."""
    return {name: values[min(kept, len(values)) - 1 :] for name, values in keys.items()}


def with_peak(scene: Scene, name: str) -> Scene:
    """The scene without keys, this number of each object the largest that it ever has. Of thickness or friction."""

    def largest(keys: Keys, key: str, value: float) -> float:
        return float(max(keys[key].max(), value)) if key in keys else value

    cloths = []
    for cloth in scene.cloths:
        painted = {
            key: replace(entry, maximum=largest(cloth.keys, f"{key}_max", entry.maximum))
            for key, entry in cloth.painted.items()
        }
        cloths.append(_with(cloth, {name: largest(cloth.keys, name, getattr(cloth, name)), "painted": painted}))
    return replace(scene, cloths=tuple(cloths), keys={})


def _cloth(cloth: Cloth, when: float, samples: int) -> Cloth:
    values = moment(cloth.keys, when)
    painted = {
        name: Painted(entry.weights, values.pop(f"{name}_max", entry.maximum)) for name, entry in cloth.painted.items()
    }
    now = with_numbers(cloth, values)
    held = pins_at(cloth, when, samples)
    return replace(now, pins=held, pin_groups=(), pin_strength=1.0, painted=painted, keys={})


def pins_at(cloth: Cloth, when: float, samples: int = 1) -> Pins | None:
    """The pins that hold so many frames after the first, with the weights that they have then. Of several groups they
    are one, and their targets are those of the moment. samples: places of targets from each frame to the next."""
    strength = moment(cloth.keys, when).get("pin_strength", cloth.pin_strength)
    first = [] if cloth.pins is None else [pulling(cloth.pins, strength)]
    others = [
        pulling(group.pins, moment(group.keys, when).get("strength", group.strength)) for group in cloth.pin_groups
    ]
    return together([*first, *others], when, samples) if others else next(iter(first), None)


def with_numbers(cloth: Cloth, values: Mapping[str, float]) -> Cloth:
    """The cloth with other ones of its `numbers`."""
    changed: dict[str, Any] = {name: values[name] for name in OF_CLOTH if name in values}
    changed |= {name: _own(getattr(cloth, name), values) for name in ("material", "shape", "field_weights")}
    return replace(cloth, **changed)


def _own(part: Part, values: Mapping[str, Any]) -> Part:
    return replace(part, **{name: value for name, value in values.items() if name in vars(part)})


def _field(item: air.Field, when: float) -> air.Field:
    axis = air.place_at(item.axis, when)
    axis = axis / max(float(np.linalg.norm(axis)), 1e-12)  # halfway of a turn by 180° there is none
    return replace(
        item, location=air.place_at(item.location, when)[None], axis=axis[None], keys={}, **moment(item.keys, when)
    )


def _with(item: Item, values: Mapping[str, Any]) -> Item:
    return replace(item, keys={}, **values)

# SPDX-License-Identifier: GPL-3.0-or-later
"""One collider: from Blender's Collision modifier to ours, and back. Yields (control, why it was not carried over)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import bpy

from . import blender_modifier, carried_keys
from .blender_cloth import LEFT_OF_SURFACE, SURFACES, Values
from .blender_modifier import label, stored, write
from .shown import SHOWN


def from_blender(
    scene: bpy.types.Scene, item: bpy.types.Object, entry: bpy.types.Modifier
) -> Iterator[tuple[str, str]]:
    own, there = item.taffeta.collider, entry.settings
    metre = scene.unit_settings.scale_length
    item.taffeta.role = "COLLIDER"
    yield from write(own, {here: getattr(there, name) * factor(metre) for name, here, factor in SURFACES})
    values = {name: getattr(there, name) for name in LEFT_OF_SURFACE}
    for name, left in LEFT_OF_SURFACE.items():
        if not left.silent({key: round(value, 6) for key, value in values.items()}):
            yield label(there, name), left.why
    yield from _surface_keys(item, there, "collision", {name: (here, f(metre)) for name, here, f in SURFACES})
    blender_modifier.show(item, False)


def to_blender(scene: bpy.types.Scene, item: bpy.types.Object) -> Iterator[tuple[str, str]]:
    entry = blender_modifier.find(item, "COLLISION") or item.modifiers.new("Collision", "COLLISION")
    own, metre = item.taffeta.collider, scene.unit_settings.scale_length
    yield from write(entry.settings, {name: getattr(own, here) / factor(metre) for name, here, factor in SURFACES})
    factors = {here: (name, 1.0 / factor(metre)) for name, here, factor in SURFACES}
    yield from _surface_keys(item, own, "taffeta.collider", factors)
    item.taffeta.role = "NONE"
    blender_modifier.show(item, True)


def _surface_keys(
    item: bpy.types.Object,
    source: bpy.types.bpy_struct,
    place: str,
    factors: Mapping[str, tuple[str, float]],
) -> Iterator[tuple[str, str]]:
    """Keys of a collider. place: of the source. factors: of each of its numbers: which of the other's it is, and how
    many of its units one of this is."""

    def convert(values: Mapping[str, float]) -> Values:
        given = stored(values)
        return {other: given.get(name, getattr(source, name)) * factor for name, (other, factor) in factors.items()}

    where = "taffeta.collider" if place == "collision" else "collision"
    paths = {f"{place}.{name}": name for name in (*factors, *(alias for alias in SHOWN if SHOWN[alias][0] in factors))}
    for name, why in carried_keys.carry(item, paths, f"{where}.{{}}".format, convert):
        yield label(source, name), why

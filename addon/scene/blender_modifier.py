# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's Cloth and Collision modifiers, and our properties, as plain values by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import bpy

from .blender_cloth import Values
from .shown import SHOWN

KINDS = ("CLOTH", "COLLISION")
PARTS = ("settings", "collision_settings", "settings.effector_weights")
ROUNDING = 1.0e-5  #: relative; more is a limit of the property
NOTHING = 1.0e-20  #: what float32 may lose of a number that is nearly 0


def find(item: bpy.types.Object, kind: str) -> bpy.types.Modifier | None:
    """Blender's modifier of this kind, CLOTH or COLLISION: it allows one each, or None."""
    return next((entry for entry in item.modifiers if entry.type == kind), None)


def show(item: bpy.types.Object, shown: bool) -> None:
    """Switch both on or off, in the viewport and in renders."""
    for entry in item.modifiers:
        if entry.type in KINDS:
            entry.show_viewport = entry.show_render = shown


def read(entry: bpy.types.Modifier) -> Values:
    """Every number, switch and name of Blender's Cloth modifier, by its path."""
    values: Values = {}
    for part in PARTS:
        group = entry.path_resolve(part)
        for prop in group.bl_rna.properties:
            if not prop.is_readonly or prop.identifier == "collection":
                value = getattr(group, prop.identifier)
                values[f"{part}.{prop.identifier}"] = value
    block = values["settings.rest_shape_key"]
    values["settings.rest_shape_key"] = block.name if block is not None else ""
    return values


def numbers(group: bpy.types.PropertyGroup) -> list[bpy.types.Property]:
    """What of a cloth or a collider is stored: properties that only show another are left out."""
    return [
        entry
        for entry in group.bl_rna.properties
        if entry.identifier not in SHOWN
        and entry.identifier not in ("name", "rna_type", "preset", "stretch")
        and entry.type != "COLLECTION"
    ]


def write(owner: bpy.types.bpy_struct, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Set properties by path; yields those that could not have their value."""
    for path, value in values.items():
        place, _, name = path.rpartition(".")
        group = owner.path_resolve(place) if place else owner
        item = owner.id_data
        if name == "rest_shape_key" and isinstance(group, bpy.types.ClothSettings):
            keys = item.data.shape_keys
            group.rest_shape_key = keys.key_blocks.get(value) if keys is not None and value else None
            continue
        if name.startswith("vertex_group_") and value and value not in item.vertex_groups:
            yield label(owner, path), f"“{value}” is an attribute, and Blender's cloth takes vertex groups"
            continue
        setattr(group, name, value)
        got = getattr(group, name)
        if isinstance(value, float) and abs(got - value) > ROUNDING * abs(value) + NOTHING:
            yield label(owner, path), f"{value:.4g} is beyond its limits, so it is {got:.4g}"


def label(owner: bpy.types.bpy_struct, path: str) -> str:
    """The name that a property has in Blender."""
    place, _, name = path.rpartition(".")
    group = owner.path_resolve(place) if place else owner
    return str(group.bl_rna.properties[name].name)


def stored(values: Mapping[str, float]) -> dict[str, float]:
    """Numbers that only show others, as those that they show."""
    return {
        SHOWN[name][0] if name in SHOWN else name: value * (SHOWN[name][1]() if name in SHOWN else 1.0)
        for name, value in values.items()
    }


def stem(entry: bpy.types.Modifier) -> str:
    return f'modifiers["{bpy.utils.escape_identifier(entry.name)}"]'

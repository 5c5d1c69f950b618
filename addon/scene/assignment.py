# SPDX-License-Identifier: GPL-3.0-or-later
"""`--set object.property=value`: what the panels set, set from text and held to the same limits."""

from __future__ import annotations

import math
from typing import Any

import bpy

from .fields import has_field
from .sampled import number

SCENE = "scene"  #: in place of an object's name
SWITCHES = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


class AssignmentError(ValueError):
    """There is no such property, or it cannot have the value."""


def assign(scene: bpy.types.Scene, owner: str, name: str, text: str) -> Any:
    """Set a property of a cloth, a collider, a force field or the scene, and return its value.

    Args:
        owner: an object's name, or “scene”.
        name: of a property as in `properties`: density, pin_group, role, tolerance …

    Raises:
        AssignmentError: says what there is, or which values are allowed.
    """
    groups = _groups(scene, owner)
    group = next((group for group in groups if name in _names(group)), None)
    if group is None:
        known = ", ".join(known for group in groups for known in _names(group))
        raise AssignmentError(f"{owner} has no property {name!r}. It has: {known}")
    try:
        setattr(group, name, _value(group.bl_rna.properties[name], text))
    except ValueError as error:
        raise AssignmentError(f"{owner}.{name} cannot be {text!r}: {error}") from error
    value = getattr(group, name)
    if isinstance(value, bpy.types.ID):
        return value.name
    return number(value) if isinstance(value, float) else value


def _groups(scene: bpy.types.Scene, owner: str) -> list[bpy.types.bpy_struct]:
    if owner == SCENE:
        return [scene.taffeta]
    item = scene.objects.get(owner)
    if item is None:
        named = ", ".join(item.name for item in scene.objects if item.taffeta.role != "NONE")
        raise AssignmentError(f"There is no object {owner!r}. These take part: {named or 'none'}")
    parts = {"CLOTH": [item.taffeta.cloth], "COLLIDER": [item.taffeta.collider]}
    return [item.taffeta, *parts.get(item.taffeta.role, []), *([item.field] if has_field(item) else [])]


def _names(group: bpy.types.bpy_struct) -> list[str]:
    """What of this group a user sees and may set."""
    return [entry.identifier for entry in group.bl_rna.properties if _may_be_set(entry)]


def _may_be_set(entry: bpy.types.Property) -> bool:
    of_a_group = entry.type == "POINTER" and not _is_collection(entry)
    return not (of_a_group or entry.identifier == "name" or entry.is_hidden or entry.is_readonly)


def _is_collection(entry: bpy.types.Property) -> bool:
    return bool(entry.type == "POINTER" and entry.fixed_type.identifier == "Collection")


def _value(entry: bpy.types.Property, text: str) -> Any:
    """Raises ValueError with what is allowed."""
    match entry.type:
        case "FLOAT":
            return _within(entry, _number(text))
        case "BOOLEAN":
            if text.lower() not in SWITCHES:
                raise ValueError(f"it is one of {', '.join(SWITCHES)}")
            return SWITCHES[text.lower()]
        case "ENUM":
            known = [choice.identifier for choice in entry.enum_items]
            if text.upper() not in known:
                raise ValueError(f"it is one of {', '.join(known)}")
            return text.upper()
        case "POINTER":
            if text and text not in bpy.data.collections:
                raise ValueError(f"it is one of {', '.join(bpy.data.collections.keys()) or 'no collections'}, or empty")
            return bpy.data.collections[text] if text else None
        case _:
            return text


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("it is a number") from None
    if not math.isfinite(value):
        raise ValueError("it is a finite number")
    return value


def _within(entry: bpy.types.Property, value: float) -> float:
    """Blender itself would move the value to the limit and say nothing."""
    if value < entry.hard_min:
        raise ValueError(f"it is at least {entry.hard_min:.6g}")
    if value > entry.hard_max:
        raise ValueError(f"it is at most {entry.hard_max:.6g}")
    return value

# SPDX-License-Identifier: GPL-3.0-or-later
"""`--set object.property=value`: what the panels set, set from text and held to the same limits."""

from __future__ import annotations

import math
import re
from typing import Any

import bpy

from ...gpu_core.messages import Told
from .fields import has_field
from .sampled import number

SCENE = ("scene", "scene.taffeta")  #: in place of an object's name; the second as in the manual's lists
THINGS = {"Collection": "collections", "Object": "objects"}  #: that a property may name, and where they are
PINS = re.compile(r"(?P<owner>.+)\.pins\[(?P<index>\d+)\]")
ENCOUNTERS = re.compile(r"scene(\.taffeta)?\.encounters\[(?P<index>\d+)\]")
SWITCHES = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


class AssignmentError(Told, ValueError):
    """There is no such property, or it cannot have the value."""


def assign(scene: bpy.types.Scene, owner: str, name: str, text: str) -> Any:
    """Set a property of a cloth, a collider, a force field or the scene, and return its value.

    Args:
        owner: an object's name, with `.pins[0]` behind it for that group of its pins; “scene”, or
            “scene.encounters[0]” for an exception from collisions; the one after the last is made.
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
    if owner in SCENE:
        return [scene.taffeta]
    if of_encounters := ENCOUNTERS.fullmatch(owner):
        return [_encounter(scene, int(of_encounters["index"]))]
    item, of_pins = scene.objects.get(owner), PINS.fullmatch(owner)
    if item is None and of_pins:
        return [_pins(scene, of_pins["owner"], int(of_pins["index"]))]
    if item is None:
        named = ", ".join(item.name for item in scene.objects if item.taffeta.role != "NONE")
        raise AssignmentError(f"There is no object {owner!r}. These take part: {named or 'none'}")
    parts = {"CLOTH": [item.taffeta.cloth], "COLLIDER": [item.taffeta.collider]}
    return [item.taffeta, *parts.get(item.taffeta.role, []), *([item.field] if has_field(item) else [])]


def _encounter(scene: bpy.types.Scene, index: int) -> bpy.types.bpy_struct:
    """An exception from collisions. The one after the last is new."""
    entries = scene.taffeta.encounters
    if index > len(entries):
        raise AssignmentError(f"The scene has no encounters[{index}]. The next one is encounters[{len(entries)}]")
    return entries.add() if index == len(entries) else entries[index]


def _pins(scene: bpy.types.Scene, owner: str, index: int) -> bpy.types.bpy_struct:
    """A group of pins of the cloth with this name."""
    cloth = next((group for group in _groups(scene, owner) if "pins" in group.bl_rna.properties), None)
    if cloth is None or index >= len(cloth.pins):
        known = ", ".join(f"pins[{place}]" for place in range(len(cloth.pins) if cloth else 0))
        raise AssignmentError(f"{owner} has no pins[{index}]. It has: {known or 'none beside its pin_group'}")
    return cloth.pins[index]


def _names(group: bpy.types.bpy_struct) -> list[str]:
    """What of this group a user sees and may set."""
    return [entry.identifier for entry in group.bl_rna.properties if _may_be_set(entry)]


def _may_be_set(entry: bpy.types.Property) -> bool:
    of_a_group = entry.type == "COLLECTION" or (entry.type == "POINTER" and entry.fixed_type.identifier not in THINGS)
    return not (of_a_group or entry.identifier == "name" or entry.is_hidden or entry.is_readonly)


def _value(entry: bpy.types.Property, text: str) -> Any:
    """Raises ValueError with what is allowed."""
    match entry.type:
        case "FLOAT":
            return _within(entry, _number(text))
        case "INT":
            return int(_within(entry, _whole(text)))
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
            name = THINGS[entry.fixed_type.identifier]
            known = getattr(bpy.data, name)
            if text and text not in known:
                raise ValueError(f"it is one of {', '.join(known.keys()) or f'no {name}'}, or empty")
            return known[text] if text else None
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


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("it is a whole number") from None


def _within(entry: bpy.types.Property, value: float) -> float:
    """Blender itself would move the value to the limit and say nothing."""
    if value < entry.hard_min:
        raise ValueError(f"it is at least {entry.hard_min:.6g}")
    if value > entry.hard_max:
        raise ValueError(f"it is at most {entry.hard_max:.6g}")
    return value

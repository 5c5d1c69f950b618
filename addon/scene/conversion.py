# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects with Blender's Cloth or Collision become Taffeta's, and back; nothing of Blender's is removed.

Both directions return what did not carry over, as lines “Object: Control: why”.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import bpy

from ...gpu_core.scene.scene import SceneError
from . import blender_cloth, blender_modifier, blender_wind, converted_cloth, converted_collider
from .blender_modifier import ROUNDING

TEXT = "Taffeta Conversion"  #: name of the text in which the last conversion is told


def obstacle(item: bpy.types.Object) -> str:
    """Why this object cannot be converted, or nothing."""
    if item.type != "MESH":
        return "only meshes can be converted"
    if item.library is not None:
        return "it is linked: Object > Library Override > Make"
    return ""


def has_blenders(item: bpy.types.Object) -> bool:
    return item.type == "MESH" and any(entry.type in blender_modifier.KINDS for entry in item.modifiers)


def from_blender(scene: bpy.types.Scene, items: Iterable[bpy.types.Object], keep_pace: bool = True) -> list[str]:
    """keep_pace: the scene's time scale follows Blender's cloth, to which each frame is 1/31.6 s."""
    told, speeds = [], {}
    before = {item.name for item in scene.objects if item.taffeta.role == "CLOTH"}
    for item in items:
        try:
            if reason := obstacle(item):
                told.append(f"{item.name}: {reason}")
            elif (entry := blender_modifier.find(item, "CLOTH")) is not None:
                told += _named(item, converted_cloth.from_blender(scene, item, entry))
                speeds[item.name] = entry.settings.time_scale
            elif (entry := blender_modifier.find(item, "COLLISION")) is not None:
                told += _named(item, converted_collider.from_blender(scene, item, entry))
        except SceneError as error:
            told.append(str(error))
    return told + list(_pace(scene, speeds, before - set(speeds), keep_pace))


def to_blender(scene: bpy.types.Scene, items: Iterable[bpy.types.Object], keep_pace: bool = True) -> list[str]:
    """keep_pace: Blender's speed follows the scene's time scale at this frame rate."""
    told: list[str] = []
    speed = scene.taffeta.time_scale / (blender_cloth.pace(blender_wind.frame_rate(scene)) if keep_pace else 1.0)
    for item in items:
        try:
            if reason := obstacle(item):
                told.append(f"{item.name}: {reason}")
            elif item.taffeta.role == "CLOTH":
                told += _named(item, converted_cloth.to_blender(scene, item, speed))
            elif item.taffeta.role == "COLLIDER":
                told += _named(item, converted_collider.to_blender(scene, item))
        except SceneError as error:
            told.append(str(error))
    return told


def tell(told: Iterable[str]) -> None:
    """Write it where it can be read later: a text of this file."""
    text = bpy.data.texts.get(TEXT) or bpy.data.texts.new(TEXT)
    text.from_string("\n".join(["Not carried over:", *told] if told else ["Everything was carried over."]) + "\n")


def _named(item: bpy.types.Object, told: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{item.name}: {control}: {why}" for control, why in told]


def _pace(scene: bpy.types.Scene, speeds: Mapping[str, float], others: Iterable[str], keep: bool) -> Iterator[str]:
    """Set the scene's time scale, if all cloths agree."""
    if not speeds:
        return
    factor = blender_cloth.pace(blender_wind.frame_rate(scene)) if keep else 1.0
    wanted, now = {factor * speed for speed in speeds.values()}, scene.taffeta.time_scale
    if len(wanted) > 1:
        values = ", ".join(f"{name} {speed:.4g}" for name, speed in speeds.items())
        yield f"{scene.name}: Speed Multiplier: it differs ({values}), and Time Scale {now:.4g} is of the whole scene"
        return
    (scale,) = wanted
    if others and abs(scale - now) > ROUNDING * now:
        yield f"{scene.name}: Speed Multiplier: other cloths have Time Scale {now:.4g}; Blender's pace is {scale:.4g}"
        return
    for _, why in blender_modifier.write(scene.taffeta, {"time_scale": scale}):
        yield f"{scene.name}: Speed Multiplier: {why}"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Does Blender show a cloth's frames? What of it costs nothing to know, for every draw."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

from ...gpu_core.files.cache import Contents
from ..scene import modifier


def hidden(cloth: bpy.types.Object, contents: Contents) -> str:
    """Why Blender does not show the frames, in words, or nothing where it does, or will once the scene is read."""
    if not modifier.are_the_users():
        return ""
    own = modifier.find(cloth)
    if own is None:
        return "No modifier plays it"
    if not own.show_viewport or not own.show_render:
        where = "viewport" if not own.show_viewport else "render"
        return f"Its modifier “{modifier.NAME}” is switched off in the {where}"
    if own.factor < 1.0 or own.vertex_group:
        return f"Its modifier “{modifier.NAME}” is blended: influence 1 and no vertex group show it whole"
    if (own.forward_axis, own.up_axis) != modifier.AXES or any(own.flip_axis):
        return f"Its modifier “{modifier.NAME}” is turned: Forward +Y, Up +Z, and nothing flipped show it as it is"
    times = own.cache_format, own.time_mode, own.play_mode, own.frame_scale, own.frame_start
    if times != ("PC2", "FRAME", "SCENE", 1.0, contents.frame_start):
        return f"Its modifier “{modifier.NAME}” plays at other times than it was baked for"
    for entry in modifier.overriding(cloth):
        return f"“{entry.name}” comes after the cache and shows its file instead"
    return ""


def gone(cloth: bpy.types.Object) -> str:
    """The name of the file that its modifier plays, where it is not there any more; or nothing."""
    own = modifier.find(cloth)
    if own is None or os.path.isfile(bpy.path.abspath(own.filepath, library=cloth.library)):
        return ""
    return bpy.path.basename(own.filepath)


def other_mesh(cloth: bpy.types.Object, contents: Contents) -> str:
    """Why the frames are of another mesh, in words, or nothing. Blender plays such a cache as no motion at all."""
    own, count = modifier.find(cloth), len(cloth.data.vertices)
    key = Path(bpy.path.basename(own.filepath)).stem if own is not None else cloth.taffeta.cloth.cache_key
    points = contents.points.get(key)
    if points is None or points == count or cloth.mode == "EDIT":
        return ""
    return f"The mesh has {count} vertices, the cache {points}"

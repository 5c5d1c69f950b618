# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's Time Stretching: the scene's frames against the frames of its animation.

A bake is of the animation's frames. Mesh Cache modifiers play by them as keys do, so a cache follows whatever the
stretching is set to afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import bpy


def frame_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame of the animation that the scene's range shows."""
    pace = scene.render.frame_map_old / scene.render.frame_map_new
    return math.ceil(scene.frame_start * pace), math.ceil(scene.frame_end * pace)


def current(scene: bpy.types.Scene) -> int:
    """The frame of the animation that is shown, or the last one before it."""
    return math.floor(scene.frame_current_final)


@contextmanager
def unstretched(scene: bpy.types.Scene) -> Iterator[None]:
    """While it lasts, the scene's frames are those of its animation."""
    render = scene.render
    before = render.frame_map_old, render.frame_map_new
    if before[0] == before[1]:
        yield
        return
    render.frame_map_old = render.frame_map_new = 100
    try:
        yield
    finally:
        render.frame_map_old, render.frame_map_new = before

# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines in which surfaces cross, over the viewport, and through what lies before them."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ..cache import crossings

COLOUR = (1.0, 0.1, 0.35, 1.0)
WIDTH = 3.0  #: pixels, at a UI scale of 1

_handles: list[Any] = []


def draw() -> None:
    """In the window's region of a viewport, in world space."""
    shown = crossings.current
    if shown is None or not len(shown.found.lines):
        return
    context = bpy.context
    if not getattr(context.space_data.overlay, "show_overlays", True):
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": shown.lines})
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    shader.uniform_float("lineWidth", WIDTH * context.preferences.system.ui_scale)
    shader.uniform_float("color", COLOUR)
    gpu.state.depth_test_set("NONE")
    batch.draw(shader)


def register() -> None:
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    crossings.clear()
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")

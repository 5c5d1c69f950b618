# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames that are baked, as a strip along the timeline, as Blender draws its own caches."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ...gpu_core.files.cache import CacheState
from ..bake import session
from ..cache import status

HEIGHT = 4  #: pixels of a strip, at a UI scale of 1
BOTTOM = 2
COLOURS = {
    CacheState.READY: (0.95, 0.55, 0.15, 0.9),
    CacheState.PARTIAL: (0.95, 0.55, 0.15, 0.6),
    CacheState.HIDDEN: (0.6, 0.6, 0.6, 0.6),
    CacheState.STALE: (0.85, 0.2, 0.2, 0.6),
    CacheState.CORRUPT: (0.85, 0.2, 0.2, 0.6),
}
RUNNING = COLOURS[CacheState.PARTIAL]
Strip = tuple[int, int, tuple[float, float, float, float]]

_handles: list[Any] = []


def strips(scene: bpy.types.Scene) -> list[Strip]:
    """(first frame, last frame, colour) of each bake of the scene; of the running one, what it has so far."""
    found: dict[int, Strip] = {}
    for cloth, state, _ in status.every(scene):
        held = status.held(scene, cloth)
        if held.contents is None or not held.frames or state not in COLOURS:
            continue
        first = held.contents.frame_start
        if not session.baking(cloth):
            found[id(held)] = (first, first + held.frames - 1, COLOURS[state])
    running = session.state()
    if session.current is not None and session.current.settings is not None and running.done:
        first = session.current.settings.frame_start
        found[0] = (first, first + running.done - 1, RUNNING)
    return sorted(found.values())


def draw() -> None:
    """In the window's region of a timeline."""
    context = bpy.context
    space, region = context.space_data, context.region
    if space is None or getattr(space, "mode", "TIMELINE") != "TIMELINE":
        return
    scale = context.preferences.system.ui_scale
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for row, (first, last, colour) in enumerate(strips(context.scene)):
        left = region.view2d.view_to_region(first - 0.5, 0, clip=False)[0]
        right = region.view2d.view_to_region(last + 0.5, 0, clip=False)[0]
        low = (BOTTOM + row * (HEIGHT + 1)) * scale
        corners = [(left, low), (right, low), (right, low + HEIGHT * scale), (left, low + HEIGHT * scale)]
        batch = batch_for_shader(shader, "TRIS", {"pos": corners}, indices=[(0, 1, 2), (0, 2, 3)])
        shader.uniform_float("color", colour)
        batch.draw(shader)
    gpu.state.blend_set("NONE")


def redraw(context: bpy.types.Context) -> None:
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "DOPESHEET_EDITOR":
                area.tag_redraw()


def register() -> None:
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceDopeSheetEditor.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    while _handles:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handles.pop(), "WINDOW")

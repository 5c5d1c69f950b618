# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in the sidebar. Panels only draw: no disk, no search."""

from __future__ import annotations

import bpy

from ..live import session as live
from ..live.state import LiveState, Phase
from ..scene import frozen_shape
from .physics import message, property_column
from .sidebar import ClothSidebarPanel


class TAFFETA_PT_sidebar_live(ClothSidebarPanel, bpy.types.Panel):
    bl_label = "Live"

    def draw(self, context: bpy.types.Context) -> None:
        draw_live(self.layout, context)


class TAFFETA_PT_sidebar_live_quality(ClothSidebarPanel, bpy.types.Panel):
    bl_label = "Quality and Hand"
    bl_parent_id = "TAFFETA_PT_sidebar_live"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        draw_settings(property_column(self), context)


def draw_settings(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    layout.use_property_decorate = False  # none of them takes keys
    for name in ("live_timeline", "live_steps", "live_coarseness", "grab_radius_shown", "grab_strength"):
        layout.prop(context.scene.taffeta, name)


def draw_live(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The button, or what runs and how fast; and what of it can be kept."""
    state = live.state()
    if live.current is None:
        layout.operator("taffeta.live", text="Live", icon="PLAY")
        if state.text:
            message(layout, context, state.headline, "ERROR" if state.phase is Phase.FAILED else "INFO")
    else:
        _draw_running(layout, state)
    for warning in state.warnings:
        message(layout, context, warning, "ERROR")
    if state.latest.get("tangled"):
        text = f"{state.latest['tangled']} pairs of edges and faces cross; they are left alone until they part"
        message(layout, context, text, "ERROR")
    row = layout.row(align=True)
    row.operator("taffeta.freeze_start", text="Freeze as Start", icon="FREEZE")
    row.operator("taffeta.freeze_rest", text="Freeze as Rest")
    if context.object is not None and context.object.type == "MESH" and frozen_shape.has_start(context.object):
        row = layout.row(align=True)
        row.label(text="Starts from a frozen shape")
        row.operator("taffeta.clear_start", text="", icon="X")


def _draw_running(layout: bpy.types.UILayout, state: LiveState) -> None:
    row = layout.row(align=True)
    row.label(text=running_text(state))
    row.operator("taffeta.live_restart", text="", icon="REW")
    row.operator("taffeta.live_pause", text="", icon="PLAY" if state.phase is Phase.PAUSED else "PAUSE")
    row.operator("taffeta.live_end", text="", icon="X")


def running_text(state: LiveState) -> str:
    """“Live, 7.4 fps”."""
    rate = live.current.rate if live.current is not None else None
    if state.phase is not Phase.RUNNING or rate is None:
        return state.headline
    return f"{state.headline}, {rate:.1f} fps"


def draw_running(layout: bpy.types.UILayout, state: LiveState) -> None:
    """How Live goes, and what the mouse does to it."""
    layout.label(text=running_text(state))
    if state.cloth:
        layout.label(text="Let Go", icon="MOUSE_LMB")
    else:
        layout.label(text="Pull Cloth", icon="MOUSE_LMB_DRAG")
        layout.label(text="  End", icon="EVENT_ESC")  # the key is drawn wider than an icon


CLASSES = (
    TAFFETA_PT_sidebar_live,
    TAFFETA_PT_sidebar_live_quality,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

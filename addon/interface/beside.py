# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that run beside the interface, and where their progress is shown."""

from __future__ import annotations

import bpy

from .greyed import Greyed

TICK = 0.1  #: s between two redraws of the progress
SLICE = 0.04  #: s of work on the scene per tick; the interface answers in between
PANELS = {"PROPERTIES": "WINDOW", "VIEW_3D": "UI"}  #: editors that show a bake, and in which of their regions


class Ticking(Greyed):
    """Runs beside the interface: its `modal` sees every event, and a TIMER now and then."""

    _timer: bpy.types.Timer | None = None

    def _run_beside(self, context: bpy.types.Context, tick: float) -> set[str]:
        """tick: s between two TIMER events."""
        self._timer = context.window_manager.event_timer_add(tick, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _remove_timer(self, context: bpy.types.Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None


def redraw(context: bpy.types.Context) -> None:
    """Where a bake is shown: our panels, the sidebars, the timeline and the status bar, but no viewport."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                if region.type == PANELS.get(area.type) or area.type == "DOPESHEET_EDITOR":
                    region.tag_redraw()
    # No screen has the status bar among its areas. It redraws itself when the name of a view layer changes.
    bpy.msgbus.publish_rna(key=(bpy.types.ViewLayer, "name"))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's status bar says while a bake, a check or Live runs."""

from __future__ import annotations

import bpy

from ..bake import session
from ..cache import checking
from ..live import session as live
from .bake_panels import draw_check, draw_progress
from .live_panels import draw_running

BAR = 16.0  #: button heights: room for “1999 / 2000 frames  1:01:18 left”, and two buttons


def draw(header: bpy.types.Header, context: bpy.types.Context) -> None:
    """Live ends where a bake begins."""
    if session.current is not None:
        draw_progress(_bar(header), session.state())
    elif checking.current is not None:
        draw_check(_bar(header))
    elif live.current is not None:
        draw_running(header.layout, live.state())


def _bar(header: bpy.types.Header) -> bpy.types.UILayout:
    """A part of the header that is wide enough: by itself Blender gives a progress ten letters."""
    row = header.layout.row()
    row.ui_units_x = BAR
    return row


def register() -> None:
    bpy.types.STATUSBAR_HT_header.append(draw)


def unregister() -> None:
    bpy.types.STATUSBAR_HT_header.remove(draw)

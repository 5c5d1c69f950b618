# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's render, which works in a thread of its own while the interface goes on."""

from __future__ import annotations

import bpy


def runs() -> bool:
    """Does Blender render now? To be asked in the interface's thread, before anything is changed: Blender calls its
    render handlers in the render's thread, where a bake's state may be in the middle of a change."""
    return bpy.app.is_job_running("RENDER")

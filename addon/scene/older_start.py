# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of older versions have two switches for what is now one policy of the start."""

from __future__ import annotations

from typing import Any

import bpy

from ...gpu_core.scene.older import SWITCHES, policy_of


def carry_over(scene: bpy.types.Scene) -> None:
    """Set the policy that the switches in a scene mean, once; as they were by default, cloth is untangled."""
    stored = _stored(scene)
    found = {name: bool(stored[name]) for name in SWITCHES if name in stored}
    if not found:
        return
    for name in found:
        del stored[name]
    scene.taffeta.start = policy_of({"resolve_start": True, **found}).upper()


def _stored(scene: bpy.types.Scene) -> Any:
    """What the file holds of the scene's properties, of those too that no version has any more."""
    if bpy.app.version >= (5, 0, 0):
        return scene.taffeta.bl_system_properties_get() or {}
    return scene.taffeta

# SPDX-License-Identifier: GPL-3.0-or-later
"""The drag coefficient with which a wind pushes a cloth as hard as in Blender (docs/theory/air.md has both laws)."""

from __future__ import annotations

import bpy

from . import fields

PUSH = 20.0  #: N/m² × frames per second: what Blender's cloth bears of a wind of 1
AIR, STILL = 1.2, 0.5  #: kg/m³, and m/s, of the drag here: ½ AIR C (|w| + STILL) w


def strongest(scene: bpy.types.Scene, cloth: bpy.types.Object) -> float:
    """Of the winds that act on a cloth of ours, m/s, with its weights; 0 where there is none."""
    own = cloth.taffeta.cloth
    inside = own.field_collection.all_objects if own.field_collection is not None else scene.objects
    winds = (item for item in inside if item != cloth and fields.acts(item) and item.field.type == "WIND")
    return max((abs(item.field.strength) for item in winds), default=0.0) * own.field_wind * own.field_all


def drag(wind: float, fps: float) -> float:
    """The coefficient for a wind of this many m/s. Blender's push goes with the speed, ours with its square."""
    return 2.0 * PUSH / fps / (AIR * (wind + STILL))


def frame_rate(scene: bpy.types.Scene) -> float:
    return float(scene.render.fps / scene.render.fps_base)

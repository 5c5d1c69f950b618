# SPDX-License-Identifier: GPL-3.0-or-later
"""The mouse as a hand in the 3D viewport: what it touches, and where it is in the world."""

from __future__ import annotations

from typing import NamedTuple

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector

from .state import Point


class View(NamedTuple):
    """A viewport under the mouse."""

    region: bpy.types.Region
    space: bpy.types.RegionView3D
    mouse: tuple[float, float]  #: in the region, pixels


def view_at(window: bpy.types.Window, x: int, y: int) -> View | None:
    """The viewport at a point of the window, in pixels; None over anything that lies on it, as toolbar and sidebar."""
    for area in window.screen.areas:
        if area.type != "VIEW_3D":
            continue
        under = [region for region in area.regions if _holds(region, x, y)]
        if under and all(region.type == "WINDOW" for region in under):
            region = under[0]
            return View(region, region.data, (x - region.x, y - region.y))
    return None


def touched(context: bpy.types.Context, view: View) -> tuple[bpy.types.Object, Vector] | None:
    """(object, world position in scene units) that the mouse is over, or None."""
    origin = view3d_utils.region_2d_to_origin_3d(view.region, view.space, view.mouse)
    direction = view3d_utils.region_2d_to_vector_3d(view.region, view.space, view.mouse)
    hit, place, _, _, item, _ = context.scene.ray_cast(context.evaluated_depsgraph_get(), origin, direction)
    return (item.original, place) if hit else None


def at_depth(view: View, depth: Vector) -> Vector:
    """World position under the mouse, in the plane of the view through `depth`, in scene units."""
    return view3d_utils.region_2d_to_location_3d(view.region, view.space, view.mouse, depth)


def in_metres(scene: bpy.types.Scene, place: Vector) -> Point:
    x, y, z = place * scene.unit_settings.scale_length
    return (x, y, z)


def _holds(region: bpy.types.Region, x: int, y: int) -> bool:
    return region.x <= x < region.x + region.width and region.y <= y < region.y + region.height

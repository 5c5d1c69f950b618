# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a bake, or will spoil it, as far as one can see without evaluating the scene."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from .gather import Members


def troubles(scene: bpy.types.Scene, present: Members) -> Iterator[tuple[str, str]]:
    """(name of the object or scene, what is wrong with it). Cheap enough for drawing."""
    if scene.frame_end <= scene.frame_start:
        yield scene.name, "the frame range has no motion"
    if not scene.use_gravity:
        yield scene.name, "gravity is switched off"
    for item in (*present.cloths, *present.colliders):
        if item.type != "MESH":
            yield item.name, "only meshes take part: Object > Convert > Mesh"
        elif item.hide_viewport:
            yield item.name, "it is disabled in the viewport, so Blender does not evaluate it"
        elif item.mode == "EDIT":
            yield item.name, "it is in Edit Mode"
    for item in present.cloths:
        group = item.taffeta.cloth.pin_group
        if item.type == "MESH" and group and group not in item.vertex_groups:
            yield item.name, f"there is no vertex group “{group}” to pin"
        if item.library is not None:
            yield item.name, "it is linked: Object > Library Override > Make"

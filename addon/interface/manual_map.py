# SPDX-License-Identifier: GPL-3.0-or-later
"""F1 on a control of ours, or Online Manual in its context menu, opens the page of the manual that describes it."""

from __future__ import annotations

from pathlib import Path

import bpy

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "manual"

#: Pattern of what Blender asks for, in lower case → page and heading. The first that fits counts.
PAGES = (
    ("bpy.types.objectproperties.role", "controls.md#object"),
    ("bpy.types.objectproperties*", "proxy.md"),
    ("bpy.types.clothproperties.preset", "fabrics.md"),
    ("bpy.types.clothproperties.pins", "garments.md#pins"),
    ("bpy.types.clothproperties.pin*", "controls.md#shape"),
    ("bpy.types.pinproperties*", "garments.md#pins"),
    ("bpy.ops.taffeta.pin*", "garments.md#pins"),
    ("bpy.types.clothproperties.left_out*", "collisions.md#parts-of-a-cloth"),
    ("bpy.types.clothproperties.layer", "collisions.md#layers"),
    ("bpy.types.clothproperties.collision_collection", "collisions.md#bodies-that-a-cloth-meets"),
    ("bpy.types.encounterproperties*", "collisions.md#exceptions"),
    ("bpy.types.sceneproperties.encounter*", "collisions.md#exceptions"),
    ("bpy.ops.taffeta.encounter*", "collisions.md#exceptions"),
    ("bpy.types.clothproperties.*_group", "controls.md#painted"),
    ("bpy.types.clothproperties.*_max*", "controls.md#painted"),
    ("bpy.types.clothproperties.thickness*", "controls.md#collisions"),
    ("bpy.types.clothproperties.friction", "controls.md#collisions"),
    ("bpy.types.clothproperties.self_collision", "controls.md#collisions"),
    ("bpy.types.clothproperties.*_damping", "controls.md#damping"),
    ("bpy.types.clothproperties.*_yield", "controls.md#plasticity"),
    ("bpy.types.clothproperties.rest_shape_key", "controls.md#shape"),
    ("bpy.types.clothproperties.shrink", "controls.md#shape"),
    ("bpy.types.clothproperties.*pressure*", "controls.md#pressure"),
    ("bpy.types.clothproperties.target_volume", "controls.md#pressure"),
    ("bpy.types.clothproperties.fluid_density", "controls.md#pressure"),
    ("bpy.types.clothproperties.sew*", "garments.md#sewing"),
    ("bpy.types.clothproperties.seam*", "garments.md#sewing"),
    ("bpy.types.clothproperties.cord*", "garments.md#cords"),
    ("bpy.types.clothproperties.fold*", "garments.md#pleats"),
    ("bpy.types.clothproperties.rest_object", "controls.md#shape"),
    ("bpy.types.clothproperties.s*", "controls.md#stiffness"),
    ("bpy.types.clothproperties*", "controls.md#fabric"),
    ("bpy.types.colliderproperties*", "controls.md#surface-of-a-collider"),
    ("bpy.types.sceneproperties.live*", "live.md"),
    ("bpy.types.sceneproperties.grab*", "live.md#pulling-with-the-mouse"),
    ("bpy.types.sceneproperties.cache*", "bake.md#cache"),
    ("bpy.types.sceneproperties.preroll*", "bake.md#pre-roll"),
    ("bpy.types.sceneproperties.samples*", "bodies.md#fast-bodies"),
    ("bpy.types.sceneproperties*", "controls.md#solver-properties--scene--taffeta-for-the-whole-scene"),
    ("bpy.ops.taffeta.live*", "live.md"),
    ("bpy.ops.taffeta.freeze*", "live.md#freezing"),
    ("bpy.ops.taffeta.clear_start", "live.md#freezing"),
    ("bpy.ops.taffeta.bind_dense", "proxy.md"),
    ("bpy.ops.taffeta.unbind_dense", "proxy.md"),
    ("bpy.ops.taffeta.make_light", "proxy.md#making-the-light-mesh"),
    ("bpy.ops.taffeta.to_*", "finalise.md"),
    ("bpy.ops.taffeta.export*", "finalise.md"),
    ("bpy.ops.taffeta.velocity", "finalise.md"),
    ("bpy.ops.taffeta.gpu*", "install.md"),
    ("bpy.ops.taffeta.self_test", "install.md"),
    ("bpy.ops.taffeta.help", "messages/README.md"),
    ("bpy.ops.taffeta.bake*", "bake.md#buttons"),
    ("bpy.ops.taffeta.from_blender*", "from_blender.md"),
    ("bpy.ops.taffeta.to_blender*", "from_blender.md"),
    ("bpy.ops.taffeta.add_sample", "README.md#samples"),
    ("bpy.ops.taffeta.make_cage", "bodies.md#cages"),
    ("bpy.ops.taffeta.*", "controls.md#buttons"),
)


def pages() -> tuple[str, tuple[tuple[str, str], ...]]:
    """As Blender wants it: what all addresses begin with, and the rest of each."""
    return f"{MANUAL.as_uri()}/", PAGES


def register() -> None:
    bpy.utils.register_manual_map(pages)


def unregister() -> None:
    bpy.utils.unregister_manual_map(pages)

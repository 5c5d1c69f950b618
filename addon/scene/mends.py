# SPDX-License-Identifier: GPL-3.0-or-later
"""What puts right the troubles that `checks` finds, one function each."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy

from ...gpu_core.scene.scene import SceneError
from . import (
    blender_modifier,
    collision_properties,
    conversion,
    dense,
    encounters,
    keyed,
    modifier,
    painted,
    pin_properties,
    resolution,
    retiming,
    turning,
)
from .evaluated import is_enabled
from .mesh_edit import edit


def gravity(scene: bpy.types.Scene, _item: bpy.types.Object | None) -> None:
    scene.use_gravity = True


def earth(scene: bpy.types.Scene, _item: bpy.types.Object | None) -> None:
    scene.gravity = (0.0, 0.0, -9.81 / scene.unit_settings.scale_length)


def keys(scene: bpy.types.Scene, item: bpy.types.Object | None) -> None:
    keyed.remove(item or scene)


def enable(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    item.hide_viewport = False


def show(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    """Take the keys away that disable it in the viewport."""
    for holder in keyed.holders(item.animation_data):
        for curve in [curve for curve in holder.fcurves if curve.data_path == "hide_viewport"]:
            holder.fcurves.remove(curve)
    item.hide_viewport = False


def pins(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    chosen = item.taffeta.cloth
    if not painted.exists(item, chosen.pin_group):
        chosen.pin_group = ""
    for entry in chosen.pins:
        if not painted.exists(item, entry.group):
            entry.group = ""


def target(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    layer = bpy.context.view_layer.layer_collection
    for entry in item.taffeta.cloth.pins:
        if entry.target and (pin_properties.unfit(item, entry.target) or not is_enabled(entry.target, layer)):
            entry.target = None


def rest_shape_key(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    item.taffeta.cloth.rest_shape_key = ""


def paint(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    for name, group in painted.groups(item).items():
        if not painted.exists(item, group):
            setattr(item.taffeta.cloth, f"{name}_group", "")


def left_out(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    for name, group in collision_properties.groups(item).items():
        if not painted.exists(item, group):
            setattr(item.taffeta.cloth, f"{name}_group", "")


def collection(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    item.taffeta.cloth.collision_collection = None


def exceptions(scene: bpy.types.Scene, _item: bpy.types.Object | None) -> None:
    for index, _ in reversed(list(encounters.faults(scene))):
        scene.taffeta.encounters.remove(index)
        keyed.renumber(scene, "taffeta.encounters", index)


def pattern(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    item.taffeta.cloth.pattern_map = ""


def folds(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    item.taffeta.cloth.fold_attribute = ""


def seam(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    item.taffeta.cloth.sew_object = None


def samples(scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    scene.taffeta.samples_per_frame = turning.samples(turning.fastest(item, *retiming.frame_range(scene)))


def sew(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    item.taffeta.cloth.sewing = True


def convert(scene: bpy.types.Scene, item: bpy.types.Object) -> list[str]:
    told = conversion.from_blender(scene, [item])
    conversion.tell(told)
    return told


def blender_cloth(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    if (entry := blender_modifier.find(item, "CLOTH")) is not None:
        entry.show_viewport = entry.show_render = False


def after_cache(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    if modifier.multires(item) is not None:  # which nothing but deformers may pass
        return
    before = list(item.modifiers)[: modifier.place(item)]
    for entry in before:
        if not modifier.comes_before(item, entry) and entry.name != modifier.TRIANGLES:
            item.modifiers.move(item.modifiers.find(entry.name), len(item.modifiers) - 1)


def before_cache(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    modifier.take_before(item)


def bind(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    dense.bind(bpy.context, item, item.taffeta.follows)


def unbind(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    dense.unbind(item)


def light_after(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    while (entry := dense.hindering(item)) is not None:
        entry.show_viewport = entry.show_render = False


def hide_light(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    dense.hide_light(item, True)


def loose(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    def remove(mesh: bmesh.types.BMesh) -> bool:
        alone = [vertex for vertex in mesh.verts if not vertex.link_edges]
        bmesh.ops.delete(mesh, geom=alone, context="VERTS")
        return bool(alone)

    edit(item, remove)


def subdivide(_scene: bpy.types.Scene, item: bpy.types.Object) -> None:
    resolution.refine(item)


#: By the name that a trouble has for its mend: the button's text, and what it does.
MENDS: dict[str, tuple[str, Callable[[bpy.types.Scene, bpy.types.Object], list[str] | None]]] = {
    "GRAVITY": ("Switch Gravity On", gravity),
    "EARTH": ("Set Gravity to the Earth's", earth),
    "KEYS": ("Remove Keys", keys),
    "ENABLE": ("Enable in Viewport", enable),
    "SHOW": ("Remove Keys of Disable in Viewport", show),
    "PINS": ("Clear Pin Group", pins),
    "TARGET": ("Clear Target", target),
    "REST_KEY": ("Clear Rest Shape Key", rest_shape_key),
    "PAINT": ("Clear Group", paint),
    "LEFT_OUT": ("Clear Group", left_out),
    "COLLECTION": ("Clear Collection", collection),
    "ENCOUNTERS": ("Remove Such Exceptions", exceptions),
    "PATTERN": ("Clear Pattern", pattern),
    "FOLDS": ("Clear Fold Attribute", folds),
    "SEAM": ("Clear Sew To", seam),
    "SEW": ("Sew Them", sew),
    "SAMPLES": ("Sample between Frames", samples),
    "COLLIDER": ("Make Collider", convert),
    "CONVERT": ("Convert to Taffeta", convert),
    "BLENDER_CLOTH": ("Switch Blender's Off", blender_cloth),
    "AFTER_CACHE": ("Move behind the Cache", after_cache),
    "BEFORE_CACHE": ("Move before the Cache", before_cache),
    "BIND": ("Bind Dense Mesh", bind),
    "UNBIND": ("Unbind", unbind),
    "LIGHT_AFTER": ("Switch It Off", light_after),
    "HIDE_LIGHT": ("Hide the Light Mesh", hide_light),
    "LOOSE": ("Delete Loose Vertices", loose),
    "SUBDIVIDE": ("Subdivide", subdivide),
}


def mend(scene: bpy.types.Scene, name: str, how: str) -> list[str]:
    """Put a trouble right; what of it was not carried over. name: of the object, or of the scene. Raises SceneError."""
    item = scene.objects.get(name)
    if item is None and name != scene.name:
        raise SceneError(name, "it is not in this scene any more", "Look again")
    return MENDS[how][1](scene, item) or []

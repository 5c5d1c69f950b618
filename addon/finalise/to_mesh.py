# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth as a mesh of its own: the simulated mesh at one frame, with its materials, UV maps, groups and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix

from ...gpu_core.scene.arrays import FloatArray
from ..cache.frames import BakedFrames
from ..scene import dense, dense_nodes, modifier, retiming
from ..scene.evaluated import require_enabled
from ..scene.overridable import link_beside

SINGLE_PRECISION = 1.0e-6  #: relative


def convert(context: bpy.types.Context, baked: BakedFrames, frame: int) -> bpy.types.Object:
    """A new object without modifiers, parent and animation, where the cloth is at `frame`. The current frame is kept.

    Raises SceneError where the cache does not hold the frame.
    """
    cloth, positions = baked.cloth, baked.at(frame)
    with _at_frame(context.scene, frame):
        mesh = new_mesh(context, cloth, positions, f"{cloth.name} Frame {frame}")
        world = cloth.evaluated_get(context.evaluated_depsgraph_get()).matrix_world.copy()
    return _placed(context, cloth, mesh, world)


def convert_dense(context: bpy.types.Context, item: bpy.types.Object, frame: int) -> bpy.types.Object:
    """The same of a mesh that follows a cloth, where that puts it. Raises SceneError where it is disabled."""
    require_enabled(item, context.view_layer.layer_collection)
    own = item.modifiers.find(dense.NAME)
    with _at_frame(context.scene, frame), modifier.suspended(list(item.modifiers)[own + 1 :]):
        depsgraph = context.evaluated_depsgraph_get()
        shown = item.evaluated_get(depsgraph)
        mesh = bpy.data.meshes.new_from_object(shown, preserve_all_data_layers=True, depsgraph=depsgraph)
        world = shown.matrix_world.copy()
    mesh.name = f"{item.name} Frame {frame}"
    dense_nodes.forget(mesh)
    return _placed(context, item, mesh, world)


@contextmanager
def _at_frame(scene: bpy.types.Scene, frame: int) -> Iterator[None]:
    before = scene.frame_current, scene.frame_subframe
    try:
        with retiming.unstretched(scene):  # a cache counts the animation's frames
            scene.frame_set(frame)
            yield
    finally:
        scene.frame_set(before[0], subframe=before[1])


def _placed(
    context: bpy.types.Context, cloth: bpy.types.Object, mesh: bpy.types.Mesh, world: Matrix
) -> bpy.types.Object:
    """A new object with this mesh beside the cloth."""
    item = bpy.data.objects.new(mesh.name, mesh)
    item.matrix_world = world
    placed = Matrix.LocRotScale(*world.decompose())
    if not np.allclose(placed, world, rtol=0.0, atol=SINGLE_PRECISION * np.abs(world).max()):
        mesh.transform(placed.inverted() @ world)  # sheared by a parent's uneven scale: no object alone can be
    link_beside(context.scene, cloth, item)
    return item


def new_mesh(context: bpy.types.Context, cloth: bpy.types.Object, positions: FloatArray, name: str) -> bpy.types.Mesh:
    """The mesh that Blender has right after our cache modifier, with these positions (N, 3), object space."""
    with modifier.suspended(list(cloth.modifiers)[modifier.place(cloth) + 1 :]):
        depsgraph = context.evaluated_depsgraph_get()
        evaluated = cloth.evaluated_get(depsgraph)
        mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
    mesh.name = name
    mesh.vertices.foreach_set("co", positions.reshape(-1))
    mesh.update()
    return mesh

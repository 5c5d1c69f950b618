# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked cloth in the hands of a test, and what Blender shows of it."""

from __future__ import annotations

import bpy
import numpy as np

from taffeta.addon.cache import velocity
from taffeta.addon.interface import finalise_operators
from taffeta.tests.addon.baking import folder, frames

FPS = 24.0


def item(name: str = "Cloth") -> bpy.types.Object:
    return bpy.data.objects[name]


def bake_below_parent(scene: bpy.types.Scene) -> None:
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    parent.scale, parent.rotation_euler = (1.0, -2.0, 0.5), (0.1, 0.2, 0.7)
    for frame, x in ((1, 0.0), (4, 0.3)):
        parent.location.x = x
        parent.keyframe_insert("location", frame=frame)
    cloth = item()
    cloth.parent, cloth.rotation_euler.x = parent, 0.3
    cloth.data.uv_layers.new(name="UVMap")
    cloth.data.materials.append(bpy.data.materials.new("Cotton"))
    cloth.vertex_groups.new(name="Hem").add([0, 1], 0.5, "REPLACE")
    cloth.modifiers.new("Refine", "SUBSURF")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()


def choose(*cloths: bpy.types.Object) -> None:
    finalise_operators.select(bpy.context, cloths)


def simulated(scene: bpy.types.Scene) -> np.ndarray:
    return np.array(frames(folder(scene)))


def without_refining(cloth: bpy.types.Object) -> bpy.types.Object:
    cloth.modifiers["Refine"].show_viewport = False
    return cloth


def attribute(cloth: bpy.types.Object, frame: int, scene: bpy.types.Scene | None = None) -> np.ndarray:
    """`velocity` (N, 3) of the evaluated mesh."""
    scene = scene or bpy.context.scene
    scene.frame_set(frame)
    depsgraph = scene.view_layers[0].depsgraph
    depsgraph.update()
    found = cloth.evaluated_get(depsgraph).data.attributes[velocity.ATTRIBUTE]
    assert (found.domain, found.data_type) == ("POINT", "FLOAT_VECTOR")
    values = np.empty((len(found.data), 3), np.float32)
    found.data.foreach_get("vector", values.reshape(-1))
    return values


def differences(positions: np.ndarray) -> np.ndarray:
    """Finite differences of the frames (F, N, 3), per second."""
    return np.gradient(positions.astype(np.float64), 1.0 / FPS, axis=0)


def evaluated(cloth: bpy.types.Object, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (N, 3) in object space and the transform (4, 4), in the first scene that has the object."""
    scene = cloth.users_scene[0]
    scene.frame_set(frame)
    depsgraph = scene.view_layers[0].depsgraph
    depsgraph.update()
    shown = cloth.evaluated_get(depsgraph)
    return np.array([vertex.co for vertex in shown.data.vertices], np.float32), np.array(shown.matrix_world)

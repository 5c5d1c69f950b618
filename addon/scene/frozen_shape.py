# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that lie on the mesh: without stress, the mesh itself; where the simulation starts, an attribute of it."""

from __future__ import annotations

import bpy
import numpy as np

from ...gpu_core.scene.arrays import FloatArray
from ...gpu_core.scene.scene import SceneError
from . import modifier

START = "taffeta_start"  #: float vector of each vertex, object space


def start(cloth: bpy.types.Object) -> FloatArray | None:
    """Where the simulation starts (N, 3), object space; None where that is the rest shape. Raises SceneError."""
    attribute = cloth.data.attributes.get(START)
    if attribute is None:
        return None
    if attribute.domain != "POINT" or attribute.data_type != "FLOAT_VECTOR":
        raise SceneError(
            cloth.name,
            f"its attribute “{START}” is no vector of each vertex",
            "Remove it: Properties > Data > Attributes",
        )
    shape = np.empty((len(attribute.data), 3), np.float32)
    attribute.data.foreach_get("vector", shape.reshape(-1))
    return shape


def has_start(cloth: bpy.types.Object) -> bool:
    """Cheap enough for drawing."""
    return START in cloth.data.attributes


def require_start(cloth: bpy.types.Object, shape: FloatArray) -> None:
    """Raises SceneError where the mesh is not this object's alone, or has other vertices than the shape (N, 3)."""
    if cloth.data.library is not None:
        raise SceneError(cloth.name, "its mesh is linked from another file", "Make it local first")
    if cloth.data.users > 1:
        raise SceneError(
            cloth.name,
            f"{cloth.data.users} objects share its mesh",
            "Make it single: Object > Relations > Make Single User",
        )
    if len(cloth.data.vertices) != len(shape):
        raise SceneError(
            cloth.name,
            f"the mesh has {len(cloth.data.vertices)} vertices, the shape {len(shape)}",
            "Undo what changed the mesh, or start Live again",
        )


def require_rest(cloth: bpy.types.Object, shape: FloatArray) -> None:
    """Raises SceneError where something else decides the mesh's shape, or it cannot have this one."""
    require_start(cloth, shape)
    deforming = [
        item.name
        for item in list(cloth.modifiers)[: modifier.place(cloth)]
        if item.show_viewport and item.name != modifier.TRIANGLES
    ]
    if cloth.data.shape_keys is not None:
        raise SceneError(cloth.name, "its shape keys would take the shape back", "Apply or remove them first")
    if deforming:
        raise SceneError(cloth.name, f"the modifier “{deforming[0]}” would deform the shape again", "Apply it first")


def set_start(cloth: bpy.types.Object, shape: FloatArray) -> None:
    """Let the simulation start from a shape (N, 3), object space; the rest shape stays. See `require_start`."""
    clear_start(cloth)
    attribute = cloth.data.attributes.new(START, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.ascontiguousarray(shape, np.float32).reshape(-1))
    cloth.data.update()


def clear_start(cloth: bpy.types.Object) -> None:
    """Let the simulation start from the rest shape."""
    attribute = cloth.data.attributes.get(START)
    if attribute is not None:
        cloth.data.attributes.remove(attribute)


def set_rest(cloth: bpy.types.Object, shape: FloatArray) -> None:
    """Make a shape (N, 3), object space, the mesh itself: without stress, and where the simulation starts. See
    `require_rest`."""
    clear_start(cloth)
    cloth.data.vertices.foreach_set("co", np.ascontiguousarray(shape, np.float32).reshape(-1))
    cloth.data.update()

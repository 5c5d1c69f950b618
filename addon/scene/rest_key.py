# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape key that is a cloth's rest shape, where one is chosen."""

from __future__ import annotations

import bpy
import numpy as np

from ...gpu_core.scene.arrays import FloatArray
from ...gpu_core.scene.scene import SceneError


def choices(cloth: bpy.types.PropertyGroup, _context: bpy.types.Context, _text: str) -> list[str]:
    """For a property of the cloth that names one."""
    return [block.name for block in _blocks(cloth.id_data)]


def exists(item: bpy.types.Object, name: str) -> bool:
    return any(block.name == name for block in _blocks(item))


def shape(item: bpy.types.Object) -> FloatArray | None:
    """The rest shape (N, 3) of the object's mesh, object space; None where it is that of the first frame.

    The key as it is, whatever its value, and whatever modifiers do. Raises SceneError.
    """
    return of_key(item, item.taffeta.cloth.rest_shape_key)


def of_key(item: bpy.types.Object, name: str) -> FloatArray | None:
    """The same of the key with this name; None where there is no name."""
    if not name:
        return None
    block = next((block for block in _blocks(item) if block.name == name), None)
    if block is None:
        raise SceneError(
            item.name, f"there is no shape key “{name}” for its rest shape", "Choose another key or clear the field"
        )
    points = np.empty((len(block.data), 3), np.float32)
    block.data.foreach_get("co", points.reshape(-1))
    return points


def _blocks(item: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    keys = item.data.shape_keys if item.type == "MESH" else None
    return list(keys.key_blocks) if keys is not None else []

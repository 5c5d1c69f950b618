# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender shows of the scene that Live plays."""

from __future__ import annotations

import bpy
import numpy as np


def cloth() -> bpy.types.Object:
    return bpy.data.objects["Cloth"]


def floor() -> bpy.types.Object:
    return bpy.data.objects["Floor"]


def seen(item: bpy.types.Object) -> np.ndarray:
    """(N, 3) as Blender shows the object, world."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world, float)
    return np.array([vertex.co for vertex in evaluated.data.vertices], float) @ matrix[:3, :3].T + matrix[:3, 3]


def base(item: bpy.types.Object) -> np.ndarray:
    return np.array([vertex.co for vertex in item.data.vertices])

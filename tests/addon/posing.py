# SPDX-License-Identifier: GPL-3.0-or-later
"""A small character: an arm of two bones that is bent in the first frame."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Vector

BEND = math.radians(80.0)


def make_armature(bend: float = BEND) -> bpy.types.Object:
    """Two bones along x, 0.5 m each; the second is turned up about y in every frame."""
    data = bpy.data.armatures.new("Skeleton")
    armature = bpy.data.objects.new("Skeleton", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    upper, lower = data.edit_bones.new("Upper"), data.edit_bones.new("Lower")
    upper.head, upper.tail = (0, 0, 0), (0.5, 0, 0)
    lower.head, lower.tail, lower.parent = (0.5, 0, 0), (1, 0, 0), upper
    bpy.ops.object.mode_set(mode="OBJECT")
    pose(armature, bend)
    return armature


def pose(armature: bpy.types.Object, bend: float, frame: int | None = None) -> None:
    """Turn the second bone by an angle; with a key where a frame is given."""
    bone = armature.pose.bones["Lower"]
    bone.rotation_mode = "XYZ"
    axis = bone.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 1.0, 0.0))  # one of the bone's own
    bone.rotation_euler = -bend * axis
    if frame is not None:
        bone.keyframe_insert("rotation_euler", frame=frame)


def skin(item: bpy.types.Object, armature: bpy.types.Object) -> bpy.types.Object:
    """Let a mesh follow: what is beyond x = 0.5 m the second bone, all else the first."""
    x = np.array([vertex.co.x for vertex in item.data.vertices])
    for name, chosen in (("Upper", x <= 0.5), ("Lower", x > 0.5)):
        item.vertex_groups.new(name=name).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = armature
    return item


def strip(z: float, columns: int = 8) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """(vertices, quads) of a strip along x, 1 m × 0.2 m, at a height."""
    x = np.linspace(0.0, 1.0, columns + 1)
    vertices = np.array([(a, y, z) for a in x for y in (-0.1, 0.1)])
    return vertices, [(2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1) for k in range(columns)]

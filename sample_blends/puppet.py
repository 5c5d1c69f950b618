# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones for a human, and poses of them: turns about the armature's own axes, so that they can be read and mirrored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from .human import Human

Turn = tuple[tuple[float, float, float], float]  #: axis, degrees
Pose = Mapping[str, Sequence[Turn]]  #: by bone: turns one after the other, as if its parent were at rest
LEAST = 0.01  #: m, a bone is at least so long

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
UPPER = (0.64, 0.0, -0.77)  #: down the left upper arm, where it is at rest; about it, it turns inwards
ELBOW = (-0.77, 0.0, -0.64)  #: the left one's axis there


def add_skeleton(person: Human) -> bpy.types.Object:
    """At rest as the mesh is."""
    data = bpy.data.armatures.new("Skeleton")
    skeleton = bpy.data.objects.new("Skeleton", data)
    bpy.context.scene.collection.objects.link(skeleton)
    bpy.context.view_layer.objects.active = skeleton
    bpy.ops.object.mode_set(mode="EDIT")
    for name, entry in person.bones.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (_end(person, entry[end]) for end in ("head", "tail"))
        if bone.length < LEAST:
            bone.length = LEAST
        bone.roll = entry["roll"]
    for name, entry in person.bones.items():
        if entry["parent"]:
            data.edit_bones[name].parent = data.edit_bones[entry["parent"]]
    bpy.ops.object.mode_set(mode="OBJECT")
    skeleton.show_in_front = True
    return skeleton


def skin(item: bpy.types.Object, skeleton: bpy.types.Object, person: Human, vertices: Sequence[int]) -> None:
    """Let a mesh follow the bones. vertices: which of the human's each of its own is, or follows."""
    places: dict[int, list[int]] = {}
    for index, vertex in enumerate(vertices):
        places.setdefault(vertex, []).append(index)
    for bone, weights in person.weights.items():
        group = item.vertex_groups.new(name=bone)
        for vertex, weight in weights:
            if vertex in places and weight > 0.0:
                group.add(places[vertex], weight, "REPLACE")
    item.parent = skeleton
    item.modifiers.new("Armature", "ARMATURE").object = skeleton


def mirrored(pose: Pose) -> dict[str, list[Turn]]:
    """The other side's: left to right and back."""
    swap = {"L": "R", "R": "L", "Left": "Right", "Right": "Left"}
    found = {}
    for bone, turns in pose.items():
        side = next((side for side in ("Left", "Right") if bone.startswith(side)), "")
        name = swap[side] + bone.removeprefix(side) if side else bone
        found[name] = [((x, -y, -z), degrees) for (x, y, z), degrees in turns]
    return found


def key(
    skeleton: bpy.types.Object, frame: int, pose: Pose, place: Sequence[float] = (0.0, 0.0), turn: float = 0.0
) -> None:
    """Key all bones: those that the pose has not are at rest. The lower ankle stands where both do at rest. place: (2,)
    of the hips on the floor, m. turn: of the whole about z, degrees."""
    turns = {**pose, "Hips": [*pose.get("Hips", ()), (Z, turn)]}
    hips = skeleton.pose.bones["Hips"]
    for bone in skeleton.pose.bones:
        rest = bone.bone.matrix_local.to_quaternion()
        whole = Quaternion()
        for axis, degrees in turns.get(bone.name, ()):
            whole = Quaternion(Vector(axis), radians(degrees)) @ whole
        before, bone.rotation_mode = bone.rotation_quaternion.copy(), "QUATERNION"
        bone.rotation_quaternion = rest.inverted() @ whole @ rest
        bone.rotation_quaternion.make_compatible(before)
    _put(hips, (*place, 0.0))
    bpy.context.view_layer.update()
    ankles = [skeleton.pose.bones[name] for name in ("LeftFoot", "RightFoot")]
    lift = min(bone.bone.head_local.z for bone in ankles) - min(bone.head.z for bone in ankles)
    _put(hips, (*place, lift))
    for bone in skeleton.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    hips.keyframe_insert("location", frame=frame)


def _put(bone: bpy.types.PoseBone, place: Sequence[float]) -> None:
    bone.location = bone.bone.matrix_local.to_quaternion().inverted() @ Vector(place)


def _end(person: Human, entry: Mapping[str, object]) -> list[float]:
    """(3,) m, of a bone."""
    if entry["strategy"] == "CUBE":
        return list(person.joints[str(entry["cube_name"])])
    return list(person.places[np.array(entry["vertex_indices"])].mean(axis=0))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A human in leggings, T-shirt, skirt and coat, who walks, turns, squats, crosses the arms and sits."""

from __future__ import annotations

import bpy
import numpy as np

from .human import Human, human
from .look import plaster
from .puppet import ELBOW, UPPER, Pose, X, Y, Z, add_skeleton, key, mirrored, skin
from .studio import go_along, light_and_film
from .wardrobe import dress

FRAMES = 240
STRIDE = 0.62  #: m a step
WALKS, STEP = 28, 13  #: frame at which she begins, and frames a step
SMOOTHED = 150  #: sweeps over the skin where it bends
BUDGET = 900  #: iterations a frame, eight times those of a calm one: steps of the squat may have no end


def build(vertices: int) -> None:
    """Fill the empty session: the garments have `vertices` or so. Raises NotFetchedError."""
    person = human()
    light_and_film((0.0, 0.0, 0.84), 4.4, FRAMES, film=(720, 900))
    skeleton = add_skeleton(person)
    act(skeleton)
    go_along((0.0, -5.0 * STRIDE, 0.0), WALKS, WALKS + 5 * STEP)
    round_creases(add_body(person, skeleton))
    dress(person, skeleton, vertices)
    bpy.context.scene.taffeta.frame_budget = BUDGET
    bpy.context.scene.frame_set(1)


def add_body(person: Human, skeleton: bpy.types.Object) -> bpy.types.Object:
    faces = person.faces["body"]
    used = np.unique([vertex for face in faces for vertex in face])
    body = add_mesh("Body", person.places[used], [tuple(np.searchsorted(used, face)) for face in faces])
    body.data.materials.append(plaster())
    skin(body, skeleton, person, used.tolist())
    body.taffeta.role = "COLLIDER"
    return body


def round_creases(body: bpy.types.Object) -> None:
    """As riggers do: bones alone fold the skin behind a knee through itself at 70°, where cloth has no room."""
    smooth = body.modifiers.new("Creases", "CORRECTIVE_SMOOTH")
    smooth.iterations, smooth.rest_source = SMOOTHED, "ORCO"
    for frame, factor in ((6, 0.0), (WALKS, 0.5)):  # not where the garments begin: they are fitted to bare bones
        smooth.factor = factor
        smooth.keyframe_insert("factor", frame=frame)


def add_mesh(name: str, places: np.ndarray, faces: list[tuple[int, ...]]) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(places.tolist(), [], [tuple(map(int, face)) for face in faces])
    mesh.shade_smooth()
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    return item


def both(pose: Pose) -> dict:
    """The same on both sides."""
    return {**pose, **mirrored(pose)}


ARMS_OUT = both({"LeftArm": [(Y, -48.0)]})
ARMS_DOWN = both({"LeftArm": [(Y, 14.0)], "LeftForeArm": [(ELBOW, 6.0)]})


def striding() -> dict:
    """The left leg before, the right arm too."""
    return {
        "LeftUpLeg": [(X, -26.0)], "LeftLeg": [(X, 8.0)], "LeftFoot": [(X, 10.0)],
        "RightUpLeg": [(X, 20.0)], "RightLeg": [(X, 22.0)], "RightFoot": [(X, -12.0)],
        "LeftArm": [(Y, 14.0), (X, 20.0)], "RightArm": [(Y, -14.0), (X, -24.0)],
        "LeftForeArm": [(ELBOW, 10.0)], "RightForeArm": [((-0.77, 0.0, 0.64), 22.0)],
        "Spine": [(Z, 6.0)],
    }  # fmt: skip


def passing() -> dict:
    """On the left leg, the right one lifted."""
    return {**ARMS_DOWN, "RightUpLeg": [(X, -24.0)], "RightLeg": [(X, 48.0)], "RightFoot": [(X, 4.0)]}


SQUAT = {
    **both({
        "LeftUpLeg": [(X, -70.0), (Z, 18.0)], "LeftLeg": [(X, 88.0)], "LeftFoot": [(X, -22.0)],
        "LeftArm": [(Y, 26.0), (X, -62.0)], "LeftForeArm": [(ELBOW, 20.0)],
    }),
    "LowerBack": [(X, 6.0)], "Spine": [(X, 6.0)], "Hips": [(X, 12.0)],
}  # fmt: skip
CROSSED = {
    "LeftArm": [(UPPER, 75.0), (Y, 28.0), (X, -69.0)], "LeftForeArm": [(ELBOW, 66.0)],
    **mirrored({"LeftArm": [(UPPER, 79.0), (Y, 6.0), (X, -61.0)], "LeftForeArm": [(ELBOW, 66.0)]}),
}  # fmt: skip
ELBOW_OUT = {  # between the two: a hand comes to a hip from outside
    "LeftArm": [(UPPER, 85.0), (Y, -50.0), (X, 16.0)], "LeftForeArm": [(ELBOW, 60.0)], "RightArm": [(Y, -14.0)],
}  # fmt: skip
ON_HIP = {
    "LeftArm": [(UPPER, 85.0), (Y, -25.0), (X, 16.0)], "LeftForeArm": [(ELBOW, 66.0)], "RightArm": [(Y, -14.0)],
    "Spine": [(Y, 4.0)],
}  # fmt: skip
SIT = {
    **both({
        "LeftUpLeg": [(X, -72.0), (Z, 8.0)], "LeftLeg": [(X, 78.0)],
        "LeftArm": [(Y, 24.0), (X, -30.0)], "LeftForeArm": [(ELBOW, 34.0)],
    }),
}  # fmt: skip


def act(skeleton: bpy.types.Object) -> None:
    key(skeleton, 1, ARMS_OUT)
    key(skeleton, 6, ARMS_OUT)
    key(skeleton, WALKS, ARMS_DOWN)
    step, gone = WALKS, 0.0
    for left in (True, False, True, False, True):
        sides = (lambda pose: pose) if left else mirrored
        key(skeleton, step + STEP // 2, sides(striding()), (0.0, -gone - 0.5 * STRIDE))
        key(skeleton, step + STEP, sides(passing()), (0.0, -gone - STRIDE))
        step, gone = step + STEP, gone + STRIDE
    there = (0.0, -gone)
    key(skeleton, step + 8, ARMS_DOWN, there, 40.0)
    key(skeleton, step + 16, ARMS_DOWN, there, 90.0)
    key(skeleton, 136, SQUAT, there, 90.0)
    key(skeleton, 142, SQUAT, there, 90.0)
    key(skeleton, 158, ARMS_DOWN, there, 90.0)
    key(skeleton, 172, CROSSED, there, 90.0)
    key(skeleton, 180, CROSSED, there, 90.0)
    key(skeleton, 189, ARMS_DOWN, there, 90.0)
    key(skeleton, 195, ELBOW_OUT, there, 90.0)
    key(skeleton, 201, ON_HIP, there, 90.0)
    key(skeleton, 207, ON_HIP, there, 90.0)
    key(skeleton, 213, ELBOW_OUT, there, 90.0)
    key(skeleton, 226, SIT, there, 90.0)
    key(skeleton, FRAMES, SIT, there, 90.0)

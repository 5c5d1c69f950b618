# SPDX-License-Identifier: GPL-3.0-or-later
"""She kicks as high as her chest, in three wide skirts, one over the other."""

from __future__ import annotations

from math import radians

import bpy

from .character import add_body, both
from .flares import Flare, add_flares
from .gait import IN, STANDING
from .human import human
from .puppet import ELBOW, X, Y, Z, add_skeleton, key
from .studio import light_and_film
from .wardrobe import TOP, dress

FRAMES = 96
#: From the innermost to the outermost, which is the shortest.
SKIRTS = (
    Flare("Petticoat", 0.60, 0.50, 0.010, "SATIN", 5),
    Flare("Skirt", 0.46, 0.55, 0.014, "SATIN", 1),
    Flare("Overskirt", 0.32, 0.60, 0.018, "SATIN", 0),
)
SETTLED = 24  #: frames in which the clothes come down with the arms, before the first
IN_TOP = 0.25  #: share of the vertices

GUARD = {**STANDING, **both({"LeftArm": [(Y, 4.0), (X, -8.0)], "LeftForeArm": [(ELBOW, 30.0)]})}
BENT = {
    **GUARD,
    "LeftUpLeg": [(X, -62.0), (Y, 0.0)], "LeftLeg": [(X, 62.0)], "LeftFoot": [(X, 20.0)],
    "RightUpLeg": [(X, 6.0), (Y, -IN)], "Hips": [(X, -6.0)],
}  # fmt: skip
KICK = {
    **STANDING,
    "LeftUpLeg": [(X, -68.0), (Y, -2.0)], "LeftLeg": [(X, 4.0)], "LeftFoot": [(X, 25.0)],
    "RightUpLeg": [(X, 30.0), (Y, -IN)], "Hips": [(X, -30.0), (Z, -10.0)], "Spine": [(X, 8.0)],
    **both({"LeftArm": [(Y, -14.0), (X, 10.0)], "LeftForeArm": [(ELBOW, 20.0)]}),
}  # fmt: skip
ACT = ((1, GUARD), (14, GUARD), (21, BENT), (26, KICK), (29, KICK), (36, BENT), (46, GUARD), (FRAMES, GUARD))


def build(vertices: int) -> None:
    """Fill the empty session: the clothes have `vertices` or so. Raises NotFetchedError."""
    person = human()
    light_and_film((0.0, -0.25, 0.86), 4.2, FRAMES, azimuth=radians(-32.0), elevation=radians(8.0), film=(720, 720))
    skeleton = add_skeleton(person)
    for frame, pose in ACT:
        key(skeleton, frame, pose)
    add_body(person, skeleton)
    dress(person, skeleton, round(IN_TOP * vertices), (TOP,))
    add_flares(person, skeleton, SKIRTS, round((1.0 - IN_TOP) * vertices))
    scene = bpy.context.scene
    scene.taffeta.preroll, scene.taffeta.preroll_from = SETTLED, "REST_POSE"
    scene.frame_set(1)

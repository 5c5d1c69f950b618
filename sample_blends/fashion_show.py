# SPDX-License-Identifier: GPL-3.0-or-later
"""A model in a wide silk skirt walks to the front, turns around, and walks back."""

from __future__ import annotations

from math import radians

import bpy

from .character import add_body
from .flares import Flare, add_flares
from .gait import STANDING, walk
from .human import human
from .puppet import add_skeleton, key
from .studio import light_and_film
from .wardrobe import TOP, dress

FRAMES = 168
START = (0.0, 1.7)  #: m, where she comes from
STEPS = (5, 3)  #: to the front, and back
POSE, TURN = 8, 12  #: frames that she stands at the front, and that she turns in
SKIRT = Flare("Skirt", 0.58, 0.55, 0.014, "SILK", 0)  # its hem at the knee
SETTLED = 24  #: frames in which the clothes come down with the arms, before the first
IN_TOP = 0.3  #: share of the vertices


def build(vertices: int) -> None:
    """Fill the empty session: the clothes have `vertices` or so. Raises NotFetchedError."""
    person = human()
    light_and_film((0.0, -0.1, 0.84), 5.6, FRAMES, azimuth=radians(-79.0), elevation=radians(8.0), film=(720, 900))
    skeleton = add_skeleton(person)
    act(skeleton)
    add_body(person, skeleton)
    dress(person, skeleton, round(IN_TOP * vertices), (TOP,))
    add_flares(person, skeleton, (SKIRT,), round((1.0 - IN_TOP) * vertices))
    scene = bpy.context.scene
    scene.taffeta.preroll, scene.taffeta.preroll_from = SETTLED, "REST_POSE"
    scene.frame_set(1)


def act(skeleton: bpy.types.Object) -> None:
    frame, front = walk(skeleton, 1, STEPS[0], START)
    frame += POSE
    for share in (0.0, 0.5, 1.0):
        key(skeleton, frame + round(share * TURN), STANDING, front, 180.0 * share)
    walk(skeleton, frame + TURN + POSE, STEPS[1], front, 180.0)

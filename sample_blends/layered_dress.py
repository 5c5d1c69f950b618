# SPDX-License-Identifier: GPL-3.0-or-later
"""A dress of four skirts under a bodice: she takes two steps to the front and turns once around."""

from __future__ import annotations

from dataclasses import replace
from math import radians

import bpy

from .character import add_body
from .flares import Flare, add_flares
from .gait import STANDING, walk
from .human import human
from .puppet import add_skeleton, key
from .studio import light_and_film
from .wardrobe import TOP, dress

FRAMES = 120
START, STEPS = (0.0, 0.6), 2
TURN, QUARTERS = (36, 72), 8  #: frames between which she turns, and keys of that
#: From the innermost to the outermost, which is the shortest.
SKIRTS = (
    Flare("Skirt", 0.86, 0.50, 0.010, "SATIN", 1),
    Flare("Third Tier", 0.64, 0.54, 0.014, "SILK", 3),
    Flare("Second Tier", 0.44, 0.58, 0.018, "SILK", 1),
    Flare("First Tier", 0.25, 0.62, 0.022, "SILK", 3),
)
SETTLED = 24  #: frames in which the clothes come down with the arms, before the first
IN_BODICE = 0.2  #: share of the vertices


def build(vertices: int) -> None:
    """Fill the empty session: the dress has `vertices` or so. Raises NotFetchedError."""
    person = human()
    light_and_film((0.0, -0.2, 0.84), 5.0, FRAMES, azimuth=radians(-70.0), elevation=radians(9.0), film=(720, 900))
    skeleton = add_skeleton(person)
    act(skeleton)
    add_body(person, skeleton)
    dress(person, skeleton, round(IN_BODICE * vertices), (replace(TOP, name="Bodice", dye=1),))
    add_flares(person, skeleton, SKIRTS, round((1.0 - IN_BODICE) * vertices))
    scene = bpy.context.scene
    scene.taffeta.preroll, scene.taffeta.preroll_from = SETTLED, "REST_POSE"
    scene.frame_set(1)


def act(skeleton: bpy.types.Object) -> None:
    _, there = walk(skeleton, 1, STEPS, START)
    start, end = TURN
    for quarter in range(QUARTERS + 1):
        share = quarter / QUARTERS
        eased = share**2 * (3.0 - 2.0 * share)
        key(skeleton, start + round(share * (end - start)), STANDING, there, 360.0 * eased)

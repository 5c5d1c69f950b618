# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth between two bars is wound up by eight whole turns, 2880°, into a rope."""

from __future__ import annotations

from functools import partial

import bpy

from .actors import add_sheet
from .studio import light_and_film
from .winding import bar, wind

LENGTH, WIDTH = 1.4, 0.32  #: m
HEIGHT = 0.6  #: m
TURNS = 8.0  #: of one end against the other
DRAWN = 0.45  #: share by which the ends come nearer: a rope is shorter than its cloth
WOUND, FRAMES = 216, 240  #: frame at which the ends stand still, and the last


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the grid nearest to `vertices`."""
    light_and_film(target=(0.0, 0.0, HEIGHT - 0.02), distance=2.7, frames=FRAMES)
    cloth = add_sheet("Cloth", vertices, LENGTH, (0.0, 0.0, HEIGHT), share=WIDTH / LENGTH)
    wind(cloth, 0.5 * LENGTH, partial(bar, width=WIDTH), turns=TURNS, drawn=DRAWN, frames=(1, WOUND))
    bpy.context.scene.taffeta.samples_per_frame = 4  # so that the bars' ends go round

# SPDX-License-Identifier: GPL-3.0-or-later
"""A tube of thick cloth between two hoops is wound up by both ends, with no gravity, into a thick rope."""

from __future__ import annotations

from functools import partial

import bpy
import numpy as np

from .actors import add_garment
from .look import denim
from .studio import light_and_film
from .winding import hoop, wind

LENGTH, RADIUS = 1.0, 0.15  #: m
THICKNESS = 1.5e-3  #: m, which its layers keep from each other
HEIGHT = 0.5  #: m
TURNS = 4.0  #: of one end against the other
DRAWN = 0.5  #: share by which the ends come nearer
WOUND, FRAMES = 192, 204  #: frame at which the ends stand still, and the last


def build(vertices: int) -> None:
    """Fill the empty session: the tube has the grid nearest to `vertices`."""
    light_and_film(target=(0.0, 0.0, HEIGHT), distance=2.2, frames=FRAMES)
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    tube = _add_tube(vertices)
    tube.location.z = HEIGHT
    tube.taffeta.cloth.preset = "DENIM"
    tube.taffeta.cloth.thickness = THICKNESS
    wind(tube, 0.5 * LENGTH, partial(hoop, radius=RADIUS), turns=TURNS, drawn=DRAWN, frames=(1, WOUND))
    bpy.context.scene.taffeta.samples_per_frame = 4  # so that the hoops go round


def _add_tube(vertices: int) -> bpy.types.Object:
    round_about = 2.0 * np.pi * RADIUS
    columns = max(8, round(np.sqrt(vertices * round_about / LENGTH)))
    rows = max(3, round(vertices / columns))
    row, column = (axis.ravel() for axis in np.indices((rows, columns)))
    angle = 2.0 * np.pi * column / columns
    places = np.column_stack([(row / (rows - 1) - 0.5) * LENGTH, RADIUS * np.cos(angle), RADIUS * np.sin(angle)])
    here = np.flatnonzero(row < rows - 1)
    beside = here + np.where(column[here] == columns - 1, 1 - columns, 1)
    return add_garment("Tube", places, np.column_stack([here, beside, beside + columns, here + columns]), denim())

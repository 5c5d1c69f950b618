# SPDX-License-Identifier: GPL-3.0-or-later
"""A square of cotton, 1 m wide, falls 2 cm onto a sphere and drapes over it."""

from __future__ import annotations

from .actors import add_sheet, add_sphere
from .studio import light_and_film

RADIUS = 0.25  #: m
CENTRE = (0.0, 0.0, 0.75)  #: m; high enough for the corners to hang free of the floor
DROP = 0.02  #: m


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the square grid nearest to `vertices`."""
    light_and_film(target=(0.0, 0.0, 0.68), distance=2.7, frames=48)
    add_sphere("Sphere", RADIUS, CENTRE, stand=True)
    add_sheet("Cloth", vertices, size=1.0, location=(0.0, 0.0, CENTRE[2] + RADIUS + DROP))

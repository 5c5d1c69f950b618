# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth falls on a teapot's spout and comes to rest between spout and lid (lan2024, figure 10)."""

from __future__ import annotations

from math import radians

from .actors import add_sheet
from .studio import light_and_film
from .teapot import HEIGHT, TIP, add_teapot

SIZE = 0.5  #: m
DROP = 0.12  #: m above the lid
ASIDE = 0.75  #: where its middle is: 0 above the lid, 1 above the spout's tip
FRAMES = 72


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the square grid nearest to `vertices`."""
    floor = light_and_film(target=(0.1, 0.0, 0.15), distance=2.1, frames=FRAMES, elevation=radians(20.0))
    floor.taffeta.role = "COLLIDER"
    add_teapot("Teapot")
    add_sheet("Cloth", vertices, SIZE, (ASIDE * TIP[0], 0.0, HEIGHT + DROP), (0.0, 0.0, radians(45.0)))

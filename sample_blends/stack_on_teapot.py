# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten cloths, each turned a little from the one below, fall onto a teapot and stay there (lan2024, figure 14)."""

from __future__ import annotations

from math import radians

from .sheets import add_sheets
from .studio import light_and_film
from .teapot import HEIGHT, add_teapot

CLOTHS, SIZE = 10, 0.46  #: how many, and m
DROP, APART = 0.02, 0.02  #: m, above the teapot and from each to the next
TURN = radians(9.0)
FRAMES = 72


def build(vertices: int) -> None:
    """Fill the empty session: the cloths have about `vertices` in all."""
    floor = light_and_film(target=(0.0, 0.0, 0.19), distance=2.2, frames=FRAMES, elevation=radians(24.0))
    floor.taffeta.role = "COLLIDER"
    add_teapot("Teapot")
    heights = (HEIGHT + DROP + APART * number for number in range(CLOTHS))
    places = [((0.0, 0.0, height), (0.0, 0.0, TURN * number)) for number, height in enumerate(heights)]
    add_sheets("Cloth", vertices, SIZE, places)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Four cloths are let go one after the other, edge-on, and fold over themselves on the floor (lan2024, figure 15)."""

from __future__ import annotations

from math import radians

from .actors import hold, let_go
from .sheets import add_sheets
from .studio import approach, light_and_film

SIZE = 0.4  #: m
LOWEST, APART = 0.08, 0.45  #: m, the lower hem of the first, and from each to the next
LEAN = radians(1.5)  #: from the vertical
TURNS = (0.0, 50.0, 95.0, 140.0)  #: degrees about the vertical
LET_GO = (2, 10, 20, 30)  #: frames
FRAMES = 84


def build(vertices: int) -> None:
    """Fill the empty session: the cloths have about `vertices` in all."""
    floor = light_and_film(target=(0.0, 0.0, 0.2), distance=2.9, frames=FRAMES, elevation=radians(18.0))
    approach((0.0, 0.0, 0.05), 1.5, LET_GO[-1], LET_GO[-1] + 24)
    floor.taffeta.role = "COLLIDER"
    middles = (LOWEST + 0.5 * SIZE + APART * number for number in range(len(TURNS)))
    places = [
        ((0.0, 0.0, middle), (radians(90.0) - LEAN, 0.0, radians(turn)))
        for middle, turn in zip(middles, TURNS, strict=True)
    ]
    for sheet, frame in zip(add_sheets("Cloth", vertices, SIZE, places), LET_GO, strict=True):
        let_go(hold(sheet, "Upper Hem", lambda x, y, z: y > 0.499 * SIZE, None), frame)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth settles on a bed of needles and is drawn off it by its hem, without a snag (li2021, figure 9)."""

from __future__ import annotations

from math import radians

import numpy as np

from .actors import add_hand, add_sheet, hold, move
from .studio import light_and_film
from .turned import add_body, turned

SIZE = 0.6  #: m
ROWS, APART = 8, 0.06  #: of needles each way, and m from each to the next
#: Radius and height of a needle, m.
NEEDLE = ((0.0, 0.002), (0.0030, 0.002), (0.0025, 0.15), (0.0008, 0.29), (0.0, 0.292))
TOP = NEEDLE[-1][1]
SMOOTH = 0.1  #: friction of steel
DROP = 0.03  #: m
FRAMES = 84
#: Frame, and the hem's place: along the pull from the bed's middle, and up from the tips, m; 1 m/s at last.
WAY = ((1, 0.3, DROP), (10, 0.29, -0.03), (40, 0.29, -0.03), (46, 0.4, -0.03), (62, 1.02, -0.03))


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the square grid nearest to `vertices`."""
    floor = light_and_film(target=(0.42, 0.0, 0.17), distance=3.5, frames=FRAMES, elevation=radians(22.0))
    floor.taffeta.role = "COLLIDER"
    needle, rows = turned(np.array(NEEDLE), 8), APART * (np.arange(ROWS) - 0.5 * (ROWS - 1))
    bed = add_body("Needles", [needle.moved(x, y, 0.0) for x in rows for y in rows])
    bed.taffeta.collider.friction = SMOOTH
    cloth = add_sheet("Cloth", vertices, SIZE, (0.0, 0.0, TOP + DROP))
    hand = add_hand("Hand", (0.5 * SIZE, 0.0, TOP + DROP))
    move(hand, ((frame, (along, 0.0, TOP + up)) for frame, along, up in WAY))
    hold(cloth, "Hem", lambda x, y, z: x > 0.499 * SIZE, hand)

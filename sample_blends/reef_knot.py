# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ribbons lie loosely in a reef knot and are pulled tight. One is let go, the other lifted: the knot carries it."""

from __future__ import annotations

from math import radians

import numpy as np

from .actors import add_hand, beyond, hold, let_go, move
from .look import DYES
from .studio import light_and_film
from .tying import add_strip, curve

SIZE = 0.08  #: m: a unit of the way below
#: Half of a ribbon, from its end to the tip of its bight: x and y. The other half is its mirror image.
HALF = (
    (-3.6, 0.40), (-2.6, 0.36), (-1.8, 0.36), (-1.0, 0.50), (0.0, 0.85), (0.8, 1.08), (1.5, 0.85), (1.9, 0.36),
    (1.98, 0.0),
)  # fmt: skip
RISE = 0.012  #: m, by which ribbons lie above and below the middle where they cross
CROSSED = ((0.0, 0.0), (0.14, 1.0), (0.29, -1.0), (0.43, 1.0), (0.5, 1.0))  #: share of the length, and by how much
HEIGHT = 0.03  #: m above the floor
END = -HALF[0][0] * SIZE  #: m from the middle
FRAMES = 144
LET_GO = 84
#: Frame, and the place of the hand that holds a ribbon's ends, m: away from the middle, and up.
PULLS = ((1, END, 0.0), (12, END, 0.0), (66, 0.468, 0.0))
LIFTS = (*PULLS, (88, 0.468, 0.0), (132, 0.05, 0.97))


def build(vertices: int) -> None:
    """Fill the empty session: both ribbons together have about `vertices`."""
    floor = light_and_film(
        target=(0.0, 0.0, 0.46), distance=2.5, frames=FRAMES, elevation=radians(20.0), film=(720, 900)
    )
    floor.taffeta.role = "COLLIDER"
    line = _bight()
    for name, side, way, dye in (("Left", -1.0, LIFTS, 0), ("Right", 1.0, PULLS, 1)):
        ribbon = add_strip(f"{name} Ribbon", vertices // 2, line * [-side, 1.0, -side], DYES[dye][0])
        ribbon.location.z = HEIGHT
        hand = add_hand(f"{name} Hand", (side * END, 0.0, HEIGHT))
        move(hand, ((frame, (side * away, 0.0, HEIGHT + up)) for frame, away, up in way))
        ends = hold(ribbon, "Ends", beyond(side, END - 0.005), hand)
        if way is PULLS:
            let_go(ends, LET_GO)


def _bight() -> np.ndarray:
    """(P, 3) the way of the left ribbon, m; the right one's is the same, turned over."""
    other = [(x, -y) for x, y in HALF[-2::-1]]
    heights = [*CROSSED, *((1.0 - share, rise) for share, rise in CROSSED[-2::-1])]
    return curve(np.array([*HALF, *other]) * SIZE, np.array(heights) * [1.0, RISE])

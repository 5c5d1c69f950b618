# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth falls over a table, is pulled off it by a corner, and let go: pins that an empty carries, with a key."""

from __future__ import annotations

from .actors import add_hand, add_sheet, add_table, hold, let_go, move
from .studio import light_and_film

TABLE, HEIGHT = 0.8, 0.6  #: m, width and height
CLOTH = 1.3  #: m
CLEAR = 0.01  #: m above the table, where the cloth begins
CORNER = 0.5 * CLOTH
FRAMES = 96
LET_GO = 70  #: frame, while the hand still moves
#: Frame, and the hand's place: along the table's diagonal from the middle, and up from its top, m.
WAY = ((1, 0.92, CLEAR), (24, 0.74, -0.22), (36, 0.74, -0.22), (60, 1.25, -0.05), (80, 2.2, 0.15))


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the grid nearest to `vertices`."""
    floor = light_and_film(target=(0.5, -0.5, 0.34), distance=6.0, frames=FRAMES)
    add_table("Table", TABLE, HEIGHT)
    floor.taffeta.role = "COLLIDER"
    cloth = add_sheet("Tablecloth", vertices, CLOTH, (0.0, 0.0, HEIGHT + CLEAR))
    start = (CORNER, -CORNER, HEIGHT + CLEAR)
    hand = add_hand("Hand", start)
    move(hand, ((frame, (away * 0.5**0.5, -away * 0.5**0.5, HEIGHT + up)) for frame, away, up in WAY))
    let_go(hold(cloth, "Corner", lambda x, y, z: x - y > 2.0 * CORNER - 0.1, hand), LET_GO)

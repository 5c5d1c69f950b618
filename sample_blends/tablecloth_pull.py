# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth is pulled from under a set table, and everything stays standing (li2021, figure 1).

Bodies do not feel cloth, so the tableware stands a hair above the table while the cloth is there, then sinks onto it.
"""

from __future__ import annotations

from .actors import add_hand, add_sheet, add_table, hold, let_go, move
from .studio import light_and_film
from .teapot import add_teapot
from .turned import add_body, smooth, turned

TABLE, HEIGHT = 0.8, 0.6  #: m
LENGTH, SHARE = 0.95, 0.74  #: m along the pull, and its width by that: less than the table's
HEM = 0.55  #: m, where the hem that is pulled is at first: beyond the table's edge
ROOM, BARE = 6.0e-3, 1.0e-3  #: m below the tableware, with the cloth and without
GLAZE = 2.0e-4  #: m, the thickness of table and tableware, so that the cloth has play
FRAMES = 84
#: Frame, and the hand's place: along the pull from the table's middle, and up from its top, m.
WAY = (
    (1, HEM, 0.5 * ROOM), (18, 0.44, -0.12), (28, 0.44, -0.12), (34, 0.75, -0.10), (41, 1.45, -0.06), (60, 1.85, -0.10)
)  # fmt: skip
LET_GO = 50  #: frame, while the hand still moves
STANDS = (44, 46)  #: frames between which the tableware sinks
#: Radius and height, m.
PLATE = (
    (0.0, 0.004), (0.055, 0.004), (0.060, 0.0), (0.070, 0.0), (0.075, 0.006), (0.118, 0.017), (0.123, 0.020),
    (0.118, 0.022), (0.075, 0.011), (0.0, 0.010),
)  # fmt: skip
GOBLET = (
    (0.0, 0.0), (0.036, 0.0), (0.036, 0.003), (0.009, 0.011), (0.006, 0.022), (0.006, 0.076), (0.022, 0.090),
    (0.038, 0.120), (0.038, 0.150), (0.034, 0.180), (0.031, 0.180), (0.034, 0.150), (0.034, 0.122), (0.0, 0.098),
)  # fmt: skip
PLACES = {"Plate": (PLATE, ((-0.2, -0.2), (0.2, 0.2))), "Goblet": (GOBLET, ((-0.24, 0.16), (0.24, -0.16)))}


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the grid nearest to `vertices`."""
    floor = light_and_film(target=(0.75, 0.0, 0.44), distance=5.4, frames=FRAMES)
    floor.taffeta.role = "COLLIDER"
    add_table("Table", TABLE, HEIGHT).taffeta.collider.thickness = GLAZE
    add_tableware()
    middle = HEM - 0.5 * LENGTH
    cloth = add_sheet("Tablecloth", vertices, LENGTH, (middle, 0.0, HEIGHT + 0.5 * ROOM), share=SHARE)
    hand = add_hand("Hand", (HEM, 0.0, HEIGHT))
    move(hand, ((frame, (along, 0.0, HEIGHT + up)) for frame, along, up in WAY))
    let_go(hold(cloth, "Hem", lambda x, y, z: x > 0.499 * LENGTH, hand), LET_GO)


def add_tableware() -> None:
    """A teapot, plates and goblets, which stand on the table once the cloth is gone."""
    ware = [(add_teapot("Teapot"), (-0.02, 0.0))]
    for name, (profile, places) in PLACES.items():
        shape = turned(smooth(profile, 40), 32)
        ware += [(add_body(name, [shape]), place) for place in places]
    for thing, (x, y) in ware:
        thing.taffeta.collider.thickness = GLAZE
        move(thing, zip(STANDS, ((x, y, HEIGHT + ROOM), (x, y, HEIGHT + BARE)), strict=True))

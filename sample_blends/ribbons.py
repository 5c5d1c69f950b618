# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty-one ribbons of taffeta fall into a bowl, crosswise, and lie in it in a heap."""

from __future__ import annotations

from math import cos, radians, sin, sqrt

from .actors import add_sheet
from .look import DYES, satin
from .studio import light_and_film
from .turned import add_body, smooth, turned

COUNT = 21
LENGTH, WIDTH = 0.48, 0.02  #: m
GOLDEN = radians(137.5)  #: from each ribbon to the next, so that they lie across each other
ASIDE = 0.05  #: m, by which the last one misses the bowl's axis
LOWEST, HIGHER = 0.2, 0.016  #: m, of the first ribbon, and from each to the next
LEAN = radians(3.0)  #: so that one end falls first; with 6 some began within others
SLIP = 0.15  #: friction of the glaze
FRAMES = 72
#: Radius and height, m: from below the foot up to the rim, and down on the inside.
PROFILE = (
    (0.0, 0.005), (0.055, 0.005), (0.064, 0.005), (0.067, 0.016), (0.11, 0.033), (0.15, 0.07), (0.17, 0.122),
    (0.168, 0.126), (0.163, 0.123), (0.143, 0.076), (0.104, 0.041), (0.055, 0.026), (0.0, 0.022),
)  # fmt: skip


def build(vertices: int) -> None:
    """Fill the empty session: all ribbons together have about `vertices`."""
    light_and_film(target=(0.0, 0.0, 0.1), distance=1.1, frames=FRAMES, elevation=radians(26.0), film=(720, 720))
    bowl = add_body("Bowl", [turned(smooth(PROFILE, 60), 64)])
    bowl.taffeta.collider.friction = SLIP
    dyed = [satin(ground) for ground, _ in DYES]
    for number in range(COUNT):
        away, angle = ASIDE * sqrt(number / COUNT), number * GOLDEN
        place = (away * cos(2.0 * angle), away * sin(2.0 * angle), LOWEST + number * HIGHER)
        ribbon = add_sheet(
            f"Ribbon {number + 1:02}", vertices // COUNT, WIDTH, place,
            (LEAN, 0.0, angle), LENGTH / WIDTH,
        )  # fmt: skip
        ribbon.data.materials[0] = dyed[number % len(dyed)]
        ribbon.taffeta.cloth.preset = "POLYESTER"

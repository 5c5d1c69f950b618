# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty-one ribbons of taffeta fall into a bowl, end first, and coil up in it."""

from __future__ import annotations

from math import cos, radians, sin, sqrt

from .actors import add_sheet
from .look import DYES, satin
from .studio import light_and_film
from .turned import add_body, smooth, turned

COUNT = 21
LENGTH, WIDTH = 0.6, 0.02  #: m
GOLDEN = radians(137.5)  #: from each ribbon to the next, so that none stands behind another
WITHIN = 0.085  #: m, from the bowl's axis to the outermost
LOWEST, HIGHER = 0.07, 0.03  #: m, of the first ribbon's lower end, and from each to the next
LEAN = radians(1.5)
SLIP = 0.15  #: friction of the glaze
FRAMES = 84
#: Radius and height, m: from below the foot up to the rim, and down on the inside.
PROFILE = (
    (0.0, 0.004), (0.04, 0.004), (0.048, 0.004), (0.05, 0.012), (0.085, 0.026), (0.115, 0.055), (0.13, 0.095),
    (0.129, 0.099), (0.124, 0.096), (0.109, 0.06), (0.08, 0.033), (0.04, 0.021), (0.0, 0.018),
)  # fmt: skip


def build(vertices: int) -> None:
    """Fill the empty session: all ribbons together have about `vertices`."""
    light_and_film(target=(0.0, 0.0, 0.12), distance=1.15, frames=FRAMES, elevation=radians(26.0), film=(720, 720))
    bowl = add_body("Bowl", [turned(smooth(PROFILE, 60), 64)])
    bowl.taffeta.collider.friction = SLIP
    dyed = [satin(ground) for ground, _ in DYES]
    for number in range(COUNT):
        away, angle = WITHIN * sqrt((number + 0.5) / COUNT), number * GOLDEN
        place = (away * cos(angle), away * sin(angle), LOWEST + number * HIGHER + 0.5 * LENGTH)
        ribbon = add_sheet(
            f"Ribbon {number + 1:02}", vertices // COUNT, WIDTH, place,
            (radians(90.0) + LEAN * sin(3.0 * angle), 0.0, 2.0 * angle), LENGTH / WIDTH,
        )  # fmt: skip
        ribbon.data.materials[0] = dyed[number % len(dyed)]
        ribbon.taffeta.cloth.preset = "POLYESTER"

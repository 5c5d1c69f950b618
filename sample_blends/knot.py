# SPDX-License-Identifier: GPL-3.0-or-later
"""Two strips are tied to each other in a water knot, pulled tight, loaded by their long ends only, and let go."""

from __future__ import annotations

from math import radians

import numpy as np
import numpy.typing as npt

from .actors import add_hand, beyond, hold, let_go, move
from .look import DYES
from .studio import approach, light_and_film
from .tying import add_strip, beside, curve

SIZE = 0.056  #: m: a unit of the way below
REACH = 2.02  #: the parameter at either end of the loop, which is that of a polynomial trefoil
CROSSINGS = ((-1.93, -1.0), (-1.73, 1.0), (-0.518, -1.0), (0.518, 1.0), (1.73, -1.0), (1.93, 1.0))  #: above or below
ENDS = ((2.7, 1.0), (3.6, 1.35), (4.6, 1.5))  #: units, of the right end from the loop on; the left one mirrors it
RISE = 0.011  #: m, by which strips lie above and below the middle where the way crosses itself
APART = 0.006  #: m from strip to strip
HEIGHT = 0.03  #: m above the floor
END = ENDS[-1][0] * SIZE  #: m from the middle
AWAY, LOADED = 0.64, 0.65  #: m, where the hands have pulled the knot tight, and where its long ends alone hold it
WAY = ((1, END), (8, END), (84, AWAY), (96, AWAY), (108, LOADED))  #: frame, and m
SHORT, LET_GO, FRAMES = 90, 120, 144  #: frames: hands let the short ends go, then the long ones


def build(vertices: int) -> None:
    """Fill the empty session: both strips together have about `vertices`."""
    floor = light_and_film(
        target=(0.0, 0.03, 0.02), distance=1.35, frames=FRAMES, azimuth=radians(-80.0), elevation=radians(42.0)
    )
    approach((0.0, 0.0, HEIGHT), 0.5, WAY[1][0], WAY[2][0])
    floor.taffeta.role = "COLLIDER"
    way = _overhand()
    hands = {}
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        hands[side] = add_hand(f"{name} Hand", (side * END, 0.0, HEIGHT))
        move(hands[side], ((frame, (side * away, 0.0, HEIGHT)) for frame, away in WAY))
    for name, side, dye in (("Left", -1.0, 0), ("Right", 1.0, 1)):
        strip = add_strip(f"{name} Strip", vertices // 2, beside(way, 0.5 * side * APART), DYES[dye][0])
        strip.location.z = HEIGHT
        long = hold(strip, "Long End", beyond(side, END - 0.006), hands[side])
        short = hold(strip, "Short End", beyond(-side, END - 0.006), hands[-side])
        let_go(long, LET_GO)
        let_go(short, SHORT)


def _overhand() -> npt.NDArray[np.float64]:
    """(P, 3) the way from left to right, m."""
    t = np.linspace(-REACH, REACH, 80)
    loop = np.column_stack([t**3 - 3.0 * t, 0.8 * (t**4 - 4.0 * t**2)])
    right = np.array(ENDS)
    points = SIZE * np.concatenate([right[::-1] * [-1.0, 1.0], loop, right])
    along = np.insert(np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)), 0, 0.0) / SIZE
    at, height = np.array(CROSSINGS).T
    shares = np.interp(at, t, along[len(right) : -len(right)]) / along[-1]
    return curve(points, [(0.0, 0.0), *zip(shares, RISE * height, strict=True), (1.0, 0.0)])

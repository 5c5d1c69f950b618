# SPDX-License-Identifier: GPL-3.0-or-later
"""A cape on the shoulders of a figure that walks: its pins follow the figure's surface, and let go side by side."""

from __future__ import annotations

from functools import partial
from math import radians

from .actors import add_figure, add_sheet, hold, let_go, move
from .studio import light_and_film

WIDTH, HEIGHT = 0.9, 1.0  #: m
AWAY, MIDDLE = 0.155, 0.865  #: m, of the cape's middle, from the figure and from the floor
TILT = radians(8.0)  #: so that its hem is farther off the figure
SHOULDER = (0.09, 0.19)  #: m from the middle, the parts of its upper edge that are held
AZIMUTH, ELEVATION, FILM = radians(55.0), radians(22.0), (720, 720)  #: of the camera, and its pixels
FRAMES = 108
DOWN = -0.1  #: m, so that the figure stands just above the floor
WAY = ((1, (0.0, 0.6, DOWN)), (18, (0.0, 0.6, DOWN)), (72, (0.0, -0.6, DOWN)))  #: frame and place, m
LET_GO = {"Left Shoulder": (1.0, 64), "Right Shoulder": (-1.0, 80)}  #: side, and frame


def build(vertices: int) -> None:
    """Fill the empty session: the cape has the grid nearest to `vertices`."""
    floor = light_and_film(
        target=(0.0, 0.0, 0.76), distance=4.5, frames=FRAMES, azimuth=AZIMUTH, elevation=ELEVATION, film=FILM
    )
    body = add_figure("Body")
    move(body, WAY)
    floor.taffeta.role = "COLLIDER"
    middle, turned = (0.0, WAY[0][1][1] + AWAY, MIDDLE), (radians(90.0) + TILT, 0.0, 0.0)
    cape = add_sheet("Cape", vertices, WIDTH, middle, turned, HEIGHT / WIDTH)
    for name, (side, frame) in LET_GO.items():
        let_go(hold(cape, name, partial(_at_shoulder, side), body), frame)


def _at_shoulder(side: float, x: float, y: float, _z: float) -> bool:
    return y > 0.499 * HEIGHT and SHOULDER[0] < side * x < SHOULDER[1]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A flag of cotton on a pole, in a light breeze into which a gust comes: a Wind with keys, and Turbulence."""

from __future__ import annotations

from math import radians

from .actors import add_field, add_sheet, add_stand, pin
from .studio import light_and_film

WIDTH, SHARE = 1.2, 2.0 / 3.0  #: m, and its height by its width
HEIGHT = 1.1  #: m, of its middle
FRAMES = 120
GUST = ((1, 3.0), (30, 3.0), (42, 10.0), (72, 10.0), (96, 4.0))  #: frame, m/s
CLEAR = 0.03  #: m between the pole's axis and the cloth


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the grid nearest to `vertices`."""
    light_and_film(target=(0.0, 0.0, 0.95), distance=4.6, frames=FRAMES)
    flag = add_sheet("Flag", vertices, WIDTH, (0.0, 0.0, HEIGHT), (radians(90.0), 0.0, 0.0), SHARE)
    pin(flag, lambda x, y, z: x < -0.499 * WIDTH)
    pole = add_stand((-0.5 * WIDTH - CLEAR, 0.0, HEIGHT + 0.5 * SHARE * WIDTH + 0.06))
    pole.taffeta.role = "COLLIDER"
    wind = add_field("WIND", GUST[0][1], (-1.5, 0.0, HEIGHT), (0.0, radians(90.0), 0.0))
    for frame, speed in GUST:
        wind.field.strength = speed
        wind.keyframe_insert("field.strength", frame=frame)
    eddies = add_field("TURBULENCE", 0.4, (0.0, 0.0, HEIGHT), (0.0, 0.0, 0.0))
    eddies.field.size, eddies.field.flow, eddies.field.wind_factor = 0.5, 0.0, 1.0
    for frame, place in ((1, 0.0), (FRAMES, 20.0)):  # they drift with the wind
        eddies.location.x = place
        eddies.keyframe_insert("location", index=0, frame=frame)

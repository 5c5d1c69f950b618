# SPDX-License-Identifier: GPL-3.0-or-later
"""A curtain held along its upper edge; a sphere is pushed slowly into it, through its plane and back."""

from __future__ import annotations

from math import radians

from .actors import add_sheet, add_sphere, pin
from .studio import light_and_film

RADIUS = 0.2  #: m
HEIGHT = 0.8  #: m, of the curtain's middle
FRAMES = 96
NEAR, FAR = -0.3, 0.3  #: m, where the sphere's centre turns; the curtain hangs at 0


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the square grid nearest to `vertices`."""
    light_and_film(target=(0.0, 0.0, 0.75), distance=4.0, frames=FRAMES)
    sheet = add_sheet("Curtain", vertices, size=1.0, location=(0.0, 0.0, HEIGHT), rotation=(radians(90.0), 0.0, 0.0))
    pin(sheet, lambda x, y, z: y > 0.499)
    sphere = add_sphere("Sphere", RADIUS, (0.0, NEAR, HEIGHT - 0.15))
    for frame, place in ((1, NEAR), (FRAMES // 2, FAR), (FRAMES, NEAR)):
        sphere.location.y = place
        sphere.keyframe_insert("location", index=1, frame=frame)

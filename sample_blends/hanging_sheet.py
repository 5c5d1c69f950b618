# SPDX-License-Identifier: GPL-3.0-or-later
"""A square of cotton, 1 m wide, held at two corners, swings down from the horizontal."""

from __future__ import annotations

from .actors import add_sheet, pin
from .studio import light_and_film

HEIGHT = 1.3  #: m


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the square grid nearest to `vertices`."""
    light_and_film(target=(0.0, 0.0, 0.8), distance=4.9, frames=96)
    sheet = add_sheet("Cloth", vertices, size=1.0, location=(0.0, -0.5, HEIGHT))
    pin(sheet, lambda x, y, z: y > 0.499 and abs(x) > 0.499)

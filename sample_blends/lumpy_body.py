# SPDX-License-Identifier: GPL-3.0-or-later
"""A tablecloth falls over a lumpy body and clings to its bumps (lan2024, figure 4)."""

from __future__ import annotations

from math import cos, sin

from mathutils import Vector

from .actors import add_sheet, add_sphere
from .studio import light_and_film

SIZE = 1.0  #: m
RADIUS, FLATTENED = 0.4, 0.7  #: m, and its height by its width
BUMPS = 0.9  #: of the sum of waves below
DROP, CLEAR = 0.03, 2.0e-3  #: m, above the body and below it
FRAMES = 60


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the square grid nearest to `vertices`."""
    floor = light_and_film(target=(0.0, 0.0, 0.3), distance=3.2, frames=FRAMES)
    floor.taffeta.role = "COLLIDER"
    body = add_sphere("Body", RADIUS, (0.0, 0.0, 0.0))
    for vertex in body.data.vertices:
        vertex.co *= 1.0 + BUMPS * lumps(vertex.co / RADIUS)
        vertex.co.z *= FLATTENED
    heights = [vertex.co.z for vertex in body.data.vertices]
    body.location.z = CLEAR - min(heights)
    add_sheet("Tablecloth", vertices, SIZE, (0.0, 0.0, body.location.z + max(heights) + DROP))


def lumps(way: Vector) -> float:
    """By what share the body is wider in a direction."""
    x, y, z = way
    return 0.08 * sin(7.0 * x + 1.0) * cos(6.0 * y) + 0.06 * sin(9.0 * y + 5.0 * z) + 0.05 * cos(11.0 * x)

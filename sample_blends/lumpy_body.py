# SPDX-License-Identifier: GPL-3.0-or-later
"""A tablecloth falls over a lumpy body and clings to its bumps (lan2024, figure 4)."""

from __future__ import annotations

from math import cos, sin

import bpy
from mathutils import Vector

from .actors import add_sheet, add_sphere
from .studio import light_and_film

SIZE = 1.0  #: m
RADIUS, FLATTENED = 0.4, 0.7  #: m, and its height by its width
BUMPS = 0.9  #: of the sum of waves below
DROP = 0.03  #: m
FRAMES = 60


def build(vertices: int) -> None:
    """Fill the empty session: the cloth has the square grid nearest to `vertices`."""
    light_and_film(target=(0.0, 0.0, 0.26), distance=3.0, frames=FRAMES)
    bpy.data.objects["Floor"].taffeta.role = "COLLIDER"
    middle = 1.15 * FLATTENED * RADIUS
    body = add_sphere("Body", RADIUS, (0.0, 0.0, middle))
    for vertex in body.data.vertices:
        vertex.co *= 1.0 + BUMPS * lumps(vertex.co / RADIUS)
        vertex.co.z *= FLATTENED
    top = max(vertex.co.z for vertex in body.data.vertices)
    add_sheet("Tablecloth", vertices, SIZE, (0.0, 0.0, middle + top + DROP))


def lumps(way: Vector) -> float:
    """By what share the body is wider in a direction."""
    x, y, z = way
    return 0.08 * sin(7.0 * x + 1.0) * cos(6.0 * y) + 0.06 * sin(9.0 * y + 5.0 * z) + 0.05 * cos(11.0 * x)

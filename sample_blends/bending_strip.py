# SPDX-License-Identifier: GPL-3.0-or-later
"""Strips that stand out from a wall and bend under their own weight, each as stiff as its fabric is."""

from __future__ import annotations

from math import radians

import bmesh
import bpy
from mathutils import Matrix, Vector

from .actors import add_sheet, pin
from .look import DYES, fabric, plaster
from .studio import light_and_film

LENGTH, WIDTH = 0.13, 0.03  #: m
HELD = 0.015  #: m of them, level
APART, HEIGHT = 0.06, 0.24  #: m from strip to strip, and from the floor
WALL = (0.03, 0.36, 0.3)  #: m
CLEAR = 0.004  #: m from the wall
FABRICS = ("FELT", "CANVAS", "DENIM", "COTTON", "SILK")  #: from stiff to soft
FRAMES = 72


def build(vertices: int) -> None:
    """Fill the empty session: all strips together have about `vertices`."""
    light_and_film(
        target=(0.03, 0.0, 0.14), distance=1.15, frames=FRAMES, azimuth=radians(-68.0), elevation=radians(14.0)
    )
    _add_wall()
    for number, kind in enumerate(FABRICS):
        place = (CLEAR + 0.5 * LENGTH, (number - 0.5 * (len(FABRICS) - 1)) * APART, HEIGHT)
        strip = add_sheet(kind.capitalize(), vertices // len(FABRICS), LENGTH, place, share=WIDTH / LENGTH)
        strip.data.materials[0] = fabric(*DYES[number])
        strip.taffeta.cloth.preset = kind
        pin(strip, lambda x, y, z: x < HELD - 0.5 * LENGTH)


def _add_wall() -> None:
    shape = bmesh.new()
    middle = Vector((-0.5 * WALL[0], 0.0, 0.5 * WALL[2] + 0.002))
    bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.LocRotScale(middle, None, Vector(WALL)))
    bmesh.ops.bevel(shape, geom=shape.edges[:], offset=0.003, segments=2, profile=0.5, affect="EDGES")
    mesh = bpy.data.meshes.new("Wall")
    shape.to_mesh(mesh)
    shape.free()
    mesh.materials.append(plaster((0.36, 0.33, 0.30)))
    wall = bpy.data.objects.new("Wall", mesh)
    bpy.context.scene.collection.objects.link(wall)
    wall.taffeta.role = "COLLIDER"

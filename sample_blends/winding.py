# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ends of a cloth along x, each fast to a bar or a hoop, that turn against each other and come nearer."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from .actors import beyond, hold
from .look import varnish

THICK = 0.006  #: m, radius of bars and hoops
KEY_EVERY = 6  #: frames
EASE = 1.5  #: power of the turn that the ends come nearer with: what the first turns wind up is little


def wind(
    cloth: bpy.types.Object,
    half: float,
    grip: Callable[[str], bpy.types.Object],
    *,
    turns: float,
    drawn: float,
    frames: tuple[int, int],
) -> None:
    """Turn the ends at x = ±half, m, from frame to frame, until one has gone `turns` times round against the other.

    grip: makes what an end is fast to, in its own x = 0. drawn: by what share they come nearer at last.
    """
    first, last = frames
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        end = grip(name)
        end.location = cloth.location
        end.location.x += side * half
        bpy.context.view_layer.update()
        hold(cloth, name, beyond(side, 0.999 * half), end)
        for frame in np.linspace(first, last, 1 + (last - first) // KEY_EVERY):
            way = (frame - first) / (last - first)
            share = way * way * (3.0 - 2.0 * way)
            end.rotation_euler.x = side * share * turns * np.pi
            end.location.x = cloth.location.x + side * half * (1.0 - drawn * share**EASE)
            for path, index in (("rotation_euler", 0), ("location", 0)):
                end.keyframe_insert(path, index=index, frame=float(frame))


def bar(name: str, width: float) -> bpy.types.Object:
    """A round bar along y, m, for the eye only."""
    shape = bmesh.new()
    across = Matrix.Rotation(np.pi / 2.0, 4, "X")
    bmesh.ops.create_cone(
        shape, cap_ends=True, segments=24, radius1=THICK, radius2=THICK, depth=width + 0.04, matrix=across
    )
    return _linked(name, shape)


def hoop(name: str, radius: float) -> bpy.types.Object:
    """A ring about x, m, for the eye only."""
    shape = bmesh.new()
    bmesh.ops.create_circle(shape, segments=16, radius=THICK, matrix=Matrix.Translation((0.0, radius, 0.0)))
    bmesh.ops.spin(
        shape, geom=shape.edges[:], cent=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0), angle=2.0 * np.pi, steps=96,
        use_merge=True,
    )  # fmt: skip
    return _linked(name, shape)


def _linked(name: str, shape: bmesh.types.BMesh) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    shape.to_mesh(mesh)
    shape.free()
    mesh.shade_smooth()
    mesh.materials.append(varnish())
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made

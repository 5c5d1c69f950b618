# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ends of a cloth along x, each fast to a bar or a hoop, that turn against each other and come nearer."""

from __future__ import annotations

from collections.abc import Callable
from math import tau

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from .actors import beyond, hold
from .look import varnish
from .rings import ring_faces

THICK = 0.006  #: m, radius of bars and hoops
ROUND, ACROSS = 96, 16  #: vertices of a hoop
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
    mesh = bpy.data.meshes.new(name)
    shape.to_mesh(mesh)
    shape.free()
    return _linked(mesh)


def hoop(name: str, radius: float) -> bpy.types.Object:
    """A ring about x, m, for the eye only.

    Made by hand: bmesh's spin lists faces in another order each time, and with it pins go otherwise in the last digit.
    """
    around = tau * np.arange(ROUND)[:, None] / ROUND
    across = tau * np.arange(ACROSS) / ACROSS
    out = radius + THICK * np.cos(across)
    places = np.stack(
        np.broadcast_arrays(THICK * np.sin(across), out * np.cos(around), out * np.sin(around)), axis=-1
    ).reshape(-1, 3)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(places.tolist(), [], (ring_faces(ROUND + 1, ACROSS) % len(places)).tolist())
    return _linked(mesh)


def _linked(mesh: bpy.types.Mesh) -> bpy.types.Object:
    mesh.shade_smooth()
    mesh.materials.append(varnish())
    made = bpy.data.objects.new(mesh.name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are turned on a lathe or drawn along a path: pots, bowls, plates, spouts. All are closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import tau

import bpy
import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator

from .look import varnish

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """A closed surface seen from outside."""

    places: Array  #: (N, 3) m
    faces: list[tuple[int, ...]]

    def moved(self, x: float, y: float, z: float) -> Shape:
        return Shape(self.places + [x, y, z], self.faces)


def smooth(points: Sequence[Sequence[float]], count: int) -> Array:
    """(count, D) places evenly along a curve through points (P, D) that turns no farther than they do."""
    given = np.array(points)
    along = np.insert(np.cumsum(np.linalg.norm(np.diff(given, axis=0), axis=1)), 0, 0.0)
    return np.asarray(PchipInterpolator(along, given)(np.linspace(0.0, along[-1], count)))


def turned(profile: Array, columns: int, lobes: Array | None = None) -> Shape:
    """What a lathe makes: profile (R, 2) radius and height from below up, m, which begins and ends on the axis.

    lobes: (R, columns) m that are added to the radius.
    """
    angle = tau * np.arange(columns) / columns
    radius = profile[1:-1, :1] + (0.0 if lobes is None else lobes[1:-1])
    height = np.broadcast_to(profile[1:-1, 1:], (len(profile) - 2, columns))
    rings = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1)
    return _capped(rings, np.array([0.0, 0.0, profile[0, 1]]), np.array([0.0, 0.0, profile[-1, 1]]))


def drawn(path: Array, radii: Array, columns: int) -> Shape:
    """A tube along a path (P, 3) in the plane y = 0, m, with radii (P,) and flat ends."""
    forwards = np.gradient(path, axis=0)
    forwards /= np.linalg.norm(forwards, axis=1, keepdims=True)
    across = np.array([0.0, 1.0, 0.0])
    up = np.cross(forwards, across)
    angle = tau * np.arange(columns)[:, None] / columns
    rings = path[:, None] + radii[:, None, None] * (np.cos(angle) * up[:, None] + np.sin(angle) * across)
    return _capped(rings, path[0], path[-1])


def _capped(rings: Array, first: Array, last: Array) -> Shape:
    """Rings (R, C, 3) that turn to the left of the way from the first to the last, with a middle of both ends."""
    rows, columns, _ = rings.shape
    here = np.arange(columns)
    there = (here + 1) % columns
    faces: list[tuple[int, ...]] = []
    for lower, upper in pairwise(columns * np.arange(rows)):
        faces += np.column_stack([lower + here, lower + there, upper + there, upper + here]).tolist()
    end = rows * columns
    faces += np.column_stack([there, here, np.full(columns, end)]).tolist()
    faces += np.column_stack([end - columns + here, end - columns + there, np.full(columns, end + 1)]).tolist()
    return Shape(np.concatenate([rings.reshape(-1, 3), [first, last]]), faces)


def add_body(name: str, shapes: Iterable[Shape], material: bpy.types.Material | None = None) -> bpy.types.Object:
    """One object of these shapes, of glazed earthenware unless it has another material. Cloth collides with it."""
    places: list[Array] = []
    faces: list[tuple[int, ...]] = []
    for shape in shapes:
        first = sum(map(len, places))
        faces += [tuple(first + vertex for vertex in face) for face in shape.faces]
        places.append(shape.places)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.concatenate(places).tolist(), [], faces)
    mesh.shade_smooth()
    mesh.materials.append(material or varnish())
    body: bpy.types.Object = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(body)
    body.taffeta.role = "COLLIDER"
    return body

# SPDX-License-Identifier: GPL-3.0-or-later
"""The pattern of a garment: a UV map that has its panels as they were cut, flat and without stress."""

from __future__ import annotations

import bpy
import numpy as np

from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.scene import SceneError
from . import mesh as mesh_arrays
from . import modifier

FLAT = 1.0e-7  #: area of a triangle relative to its longest side squared, that is none


def corners(item: bpy.types.Object, mesh: bpy.types.Mesh, points: Array) -> Array | None:
    """(T, 3, 3) m, the corners of `mesh.triangles` in the plane z = 0; None where the cloth has no pattern.

    points: (N, 3) the vertices in the world, m. Raises SceneError.
    """
    name, scale = item.taffeta.cloth.pattern_map, float(item.taffeta.cloth.pattern_scale)
    if not name:
        return None
    layer = mesh.uv_layers.get(name)
    if layer is None:
        raise SceneError(item.name, f"there is no UV map “{name}” for its pattern", "Choose another or clear the field")
    places = mesh_arrays.corner_places(mesh, layer)
    area, whole = areas(places), areas(points[mesh_arrays.triangles(mesh)])
    longest = np.linalg.norm(places - np.roll(places, 1, axis=1), axis=2).max(axis=1)
    flat = int((~(area > FLAT * longest**2)).sum())
    if flat:
        problem = f"{flat} triangles have no area in the UV map “{name}” of its pattern"
        raise SceneError(item.name, problem, "Unwrap them (UV > Unwrap), or clear the field")
    if not scale:
        scale = float(np.sqrt(whole.sum() / area.sum()))
    return np.concatenate([scale * places, np.zeros((*places.shape[:2], 1))], axis=2)


def may_exist(item: bpy.types.Object) -> bool:
    """May its UV map be there, as far as one sees without evaluating the object? Geometry nodes may yet make it."""
    name = item.taffeta.cloth.pattern_map
    there = item.type == "MESH" and name in item.data.uv_layers
    return there or modifier.may_make_attributes(item)


def ordered(triangles: IntArray, places: Array, wanted: IntArray) -> Array:
    """The corners (T, 3, 3) of triangles (T, 3) for the same ones whose corners come in another order."""
    corner = np.argmax(triangles[:, None, :] == wanted[:, :, None], axis=2)
    return np.take_along_axis(places, corner[:, :, None], axis=1)


def areas(places: Array) -> Array:
    """(T,) of triangles (T, 3, 2 or 3)."""
    first, second = places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]
    along, across, between = (
        np.einsum("ti,ti->t", a, b) for a, b in ((first, first), (second, second), (first, second))
    )
    return np.asarray(0.5 * np.sqrt(np.maximum(along * across - between**2, 0.0)))

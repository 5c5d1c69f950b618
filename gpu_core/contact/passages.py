# SPDX-License-Identifier: GPL-3.0-or-later
"""Who went through whom from one side to the other. Nothing of it is left to be seen where all then lies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ..scene.arrays import Array, IntArray
from .patches import Surface

HALVINGS = 40  #: of the time in which a vertex meets a plane: to the last digit of a float32 and beyond


def passages(
    before: Array, after: Array, surface: Surface, carried: npt.NDArray[np.bool_]
) -> tuple[IntArray, IntArray]:
    """Vertices (K,) and the triangles (K, 3) that they passed on straight ways from `before` to `after` (V, 3), m.

    Only what was carried on without regard to contact, vertices (V,), can pass; of each pair one is of cloth.
    """
    corners = surface.triangles.astype(np.int64)
    moved = carried[corners].any(axis=1)
    vertices = np.arange(len(before))
    found = [
        _passed(before, after, *_near(before, after, some, others))
        for some, others in ((vertices, corners[moved]), (vertices[carried], corners[~moved]))
    ]
    vertex, triangle = (np.concatenate(part) for part in zip(*found, strict=True))
    cloth = np.minimum(vertex, triangle.min(axis=1)) < surface.cloth_vertices
    return vertex[cloth], triangle[cloth]


def _near(before: Array, after: Array, vertices: IntArray, triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of vertices (K,) and triangles (K, 3) that they are no corner of, whose ways come near each other."""
    if not len(vertices) or not len(triangles):
        return np.zeros(0, np.int64), np.zeros((0, 3), np.int64)
    ways = np.stack([before, after], axis=1)
    middle, half = ways[vertices].mean(axis=1), np.linalg.norm(np.ptp(ways[vertices], axis=1), axis=1) / 2
    swept = ways[triangles].reshape(len(triangles), -1, 3)
    low, high = swept.min(axis=1), swept.max(axis=1)
    reach = np.linalg.norm(high - low, axis=1) / 2 + half.max()
    lists = cKDTree(middle).query_ball_point((low + high) / 2, reach, return_sorted=False)
    index = np.repeat(np.arange(len(triangles)), [len(each) for each in lists])
    vertex, triangle = vertices[np.concatenate([*lists, []]).astype(np.int64)], triangles[index]
    apart = (triangle != vertex[:, None]).all(axis=1)
    return vertex[apart], triangle[apart]


def _passed(before: Array, after: Array, vertex: IntArray, triangle: IntArray) -> tuple[IntArray, IntArray]:
    """Of these pairs those in which the vertex changes sides, and is within the triangle when it does."""
    elements = np.column_stack([vertex, triangle])
    changed = _side(before[elements]) * _side(after[elements]) < 0
    elements = elements[changed]
    first, last = before[elements], after[elements]
    start, low, high = _side(first), np.zeros(len(elements)), np.ones(len(elements))
    for _ in range(HALVINGS):
        time = (low + high) / 2
        same = _side(first + time[:, None, None] * (last - first)) * start > 0
        low, high = np.where(same, time, low), np.where(same, high, time)
    meeting = first + high[:, None, None] * (last - first)
    inside = _is_within(meeting[:, 0], meeting[:, 1:])
    return elements[inside, 0], elements[inside, 1:]


def _side(places: Array) -> npt.NDArray[np.float64]:
    """On which side of the triangle the vertex is: volumes (K,) of vertex and corners (K, 4, 3)."""
    a, b, c = (places[:, corner] - places[:, 0] for corner in (1, 2, 3))
    return np.asarray(np.einsum("ij,ij->i", a, np.cross(b, c)))


def _is_within(point: Array, corner: Array) -> npt.NDArray[np.bool_]:
    """Whether points (K, 3) in the planes of triangles (K, 3, 3) are within these."""
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    turns = [
        np.einsum("ij,ij->i", normal, np.cross(corner[:, (k + 1) % 3] - corner[:, k], point - corner[:, k]))
        for k in range(3)
    ]
    return np.asarray((np.stack(turns) >= 0).all(axis=0) & (normal != 0).any(axis=1))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines in which surfaces cross, to be shown."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..scene.arrays import Array
from ..scene.mesh import edge_sides
from .patches import Surface
from .tangles import Tangles


def outlines(positions: npt.NDArray[np.floating], surface: Surface, found: Tangles) -> Array:
    """(S, 2, 3) segments, m: two triangles that cross share one, from where an edge of either pierces the other to
    the next. positions: (V, 3)."""
    if not len(found.corners):
        return np.zeros((0, 2, 3))
    edges, weight = surface.edges.astype(np.int64), np.array([1 << 32, 1])
    own = np.sort(found.corners[:, :2], axis=1).astype(np.int64)
    sides = edge_sides(surface.triangles, surface.edges, surface.cords)[np.searchsorted(edges @ weight, own @ weight)]
    keys = np.sort(surface.triangles, axis=1).astype(np.int64) @ [1 << 42, 1 << 21, 1]
    order = np.argsort(keys, kind="stable")
    crossed = np.sort(found.corners[:, 2:], axis=1).astype(np.int64) @ [1 << 42, 1 << 21, 1]
    triangle = order[np.searchsorted(keys[order], crossed)]
    many = sides.shape[1]
    beside = (sides // 6).ravel()
    both = np.column_stack([beside, np.repeat(triangle, many)])
    there = np.flatnonzero((sides.ravel() >= 0) & (beside < len(surface.triangles)))
    pair = np.sort(both[there], axis=1)
    points = np.repeat(_points(positions, found), many, axis=0)[there]
    order = np.lexsort((pair[:, 1], pair[:, 0]))
    pair, points = pair[order], points[order]
    first = np.flatnonzero((pair[1:] == pair[:-1]).all(axis=1))
    return np.stack([points[first], points[first + 1]], axis=1)


def _points(positions: npt.NDArray[np.floating], found: Tangles) -> Array:
    """(K, 3) where each edge pierces its triangle's plane, or its middle where it lies in it."""
    p, q, a, b, c = (np.asarray(positions, np.float64)[found.corners[:, k]] for k in range(5))
    normal = np.cross(b - a, c - a)
    before, after = ((end - a) * normal for end in (p, q))
    before, after = before.sum(axis=1), after.sum(axis=1)
    apart = before - after
    share = np.divide(before, apart, out=np.full(len(p), 0.5), where=np.abs(apart) > 1e-300)
    return np.asarray(p + np.clip(share, 0.0, 1.0)[:, None] * (q - p))

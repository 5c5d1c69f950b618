# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams that nobody sewed: borders of a mesh that lie on each other, as imports leave them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from .arrays import IntArray
from .mesh import directed_edges

NEAR = 0.1  #: of the thickness: no farther apart are vertices that are meant to be one


def lying_seams(triangles: IntArray, positions: npt.NDArray[np.floating], tolerance: float) -> IntArray:
    """(S, 2) vertices of borders that lie in one place, give or take the tolerance, m, where both ends of an edge do.

    triangles: (T, 3). positions: (N, 3) m. Not where the triangles beside lie on each other too: that is a copy.
    """
    ends, third = directed_edges(triangles), triangles[:, [2, 0, 1]].reshape(-1)
    key = np.sort(ends, axis=1).astype(np.int64) @ [1 << 32, 1]
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    border = np.flatnonzero(count[number] == 1)
    if not len(border):
        return np.zeros((0, 2), np.int32)
    middles = positions[ends[border]].mean(axis=1)
    pairs = border[cKDTree(middles).query_pairs(tolerance, output_type="ndarray")]
    if not len(pairs):
        return np.zeros((0, 2), np.int32)
    first, second = ends[pairs[:, 0]], ends[pairs[:, 1]]

    def apart(a: IntArray, b: IntArray) -> npt.NDArray[np.floating]:
        return np.asarray(np.linalg.norm(positions[a] - positions[b], axis=-1))

    turned = apart(first, second).max(axis=1) > apart(first, second[:, ::-1]).max(axis=1)
    second = np.where(turned[:, None], second[:, ::-1], second)
    beside = apart(third[pairs[:, 0]], third[pairs[:, 1]]) > tolerance
    meant = (apart(first, second) <= tolerance).all(axis=1) & beside
    found = np.concatenate([np.column_stack([first[meant, k], second[meant, k]]) for k in range(2)])
    found = np.unique(np.sort(found, axis=1), axis=0)
    return found[found[:, 0] != found[:, 1]].astype(np.int32)

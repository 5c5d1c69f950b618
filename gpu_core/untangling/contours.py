# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets go back along the gradient of the length of the lines in which they cross (Volino, Magnenat-Thalmann 2006)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..contact.tangles import Tangles
from ..scene.arrays import Array, IntArray
from .fabric import Fabric

STEP = 0.5  #: edges that what crosses goes in a round, at most
WIDE = 1.5  #: edges that a whole sheet goes in a round
REACH = 2.0  #: edges, how far the motion of a place is felt


def shorter(fabric: Fabric, found: Tangles) -> Array | None:
    """(V, 3) where a round leads in which each place follows its own gradient; None where there is none."""
    gradient = fabric.line_gradients(fabric.places, found)
    length = np.linalg.norm(gradient, axis=1, keepdims=True)
    if not (length > 1e-6).any():
        return None
    step = 0.5 * STEP * fabric.length * gradient / np.sqrt(length**2 + 1.0)
    total, count = np.zeros_like(fabric.places), np.zeros(len(fabric.places))
    for vertices, way in ((found.corners[:, :2], step), (found.corners[:, 2:], -step)):
        np.add.at(total, vertices, way[:, None])
        np.add.at(count, vertices, 1.0)
    moved = np.flatnonzero((count[: fabric.cloth] > 0) & fabric.free)
    return _moved(fabric, moved, total[moved] / count[moved, None], REACH) if len(moved) else None


def apart(fabric: Fabric, found: Tangles) -> Array | None:
    """(V, 3) where a round leads in which sheets that cross each other go as wholes, along the sum of the gradients;
    None where no two do."""
    one, other = _sheets(fabric, found)
    gradient = fabric.line_gradients(fabric.places, found)
    total = np.zeros((fabric.sheets + 1, 3))
    between = one != other
    np.add.at(total, one[between], gradient[between])
    np.add.at(total, other[between], -gradient[between])
    length = np.linalg.norm(total, axis=1, keepdims=True)
    total *= WIDE * fabric.length / np.maximum(length, 1e-30)
    corners = np.unique(found.corners[between])
    moved = corners[corners < fabric.cloth]
    moved = moved[fabric.free[moved] & (length[fabric.sheet[moved], 0] > 1e-6)]
    return _moved(fabric, moved, total[fabric.sheet[moved]], np.inf) if len(moved) else None


def longest(fabric: Fabric, found: Tangles) -> float:
    """Of the lines in which different sheets cross, the extent of the one that reaches farthest, m."""
    one, other = _sheets(fabric, found)
    corners = found.corners[one != other]
    if not len(corners):
        return 0.0
    vertices, own = np.unique(corners, return_inverse=True)
    own = own.reshape(corners.shape)
    rows, columns = np.repeat(own[:, 0], own.shape[1]), own.ravel()
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(vertices), len(vertices)))
    line = csgraph.connected_components(graph, directed=False)[1]
    order, places = np.argsort(line, kind="stable"), fabric.places[vertices]
    starts = np.searchsorted(line[order], np.arange(line.max() + 1))
    low, high = (of.reduceat(places[order], starts) for of in (np.minimum, np.maximum))
    return float(np.linalg.norm(high - low, axis=1).max())


def _sheets(fabric: Fabric, found: Tangles) -> tuple[IntArray, IntArray]:
    """((K,) of which sheet each edge is, (K,) each triangle), bodies as one more."""
    sheet = np.append(fabric.sheet, np.full(len(fabric.places) - fabric.cloth, fabric.sheets))
    return sheet[found.corners[:, 0]], sheet[found.corners[:, 2]]


def _moved(fabric: Fabric, vertices: IntArray, ways: Array, reach: float) -> Array:
    places = fabric.places.copy()
    places[: fabric.cloth] += fabric.spread(vertices, ways, np.zeros(0, np.int64), reach)
    return places

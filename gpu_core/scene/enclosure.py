# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mesh encloses: its islands, their volumes, and the rims of its holes, each closed by a cone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from .arrays import Array, IntArray
from .mesh import directed_edges

THIN = 1.0e-6  #: volume, relative to area^(3/2), below which nobody can tell inside from outside


class Enclosure(NamedTuple):
    """Of N vertices, all of them in triangles; I islands, R rims of E edges."""

    island: IntArray  #: (N,) of each vertex
    volume: Array  #: (I,) m³, negative where the mesh is inside out; 0 where it is too thin to tell
    area: Array  #: (I,) m²
    ends: IntArray  #: (E, 2) of the rims' edges, as their triangles run, rim by rim
    rim: IntArray  #: (E,)


def enclosure(positions: Array, triangles: IntArray) -> Enclosure:
    """positions: (N, 3) m. triangles: (T, 3)"""
    vertices = len(positions)
    ends = directed_edges(triangles)
    island = _connected(ends, vertices)
    rims = _open(ends)
    rim = np.zeros(0, np.int32)
    if len(rims):
        known, label = np.unique(rims[:, 0], return_inverse=True)
        place = np.zeros(vertices, np.int32)
        place[known] = np.arange(len(known), dtype=np.int32)
        rim = _connected(place[rims], len(known))[label]
        order = np.argsort(rim, kind="stable")
        rims, rim = rims[order], rim[order]
    a, b, c = (positions[triangles[:, k]] - positions.mean(axis=0) for k in range(3))
    double = np.cross(b - a, c - a)
    count = int(island.max()) + 1
    area, volume = np.zeros(count), np.zeros(count)
    area += np.bincount(island[triangles[:, 0]], 0.5 * np.linalg.norm(double, axis=1), minlength=count)
    volume += np.bincount(island[triangles[:, 0]], (a * double).sum(axis=1) / 6.0, minlength=count)
    if len(rims):
        here = positions - positions.mean(axis=0)
        middle = np.column_stack([np.bincount(rim, here[rims[:, 0], k]) for k in range(3)]) / np.bincount(rim)[:, None]
        cone = np.cross(here[rims[:, 0]], middle[rim])
        volume += np.bincount(island[rims[:, 0]], (here[rims[:, 1]] * cone).sum(axis=1) / 6.0, minlength=count)
    volume[np.abs(volume) < THIN * area**1.5] = 0.0
    return Enclosure(island, volume, area, rims.astype(np.int32), rim)


def _open(ends: IntArray) -> IntArray:
    """(E, 2) the directed edges that no triangle runs back."""
    forth, back = (ends[:, k].astype(np.int64) << 32 | ends[:, 1 - k] for k in range(2))
    return np.asarray(ends[~np.isin(forth, back)])


def _connected(edges: IntArray, vertices: int) -> IntArray:
    """(N,) number of the component of each vertex, in order of their first vertices."""
    links = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(vertices, vertices))
    _, label = sparse.csgraph.connected_components(links.tocsr(), directed=False)
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[number], np.int32)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Patches of neighbouring triangles and the tree over them (docs/theory/method.md §6), built once on the host."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..scene.arrays import IntArray
from ..scene.mesh import Incidence, incidence, unique_edges, with_cords

PATCH_SIZE = 8  #: most triangles of a patch


class Surface(NamedTuple):
    """All surfaces of a scene in one index space: cloth first, then colliders."""

    vertices: int
    triangles: IntArray  #: (T, 3)
    cloth_triangles: int  #: how many of them are cloth
    object: IntArray  #: (V,) which object a vertex belongs to
    cords: IntArray = np.zeros((0, 2), np.int32)  #: (C, 2) edges of cloth without a triangle

    @property
    def edges(self) -> IntArray:
        """(E, 2) smaller vertex first, sorted."""
        return with_cords(unique_edges(self.triangles), self.cords)

    @property
    def cloth_vertices(self) -> int:
        ends = self.triangles[: self.cloth_triangles].max(initial=-1), self.cords.max(initial=-1)
        return 1 + int(max(ends))


class Patches(NamedTuple):
    """Every triangle, edge and vertex belongs to exactly one patch. Rows of the tables are patches."""

    triangles: Incidence  #: a cord counts as one, which comes after all others
    edges: Incidence
    vertices: Incidence
    corners: IntArray  #: (T + C, 3) of those triangles; a cord's third is its second
    edge_corners: IntArray  #: (E, 2)
    depths: tuple[int, ...]  #: of the trees: cloth, colliders (where there are any)


def patches(surface: Surface, positions: npt.NDArray[np.floating]) -> Patches:
    """Split cloth and colliders, each in halves along the longest side until PATCH_SIZE triangles are left.

    positions: (V, 3) where the scene starts.
    """
    corners, colliders = np.concatenate([surface.triangles, surface.cords[:, [0, 1, 1]]]), len(surface.triangles)
    cloth = np.append(np.arange(surface.cloth_triangles), np.arange(colliders, len(corners)))
    groups = [cloth, np.arange(surface.cloth_triangles, colliders)]
    order, starts, depths, count = [], [np.zeros(1, np.int64)], [], 0
    centres = positions[corners].mean(axis=1)
    for group in groups:
        if len(group) == 0:
            continue
        depth = max(0, int(np.ceil(np.log2(len(group) / PATCH_SIZE))))
        order.append(group[_bisection(centres[group], depth)])
        starts.append(count + _bounds(len(group), depth)[1:])
        count += len(group)
        depths.append(depth)
    triangle_order, start = np.concatenate(order), np.concatenate(starts)
    owner = np.empty(len(corners), np.int32)
    owner[triangle_order] = np.repeat(np.arange(len(start) - 1), np.diff(start))

    edges = surface.edges
    edge_key = edges[:, 0].astype(np.int64) * surface.vertices + edges[:, 1]
    of_triangles = surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    sides = np.sort(np.concatenate([of_triangles, surface.cords]), axis=1).astype(np.int64)
    side_owner = np.append(np.repeat(owner[:colliders], 3), owner[colliders:])
    edge_of_side = np.searchsorted(edge_key, sides[:, 0] * surface.vertices + sides[:, 1])
    edge_owner = _smallest_owner(edge_of_side, side_owner, len(edges))
    vertex_owner = _smallest_owner(corners.ravel(), np.repeat(owner, 3), surface.vertices)
    rows = len(start) - 1
    return Patches(
        Incidence(start.astype(np.int32), triangle_order.astype(np.int32)),
        incidence(edge_owner, rows),
        _owned(vertex_owner, rows),
        corners,
        edges,
        tuple(depths),
    )


def _bounds(count: int, depth: int) -> npt.NDArray[np.int64]:
    return np.arange((1 << depth) + 1, dtype=np.int64) * count >> depth


def _bisection(centres: npt.NDArray[np.floating], depth: int) -> npt.NDArray[np.int64]:
    """Order of the triangles in which the 2^depth equal parts are the leaves of a median split."""
    order = np.arange(len(centres))
    for level in range(depth):
        bounds = _bounds(len(centres), level)
        part = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        here = centres[order]
        size = np.maximum.reduceat(here, bounds[:-1]) - np.minimum.reduceat(here, bounds[:-1])
        along = here[np.arange(len(here)), size.argmax(axis=1)[part]]
        order = order[np.lexsort((order, along, part))]
    return order


def _smallest_owner(item: npt.NDArray[np.integer], owner: IntArray, count: int) -> IntArray:
    result = np.full(count, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(result, item, owner)
    return result


def _owned(owner: IntArray, rows: int) -> Incidence:
    """As `incidence`, without the vertices that no triangle uses."""
    used = np.flatnonzero(owner != np.iinfo(np.int32).max)
    table = incidence(owner[used], rows)
    return Incidence(table.start, used[table.entries].astype(np.int32))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What has gone through a sheet goes back: global intersection analysis (Baraff, Witkin, Kass 2003).

The edges that cross something are cut. Of what then falls apart the largest part of each sheet is at home; each other
one has gone through, and goes back along the mean normal of what it crosses, all of it alike, while the sheet it went
through stays and all others follow smoothly: a sleeve comes out of a trunk as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

from ..contact.line_gradients import unit_normals
from ..scene.arrays import Array, IntArray
from .fabric import Fabric

CLEAR = 0.5  #: length of the mean of normals of length 1, below which a part does not know where to go
AGAINST = -0.3  #: cosine between the ways of two deep parts of a sheet, from which they meet
STEP = 1.5  #: edges, at most, in a round
Indices = npt.NDArray[np.int64]


class Part(NamedTuple):
    """Has gone through."""

    sheet: int
    vertices: Indices  #: (K,)
    crossed: IntArray  #: of the sheet that it went through
    way: Array  #: (3,) back, of length 1
    depth: Array  #: (K,) how far each has to go, m

    def deep(self, fabric: Fabric) -> bool:
        return bool(self.depth.max() > STEP * fabric.length)


class Retreat:
    """Remembers which vertex of each sheet is at home."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self._home: Indices | None = None  #: (sheets,)

    def round(self) -> Array | None:
        """(V, 3) where a round leads; None where nothing knows where to go back to."""
        fabric, found = self.fabric, self.fabric.crossings()
        edges, triangles = np.sort(found.corners[:, :2], axis=1), found.corners[:, 2:]
        own = edges[:, 0] < fabric.cloth
        edges, triangles = edges[own].astype(np.int64), triangles[own]
        if not len(edges):
            return None
        region = self._regions(edges)
        if self._home is None:
            self._home = _homes(fabric, np.unique(edges), region)
            parts = self._parts(edges, triangles, region)
            for sheet, outer in _meeting(fabric, parts).items():
                inner = np.isin(np.arange(fabric.cloth), outer, invert=True)
                self._home[sheet] = _farthest(fabric, np.unique(edges), np.where(inner, -1, sheet))[sheet]
        return _gone(fabric, self._parts(edges, triangles, region))

    def _regions(self, edges: Indices) -> IntArray:
        cut = np.zeros(len(self.fabric.edges), bool)
        cut[self.fabric.numbers(edges)] = True
        return self.fabric.regions(cut)

    def _parts(self, edges: Indices, triangles: IntArray, region: IntArray) -> list[Part]:
        """The smallest first."""
        fabric, ends, size = self.fabric, region[edges], np.bincount(region)
        far = _distance(ends, region[self._home], len(size))
        normal = unit_normals(fabric.places, triangles)
        before = ((fabric.places[edges] - fabric.places[triangles[:, :1]]) * normal[:, None]).sum(axis=2)
        middle, result = fabric.places[triangles].mean(axis=1), []
        away = np.unique(ends[far[ends] > 0])
        for part in away[np.argsort(size[away], kind="stable")]:
            leaving = (ends == part) & (far[ends[:, ::-1]] < far[part])
            mine = np.flatnonzero(leaving.any(axis=1))
            if not len(mine):
                continue
            sign = -np.sign(np.where(leaving[mine, 0], before[mine, 0], before[mine, 1]))
            way = (sign[:, None] * normal[mine]).mean(axis=0)
            clear = float(np.linalg.norm(way))
            if clear < CLEAR:
                continue
            vertices = np.flatnonzero(region == part)
            near = cKDTree(middle[mine]).query(fabric.places[vertices])[1]
            depth = (middle[mine][near] - fabric.places[vertices]) @ way / clear
            result.append(
                Part(int(fabric.sheet[vertices[0]]), vertices, np.unique(triangles[mine]), way / clear, depth)
            )
        return result


def _gone(fabric: Fabric, parts: list[Part]) -> Array | None:
    """(V, 3) places when the parts go back, of two that need each other as a hold the smaller one."""
    moved, held = np.zeros((2, len(fabric.places)), bool)
    ways = np.zeros_like(fabric.places)
    for part in parts:
        if held[part.vertices].any() or moved[part.crossed].any():
            continue
        least = 2.0 * (1.0 + fabric.spare) * fabric.gap[part.vertices]
        step = STEP * fabric.length
        depth = np.full(len(part.vertices), step) if part.deep(fabric) else np.maximum(part.depth, 0.0) + least
        ways[part.vertices] = depth[:, None] * part.way
        moved[part.vertices], held[part.crossed] = True, True
    if not moved.any():
        return None
    going = np.flatnonzero(moved)
    places = fabric.places.copy()
    places[: fabric.cloth] += fabric.spread(going, ways[going], np.flatnonzero(held), np.inf)
    return places


def _meeting(fabric: Fabric, parts: list[Part]) -> dict[int, Indices]:
    """Of sheets whose deep parts go back against each other, as of a sleeve through both walls: the largest of those.
    There is no room between, so the whole sheet goes out to that side."""
    result: dict[int, Indices] = {}
    deep = [part for part in parts if part.deep(fabric)]
    for number, part in enumerate(deep):
        if any(part.sheet == other.sheet and part.way @ other.way < AGAINST for other in deep[:number]):
            result[part.sheet] = part.vertices
    return result


def _distance(ends: IntArray, homes: IntArray, count: int) -> Array:
    """(count,) how many cuts lie between each region and the nearest home. ends: (K, 2) the regions beside cuts."""
    graph = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    far = csgraph.dijkstra(graph, directed=False, indices=np.unique(homes), unweighted=True, min_only=True)
    return np.asarray(far)


def _homes(fabric: Fabric, cut: Indices, region: IntArray) -> Indices:
    """(sheets,) in the largest region of each the vertex that is farthest from the vertices cut (K,)."""
    size, owner = np.bincount(region), np.zeros(region.max() + 1, np.int64)
    owner[region] = fabric.sheet
    order = np.lexsort((-np.arange(len(size)), size))
    largest = np.zeros(fabric.sheets, np.int64)
    largest[owner[order]] = order
    return _farthest(fabric, cut, np.where(largest[fabric.sheet] == region, fabric.sheet, -1))


def _farthest(fabric: Fabric, cut: Indices, group: IntArray) -> Indices:
    """(sheets,) of the vertices of each group (N,), −1 none, the one that is farthest from the vertices cut (K,)."""
    far = csgraph.dijkstra(fabric.graph, directed=False, indices=cut, unweighted=True, min_only=True)
    order = np.lexsort((-np.arange(len(far)), far))
    order = order[group[order] >= 0]
    result = np.zeros(fabric.sheets, np.int64)
    result[group[order]] = order
    return result

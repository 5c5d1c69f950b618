# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene as untangling sees it: places that may change, sheets that hang together, and what crosses."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ..contact.line_gradients import LineGradients
from ..contact.patches import Surface
from ..contact.tangles import Tangles, tangles
from ..scene.arrays import Array, IntArray
from ..scene.meetings import Table, let_through
from ..scene.mesh import edge_lengths

Mask = npt.NDArray[np.bool_]
WORN = 0.25  #: of its size, within which half of a sheet is to a body that wears it


class Fabric:
    """V vertices of a surface, the N of cloth first. Lengths in m."""

    def __init__(
        self, surface: Surface, places: Array, free: Mask, thickness: Array, collides: Mask,
        let: tuple[IntArray, Table] | None = None, spare: float = 0.1,
    ) -> None:  # fmt: skip
        """places: (V, 3). free: (N,) what may move. thickness: (V,) m; two sheets keep half of each between them, and
        `spare` of that besides. collides: (objects,) whether each does with itself. let: the party of each vertex (V,),
        and which parties (P, P) the user lets through each other; None = none."""
        self.surface, self.gap, self.spare, self._collides = surface, 0.5 * thickness, spare, collides
        self._let = let
        self._places = places.copy()
        self._found: Tangles | None = None
        self.cloth, self.free, self.line_gradients = len(free), free, LineGradients(surface)
        edges = surface.edges
        self.edges: IntArray = edges[edges[:, 0] < self.cloth]  #: (E, 2) of cloth
        self.length = float(np.median(edge_lengths(places, self.edges)))  #: of an edge
        self.graph = self._graph(np.ones(len(self.edges), bool), self.edges)
        #: (N,) the part of each vertex
        self.sheets, self.sheet = csgraph.connected_components(self.graph, directed=False)

    @property
    def places(self) -> Array:
        """(V, 3) never changed but by `move`."""
        return self._places

    def move(self, places: Array) -> None:
        self._places, self._found = places, None

    def crossings(self) -> Tangles:
        if self._found is None:
            found = tangles(self._places, self.surface)
            if self._let is not None:
                found = found.subset(~let_through(*self._let, found.corners[:, :2], found.corners[:, 2:]))
            first, second = found.objects.T
            self._found = found.subset((first != second) | self._collides[first])
        return self._found

    def tangled(self) -> tuple[npt.NDArray[np.int64], int]:
        """(the sheets that cross themselves, those that do most first, how many crossings those are)."""
        corners = self.crossings().corners
        corners = corners[(corners < self.cloth).all(axis=1)]
        sheet = self.sheet[corners[:, [0, 2]]]
        many = np.bincount(sheet[sheet[:, 0] == sheet[:, 1], 0], minlength=self.sheets)
        return np.argsort(-many, kind="stable")[: int((many > 0).sum())], int(many.sum())

    def outer_side(self, points: Array, normals: Array) -> float:
        """1 where bodies are behind most of these points (K, 3) of a sheet with these normals (K, 3), or there are
        none, else −1."""
        if self._bodies is None:
            return 1.0
        near = self._bodies.data[self._bodies.query(points)[1]]
        return 1.0 if (((points - near) * normals).sum(axis=1) >= 0.0).mean() >= 0.5 else -1.0

    @cached_property
    def _bodies(self) -> cKDTree | None:
        rest = self._places[self.cloth :]
        return cKDTree(rest) if len(rest) else None

    @cached_property
    def worn(self) -> Mask:
        """(sheets,) which begin around or on a body: half of the vertices within a share of their size."""
        if self._bodies is None:
            return np.zeros(self.sheets, bool)
        away = self._bodies.query(self._places[: self.cloth])[0]
        result = np.zeros(self.sheets, bool)
        for number in range(self.sheets):
            own = np.flatnonzero(self.sheet == number)
            result[number] = np.median(away[own]) < WORN * np.ptp(self._places[own], axis=0).max()
        return result

    def crossing(self) -> IntArray:
        """(K,) the cloth vertices of what crosses."""
        corners = np.unique(self.crossings().corners)
        return corners[corners < self.cloth]

    @cached_property
    def triangles(self) -> IntArray:
        """(T, 3) of cloth."""
        return self.surface.triangles[: self.surface.cloth_triangles]

    def numbers(self, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """(K,) which of `edges` these are (K, 2), smaller vertex first."""
        weight = np.array([1 << 32, 1])
        return np.searchsorted(self.edges @ weight, edges @ weight)

    def regions(self, cut: Mask) -> IntArray:
        """(N,) which of the parts that are left when these edges (E,) are cut."""
        return np.asarray(csgraph.connected_components(self._graph(~cut, self.edges), directed=False)[1], np.int32)

    def spread(self, moved: npt.NDArray[np.integer], ways: Array, held: npt.NDArray[np.integer], reach: float) -> Array:
        """(N, 3) ways of all cloth when the vertices `moved` (K,) go `ways` (K, 3), `held` stay, and all others follow
        as smoothly as they can. reach: in edges, how far that is felt; inf: by the whole sheet."""
        fixed = np.zeros(self.cloth, bool)
        still = held[held < self.cloth]
        fixed[still] = fixed[moved] = True
        fixed |= ~self.free
        known = np.zeros((self.cloth, 3))
        known[moved] = ways
        known[still] = 0.0
        known[~self.free] = 0.0
        touched = np.zeros(self.sheets, bool)
        touched[self.sheet[moved]] = True
        loose = np.flatnonzero(~fixed & touched[self.sheet])
        if len(loose):
            graph = self.graph
            degree = np.asarray(graph.sum(axis=1)).ravel()
            matrix = (sparse.diags_array(degree * (1.0 + 1.0 / reach**2) + 1e-9) - graph).tocsr()
            known[loose] = splu(matrix[loose][:, loose].tocsc()).solve(-(matrix[loose] @ known))
        return known

    def _graph(self, kept: Mask, edges: IntArray) -> sparse.csr_array:
        a, b = edges[kept].T
        ones = np.ones(2 * len(a))
        rows, columns = np.concatenate([a, b]), np.concatenate([b, a])
        return sparse.coo_array((ones, (rows, columns)), shape=(self.cloth, self.cloth)).tocsr()

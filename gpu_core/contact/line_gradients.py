# SPDX-License-Identifier: GPL-3.0-or-later
"""Along which ways the lines in which surfaces cross grow shorter (Volino, Magnenat-Thalmann 2006)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..scene.arrays import Array, IntArray
from ..scene.mesh import edge_sides
from .patches import Surface
from .tangles import Tangles

STEEP = 0.1  #: cosine of an edge to a normal, at least: an edge along the triangle has no way out of it


class LineGradients:
    """Of one surface, wherever its vertices are."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface

    def __call__(self, places: Array, found: Tangles) -> Array:
        """(K, 3) ways of the edges of what crosses; the triangles go the other way. places: (V, 3) of all, m.

        An edge with direction E crosses a triangle with normal N. In each triangle beside the edge the line leaves
        along R, so it grows by the sum of −R and of what the place of crossing slides along E:
        G = Σ (R − (E·R / E·N) N).
        """
        edge, triangles = np.sort(found.corners[:, :2], axis=1).astype(np.int64), self.surface.triangles
        normal = unit_normals(places, found.corners[:, 2:])
        start, end = (places[edge[:, k]] for k in range(2))
        along = (end - start) / np.maximum(np.linalg.norm(end - start, axis=1, keepdims=True), 1e-30)
        steep = (along * normal).sum(axis=1, keepdims=True)
        steep = np.where(np.abs(steep) < STEEP, np.where(steep < 0, -STEEP, STEEP), steep)
        gradient = np.zeros((len(edge), 3))
        for side in self._beside(edge).T:
            there = (side >= 0) & (side // 6 < len(triangles))  # beside a cord is no triangle
            own = triangles[np.where(there, side // 6, 0)]
            line = np.cross(normal, unit_normals(places, own))
            line /= np.maximum(np.linalg.norm(line, axis=1, keepdims=True), 1e-30)
            inwards = places[own[np.arange(len(own)), np.maximum(side, 0) // 2 % 3]] - start
            inwards = inwards - (inwards * along).sum(axis=1, keepdims=True) * along
            line *= np.sign((line * inwards).sum(axis=1, keepdims=True))
            gradient[there] += (line - (along * line).sum(axis=1, keepdims=True) / steep * normal)[there]
        return gradient

    def of_vertices(self, places: Array, found: Tangles) -> Array:
        """(V, 3) the sum of its edges' and triangles' ways for each vertex."""
        gradient, total = self(places, found), np.zeros((len(places), 3))
        for vertices, way in ((found.corners[:, :2], gradient), (found.corners[:, 2:], -gradient)):
            np.add.at(total, vertices, way[:, None])
        return total

    def _beside(self, edges: npt.NDArray[np.int64]) -> IntArray:
        """(K, S) the sides of triangles along edges (K, 2), as `edge_sides` counts them."""
        every, sides = self._sides
        weight = np.array([1 << 32, 1])
        return sides[np.searchsorted(every @ weight, edges @ weight)]

    @cached_property
    def _sides(self) -> tuple[npt.NDArray[np.int64], IntArray]:
        every = self.surface.edges
        return every.astype(np.int64), edge_sides(self.surface.triangles, every, self.surface.cords)


def unit_normals(places: Array, triangles: IntArray) -> Array:
    """(T, 3) of triangles (T, 3); nothing of one without area."""
    a, b, c = (places[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    return np.asarray(normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30))

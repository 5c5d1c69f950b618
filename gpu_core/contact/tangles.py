# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a scene is tangled, and which pairs must therefore be left alone (docs/theory/method.md §11).

A crossing can only be undone by a vertex that passes back through the triangle or an edge that slides over its border:
exactly those pairs are freed, all others stay guarded, so a tangle cannot grow. Once apart, a pair is guarded
like every other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..check.intersection import intersections
from .patches import Surface


class Tangles(NamedTuple):
    """K crossings of an edge and a triangle."""

    corners: npt.NDArray[np.int32]  #: (K, 5) ends of the edge, corners of the triangle
    objects: npt.NDArray[np.int32]  #: (K, 2) the two objects, the smaller index first
    keys: npt.NDArray[np.int64]  #: (K, 5) of the pairs by whose passing this crossing comes and goes

    def subset(self, kept: npt.NDArray[np.bool_]) -> Tangles:
        return Tangles(self.corners[kept], self.objects[kept], self.keys[kept])


def pair_key(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """One number for a pair: (vertex, triangle), or (~edge, edge) with the smaller edge first."""
    return first.astype(np.int64) * (1 << 32) + second


def pair_keys(feature: Any) -> Any:
    """(C,) int64, the same numbers for pairs (C, 2) int32 on the device: the bits of both, those of the first above.
    The second is never negative."""
    return feature[:, ::-1].copy().view("<i8")[:, 0]


def tangles(positions: npt.NDArray[np.floating], surface: Surface) -> Tangles:
    """Crossings of cloth with cloth and colliders, by the exact check. positions: (V, 3)."""
    edges = surface.edges
    edge, triangle = intersections(positions, surface.triangles, edges, collider_start=surface.cloth_vertices).T
    lookup = edges[:, 0].astype(np.int64) * surface.vertices + edges[:, 1]
    keys = [pair_key(edges[edge, end], triangle) for end in range(2)]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        side = np.sort(surface.triangles[triangle][:, [a, b]], axis=1).astype(np.int64)
        border = np.searchsorted(lookup, side[:, 0] * surface.vertices + side[:, 1])
        keys.append(pair_key(-1 - np.minimum(edge, border), np.maximum(edge, border)))  # ~smaller edge
    objects = np.sort(surface.object[np.column_stack([edges[edge, 0], surface.triangles[triangle, 0]])], axis=1)
    corners = np.column_stack([edges[edge], surface.triangles[triangle]])
    return Tangles(corners, objects, np.stack(keys, axis=1))


def unexplained(found: Tangles, freed: npt.NDArray[np.integer], late: npt.NDArray[np.integer]) -> Tangles:
    """Those crossings that the contact should have kept apart: a fault of the solver.

    A crossing comes only where a vertex passes the triangle or an edge passes one of its sides: one of its five pairs.
    So it is explained where such a pair was left alone (keys `freed`), or where one of its corners was carried on
    without regard to contact (vertices `late`).
    """
    return found.subset(~np.isin(found.keys, freed).any(axis=1) & ~np.isin(found.corners, late).any(axis=1))


class Meeting(NamedTuple):
    """Two objects that cross."""

    first: str
    second: str  #: "itself" where an object crosses itself
    places: int  #: how often
    where: str  #: that, and a place in world space

    @property
    def pair(self) -> str:
        return pair_of(self.first, self.second)


def pair_of(first: str, second: str) -> str:
    return f"{first} and {second}"


def meetings(found: Tangles, names: list[str], positions: npt.NDArray[np.floating]) -> list[Meeting]:
    """Which objects cross. names: by object. positions: (V, 3) world, m."""
    result = []
    for a, b in np.unique(found.objects, axis=0):
        here = np.flatnonzero((found.objects == [a, b]).all(axis=1))
        x, y, z = positions[found.corners[here[0], 0]]
        where = f"{len(here)} places, the first near ({x:.3f}, {y:.3f}, {z:.3f})"
        result.append(Meeting(names[a], "itself" if a == b else names[b], len(here), where))
    return result

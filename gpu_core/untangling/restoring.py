# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that untangling has bent short or long get their lengths again, as far as nothing crosses.

Springs by projective dynamics (Bouaziz et al. 2014, Liu et al. 2013): each edge's vector gets its length, and one
linear system joins them. What would cross on the way stays, with its neighbours, and the others go on.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..scene.arrays import Array
from ..scene.mesh import edge_lengths
from .fabric import Fabric

ROUNDS = 40
WRONG = (0.6, 1.6)  #: of its length, beyond which an edge is worth it
HELD = 1e-3  #: weight of a place against one edge


def restore(fabric: Fabric, lengths: Array) -> None:
    """Move the fabric so that edges come nearer to their lengths (E,), m, on sheets where one is far from it. There are
    no more crossings then than before."""
    left = len(fabric.crossings().corners)
    share = edge_lengths(fabric.places, fabric.edges) / np.maximum(lengths, 1e-30)
    wrong = (share < WRONG[0]) | (share > WRONG[1])
    touched = np.zeros(fabric.sheets, bool)
    touched[fabric.sheet[fabric.edges[wrong, 0]]] = True
    free = touched[fabric.sheet] & fabric.free
    springs: _Springs | None = None
    for _ in range(ROUNDS):
        if not free.any():
            return
        springs = springs or _Springs(fabric, free, lengths)
        before = fabric.places
        fabric.move(springs.round(before))
        found = fabric.crossings().corners
        if len(found) > left:
            fabric.move(before)
            stuck = np.zeros(fabric.cloth)
            stuck[found[found < fabric.cloth]] = 1.0
            free &= ~((stuck + fabric.graph @ stuck) > 0.0)
            springs = None


class _Springs:
    """The edges of the vertices that are free."""

    def __init__(self, fabric: Fabric, free: Array, lengths: Array) -> None:
        """free: (N,). lengths: (E,) m."""
        edges, count = fabric.edges, len(fabric.edges)
        rows = np.tile(np.arange(count), 2)
        signs = np.repeat([-1.0, 1.0], count)
        self._ends = sparse.coo_array((signs, (rows, edges.T.ravel())), shape=(count, fabric.cloth)).tocsr()
        self._free, self._lengths, self._cloth = np.flatnonzero(free), lengths[:, None], fabric.cloth
        self._own = self._ends[:, self._free]
        weight = HELD * sparse.eye_array(len(self._free))
        self._system = splu((self._own.T @ self._own + weight).tocsc())

    def round(self, places: Array) -> Array:
        """(V, 3) where a round leads from places (V, 3)."""
        vectors = self._ends @ places[: self._cloth]
        size = np.linalg.norm(vectors, axis=1, keepdims=True)
        missing = vectors * (self._lengths / np.maximum(size, 1e-30) - 1.0)
        result = places.copy()
        result[self._free] += self._system.solve(self._own.T @ missing)
        return result

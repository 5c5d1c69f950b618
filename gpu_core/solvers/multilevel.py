# SPDX-License-Identifier: GPL-3.0-or-later
"""The multilevel preconditioner of Newton's matrix: M⁻¹ = D⁻¹ + Σ over levels P B⁻¹ Pᵀ (kernels/multilevel.h).

Jacobi's blocks D carry a pull over one edge an iteration, and what is left after a few looks small in their norm while
the smooth part has hardly begun. With P, constant on aggregates of some 8, 64, 512, … vertices, whole patches move too;
the aggregates depend on the rest shape only, their 3×3 blocks B on x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..backend.signatures import WHOLE_BLOCK
from ..scene.arrays import IntArray
from ..scene.mesh import incidence
from ..subspace.aggregation import hierarchy

Integers = npt.NDArray[np.int32]


class Multilevel:
    """Device arrays of all levels. N vertices, A aggregates of all levels together."""

    def __init__(
        self,
        backend: Backend,
        levels: Sequence[npt.NDArray[np.int64]],
        free: npt.NDArray[Any],
        edges: IntArray,
        far: sparse.csr_array,
        diagonal: npt.NDArray[np.float64],
    ) -> None:
        """levels: aggregates of the free vertices (`levels_of`). free: (N,) 0 where a pin holds. edges: (E, 2).
        far, diagonal: what of the matrix never changes, as NewtonStep has it."""
        xp, integers = backend.xp, lambda values: backend.array(values, np.int32)
        self._array = backend.array
        sizes = [int(number.max()) + 1 for number in levels]
        self._first = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
        self.aggregates = self._first[-1]
        of_vertex, parent = _numbered(levels, self._first, np.flatnonzero(free), len(free))
        parts, leaving = [], []
        member = of_vertex
        for k, (first, last) in enumerate(pairwise(self._first)):
            below = of_vertex if k == 0 else parent[self._first[k - 1] : first]
            start, order = _rows(below, first, last)
            parts.append((start, order + (0 if k == 0 else self._first[k - 1])))
            outwards = np.flatnonzero(member[edges[:, 0]] != member[edges[:, 1]])
            start, order = _rows(member[edges[outwards]].ravel(), first, last)
            leaving.append((start, outwards[order // 2]))
            member = np.where(member >= 0, parent[member], -1)
        self._numbers = of_vertex, parent
        #: the levels that are a launch each; the others, which one block does together, are uploaded with the numbers
        self._wide = next((k for k in range(1, len(sizes)) if sizes[k] <= WHOLE_BLOCK), len(sizes))
        numbers = integers(np.concatenate([of_vertex, parent, self._first[self._wide :]]))
        at, end = len(of_vertex), len(of_vertex) + len(parent)
        self._aggregate, self._parent, self._coarse = numbers[:at], numbers[at:end], numbers[end:]
        joined = [tuple(map(integers, _joined(tables))) for tables in (parts, leaving)]
        self._parts = {"part_start": joined[0][0], "part": joined[0][1]}
        self._leaving = {"leaving_start": joined[1][0], "leaving": joined[1][1]}
        self._unpulled = self._of_aggregates(diagonal, far)
        self._weight = backend.array(self._unpulled)
        self._contact, self._inverse, self._sum, self._correction = (
            xp.zeros((max(1, rows * self.aggregates), 4), xp.float32) for rows in (2, 2, 1, 1)
        )

    def pull(self, stiffness: npt.NDArray[np.float64]) -> None:
        """Springs (N,) to fixed points besides those of the matrix, N/m, in place of the last call's."""
        self._weight[:] = self._array(self._unpulled + self._of_aggregates(stiffness))

    def renew(self, far: sparse.csr_array, diagonal: npt.NDArray[np.float64]) -> None:
        """What never changed has changed: the same of other numbers of the cloths. Pulls end."""
        self._unpulled = self._of_aggregates(diagonal, far)
        self._weight[:] = self._array(self._unpulled)

    def _of_aggregates(
        self, diagonal: npt.NDArray[np.float64], far: sparse.csr_array | None = None
    ) -> npt.NDArray[np.float64]:
        """(A,) the sums of a matrix within each aggregate: of its diagonal (N,), and of entries off it."""
        member, parent = self._numbers
        sums, entries = np.zeros(self.aggregates), far.tocoo() if far is not None else None
        for first, last in pairwise(self._first):
            held = member >= 0
            sums[first:last] = np.bincount(member[held] - first, diagonal[held], last - first)
            if entries is not None:
                inside = (member[entries.row] >= 0) & (member[entries.row] == member[entries.col])
                own = member[entries.row[inside]] - first
                sums[first:last] += np.bincount(own, entries.data[inside], last - first)
            member = np.where(held, parent[member], -1)
        return sums

    def block_launches(self, columns: Any, contact: dict[str, Any] | None, cloth_vertices: int) -> list[Launch]:
        """Kernels that set the blocks up; contact: arguments of the kernel `aggregate_contact`."""
        if not self.aggregates:
            return []
        launches: list[Launch] = []
        if contact:
            finest = launch(
                "aggregate_contact", self._first[1], **self._parts, aggregate=self._aggregate,
                cloth_vertices=cloth_vertices, **contact, contact=self._contact,
            )  # fmt: skip
            launches.append(finest)
            launches += [
                launch("coarser_contact", last - first, first=first, **self._parts, contact=self._contact)
                for first, last in zip(self._first[1:-1], self._first[2:], strict=True)
            ]
        else:
            launches.append(launch("clear_vector", len(self._contact), to=self._contact))
        inverse = launch(
            "aggregate_inverse", self.aggregates, weight=self._weight, **self._leaving, columns=columns,
            contact=self._contact, inverse=self._inverse,
        )  # fmt: skip
        return [*launches, inverse]

    def launches(self, inverse: Any, left: Any, preconditioned: Any, dot: Mapping[str, Any]) -> list[Launch]:
        """Kernels of preconditioned (N, 4) ← M⁻¹ left; inverse: (2N, 4) of the vertices' own blocks; dot: left
        times that (`DotProduct.product`)."""
        below, launches = left, []
        for first, last in pairwise(self._first[: self._wide + 1]):
            whole = launch(
                "aggregate_restrict", last - first, first=first, **self._parts, below=below, inverse=self._inverse,
                sum=self._sum, correction=self._correction,
            )  # fmt: skip
            launches.append(whole)
            below = self._sum
        if self._wide + 1 < len(self._first):
            coarser = launch(
                "coarser_restrict", 1, first=self._coarse, levels=len(self._coarse) - 1, **self._parts,
                inverse=self._inverse, sum=self._sum, correction=self._correction,
            )  # fmt: skip
            launches.append(coarser)
        vertex = launch(
            "precondition", len(left), inverse=inverse, left=left, aggregate=self._aggregate, parent=self._parent,
            correction=self._correction, preconditioned=preconditioned, **dot,
        )  # fmt: skip
        return [*launches, vertex]


def levels_of(
    matrix: sparse.csr_array, free: npt.NDArray[Any], rest: npt.NDArray[np.floating]
) -> list[npt.NDArray[np.int64]]:
    """The aggregates of the free vertices, level by level. matrix: (N, N) scalar stiffness at rest. rest: (N, 3) m."""
    kept = np.flatnonzero(free)
    return hierarchy(matrix[kept][:, kept].tocsr(), rest[kept]) if len(kept) else []


def _numbered(
    levels: Sequence[npt.NDArray[np.int64]], first: list[int], kept: npt.NDArray[np.int64], vertices: int
) -> tuple[Integers, Integers]:
    """(aggregate of each vertex, −1 where it has none; parent of each aggregate, −1 at the top), numbered through."""
    of_vertex, parent = np.full(vertices, -1, np.int32), np.full(max(1, first[-1]), -1, np.int32)
    for k, number in enumerate(levels):
        if k == 0:
            of_vertex[kept] = number
        else:
            parent[first[k - 1] : first[k]] = first[k] + number
    return of_vertex, parent


def _rows(keys: npt.NDArray[Any], first: int, last: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """(row starts, places) of the keys first … last − 1 in `keys`; those below 0 are in no row."""
    places = np.flatnonzero(keys >= 0)
    start, order = incidence(keys[places] - first, last - first)
    return start, places[order]


def _joined(tables: Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> tuple[Integers, Integers]:
    """One table below the other."""
    ends = np.cumsum([0, *(len(entries) for _, entries in tables)])
    starts = [start[:-1] + end for (start, _), end in zip(tables, ends, strict=False)]
    entries = [entries for _, entries in tables]
    return (
        np.concatenate([*starts, ends[-1:]]).astype(np.int32),
        np.concatenate([*entries, np.zeros(0, int)]).astype(np.int32),
    )

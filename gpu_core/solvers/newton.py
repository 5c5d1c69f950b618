"""Newton's step on the incremental potential, by preconditioned conjugate gradients.

The alternative to the constant H of projective dynamics (`global_step`): the second derivative of all energies at x,
with negative eigenvalues cut off. Where a sheet swings out of its plane, H counts the whole membrane stiffness against
a motion that meets almost none, and each local–global iteration moves by a thousandth of what is missing
(docs/theory/ndb.md, "Why not a constant H").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import Backend
from ..contact.barrier import Contacts
from ..elasticity.assembly import Assembly, off_diagonal
from ..mesh import edge_sides, incidence, unique_edges
from .elastic import Elastic

CHUNK = 256  #: vertices per partial sum of a dot product
BATCH = 4  #: iterations between two looks at what is left


class NewtonStep:
    """Holds K and the vectors of the gradients. Reads `residual`, writes `increment`; both (N, 4)."""

    def __init__(self, backend: Backend, assembly: Assembly, elastic: Elastic, accuracy: float, most: int) -> None:
        """accuracy: share of the residual, in the preconditioner's norm, at which a solve ends. most: iterations of one."""
        xp, count = backend.xp, assembly.vertices
        self.backend, self.vertices, self.elastic = backend, count, elastic
        self.accuracy, self.batches, self.iterations = accuracy, -(-most // BATCH), 0
        start, column, value, diagonal = off_diagonal(assembly.constant)
        self._rows = backend.array(start, np.int32), backend.array(column, np.int32), backend.array(value)
        self._diagonal = backend.array(diagonal)
        self.rest_diagonal = backend.array(assembly.hessian.diagonal())
        self.total_diagonal, self.added = self.rest_diagonal.copy(), xp.zeros(count, xp.float32)
        self.free = backend.array(assembly.free)
        edges = unique_edges(assembly.triangles)
        edge_start, incident = incidence(edges, count)
        self._edges = backend.array(edge_start, np.int32), backend.array(incident, np.int32)
        self._edge_end = backend.array(edges.ravel()[incident ^ 1], np.int32)
        self._side = backend.array(edge_sides(assembly.triangles, edges), np.int32)
        self._edge_block = xp.zeros((3 * len(edges), 4), xp.float32)
        self._triangle_block = xp.zeros((9 * len(assembly.triangles), 4), xp.float32)
        self._inverse = xp.zeros((2 * count, 4), xp.float32)
        self.residual, self.increment, self._left, self._preconditioned, self._direction, self._product = (
            xp.zeros((count, 4), xp.float32) for _ in range(6)
        )
        self._chunks = -(-count // CHUNK)
        self._partial, self._scalar = xp.zeros(self._chunks, xp.float32), xp.zeros(3, xp.float32)
        self._no_start = xp.zeros(count + 1, xp.int32)
        self._nothing = xp.zeros(4, xp.int32), *(xp.zeros((1, 4), xp.float32) for _ in range(5))

    def bind(self, x: Any, rest: Any, contacts: Contacts | None) -> Callable[[], None]:
        """The step at x (V, 4) as it will be when called; the rest shape is not needed."""
        start, iteration = self._launches(x, contacts)
        begin, batch = self.backend.sequence(start), self.backend.sequence(iteration * BATCH)

        def solve() -> None:
            begin()
            goal = self.accuracy**2 * self._energy()
            for _ in range(self.batches):
                batch()
                self.iterations += BATCH
                if self._energy() <= goal:
                    break

        return solve

    def _energy(self) -> float:
        """r·D⁻¹r of the residual that is left."""
        return float(self._scalar[0])

    def _launches(self, x: Any, contacts: Contacts | None) -> tuple[list[Any], list[Any]]:
        """Kernels that set K and its preconditioner up at x, and those of one iteration."""
        count, elastic = self.vertices, self.elastic
        contact_start, contact_incident = (contacts.start, contacts.incident) if contacts else (self._no_start,) * 2
        if contacts:
            pair = contacts.pairs.corner, contacts.barycentric, contacts.normal, contacts.slide, contacts.curvature
            force, pairs = contacts.force, contacts.count
        else:
            pair, force, pairs = self._nothing[:5], self._nothing[5], 0
        corner, barycentric, *spring = pair
        membrane = (
            x, elastic.corners, elastic.rest_inverse, elastic.membrane_stiffness, elastic.limit, self._triangle_block,
        )  # fmt: skip
        gathered = (contact_start, contact_incident, barycentric)
        inverse = (self._diagonal, *self._edges, self._edge_block, *gathered, *spring, self._inverse)
        touched = (corner, barycentric, *spring, count, self._direction, force)
        product = (
            *self._rows, self._diagonal, self.free, *self._edges, self._edge_end, self._edge_block, *gathered, force,
            self._direction, self._product,
        )  # fmt: skip
        start = (
            self.residual, self._inverse, self.increment, self._left, self._preconditioned, self._direction,
        )  # fmt: skip
        advance = (
            self._scalar, self._direction, self._product, self._inverse, self.increment, self._left,
            self._preconditioned,
        )  # fmt: skip
        iteration = [
            ("contact_curvature", pairs, touched),
            ("curvature_times", count, product),
            *self._dot(self._direction, self._product, "step_length"),
            ("gradient_step", count, advance),
            *self._dot(self._left, self._preconditioned, "direction_weight"),
            ("next_direction", count, (self._scalar, self._preconditioned, self._direction)),
        ]
        return [
            ("membrane_curvature", len(elastic.corners), membrane),
            ("edge_curvature", len(self._side), (self._side, self._triangle_block, self._edge_block)),
            ("block_inverse", count, inverse),
            ("gradient_start", count, start),
            *self._dot(self._left, self._preconditioned, "gradient_energy"),
        ], iteration

    def _dot(self, a: Any, b: Any, use: str) -> list[Any]:
        return [
            ("dot_partial", self._chunks, (a, b, self.vertices, CHUNK, self._partial)),
            (use, 1, (self._partial, self._chunks, self._scalar)),
        ]

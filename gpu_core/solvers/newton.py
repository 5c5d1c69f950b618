"""Newton's step on the incremental potential, by preconditioned conjugate gradients.

The alternative to the constant H of projective dynamics (`global_step`): the second derivative of all energies at x,
with negative eigenvalues cut off. Where a sheet swings out of its plane, H counts the whole membrane stiffness against
a motion that meets almost none, and each local–global iteration moves by a thousandth of what is missing
(docs/theory/ndb.md, "Why not a constant H").
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend
from ..contact.barrier import Contacts
from ..elasticity.assembly import Assembly
from ..scene.mesh import Edges, edge_sides, edges_of
from .elastic import Solve
from .multilevel import Multilevel, levels_of

CHUNK = 256  #: vertices per partial sum of a dot product
BATCH = 4  #: iterations between two looks at what is left


class NewtonStep:
    """Holds K and the vectors of the gradients. Reads `residual`, writes `increment`; both (N, 4)."""

    def __init__(self, backend: Backend, assembly: Assembly, accuracy: float, most: int, multilevel: bool) -> None:
        """accuracy: share of the residual, in the preconditioner's norm, a solve may leave. most: of its iterations.
        multilevel: or the vertices' own blocks alone as preconditioner."""
        xp, count = backend.xp, assembly.vertices
        self.backend, self.vertices = backend, count
        self.accuracy, self.batches, self.iterations = accuracy, -(-most // BATCH), 0
        edges = edges_of(assembly.triangles, count)
        near, far, diagonal = _split(assembly.constant, edges)
        self._rows = backend.array(far.indptr, np.int32), backend.array(far.indices, np.int32), backend.array(far.data)
        self._near, self._diagonal, self._unpulled = backend.array(near), backend.array(diagonal), diagonal
        levels = levels_of(assembly.hessian, assembly.free, assembly.rest) if multilevel else []
        self._multilevel = Multilevel(backend, levels, assembly.free, edges.ends, far, diagonal)
        self.rest_diagonal = backend.array(assembly.hessian.diagonal())
        self.total_diagonal, self.added = self.rest_diagonal.copy(), xp.zeros(count, xp.float32)
        self.free = backend.array(assembly.free)
        self._ends = backend.array(edges.ends, np.int32)
        self._above, *self._below = (backend.array(part, np.int32) for part in (edges.above, *edges.below))
        self._side = backend.array(edge_sides(assembly.triangles, edges.ends), np.int32)
        self._columns = xp.zeros((3 * len(edges.ends), 4), xp.float32)
        self.triangle_block = xp.zeros((9 * len(assembly.triangles), 4), xp.float32)
        self._inverse = xp.zeros((2 * count, 4), xp.float32)
        self.residual, self.increment, self._left, self._preconditioned, self._direction, self._product = (
            xp.zeros((count, 4), xp.float32) for _ in range(6)
        )
        self._chunks = -(-count // CHUNK)
        self._partial, self._scalar = xp.zeros(self._chunks, xp.float32), xp.zeros(5, xp.float32)
        self._look = backend.look(self._scalar)
        self._look_first = backend.look(self._scalar)
        self._no_start = xp.zeros(count + 1, xp.int32)
        self._nothing = xp.zeros(4, xp.int32), *(xp.zeros((1, 4), xp.float32) for _ in range(5))

    def pull(self, stiffness: npt.NDArray[np.float64]) -> None:
        """Springs (N,) to fixed points besides those of the soft pins, N/m, in place of the last call's."""
        self._diagonal[:] = self.backend.array(self._unpulled + stiffness)
        self._multilevel.pull(stiffness)

    def bind(self, x: Any, rest: Any, contacts: Contacts | None) -> Solve:
        """The step at x (V, 4) as it will be when called; the rest shape is not needed."""
        start, iteration = self._launches(x, contacts)
        check = ("gradient_check", 1, (self._scalar,))
        prepare, batch = self.backend.sequence(start), self.backend.sequence([*iteration * BATCH, check])

        def begin() -> float:
            prepare()
            left = self._look_first()
            if self.backend.ahead:
                batch()  # without waiting for the answer: the increment counts only once `finish` is called
            return float(left()[0])

        def finish() -> None:
            if not self.backend.ahead:
                batch()
            looks = deque([self._look()])
            self.iterations += BATCH
            for _ in range(1, self.batches):
                if len(looks) > self.backend.ahead and looks.popleft()()[4] != 0.0:
                    break
                batch()
                self.iterations += BATCH
                looks.append(self._look())

        return Solve(begin, finish)

    def _launches(self, x: Any, contacts: Contacts | None) -> tuple[list[Any], list[Any]]:
        """Kernels that set K and its preconditioner up at x, and those of one iteration."""
        count = self.vertices
        contact_start, contact_incident = (contacts.start, contacts.incident) if contacts else (self._no_start,) * 2
        if contacts:
            pair = contacts.pairs.corner, contacts.barycentric, contacts.normal, contacts.slide, contacts.curvature
            force, pairs = contacts.force, contacts.count
        else:
            pair, force, pairs = self._nothing[:5], self._nothing[5], 0
        corner, barycentric, *spring = pair
        gathered = (contact_start, contact_incident, barycentric)
        inverse = (self._diagonal, self._above, *self._below, self._columns, *gathered, *spring, self._inverse)
        touched = (corner, barycentric, *spring, count, self._direction, force)
        product = (
            *self._rows, self._diagonal, self.free, self._ends, self._above, *self._below, self._columns, *gathered,
            force, self._direction, self._product,
        )  # fmt: skip
        blocks = self._multilevel.block_launches(
            self._columns, (contact_start, contact_incident, corner, barycentric, *spring) if contacts else None, count
        )
        precondition = self._multilevel.launches(self._inverse, self._left, self._preconditioned)
        advance = (self._scalar, self._direction, self._product, self.increment, self._left)
        turn = ("next_direction", count, (self._scalar, self._preconditioned, self._direction))
        iteration = [
            ("contact_curvature", pairs, touched),
            ("curvature_times", count, product),
            *self._dot(self._direction, self._product, "step_length"),
            ("gradient_step", count, advance),
            *precondition,
            *self._dot(self._left, self._preconditioned, "direction_weight"),
            turn,
        ]
        return [
            ("edge_curvature", len(self._side), (self._side, self._near, self.triangle_block, self._columns)),
            ("block_inverse", count, inverse),
            *blocks,
            ("gradient_start", count, (self.residual, self.increment, self._left, self._direction)),
            *precondition,
            *self._dot(self._left, self._preconditioned, "gradient_energy", self.accuracy**2),
            turn,
        ], iteration

    def _dot(self, a: Any, b: Any, use: str, *options: float) -> list[Any]:
        return [
            ("dot_partial", self._chunks, (a, b, self.vertices, CHUNK, self._partial)),
            (use, 1, (self._partial, self._chunks, *options, self._scalar)),
        ]


def _split(
    constant: sparse.csr_array, edges: Edges
) -> tuple[npt.NDArray[np.float64], sparse.csr_array, npt.NDArray[np.float64]]:
    """(entries along the edges, entries elsewhere off the diagonal, diagonal less the edges' part) of a matrix."""
    count, (a, b) = constant.shape[0], edges.ends.T
    near = np.asarray(constant[a, b]).ravel()
    along = sparse.csr_array((np.ones(2 * len(a)), (np.append(a, b), np.append(b, a))), shape=(count, count))
    far = (constant - constant.multiply(along) - sparse.diags_array(constant.diagonal())).tocsr()
    far.eliminate_zeros()
    far.sort_indices()
    return near, far, constant.diagonal() + np.bincount(a, near, count) + np.bincount(b, near, count)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's step on the incremental potential, by preconditioned conjugate gradients.

The alternative to the constant H of projective dynamics (`global_step`): the second derivative of all energies at x,
with negative eigenvalues cut off. Where a sheet leaves its plane, H counts the whole membrane stiffness against
a motion that meets almost none, and each local–global iteration moves by a thousandth of what is missing
(docs/theory/ndb.md, "Newton's matrix, not a constant H").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..contact.barrier import Contacts
from ..elasticity.assembly import Assembly
from ..elasticity.cord import CordEnergy
from ..elasticity.pressure import PressureEnergy
from ..scene.mesh import Edges, edge_sides, edges_of
from .elastic import Solve, Take
from .gradients import BATCH, GradientSolve
from .multilevel import Multilevel, levels_of
from .sums import DotProduct


class NewtonStep:
    """Holds K and the vectors of the gradients. Reads `residual`, writes `increment`; both (N, 4)."""

    def __init__(
        self, backend: Backend, assembly: Assembly, accuracy: float, most: int, multilevel: bool, *, growth: float,
        pressure: PressureEnergy | None = None,
    ) -> None:  # fmt: skip
        """accuracy: share of the residual, in the preconditioner's norm, a solve may leave. most: of its iterations.
        multilevel: or the vertices' own blocks alone as preconditioner. growth: see `Solve.begin`.
        pressure: whose second derivative no block holds."""
        xp, count = backend.xp, assembly.vertices
        self.backend, self.vertices = backend, count
        self.accuracy, self.batches, self.iterations, self._growth = accuracy, -(-most // BATCH), 0, growth
        cords = assembly.parts[CordEnergy.name].ends
        self._mesh, self._pressure = edges_of(assembly.triangles, count, cords), pressure
        edges = self._mesh
        near, far, diagonal = _split(assembly.constant, edges)
        self._rows = {
            "start": backend.array(far.indptr, np.int32), "column": backend.array(far.indices, np.int32),
            "value": backend.array(far.data),
        }  # fmt: skip
        self._near, self._diagonal, self._unpulled = backend.array(near), backend.array(diagonal), diagonal
        levels = levels_of(assembly.hessian, assembly.free, assembly.rest) if multilevel else []
        self._multilevel = Multilevel(backend, levels, assembly.free, edges.ends, far, diagonal)
        self.rest_diagonal = backend.array(assembly.hessian.diagonal())
        self.total_diagonal, self.added = self.rest_diagonal.copy(), xp.zeros(count, xp.float32)
        self.free = backend.array(assembly.free)
        self._ends = backend.array(edges.ends, np.int32)
        self._edges = {
            "above": backend.array(edges.above, np.int32), "below_start": backend.array(edges.below.start, np.int32),
            "below": backend.array(edges.below.entries, np.int32),
        }  # fmt: skip
        self._side = backend.array(edge_sides(assembly.triangles, edges.ends, cords), np.int32)
        self._columns = xp.zeros((3 * len(edges.ends), 4), xp.float32)
        of_triangles = 9 * len(assembly.triangles)
        self._block = xp.zeros((of_triangles + 3 * len(cords), 4), xp.float32)
        self.triangle_block, self.cord_block = self._block[:of_triangles], self._block[of_triangles:]
        self._inverse = xp.zeros((2 * count, 4), xp.float32)
        self.residual, self.increment, self._left, self._preconditioned, self._direction, self._product = (
            xp.zeros((count, 4), xp.float32) for _ in range(6)
        )
        self._dot = DotProduct(backend, count)  #: of p·K p, and of what is left and its preconditioned
        self.scalar, self.accepted = xp.zeros(9, xp.float32), xp.zeros(1, xp.int32)  #: see `conjugate_gradient.h`
        #: by contacts, their generation, accuracy, and whether there is a pressure
        self._bound: dict[tuple[Contacts | None, int, float, bool], Solve] = {}
        self._no_contacts = ContactBlocks(
            *(xp.zeros(many, xp.int32) for many in (1, count + 1, count, 1, 1, 4)),
            *(xp.zeros((1, 4), xp.float32) for _ in range(5)),
        )  # fmt: skip

    def pull(self, stiffness: npt.NDArray[np.float64]) -> None:
        """Springs (N,) to fixed points besides those of the soft pins, N/m, in place of the last call's."""
        self._diagonal[:] = self.backend.array(self._unpulled + stiffness)
        self._multilevel.pull(stiffness)

    def renew(self, assembly: Assembly) -> None:
        """Take other numbers of the same cloths."""
        array = self.backend.array
        near, far, diagonal = _split(assembly.constant, self._mesh)
        rows = {"start": array(far.indptr, np.int32), "column": array(far.indices, np.int32), "value": array(far.data)}
        if len(rows["value"]) == len(self._rows["value"]):
            for name, values in rows.items():
                self._rows[name][:] = values
        else:
            self._rows = rows
            self._bound.clear()
        self._unpulled = diagonal
        self._near[:], self._diagonal[:] = array(near), array(diagonal)
        self._multilevel.renew(far, diagonal)
        self.rest_diagonal[:] = array(assembly.hessian.diagonal())

    def bind(self, x: Any, rest: Any, contacts: Contacts | None) -> Solve:
        """The step at x (V, 4) as it will be when called; the rest shape is not needed."""
        pressed = self._pressure is not None and self._pressure.acts
        key = contacts, contacts.generation if contacts else 0, self.accuracy, pressed
        if key not in self._bound:
            self._bound = {known: solve for known, solve in self._bound.items() if known[0] is not contacts}
            self._bound[key] = self._solve(contacts)
        return self._bound[key]

    def _solve(self, contacts: Contacts | None) -> Solve:
        """Counts its iterations."""
        (start, iteration), (unlimited, _) = (self._launches(contacts, unlimited=free) for free in (False, True))
        solve = GradientSolve(
            self.backend, {False: start, True: unlimited}, iteration, self.scalar, self.accepted, self.batches
        )

        def finish(take: Take) -> None:
            solve.finish(take)
            self.iterations += solve.iterations

        return Solve(solve.begin, finish)

    def _launches(self, contacts: Contacts | None, *, unlimited: bool = True) -> tuple[list[Launch], list[Launch]]:
        """Kernels that set K and its preconditioner up at x, and those of one iteration."""
        count, room = self.vertices, contacts.capacity if contacts else 0
        touching = ContactBlocks.of(contacts) if contacts else self._no_contacts
        dot = self._dot.product
        spring = {"normal": touching.normal, "slide": touching.slide, "curvature": touching.curvature}
        pressed = {"corner": touching.corner, "barycentric": touching.barycentric, **spring}
        gathered = {
            "contact_start": touching.start,
            "contact_end": touching.end,
            "contact_touching": touching.touching,
        }
        gather = launch(
            "contacts_touching", count, start=touching.start, incident=touching.incident, curvature=touching.curvature,
            touching=touching.touching, end=touching.end,
        )  # fmt: skip
        inverse = launch(
            "block_inverse", count, diagonal=self._diagonal, **self._edges, columns=self._columns, **gathered,
            barycentric=touching.barycentric, **spring, inverse=self._inverse,
        )  # fmt: skip
        blocks = self._multilevel.block_launches(self._columns, {**gathered, **pressed} if contacts else None, count)
        precondition = self._multilevel.launches(self._inverse, self._left, self._preconditioned, dot)
        turn = launch(
            "next_direction", count, scalar=self.scalar, preconditioned=self._preconditioned, p=self._direction
        )
        iteration = [
            launch(
                "contact_curvature", room, live=touching.live, **pressed, cloth_vertices=count, p=self._direction,
                force=touching.force,
            ),
            launch(
                "curvature_times", count, **self._rows, diagonal=self._diagonal, free=self.free, ends=self._ends,
                **self._edges, columns=self._columns, **gathered, barycentric=touching.barycentric,
                contact_force=touching.force, p=self._direction, product=self._product,
                **dot,
            ),
            *(
                self._pressure.breath_launches(self._direction, self._product, self.free, dot)
                if self._pressure
                else ()
            ),
            *self._dot.used("step_length", scalar=self.scalar),
            launch(
                "gradient_step", count, scalar=self.scalar, p=self._direction, product=self._product,
                solution=self.increment, left=self._left,
            ),
            *precondition,
            *self._dot.used("direction_weight", scalar=self.scalar),
            turn,
        ]  # fmt: skip
        return [
            launch(
                "edge_curvature", len(self._side), side=self._side, sides=self._side.shape[1], constant=self._near,
                block=self._block, columns=self._columns,
            ),
            *([gather] if contacts else []),
            inverse,
            *blocks,
            launch(
                "gradient_start", count, residual=self.residual, solution=self.increment, left=self._left,
                p=self._direction,
            ),
            *precondition,
            *self._dot.used(
                "gradient_energy", share=self.accuracy**2, growth=self._growth, unlimited=int(unlimited),
                accepted=self.accepted, scalar=self.scalar,
            ),
            turn,
        ], iteration  # fmt: skip


class ContactBlocks(NamedTuple):
    """What K needs of C contacts; start, end, incident and touching by cloth vertex."""

    live: Any  #: (1,)
    start: Any  #: (N + 1,)
    end: Any  #: (N,) of what is touching
    incident: Any
    touching: Any  #: of those incident, in place
    corner: Any  #: (C, 4)
    barycentric: Any  #: (C, 4), and so are the others
    normal: Any
    slide: Any
    curvature: Any
    force: Any

    @staticmethod
    def of(contacts: Contacts) -> ContactBlocks:
        return ContactBlocks(
            contacts.live, contacts.of_vertex, contacts.touching_end, contacts.incident, contacts.touching,
            contacts.corner, contacts.barycentric, contacts.normal, contacts.slide, contacts.curvature, contacts.force,
        )  # fmt: skip


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

"""The global step: subspace, then relaxation, on (H + ΔH) Δx = residual (method.md §6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from ..backend import Backend
from ..contact.barrier import Contacts
from ..elasticity.assembly import Assembly, off_diagonal
from ..subspace.subspace import Subspace
from .elastic import Solve
from .parameters import SubspaceChoices

Dense = npt.NDArray[np.float64]

CHUNK = 512  #: vertices per partial sum of a projection
CHEBYSHEV_RESERVE = 1.03  #: on λ_max, which Lanczos approaches from below


class GlobalStep:
    """Holds H, U and the buffers of the increment. Reads `residual`, writes `increment`; both (N, 4)."""

    def __init__(self, backend: Backend, assembly: Assembly, modes: Subspace, parameters: SubspaceChoices) -> None:
        xp, count = backend.xp, assembly.vertices
        self.backend, self.parameters, self.vertices = backend, parameters, count
        start, column, value, diagonal = off_diagonal(assembly.hessian)
        self._matrix = backend.array(start, np.int32), backend.array(column, np.int32), backend.array(value)
        self.rest_diagonal, self.total_diagonal = backend.array(diagonal), backend.array(diagonal)
        self.free = backend.array(assembly.free)
        self.residual, self.increment, self._other, self._direction = (
            xp.zeros((count, 4), xp.float32) for _ in range(4)
        )
        self.added = xp.zeros(count, xp.float32)  #: ΔH
        self.triangle_block = None
        self.eigenvalues = modes.eigenvalues
        self.large = len(modes.eigenvalues)
        self.small = min(parameters.small_rank, self.large)
        self._modes = backend.array(modes.modes)
        self._chunks = -(-count // CHUNK)
        self._partial = xp.zeros((self.large * self._chunks, 4), xp.float32)
        self._reduced = xp.zeros((self.large, 4), xp.float32)
        self._triangle = np.array([(a, b) for a in range(self.small) for b in range(a + 1)], np.int32).reshape(-1, 2)
        self._row_pair = backend.array(self._triangle, np.int32)
        self._outer = self._outer_products() if parameters.gram == "stored" else None
        self._relax = backend.sequence(self._relaxation(modes))

    def modal(self, x: Any, rest: Any) -> None:
        """increment ← U Λ⁻¹ Uᵀ residual (eq. 16): no contact, no relaxation."""
        self._project(self.large, None, x, rest)

    def bind(self, x: Any, rest: Any, contacts: Contacts | None) -> Solve:
        """The global step at x (V, 4), to be called; contacts have already entered ΔH."""
        return Solve(lambda: 0.0, lambda: self.reuse(x, rest))

    def reuse(self, x: Any, rest: Any) -> None:
        """increment ← solution in span(V) with ΔH (eq. 18), in span(U) without, then relaxed (eq. 17)."""
        gram = self.gram()
        self._project(self.large if gram is None else self.small, gram, x, rest)
        self._relax()

    def _project(self, rank: int, gram: Dense | None, x: Any, rest: Any) -> None:
        self._prolong(self._solve(rank, gram, x, rest))
        if self.parameters.base == "rest":  # X + Vq − x: what lies outside the subspace is thrown away
            self.increment -= (x[: self.vertices] - rest) * self.free[:, None]

    def _solve(self, rank: int, gram: Dense | None, x: Any, rest: Any) -> Dense:
        """q (rank, 3) of the reduced system."""
        if rank == 0:
            return np.zeros((0, 3))
        eigenvalues = self.eigenvalues[:rank]
        if self.parameters.base == "iterate":
            right = self._restrict(self.residual, rank)
        else:  # X = rest pose: b − (H + ΔH)X = residual + (H + ΔH)(x − X); HV = VΛ
            away = (x[: self.vertices] - rest) * self.free[:, None]
            carried = self.residual + (self.added[:, None] * away if gram is not None else 0.0)
            right = self._restrict(carried, rank) + eigenvalues[:, None] * self._restrict(away, rank)
        if gram is None:
            return np.asarray(right / eigenvalues[:, None])
        matrix = np.diag(eigenvalues) + gram
        return np.asarray(scipy.linalg.solve(matrix, right, assume_a="pos", check_finite=False))

    def _restrict(self, vector: Any, rank: int) -> Dense:
        """Uᵀ vector: (rank, 3)."""
        partial = (self._modes, vector, self.vertices, CHUNK, self._chunks, self._partial)
        self.backend.sequence(
            [
                ("restrict_partial", rank * self._chunks, partial),
                ("restrict_total", rank, (self._partial, self._chunks, self._reduced)),
            ]
        )()
        return self.backend.host(self._reduced[:rank, :3]).astype(np.float64)

    def _prolong(self, q: Dense) -> None:
        padded = np.zeros((max(1, len(q)), 4), np.float32)
        padded[: len(q), :3] = q
        reduced = self.backend.array(padded)
        arguments = (self._modes, reduced, self.vertices, len(q), self.increment)
        self.backend.launch("prolong", self.vertices, *arguments)

    def gram(self) -> Dense | None:
        """VᵀΔHV (r, r) over the vertices with an entry in ΔH; None where there are none."""
        xp, backend, pairs = self.backend.xp, self.backend, len(self._triangle)
        touched = xp.flatnonzero(self.added).astype(xp.int32)
        count = len(touched)
        if count == 0:
            return None
        chunks = -(-count // CHUNK)
        partial = xp.empty((pairs, chunks), xp.float32)
        if self._outer is not None:
            stored = (self._outer, self.added, touched, self.vertices, count, CHUNK, chunks, partial)
            backend.launch("gram_stored", pairs * chunks, *stored)
        else:
            columns = xp.empty((self.small, count), xp.float32)
            modes = (self._modes, touched, self.vertices, count, columns)
            syrk = (columns, self.added, touched, self._row_pair, count, CHUNK, chunks, partial)
            backend.sequence([("touched_modes", self.small * count, modes), ("gram_partial", pairs * chunks, syrk)])()
        sums = backend.host(partial).astype(np.float64).sum(axis=1)
        matrix = np.zeros((self.small, self.small))
        matrix[self._triangle[:, 0], self._triangle[:, 1]] = sums
        matrix[self._triangle[:, 1], self._triangle[:, 0]] = sums
        return matrix

    def _relaxation(self, modes: Subspace) -> list[Any]:
        """The sweeps, from `increment` back to `increment`: an even number."""
        kind, sweeps = self.parameters.relaxation, self.parameters.sweeps
        buffers = [self.increment, self._other]
        matrix = (*self._matrix, self.total_diagonal, self.free, self.residual)
        if kind == "chebyshev":
            low = (
                modes.eigenvalues[self.small - 1] / float(np.median(self.backend.host(self.rest_diagonal)))
                if self.small
                else 1e-3
            )
            steps = chebyshev_coefficients(max(low, 1e-3), CHEBYSHEV_RESERVE * modes.largest, sweeps + sweeps % 2)
            return [
                (
                    "chebyshev_sweep",
                    self.vertices,
                    (*matrix, buffers[k % 2], keep, gain, self._direction, buffers[1 - k % 2]),
                )
                for k, (keep, gain) in enumerate(steps)
            ]
        weight = self.parameters.jacobi_weight or 1.33 / modes.largest
        if kind == "jacobi":
            return [
                (
                    "chebyshev_sweep",
                    self.vertices,
                    (*matrix, buffers[k % 2], 0.0, weight, self._direction, buffers[1 - k % 2]),
                )
                for k in range(sweeps + sweeps % 2)
            ]
        passes = -(-sweeps // 4) * 2  # each pass is two sweeps
        return [
            ("a_jacobi", self.vertices, (*matrix, buffers[k % 2], weight, buffers[1 - k % 2])) for k in range(passes)
        ]

    def _outer_products(self) -> Any:
        """(r(r+1)/2, N) V_j⊗V_j of eq. 19."""
        modes = self.backend.host(self._modes)
        return self.backend.array(modes[self._triangle[:, 0]] * modes[self._triangle[:, 1]])


def chebyshev_coefficients(low: float, high: float, sweeps: int) -> list[tuple[float, float]]:
    """(keep, gain) of each sweep of the Chebyshev semi-iteration on the spectrum [low, high]."""
    middle, radius = 0.5 * (high + low), 0.5 * (high - low)
    sigma = middle / radius
    steps, rho = [(0.0, 1.0 / middle)], 1.0 / sigma
    while len(steps) < sweeps:
        following = 1.0 / (2.0 * sigma - rho)
        steps.append((following * rho, 2.0 * following / radius))
        rho = following
    return steps

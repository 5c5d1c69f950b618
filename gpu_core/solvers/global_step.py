# SPDX-License-Identifier: GPL-3.0-or-later
"""The global step: subspace, then relaxation, on (H + ΔH) Δx = residual (docs/theory/method.md §9)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from ..backend import Backend, Launch, launch
from ..contact.barrier import Contacts
from ..elasticity.assembly import Assembly, off_diagonal
from ..subspace.subspace import Subspace
from .elastic import Solve, Take
from .parameters import SubspaceChoices

Dense = npt.NDArray[np.float64]

CHUNK = 512  #: vertices per partial sum of a projection
CHEBYSHEV_RESERVE = 1.03  #: on λ_max, which Lanczos approaches from below


class GlobalStep:
    """Holds H, U and the buffers of the increment. Reads `residual`, writes `increment`; both (N, 4)."""

    def __init__(
        self,
        backend: Backend,
        assembly: Assembly,
        modes: Subspace,
        parameters: SubspaceChoices,
        *,
        watched: bool = False,
    ) -> None:
        """watched: a solve says how large the residual is that it begins with, so that an overshoot can be seen."""
        xp, count = backend.xp, assembly.vertices
        self.backend, self.parameters, self.vertices, self._watched = backend, parameters, count, watched
        start, column, value, diagonal = off_diagonal(assembly.hessian)
        self._matrix = {
            "start": backend.array(start, np.int32), "column": backend.array(column, np.int32),
            "value": backend.array(value),
        }  # fmt: skip
        self.rest_diagonal, self.total_diagonal = backend.array(diagonal), backend.array(diagonal)
        self.free = backend.array(assembly.free)
        self.residual, self.increment, self._other, self._direction = (
            xp.zeros((count, 4), xp.float32) for _ in range(4)
        )
        self.added = xp.zeros(count, xp.float32)  #: ΔH
        self.scalar, self.accepted = xp.zeros(1, xp.float32), xp.ones(1, xp.int32)  #: every increment is taken
        self.triangle_block = self.cord_block = None
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

        def begin(take: Take, number: int, unlimited: bool) -> float:
            return self._left() if self._watched else 0.0

        def finish(take: Take) -> None:
            self.reuse(x, rest)
            take()

        return Solve(begin, finish)

    def _left(self) -> float:
        """r·D⁻¹r of the residual with D = diag(H + ΔH), J: what is left to gain, as one vertex alone would see it."""
        squares = (self.residual * self.residual).sum(axis=1)
        return float((squares / self.total_diagonal).sum())

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
        partial = launch(
            "restrict_partial", rank * self._chunks, modes=self._modes, residual=vector, vertices=self.vertices,
            chunk=CHUNK, chunks=self._chunks, partial=self._partial,
        )  # fmt: skip
        total = launch("restrict_total", rank, partial=self._partial, chunks=self._chunks, total=self._reduced)
        self.backend.run([partial, total])
        return self.backend.host(self._reduced[:rank, :3]).astype(np.float64)

    def _prolong(self, q: Dense) -> None:
        padded = np.zeros((max(1, len(q)), 4), np.float32)
        padded[: len(q), :3] = q
        reduced = self.backend.array(padded)
        self.backend.launch(
            "prolong", self.vertices, modes=self._modes, q=reduced, vertices=self.vertices, rank=len(q),
            increment=self.increment,
        )  # fmt: skip

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
            backend.launch(
                "gram_stored", pairs * chunks, outer=self._outer, weight=self.added, touched=touched,
                vertices=self.vertices, touches=count, chunk=CHUNK, chunks=chunks, partial=partial,
            )  # fmt: skip
        else:
            columns = xp.empty((self.small, count), xp.float32)
            modes = launch(
                "touched_modes", self.small * count, modes=self._modes, touched=touched, vertices=self.vertices,
                touches=count, columns=columns,
            )  # fmt: skip
            syrk = launch(
                "gram_partial", pairs * chunks, columns=columns, weight=self.added, touched=touched,
                row_pair=self._row_pair, touches=count, chunk=CHUNK, chunks=chunks, partial=partial,
            )  # fmt: skip
            backend.run([modes, syrk])
        sums = backend.host(partial).astype(np.float64).sum(axis=1)
        matrix = np.zeros((self.small, self.small))
        matrix[self._triangle[:, 0], self._triangle[:, 1]] = sums
        matrix[self._triangle[:, 1], self._triangle[:, 0]] = sums
        return matrix

    def _relaxation(self, modes: Subspace) -> list[Launch]:
        """The sweeps, from `increment` back to `increment`: an even number."""
        choices = self.parameters
        weight = choices.jacobi_weight or 1.33 / modes.largest
        if choices.relaxation == "a_jacobi":
            passes = -(-choices.sweeps // 4) * 2  # each pass is two sweeps
            return [self._sweep("a_jacobi", k, weight=weight) for k in range(passes)]
        sweeps = choices.sweeps + choices.sweeps % 2
        steps = [(0.0, weight)] * sweeps
        if choices.relaxation == "chebyshev":
            middle = float(np.median(self.backend.host(self.rest_diagonal)))
            low = modes.eigenvalues[self.small - 1] / middle if self.small else 1e-3
            steps = chebyshev_coefficients(max(low, 1e-3), CHEBYSHEV_RESERVE * modes.largest, sweeps)
        return [
            self._sweep("chebyshev_sweep", k, keep=keep, gain=gain, p=self._direction)
            for k, (keep, gain) in enumerate(steps)
        ]

    def _sweep(self, kernel: str, k: int, **options: Any) -> Launch:
        before, after = (self.increment, self._other) if k % 2 == 0 else (self._other, self.increment)
        return launch(
            kernel, self.vertices, **self._matrix, diagonal=self.total_diagonal, free=self.free,
            residual=self.residual, before=before, **options, after=after,
        )  # fmt: skip

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""One global solve, (H + ΔH) Δx = r, in float64: the paper's subspace and sweeps, and their error sweep by sweep.

The product's kernels do the same in float32 (`solvers/global_step.py`; tests/gpu_core/test_claims.py compares them).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from ...gpu_core.solvers.global_step import CHEBYSHEV_RESERVE, chebyshev_coefficients
from ...gpu_core.subspace.subspace import Subspace

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GlobalSolve:
    """N vertices; rows of hard pins are the identity, their residual 0."""

    hessian: sparse.csr_array  #: (N, N) H
    added: Array  #: (N,) ΔH, 0 where nothing touches
    residual: Array  #: (N, 3) r, N
    subspace: Subspace  #: modes of H alone
    away: Array  #: (N, 3) x − rest shape, m

    @property
    def matrix(self) -> sparse.csr_array:
        return (self.hessian + sparse.diags_array(self.added)).tocsr()

    @property
    def touched(self) -> float:
        """Share of the vertices in ΔH."""
        return float(np.mean(self.added > 0.0))

    def exact(self) -> Array:
        """(N, 3) Δx."""
        solve = linalg.splu(self.matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        return np.asarray(solve.solve(self.residual))

    def within(self, rank: int) -> Array:
        """(N, 3) the solution in the span of the first `rank` modes of H, with ΔH (eq. 18; without contact eq. 16)."""
        if rank == 0:
            return np.zeros_like(self.residual)
        modes = self.subspace.modes[:rank].astype(np.float64)
        reduced = np.diag(self.subspace.eigenvalues[:rank]) + (modes * self.added) @ modes.T
        return np.asarray(modes.T @ scipy.linalg.solve(reduced, modes @ self.residual, assume_a="pos"))

    def within_from_rest(self, rank: int) -> Array:
        """As `within`, with the rest shape as base: X + Vq − x, so what x has outside the subspace is thrown away."""
        whole = replace(self, residual=self.residual + self.matrix @ self.away)
        return whole.within(rank) - self.away

    def without_contact(self) -> GlobalSolve:
        return replace(self, added=np.zeros_like(self.added))

    def largest(self) -> float:
        """λ_max(D⁻¹(H + ΔH))."""
        matrix = self.matrix
        scale = sparse.diags_array(matrix.diagonal() ** -0.5)
        start = np.random.default_rng(1).standard_normal(matrix.shape[0])
        found = linalg.eigsh(scale @ matrix @ scale, k=1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)
        return float(found[0])


def jacobi(problem: GlobalSolve, start: Array, weight: float) -> Iterator[Array]:
    """Sweeps of damped Jacobi from `start`; two of them are one rank-2 A-Jacobi iteration (Lan 2022)."""
    matrix, inverse = problem.matrix, 1.0 / problem.matrix.diagonal()[:, None]
    x = start.copy()
    while True:
        yield x
        x = x + weight * inverse * (problem.residual - matrix @ x)


def chebyshev(problem: GlobalSolve, start: Array, low: float, high: float, sweeps: int) -> Iterator[Array]:
    """Sweeps of the Chebyshev semi-iteration on [low, high] of D⁻¹(H + ΔH)."""
    matrix, inverse = problem.matrix, 1.0 / problem.matrix.diagonal()[:, None]
    x, move = start.copy(), np.zeros_like(start)
    yield x
    for keep, gain in chebyshev_coefficients(low, high, sweeps):
        move = keep * move + gain * inverse * (problem.residual - matrix @ x)
        x = x + move
        yield x


def gradients(problem: GlobalSolve, rank: int = 0) -> Iterator[Array]:
    """Conjugate gradients, D⁻¹ as preconditioner, with the solve in `rank` modes added where rank > 0."""
    matrix, inverse = problem.matrix, 1.0 / problem.matrix.diagonal()[:, None]

    def preconditioned(r: Array) -> Array:
        return inverse * r + (replace(problem, residual=r).within(rank) if rank else 0.0)

    x, r = np.zeros_like(problem.residual), problem.residual.copy()
    z = preconditioned(r)
    p, energy = z.copy(), float((r * z).sum())
    while True:
        yield x
        product = matrix @ p
        length = energy / float((p * product).sum())
        x, r = x + length * p, r - length * product
        z = preconditioned(r)
        before, energy = energy, float((r * z).sum())
        p = z + (energy / before) * p


def bounds(problem: GlobalSolve, rank: int, largest: float) -> tuple[float, float]:
    """The interval that the product's Chebyshev sweeps count on: what `rank` modes leave, up to λ_max."""
    low = problem.subspace.eigenvalues[rank - 1] / float(np.median(problem.hessian.diagonal())) if rank else 1e-3
    return max(low, 1e-3), CHEBYSHEV_RESERVE * largest


def errors(iterates: Iterator[Array], exact: Array, count: int, every: int = 1) -> list[float]:
    """‖Δx_k − Δx*‖/‖Δx*‖ of the first count + 1 iterates, taking each `every`-th; ends early once it has diverged."""
    size, found = float(np.linalg.norm(exact)), []
    for k, x in enumerate(iterates):
        if k % every:
            continue
        found.append(float(np.linalg.norm(x - exact)) / size)
        if len(found) > count or not found[-1] < 1e6:
            break
    return found


def first_below(errors: list[float], bound: float) -> int | None:
    """How many iterations bring the error below `bound`; None where none of them does."""
    return next((k for k, error in enumerate(errors) if error <= bound), None)


def spectrum(problem: GlobalSolve, x: Array, count: int) -> list[float]:
    """‖u_kᵀ(r − (H + ΔH) x)‖ over the first `count` modes, relative to the same at x = 0, all modes together."""
    modes = problem.subspace.modes[:count].astype(np.float64)
    start = float(np.linalg.norm(modes @ problem.residual))
    return [float(v) / start for v in np.linalg.norm(modes @ (problem.residual - problem.matrix @ x), axis=1)]

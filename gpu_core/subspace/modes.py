# SPDX-License-Identifier: GPL-3.0-or-later
"""The smoothest modes of a sparse, symmetric, positive definite matrix: Lanczos on a coarse one, then refinement.

Lanczos with a factorised H solves some 300 systems one after the other. Modes are smooth, so a matrix with a seventh of
the unknowns shows them nearly as well. Smoothed aggregation makes it (Vaněk, Mandel, Brezina 1996), level by level; a
few steps of a block method, with a cycle of multigrid as preconditioner, do the rest, all modes at once.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from ..backend.cpu import cores
from .aggregation import aggregates

DIRECT = 12_000  #: unknowns up to which Lanczos alone is quick
COARSEST = 3_000  #: unknowns up to which coarse matrices go to Lanczos; larger ones are coarsened again, and refined
GUARD = 24  #: modes that are refined beside those that are asked for, since the last ones converge last
STEPS, SWEEPS = 3, 2  #: of refinement, and of damped Jacobi on either side of a coarse solve
LARGEST = 2.0  #: λ_max(D⁻¹H), which Jacobi's weights assume
ROUGHER = 5.0  #: Jacobi's sweeps damp what lies between LARGEST and this share of it, evenly (Chebyshev)
SMOOTHING = 0.66  #: of the sweep of Jacobi that smooths the interpolation, 4/3 over LARGEST
INDEPENDENT = 1e-5  #: squared length, among unit vectors in float32, below which a direction is rounding
TOO_GOOD = 0.25  #: share of the smallest eigenvalue so far, below which no refinement comes: that is rounding too
COLUMNS, ROWS = 16, 8192  #: of a block that a thread takes at once: small, so that its memory is used again

Dense = npt.NDArray[Any]


def smoothest_modes(matrix: sparse.csr_array, rank: int) -> tuple[npt.NDArray[np.float64], Dense]:
    """(eigenvalues (rank,) ascending, vectors (n, rank)), orthonormal, with VᵀHV = diag(eigenvalues).

    Up to DIRECT unknowns they are eigenvectors to machine precision. Above they are Ritz vectors in float32: the
    eigenvalues too large by a share that docs/theory/performance.md measures, 1e-3 at most there.
    """
    if matrix.shape[0] <= DIRECT:
        return _lanczos(matrix, None, rank)
    values, vectors, _ = _refined(matrix, None, rank + GUARD)
    return values[:rank], vectors[:, :rank]


def _refined(
    matrix: sparse.csr_array, mass: sparse.csr_array | None, rank: int
) -> tuple[npt.NDArray[np.float64], Dense, _Cycle]:
    """Of matrix v = λ mass v, from those of a coarser pair; and the cycle that goes with the matrix."""
    interpolation = _interpolation(matrix)
    coarse, coarse_mass = (
        (interpolation.T @ (interpolation if fine is None else fine @ interpolation)).tocsr() for fine in (matrix, mass)
    )
    if coarse.shape[0] <= COARSEST:
        values, vectors = _lanczos(coarse, coarse_mass, rank)
        below: _Factors | _Cycle = _Factors(coarse)
    else:
        values, vectors, below = _refined(coarse, coarse_mass, rank)
    cycle = _Cycle(matrix, interpolation, below)
    return *_refine(cycle, mass, values, interpolation @ vectors), cycle


def _lanczos(
    matrix: sparse.csr_array, mass: sparse.csr_array | None, rank: int
) -> tuple[npt.NDArray[np.float64], Dense]:
    """mass: None = identity."""
    inverse = linalg.LinearOperator(matrix.shape, matvec=_factorised(matrix).solve, dtype=float)
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    values, vectors = linalg.eigsh(matrix, k=rank, M=mass, sigma=0.0, OPinv=inverse, v0=start)
    order = np.argsort(values)
    return values[order], vectors[:, order]


class _Factors:
    """Solves with the coarsest matrix."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        self._factors = _factorised(matrix)

    def solve(self, right: Dense) -> Dense:
        return np.ascontiguousarray(self._factors.solve(np.asfortranarray(right, float)), np.float32)


class _Cycle:
    """About a solve with a matrix, in float32: a W-cycle of multigrid, with SWEEPS of Jacobi on either side."""

    def __init__(self, matrix: sparse.csr_array, interpolation: sparse.csr_array, coarse: _Factors | _Cycle) -> None:
        self.matrix, self._interpolation = matrix.astype(np.float32), interpolation.astype(np.float32)
        self._restriction, self._coarse = self._interpolation.T, coarse
        self._weights = [(weight / matrix.diagonal()).astype(np.float32)[:, None] for weight in _chebyshev_weights()]

    def solve(self, right: Dense) -> Dense:
        """right: (n, k) in float32."""
        solution: Dense = self._weights[0] * right
        for weight in self._weights[1:]:
            self._sweep(weight, right, solution)
        below = self._restriction @ (right - self.matrix @ solution)
        coarse = self._coarse.solve(below)
        if isinstance(self._coarse, _Cycle):
            coarse += self._coarse.solve(below - self._coarse.matrix @ coarse)
        solution += self._interpolation @ coarse
        for weight in self._weights:
            self._sweep(weight, right, solution)
        return solution

    def _sweep(self, weight: Dense, right: Dense, solution: Dense) -> None:
        change = self.matrix @ solution
        np.subtract(right, change, out=change)
        change *= weight
        solution += change


def _refine(
    cycle: _Cycle, mass: sparse.csr_array | None, values: npt.NDArray[np.float64], vectors: Dense
) -> tuple[npt.NDArray[np.float64], Dense]:
    """Rayleigh–Ritz on vectors and what a cycle makes of their residuals, STEPS times, in float32.

    values, vectors: with VᵀHV = diag(values) and VᵀMV = 1. mass: None = identity. Blocks of columns are corrected, and
    blocks of rows multiplied, on all cores; sums are in the order of the blocks, so that the bits do not depend on
    their number.
    """
    size, rank = vectors.shape
    weight = None if mass is None else mass.astype(np.float32)
    basis = np.empty((size, 2 * rank), np.float32)  # vectors, then their corrections
    basis[:, :rank] = vectors
    images = np.empty_like(basis)  # H @ basis
    weighted = basis if weight is None else np.empty_like(basis)  # M @ basis

    def multiply(columns: slice) -> None:
        block = np.ascontiguousarray(basis[:, columns])
        images[:, columns] = cycle.matrix @ block
        if weight is not None:
            weighted[:, columns] = weight @ block

    def correct(columns: slice) -> None:
        residual = images[:, columns] - weighted[:, columns] * values[columns].astype(np.float32)
        corrections = slice(rank + columns.start, rank + columns.stop)
        basis[:, corrections] = cycle.solve(residual)
        multiply(corrections)

    def products(rows: slice) -> Dense:
        """With the corrections alone: those of vectors with vectors are known."""
        return np.stack([basis[rows].T @ array[rows, rank:] for array in (images, weighted)])

    def mix(rows: slice) -> None:
        for array in mixed:
            array[rows, :rank] = array[rows] @ mixing

    columns, rows = _blocks(rank, COLUMNS), _blocks(size, ROWS)
    carried = (basis, images) if weight is None else (basis, images, weighted)
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(multiply, columns))
        for left in reversed(range(STEPS)):
            list(pool.map(correct, columns))
            right = sum(pool.map(products, rows), np.zeros((2, 2 * rank, rank)))
            values, mixing = _ritz(_bordered(values, right[0]), _bordered(np.ones(rank), right[1]), rank)
            mixed = carried if left else (basis,)
            list(pool.map(mix, rows))
    return values, basis[:, :rank]


def _bordered(diagonal: npt.NDArray[np.float64], right: Dense) -> Dense:
    """The symmetric matrix whose right half this is, and whose upper left quarter is the diagonal one."""
    return np.hstack([np.vstack([np.diag(diagonal), right[: len(diagonal)].T]), right])


def _chebyshev_weights() -> list[float]:
    """Of SWEEPS sweeps of Jacobi, which together damp what is rough most evenly."""
    middle, radius = 0.5 * LARGEST * (1 + 1 / ROUGHER), 0.5 * LARGEST * (1 - 1 / ROUGHER)
    return [1 / (middle + radius * math.cos(math.pi * (k + 0.5) / SWEEPS)) for k in range(SWEEPS)]


def _blocks(count: int, size: int) -> list[slice]:
    return [slice(first, min(first + size, count)) for first in range(0, count, size)]


def _ritz(stiffness: Dense, gram: Dense, rank: int) -> tuple[npt.NDArray[np.float64], Dense]:
    """The `rank` smallest of stiffness y = λ gram y, y with vᵀ gram v = 1 as columns in float32.

    Directions that gram does not tell from rounding, such as corrections of modes that are found, are left out. Where
    their rounding in `stiffness` still makes an eigenvalue of its own, −998 on a matrix of 340 000, so are longer ones.
    """
    smallest, least = TOO_GOOD * stiffness[0, 0] / gram[0, 0], INDEPENDENT
    scale = np.diag(gram) ** -0.5  # corrections are much smaller than modes
    both = np.outer(scale, scale)
    lengths, axes = np.linalg.eigh(0.5 * (gram + gram.T) * both)
    while True:
        apart = lengths > least
        basis = scale[:, None] * axes[:, apart] * lengths[apart] ** -0.5
        values, mixing = scipy.linalg.eigh(
            basis.T @ (0.5 * (stiffness + stiffness.T)) @ basis, subset_by_index=[0, rank - 1]
        )
        if values[0] > smallest:
            return values, (basis @ mixing).astype(np.float32)
        least *= 10.0


def _factorised(matrix: sparse.csr_array) -> Any:
    return linalg.splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})


def _interpolation(matrix: sparse.csr_array) -> sparse.csr_array:
    """(n, aggregates): one for each unknown of an aggregate, smoothed by one sweep of damped Jacobi."""
    number, _ = aggregates(matrix, 1 + np.random.default_rng(0).permutation(matrix.shape[0]))
    flat = sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)))
    return (flat - sparse.diags_array(SMOOTHING / matrix.diagonal()) @ (matrix @ flat)).tocsr()

"""The smoothest modes of a sparse, symmetric, positive definite matrix: Lanczos on a coarse one, then refinement.

Lanczos with a factorised H solves some 300 systems one after the other. Modes are smooth, so a matrix with a seventh of
the unknowns shows them nearly as well. Smoothed aggregation makes it (Vaněk, Mandel, Brezina 1996); a few steps of a
block method, with that coarse matrix as preconditioner, do the rest, all modes at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from .aggregation import aggregates

DIRECT = 12_000  #: unknowns up to which Lanczos alone is quick
GUARD = 8  #: modes that are refined beside those that are asked for, since the last ones converge last
STEPS, SWEEPS = 3, 2  #: of refinement, and of damped Jacobi on either side of a coarse solve
DAMPING = 0.66  #: of Jacobi, 4/3 over a λ_max(D⁻¹H) of 2
INDEPENDENT = 1e-6  #: squared length, among unit vectors in float32, below which a direction is rounding
ROUGH = 1e-2  #: tolerance of the coarse eigenvalues, which are refined

Dense = npt.NDArray[Any]


def smoothest_modes(matrix: sparse.csr_array, rank: int) -> tuple[npt.NDArray[np.float64], Dense]:
    """(eigenvalues (rank,) ascending, vectors (n, rank)), orthonormal, with VᵀHV = diag(eigenvalues).

    Up to DIRECT unknowns they are eigenvectors to machine precision. Above they are Ritz vectors in float32: the
    eigenvalues too large by a share that docs/theory/performance.md measures, 1e-3 at most there.
    """
    if matrix.shape[0] <= DIRECT:
        return _lanczos(matrix, None, rank, 0.0)
    values, vectors = _modes(matrix, sparse.eye_array(matrix.shape[0], format="csr"), rank + GUARD)
    return values[:rank], vectors[:, :rank]


def _modes(matrix: sparse.csr_array, mass: sparse.csr_array, rank: int) -> tuple[npt.NDArray[np.float64], Dense]:
    """Of matrix v = λ mass v."""
    if matrix.shape[0] <= DIRECT:
        return _lanczos(matrix, mass, rank, ROUGH)
    interpolation = _interpolation(matrix)
    coarse, coarse_mass = (interpolation.T @ fine @ interpolation for fine in (matrix, mass))
    values, vectors = _modes(coarse.tocsr(), coarse_mass.tocsr(), rank)
    return _refine(matrix, mass, interpolation, _factorised(coarse), values, interpolation @ vectors)


def _lanczos(
    matrix: sparse.csr_array, mass: sparse.csr_array | None, rank: int, tolerance: float
) -> tuple[npt.NDArray[np.float64], Dense]:
    """mass: None = identity. tolerance: of the eigenvalues, relative; 0 = machine precision."""
    inverse = linalg.LinearOperator(matrix.shape, matvec=_factorised(matrix).solve, dtype=float)
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    values, vectors = linalg.eigsh(matrix, k=rank, M=mass, sigma=0.0, OPinv=inverse, v0=start, tol=tolerance)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _refine(
    matrix: sparse.csr_array,
    mass: sparse.csr_array,
    interpolation: sparse.csr_array,
    coarse: Any,
    values: npt.NDArray[np.float64],
    vectors: Dense,
) -> tuple[npt.NDArray[np.float64], Dense]:
    """Rayleigh–Ritz on the vectors and the two-grid corrections of their residuals, STEPS times, in float32."""
    matrix, mass, interpolation = (part.astype(np.float32) for part in (matrix, mass, interpolation))
    restriction, weight = interpolation.T.tocsr(), (DAMPING / matrix.diagonal())[:, None]
    vectors = np.ascontiguousarray(vectors, np.float32)
    image = matrix @ vectors
    for _ in range(STEPS):
        residual: Dense = image - mass @ vectors * values.astype(np.float32)
        correction = weight * residual
        for _ in range(SWEEPS - 1):
            correction += weight * (residual - matrix @ correction)
        below = coarse.solve(np.asfortranarray(restriction @ (residual - matrix @ correction), float))
        correction += interpolation @ np.ascontiguousarray(below, np.float32)
        for _ in range(SWEEPS):
            correction += weight * (residual - matrix @ correction)
        basis, images = np.hstack([vectors, correction]), np.hstack([image, matrix @ correction])
        values, mixing = _ritz((basis.T @ images).astype(float), (basis.T @ (mass @ basis)).astype(float), len(values))
        vectors, image = basis @ mixing, images @ mixing
    return values, vectors


def _ritz(stiffness: Dense, gram: Dense, rank: int) -> tuple[npt.NDArray[np.float64], Dense]:
    """The `rank` smallest of stiffness y = λ gram y, y with vᵀ gram v = 1 as columns in float32.

    Directions that gram does not tell from rounding, such as corrections of modes that are found, are left out.
    """
    scale = np.diag(gram) ** -0.5  # corrections are much smaller than modes
    both = np.outer(scale, scale)
    lengths, axes = np.linalg.eigh(0.5 * (gram + gram.T) * both)
    apart = lengths > INDEPENDENT
    basis = scale[:, None] * axes[:, apart] * lengths[apart] ** -0.5
    values, mixing = scipy.linalg.eigh(
        basis.T @ (0.5 * (stiffness + stiffness.T)) @ basis, subset_by_index=[0, rank - 1]
    )
    return values, (basis @ mixing).astype(np.float32)


def _factorised(matrix: sparse.csr_array) -> Any:
    return linalg.splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})


def _interpolation(matrix: sparse.csr_array) -> sparse.csr_array:
    """(n, aggregates): one for each unknown of an aggregate, smoothed by one sweep of damped Jacobi."""
    number, _ = aggregates(matrix, 1 + np.random.default_rng(0).permutation(matrix.shape[0]))
    flat = sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)))
    return (flat - sparse.diags_array(DAMPING / matrix.diagonal()) @ (matrix @ flat)).tocsr()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The subspaces U and V: modes of the rest-shape H (docs/theory/method.md §9), computed once and kept by content."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from .modes import smoothest_modes

FORMAT = "4"


class Subspace(NamedTuple):
    eigenvalues: npt.NDArray[np.float64]  #: (r,) ascending
    modes: npt.NDArray[np.float32]  #: (r, N) orthonormal rows, zero at hard pins
    largest: float  #: λ_max(D⁻¹H), the bound of the relaxation


def subspace(hessian: sparse.csr_array, free: npt.NDArray[np.float64], rank: int, cache: Path | None) -> Subspace:
    """Modes of the `rank` smallest eigenvalues of H's free block.

    hessian: (N, N). free: (N,) 1 or 0. cache: folder that keeps results by the hash of their input, or None.
    """
    path = None if cache is None else cache / f"subspace_{_fingerprint(hessian, free, rank)}.npz"
    if path is not None and path.exists():
        try:
            with np.load(path, allow_pickle=False) as stored:
                return Subspace(stored["eigenvalues"], stored["modes"], float(stored["largest"]))
        except (OSError, ValueError, KeyError):
            path.unlink(missing_ok=True)  # a torn file: compute it again
    result = _compute(hessian, free, rank)
    if path is not None:
        _store(path, result)
    return result


def _compute(hessian: sparse.csr_array, free: npt.NDArray[np.float64], rank: int) -> Subspace:
    moving = np.flatnonzero(free)
    block = hessian[moving][:, moving].tocsr()
    rank = min(rank, len(moving) - 2)
    modes = np.zeros((max(rank, 0), len(free)), np.float32)
    eigenvalues = np.zeros(max(rank, 0))
    if rank > 0:
        eigenvalues, vectors = smoothest_modes(block, rank)
        modes[:, moving] = vectors.T
    return Subspace(eigenvalues, modes, _largest(hessian))


def _largest(hessian: sparse.csr_array) -> float:
    """λ_max(D⁻¹H) by Lanczos on D^−½ H D^−½."""
    scale = sparse.diags_array(hessian.diagonal() ** -0.5)
    start = np.random.default_rng(1).standard_normal(hessian.shape[0])
    if hessian.shape[0] < 3:
        return float(np.linalg.eigvalsh((scale @ hessian @ scale).toarray())[-1])
    value = linalg.eigsh(scale @ hessian @ scale, k=1, which="LA", tol=1e-2, v0=start, return_eigenvectors=False)
    return float(value[0])


def _fingerprint(hessian: sparse.csr_array, free: npt.NDArray[np.float64], rank: int) -> str:
    content = hashlib.sha256(FORMAT.encode())
    for part in (hessian.indptr, hessian.indices, hessian.data, free, np.array([rank])):
        content.update(np.ascontiguousarray(part).tobytes())
    return content.hexdigest()[:24]


def _store(path: Path, result: Subspace) -> None:
    """A full or read-only disk costs the next start some seconds, nothing else."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix="subspace_") as scratch:
            made = Path(scratch) / path.name
            np.savez(made, **result._asdict())
            os.replace(made, path)

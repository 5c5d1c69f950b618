# SPDX-License-Identifier: GPL-3.0-or-later
"""The systems as they come up: Newton's K by the product's kernels, and the H + ΔH of the paper's global solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ...gpu_core.contact.barrier import Contacts
from ...gpu_core.solvers.newton import NewtonStep
from ...gpu_core.solvers.sums import DotProduct
from ...gpu_core.subspace.aggregation import hierarchy
from ..claims.linear import GlobalSolve
from .krylov import Array, Operator, System

SYMMETRIC = ((0, 1, 2), (1, 4, 5), (2, 5, 6))  #: where a stored 3×3 block has its entries: xx xy xz – yy yz zz –


def of_newton(newton: NewtonStep, contacts: Contacts | None) -> System:
    """At the matrix that the last `begin` has set up."""
    backend, count = newton.backend, newton.vertices
    times = backend.sequence(newton._launches(contacts)[1][:2])
    dot, levels = DotProduct(backend, count).product, newton._multilevel
    whole = backend.sequence(levels.launches(newton._inverse, newton._left, newton._preconditioned, dot))
    free = np.asarray(newton.free, np.float64)[:, None]
    blocks = np.asarray(newton._inverse, np.float64).reshape(count, 8)[:, SYMMETRIC]

    def through(run: Callable[[], None], source: Any, to: Any) -> Operator:
        def operator(v: Array) -> Array:
            source[:, :3] = v
            run()
            return np.asarray(to[:, :3], np.float64) * free

        return operator

    return System(
        through(times, newton._direction, newton._product),
        through(whole, newton._left, newton._preconditioned),
        lambda r: np.asarray(np.einsum("nij,nj->ni", blocks, r)) * free,
        np.asarray(newton.residual[:, :3], np.float64) * free,
    )


def of_constant(problem: GlobalSolve, rest: Array) -> System:
    """H + ΔH with the aggregates of H; rest: (N, 3) m. No vertex may be pinned."""
    matrix = problem.matrix
    inverse = 1.0 / matrix.diagonal()[:, None]
    member, levels = np.arange(matrix.shape[0]), []
    for number in hierarchy(problem.hessian, rest):
        member = number[member]
        spread = sparse.csr_array((np.ones(len(member)), (np.arange(len(member)), member)))
        levels.append((spread, 1.0 / (spread.T @ matrix @ spread).diagonal()[:, None]))

    def aggregates(r: Array) -> Array:
        return inverse * r + sum(spread @ (block * (spread.T @ r)) for spread, block in levels)

    return System(lambda v: np.asarray(matrix @ v), aggregates, lambda r: inverse * r, problem.residual)

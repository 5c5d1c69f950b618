"""Aggregates of unknowns that hang together strongly, as multigrid forms them (Vaněk, Mandel, Brezina 1996)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

STRONG = 0.08  #: of √(h_ii h_jj), from which two unknowns are neighbours
LEAST = 0.5  #: of the unknowns; a level with more aggregates than that is not worth its cost

Numbers = npt.NDArray[np.int64]


def hierarchy(matrix: sparse.csr_array) -> list[Numbers]:
    """Level by level the aggregate of each unknown of the level below, from `matrix` upwards; none where nothing gains.

    Ends where what joins the aggregates is weak against their own weight, or where one is left.
    """
    levels: list[Numbers] = []
    while matrix.shape[0] > 1:
        number = aggregates(matrix)
        if number.max() + 1 > LEAST * len(number):
            break
        levels.append(number)
        flat = sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)))
        matrix = (flat.T @ matrix @ flat).tocsr()
    return levels


def aggregates(matrix: sparse.csr_array) -> Numbers:
    """Number of the aggregate (n,) of each unknown: a root, no two of them within two rings, and what is nearest."""
    diagonal, entries = matrix.diagonal(), matrix.tocoo()
    near = np.abs(entries.data) >= STRONG * np.sqrt(diagonal[entries.row] * diagonal[entries.col])
    graph = sparse.csr_array((entries.data[near], (entries.row[near], entries.col[near])), shape=matrix.shape)

    def best(values: Numbers) -> Numbers:
        """The largest value of each unknown and its neighbours; rows hold their diagonal, so none is empty."""
        return np.asarray(np.maximum.reduceat(values[graph.indices], graph.indptr[:-1]))

    rank = 1 + np.random.default_rng(0).permutation(matrix.shape[0])
    root: npt.NDArray[np.bool_] = np.zeros(matrix.shape[0], bool)
    while rank.any():
        root |= (rank > 0) & (rank == best(best(rank)))
        rank[best(best(root.astype(np.int64))) > 0] = 0
    number = np.where(root, np.cumsum(root), 0)
    while not number.all():
        number = np.where(number > 0, number, best(number))
    return number - 1

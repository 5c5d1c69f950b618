# SPDX-License-Identifier: GPL-3.0-or-later
"""Aggregates of unknowns that hang together strongly, as multigrid forms them (Vaněk, Mandel, Brezina 1996)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

STRONG = 0.08  #: of √(h_ii h_jj), from which two unknowns are neighbours
LEAST = 0.5  #: of the unknowns; a level with more aggregates than that is not worth its cost

Numbers = npt.NDArray[np.int64]


def hierarchy(matrix: sparse.csr_array, positions: npt.NDArray[np.floating]) -> list[Numbers]:
    """Level by level the aggregate of each unknown of the level below, from `matrix` upwards; none where nothing gains.

    Ends where what joins the aggregates is weak against their own weight, or where one is left. positions: (n, 3) of
    the unknowns, which decide what chance would: the aggregates must not depend on how a mesh is numbered.
    """
    levels: list[Numbers] = []
    order = np.argsort(_scattered(positions), kind="stable")
    while matrix.shape[0] > 1:
        rank = np.empty(matrix.shape[0], np.int64)
        rank[order] = 1 + np.arange(len(order))
        number, roots = aggregates(matrix, rank)
        if len(roots) > LEAST * len(number):
            break
        levels.append(number)
        flat = sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)))
        matrix = (flat.T @ matrix @ flat).tocsr()
        order = np.argsort(_mixed(rank[roots].astype(np.uint64)), kind="stable")
    return levels


def _scattered(positions: npt.NDArray[np.floating]) -> npt.NDArray[np.uint64]:
    """A number for each position (n, 3) that looks random: the same wherever it stands, and in a scene that
    is a power of two larger."""
    size = np.frexp(np.abs(positions).max())[1]
    bits = (np.ldexp(np.asarray(positions, np.float64), -size) + 0.0).view(np.uint64)
    return _mixed(bits[:, 0] + _mixed(bits[:, 1] + _mixed(bits[:, 2])))


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea, Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def aggregates(matrix: sparse.csr_array, rank: Numbers) -> tuple[Numbers, Numbers]:
    """(aggregate (n,) of each unknown, root of each aggregate): roots no two of which are within two rings, and to each
    what is nearest. rank: (n,) 1 … n in any order; of two unknowns that could be a root the higher is."""
    diagonal, entries = matrix.diagonal(), matrix.tocoo()
    near = np.abs(entries.data) >= STRONG * np.sqrt(diagonal[entries.row] * diagonal[entries.col])
    graph = sparse.csr_array((entries.data[near], (entries.row[near], entries.col[near])), shape=matrix.shape)

    def best(values: Numbers) -> Numbers:
        """The largest value of each unknown and its neighbours; rows hold their diagonal, so none is empty."""
        return np.asarray(np.maximum.reduceat(values[graph.indices], graph.indptr[:-1]))

    left, root = rank.copy(), np.zeros(matrix.shape[0], bool)
    while left.any():
        root |= (left > 0) & (left == best(best(left)))
        left[best(best(root.astype(np.int64))) > 0] = 0
    roots = np.flatnonzero(root)
    roots = roots[np.argsort(rank[roots])]
    number = np.zeros(matrix.shape[0], np.int64)
    number[roots] = 1 + np.arange(len(roots))
    while not number.all():
        number = np.where(number > 0, number, best(number))
    return number - 1, roots

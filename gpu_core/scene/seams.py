# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams as topology: which vertices are near one, and the cloth that a closed seam makes."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
from scipy.sparse import csgraph

from .arrays import Array, IntArray
from .mesh import edge_lengths, incidence, unique_edges
from .pins import Pins, strongest, weights_of
from .scene import Cloth, Cords

AGREED = 1.0e-7  #: m, two places at rest that are one
TOGETHER = 1.0e-5  #: m between two ends of a thread that are one place, as the caches of two objects have it


class NearSeams(NamedTuple):
    """Of N vertices."""

    seam: IntArray  #: (N,) number of the nearest seam, −1 where none is near
    distance: Array  #: (N,) from it along the mesh's edges, m; 0 where there is none
    piece: IntArray  #: (N,) which cloth a vertex lies in at rest; those of a closed seam lie in none, and are alone


def near_seams(cloths: tuple[Cloth, ...], edges: IntArray, lengths: Array, reach: float) -> NearSeams:
    """What lies within `reach` of a seam, m. edges: (E, 2) of all cloths. lengths: (E,) of them at rest, m.

    Threads, and vertices that are sewn, make one seam where edges of the mesh join them.
    """
    offsets = np.cumsum([0, *(len(cloth.positions) for cloth in cloths)])
    count = int(offsets[-1])
    piece = np.repeat(np.arange(len(cloths)), np.diff(offsets)).astype(np.int32)
    sewn, threads = np.zeros(count, bool), [np.zeros((0, 2), np.int32)]
    for cloth, first in zip(cloths, offsets, strict=False):
        sewn[first : first + len(cloth.positions)] = _sewn(cloth)
        if cloth.seams is not None:
            threads.append(cloth.seams + first)
    seam, distance = np.full(count, -1, np.int32), np.zeros(count)
    piece[sewn] = -1 - np.flatnonzero(sewn)
    every = np.concatenate(threads)
    sewn[every] = True
    if sewn.any():
        joined = np.concatenate([every, edges[sewn[edges].all(axis=1)]])
        number = csgraph.connected_components(_graph(joined, np.ones(len(joined)), count), directed=False)[1]
        found, _, source = csgraph.dijkstra(
            _graph(edges, np.maximum(lengths, 1e-12), count),  # 0 would be no edge
            directed=False, indices=np.flatnonzero(sewn), limit=reach, min_only=True, return_predecessors=True,
        )  # fmt: skip
        near = np.isfinite(found)
        seam[near], distance[near] = number[source[near]], found[near]
    return NearSeams(seam, distance, piece)


class Welded(NamedTuple):
    cloth: Cloth  #: with the sewn vertices as one
    vertex_of: IntArray  #: (N,) which of its vertices each of the original is
    done: npt.NDArray[np.bool_]  #: (S,) the threads that are no more


def welded(cloth: Cloth, wanted: npt.NDArray[np.bool_], kept: npt.NDArray[np.bool_]) -> Welded:
    """The cloth in which the threads `wanted` (S,) have made one vertex of each two. Triangles keep their rest shapes.
    kept: (S,) those of them that have done so already.

    A thread stays where it would leave a face without area or two faces in one place.
    """
    assert cloth.seams is not None
    count, done = len(cloth.positions), wanted | kept
    while True:
        graph = _graph(cloth.seams[done], np.ones(int(done.sum())), count)
        _, vertex_of = csgraph.connected_components(graph, directed=False)
        bad = _unfit(vertex_of[cloth.triangles])
        if not len(bad) or (done == kept).all():
            break
        done &= kept | ~np.isin(vertex_of[cloth.seams], bad).any(axis=1)
    _, first, vertex_of = np.unique(vertex_of, return_index=True, return_inverse=True)
    left = vertex_of[cloth.seams[~done]]
    left = left[left[:, 0] != left[:, 1]]
    result = replace(
        cloth,
        triangles=vertex_of[cloth.triangles].astype(np.int32),
        rest_positions=cloth.rest_positions[first],
        rest_corners=cloth.patterns,
        positions=mean_of(cloth.positions, vertex_of),
        velocities=None if cloth.velocities is None else mean_of(cloth.velocities, vertex_of),
        pins=None if cloth.pins is None else _pinned(cloth.pins, vertex_of),
        pin_groups=tuple(replace(group, pins=_pinned(group.pins, vertex_of)) for group in cloth.pin_groups),
        painted={
            name: replace(paint, weights=mean_of(paint.weights.astype(float), vertex_of).astype(np.float32))
            for name, paint in cloth.painted.items()
        },
        seams=left.astype(np.int32),
        party=None if cloth.party is None else cloth.party[first],
        sewn=np.isin(np.arange(len(first)), vertex_of[cloth.seams[done]]),
        folds=None if cloth.folds is None else replace(cloth.folds, ends=vertex_of[cloth.folds.ends].astype(np.int32)),
        cords=None if cloth.cords is None else _tied(cloth.cords, vertex_of),
    )
    return Welded(result, vertex_of.astype(np.int32), done)


def mean_of(values: Array, vertex_of: IntArray) -> Array:
    """(N′, …) the means of (N, …) over those that are one vertex."""
    start, order = incidence(vertex_of, int(vertex_of.max()) + 1)
    sums = np.add.reduceat(values[order], start[:-1], axis=0)
    return np.asarray(sums / np.diff(start).reshape(-1, *[1] * (values.ndim - 1)))


def _sewn(cloth: Cloth) -> npt.NDArray[np.bool_]:
    """(N,) the vertices of which triangles do not agree where they lie at rest."""
    if cloth.rest_corners is None:
        return np.zeros(len(cloth.positions), bool)
    low, high = np.full((2, *cloth.positions.shape), [[[np.inf]], [[-np.inf]]])
    np.minimum.at(low, cloth.triangles, cloth.rest_corners)
    np.maximum.at(high, cloth.triangles, cloth.rest_corners)
    return np.asarray((high - low > AGREED).any(axis=1))


def _unfit(triangles: IntArray) -> IntArray:
    """The vertices of triangles that the solver has no law for."""
    ordered = np.sort(triangles, axis=1)
    flat = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    _, number, twice = np.unique(ordered, axis=0, return_inverse=True, return_counts=True)
    return np.unique(triangles[flat | (twice[number.ravel()] > 1)])


def _tied(cords: Cords, vertex_of: IntArray) -> Cords | None:
    """Those whose ends are still two vertices."""
    ends = vertex_of[cords.ends].astype(np.int32)
    apart = ends[:, 0] != ends[:, 1]
    return Cords(ends[apart], cords.lengths[apart]) if apart.any() else None


def _pinned(pins: Pins, vertex_of: IntArray) -> Pins:
    """Of several pins at one vertex the strongest."""
    weights = weights_of(pins)
    vertices, kept = strongest(vertex_of[pins.vertices], weights)
    return Pins(vertices, pins.targets[:, kept], None if pins.weights is None else weights[kept])


def rest_lengths(cloths: tuple[Cloth, ...]) -> Array:
    """(E,) of all cloths' edges, as `unique_edges` has them, m: the mean where two triangles do not agree."""
    lengths = []
    for cloth in cloths:
        edges = unique_edges(cloth.triangles)
        if cloth.rest_corners is None:
            lengths.append(edge_lengths(cloth.rest_positions, edges))
            continue
        sides = np.array([[0, 1], [1, 2], [2, 0]])
        ends = np.sort(cloth.triangles[:, sides].reshape(-1, 2), axis=1)
        side = np.linalg.norm(cloth.rest_corners[:, sides[:, 1]] - cloth.rest_corners[:, sides[:, 0]], axis=2).ravel()
        weight = np.array([1 << 32, 1])
        number = np.searchsorted(edges @ weight, ends @ weight)
        lengths.append(np.bincount(number, side) / np.bincount(number))
    return np.concatenate(lengths)


def _graph(ends: IntArray, weight: Array, count: int) -> sparse.csr_array:
    return sparse.coo_array((weight, (ends[:, 0], ends[:, 1])), shape=(count, count)).tocsr()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Topology of triangle meshes: edges, hinges, incidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .arrays import IntArray


class Incidence(NamedTuple):
    """A compressed table: row i holds entries[start[i]:start[i + 1]]."""

    start: IntArray  #: (rows + 1,)
    entries: IntArray


def incidence(keys: npt.NDArray[Any], rows: int) -> Incidence:
    """Where each row's key occurs in the flat array `keys`, in order of occurrence."""
    flat = keys.ravel()
    order = np.argsort(flat, kind="stable").astype(np.int32)
    counts = np.bincount(flat, minlength=rows)
    return Incidence(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), order)


def directed_edges(triangles: IntArray) -> IntArray:
    """(3T, 2) as the triangles run."""
    return np.asarray(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2))


def turned_edges(triangles: IntArray) -> int:
    """How many edges lie between two faces that look to opposite sides."""
    ends = directed_edges(triangles).astype(np.int64)
    return len(ends) - len(np.unique(ends[:, 0] << 32 | ends[:, 1]))


def unique_edges(triangles: IntArray) -> IntArray:
    """(E, 2) vertex pairs, smaller vertex first, sorted."""
    return counted_edges(triangles)[0]


def counted_edges(triangles: IntArray) -> tuple[IntArray, npt.NDArray[np.int64]]:
    """(`unique_edges` (E, 2), how many triangles have each (E,))."""
    ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64), axis=1)
    keys, count = np.unique(ends[:, 0] << 32 | ends[:, 1], return_counts=True)  # numbers sort faster than rows
    return np.column_stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32), count


def edge_lengths(positions: npt.NDArray[np.floating], edges: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """(E,) of edges (E, 2) at positions (N, 3)."""
    first, last = edges.T
    x, y, z = (axis[last] - axis[first] for axis in np.ascontiguousarray(np.asarray(positions, np.float64).T))
    return np.asarray(np.sqrt(x * x + y * y + z * z))


def vertex_ring(triangles: IntArray, vertices: int) -> Incidence:
    """The neighbours of each vertex along edges, in ascending order."""
    edges = unique_edges(triangles)
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    start = np.searchsorted(both[:, 0], np.arange(vertices + 1)).astype(np.int32)
    return Incidence(start, np.ascontiguousarray(both[:, 1], np.int32))


class Edges(NamedTuple):
    """The edges of a mesh, and where each vertex finds its own."""

    ends: IntArray  #: (E, 2) smaller vertex first, sorted
    above: IntArray  #: (V + 1,) edges above[v]:above[v + 1] lead from v to larger vertices
    below: Incidence  #: per vertex, the edges that lead to smaller ones


def with_cords(edges: IntArray, cords: IntArray) -> IntArray:
    """(E, 2) edges as `unique_edges` has them, and those of cords (C, 2)."""
    if not len(cords):
        return edges
    ends = np.concatenate([edges, np.sort(cords, axis=1)]).astype(np.int64)
    keys = np.unique(ends[:, 0] << 32 | ends[:, 1])
    return np.column_stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32)


def edges_of(triangles: IntArray, vertices: int, cords: IntArray) -> Edges:
    """cords: (C, 2), edges too."""
    ends = with_cords(unique_edges(triangles), cords)
    above = np.searchsorted(ends[:, 0], np.arange(vertices + 1)).astype(np.int32)
    return Edges(ends, above, incidence(ends[:, 1], vertices))


def edge_sides(triangles: IntArray, edges: IntArray, cords: IntArray) -> IntArray:
    """(E, S) the triangle sides along each edge, −1 where there are not so many. edges: (E, 2) as `unique_edges`.
    cords: (C, 2), sides after those of all triangles.

    S: 2, or as many as any edge has.

    2 (3t + k) + 1 where side k, from corner k + 1 to corner k + 2 of triangle t, runs from the smaller vertex to the
    larger, 2 (3t + k) where it runs back.
    """
    ends = np.stack([triangles[:, [1, 2, 0]], triangles[:, [2, 0, 1]]], axis=-1).reshape(-1, 2)
    ends = np.concatenate([ends, cords])
    number = 2 * np.arange(len(ends)) + (ends[:, 0] < ends[:, 1])
    weight = np.array([1 << 32, 1])
    edge = np.searchsorted(edges @ weight, np.sort(ends, axis=1) @ weight)
    order = np.argsort(edge, kind="stable")
    first = np.searchsorted(edge[order], np.arange(len(edges)))
    place = np.arange(len(order)) - first[edge[order]]
    sides = np.full((len(edges), max(2, int(place.max()) + 1)), -1, np.int32)
    sides[edge[order], place] = number[order]
    return sides


class Hinges(NamedTuple):
    """Interior edges with their two triangles: vertices a, b of the edge, c and d opposite."""

    corners: IntArray  #: (E, 4) a, b, c, d
    triangles: IntArray  #: (E, 2)


def hinges(triangles: IntArray, shape: npt.NDArray[np.floating] | None = None) -> Hinges:
    """Of more than two triangles at an edge the two that go on from each other flattest are a hinge, then the flattest
    of the others; a third one is free to turn. shape: (N, 3) in which that is seen; None: in the triangles' order.
    """
    count = len(triangles)
    ends = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    opposite = triangles[:, [2, 0, 1]].reshape(-1)
    owner = np.repeat(np.arange(count), 3)
    key = np.sort(ends, axis=1)
    order = np.lexsort((owner, key[:, 1], key[:, 0]))
    first, second = order[:-1], order[1:]
    shared = (key[first] == key[second]).all(axis=1)
    if (shared[1:] & shared[:-1]).any():
        first, second = _flattest(order, shared, key, opposite, shape).T
    else:
        first, second = first[shared], second[shared]
    corners = np.column_stack([key[first], opposite[first], opposite[second]])
    return Hinges(corners.astype(np.int32), np.column_stack([owner[first], owner[second]]).astype(np.int32))


def _flattest(
    order: npt.NDArray[np.int64],
    shared: npt.NDArray[np.bool_],
    ends: IntArray,
    opposite: IntArray,
    shape: npt.NDArray[np.floating] | None,
) -> npt.NDArray[np.int64]:
    """(E, 2) the triangle sides that make hinges. order: of the sides by edge; shared: one has the edge of the next."""
    pairs: list[tuple[int, int]] = []
    for sides in np.split(order, np.flatnonzero(~shared) + 1):
        if len(sides) == 2 or shape is None:
            pairs += zip(sides[:-1:2].tolist(), sides[1::2].tolist(), strict=True)
        elif len(sides) > 2:
            cosine = _cosines(shape[ends[sides[0]]], shape[opposite[sides]])
            cosine[np.tri(len(sides), dtype=bool)] = np.inf  # each pair once
            for _ in range(len(sides) // 2):
                pair = np.unravel_index(int(np.argmin(cosine)), cosine.shape)
                pairs.append((int(sides[pair[0]]), int(sides[pair[1]])))
                cosine[pair, :] = cosine[:, pair] = np.inf
    return np.array(pairs, np.int64).reshape(-1, 2)


def _cosines(edge: npt.NDArray[np.floating], corners: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """(K, K) between the faces on an edge (2, 3) whose third corners are (K, 3): −1 is flat."""
    start, end = edge.astype(np.float64)
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-30)
    away = corners.astype(np.float64) - start
    away = away - np.outer(away @ along, along)
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-30)
    return np.asarray(away @ away.T)


def triangle_areas(positions: npt.NDArray[np.floating], triangles: IntArray) -> npt.NDArray[np.float64]:
    return corner_areas(positions[triangles])


def corner_areas(corners: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """(T,) of triangles (T, 3, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def places(
    corners: npt.NDArray[np.floating], triangles: IntArray, owner: npt.NDArray[Any], vertex: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """(K, 3) where the corners (T, 3, 3) of the triangles `owner` (K,) that are these vertices (K,) lie."""
    return np.asarray(corners[owner, np.argmax(triangles[owner] == vertex[:, None], axis=1)], np.float64)

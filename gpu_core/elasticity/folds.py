# SPDX-License-Identifier: GPL-3.0-or-later
"""Pleats: edges with a rest angle, and what the plate rows around them have for it (docs/theory/shape.md, "Folds").

A sheet that is folded along all its marked edges need not close to one shape: the pleats of a skirt take in its whole
waist. So each triangle sees its own neighbourhood alone, unfolded from itself: beyond a marked edge all is turned about
that edge. In that neighbourhood the rows of the triangle bend to nothing.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..scene.arrays import Array, IntArray
from ..scene.mesh import hinges, incidence
from ..scene.scene import Cloth, Folds

RINGS = 2  #: edges that lie between a triangle and what its rows know
SHARPEST = np.radians(170.0)  #: at half a turn the normals of both sides would cancel


class Neighbourhoods(NamedTuple):
    """Of the triangles that a fold is near to; Q pairs of such a triangle and one of its neighbourhood."""

    own: npt.NDArray[np.int64]  #: (Q,) the one that sees
    other: npt.NDArray[np.int64]  #: (Q,) the one that is seen; itself too
    crossed: npt.NDArray[np.int64]  #: (Q, K) the folds between, outwards, −1 where there are not so many
    turned: npt.NDArray[
        np.int64
    ]  #: (Q, K) 1 where a fold's edge runs with the triangle that it is crossed from, else −1


def neighbourhoods(cloth: Cloth, folds: Folds) -> Neighbourhoods:
    found = hinges(cloth.triangles, cloth.rest_positions)
    number = _numbers(found.corners[:, :2], folds.ends)
    beside: list[list[tuple[int, int, int]]] = [[] for _ in cloth.triangles]
    for (a, b, _, _), pair, fold in zip(found.corners.tolist(), found.triangles.tolist(), number.tolist(), strict=True):
        for here, there in (pair, pair[::-1]):
            corners = cloth.triangles[here].tolist()
            runs = corners[(corners.index(a) + 1) % 3] == b
            beside[here].append((there, fold, 1 if runs else -1))
    around = incidence(cloth.triangles, len(cloth.positions))
    pairs: list[tuple[int, int]] = []
    ways: list[tuple[list[int], list[int]]] = []
    for own in _near(cloth, found.triangles[number >= 0].ravel()):
        ring = {t // 3 for v in cloth.triangles[own] for t in around.entries[around.start[v] : around.start[v + 1]]}
        for other, folds_between, runs in _unfolded(own, ring, beside):
            pairs.append((own, other))
            ways.append((folds_between, runs))
    most = max((len(way[0]) for way in ways), default=0)
    crossed, turned = (
        np.array([[*way[k], *[-1] * (most - len(way[k]))] for way in ways], np.int64).reshape(len(ways), most)
        for k in range(2)
    )
    own_of, other_of = np.array(pairs, np.int64).reshape(-1, 2).T
    return Neighbourhoods(own_of, other_of, crossed, turned)


def folded_curvature(
    cloth: Cloth, folds: Folds, near: Neighbourhoods, rows: sparse.csr_array, plate: IntArray, hinge: IntArray
) -> tuple[npt.NDArray[np.int64], Array]:
    """((K,) the rows whose triangles see a fold, (K, 4) what they have for it, as `Bending.unshrunk`).

    rows: (R, N). plate: (R,) their triangles. hinge: (R, 2) vertices whose normals give a row's.
    """
    corners = _turned(cloth, folds, near)
    count = len(cloth.positions)
    key = (near.own[:, None] * count + cloth.triangles[near.other]).ravel()
    known, of = np.unique(key, return_inverse=True)
    place = _sums(of, corners.reshape(-1, 3)) / np.bincount(of)[:, None]
    a, b, c = (corners[:, k] for k in range(3))
    normal = unit(_sums(of, np.repeat(np.cross(b - a, c - a), 3, axis=0)))
    chosen = np.flatnonzero(np.isin(plate, near.own))
    of_rows = rows[chosen].tocoo()
    at = np.searchsorted(known, plate[chosen][of_rows.row] * count + of_rows.col)
    found = _sums(of_rows.row, of_rows.data[:, None] * place[at], len(chosen))
    start, end = (np.searchsorted(known, plate[chosen] * count + hinge[chosen, k]) for k in range(2))
    return chosen, in_frame(found, place[end] - place[start], normal[start] + normal[end])


def in_frame(vectors: Array, edge: Array, normal: Array) -> Array:
    """(R, 4) of vectors (R, 3) along (edge, normal × edge, normal), as `bending_project` sets them up."""
    edge = unit(edge)
    middle = unit(unit(normal) - (unit(normal) * edge).sum(axis=1, keepdims=True) * edge)
    frame = (edge, np.cross(middle, edge), middle)
    return np.column_stack([*((vectors * axis).sum(axis=1) for axis in frame), np.zeros(len(vectors))])


def _turned(cloth: Cloth, folds: Folds, near: Neighbourhoods) -> Array:
    """(Q, 3, 3) the corners of each triangle that is seen, where the one that sees it has it, m."""
    angles = np.clip(folds.weights * cloth.fold_angle, -SHARPEST, SHARPEST)
    first, last = cloth.rest_positions[np.sort(folds.ends, axis=1)].swapaxes(0, 1)  # as `turned` goes by them
    axes = unit(last - first)
    corners = cloth.rest_positions[cloth.triangles[near.other]].astype(np.float64)
    for crossed, turned in zip(near.crossed.T[::-1], near.turned.T[::-1], strict=True):
        some = np.flatnonzero(crossed >= 0)
        fold = crossed[some]
        axis, angle = (turned[some, None] * axes[fold])[:, None, :], angles[fold][:, None, None]
        arm = corners[some] - first[fold][:, None, :]
        along = (arm * axis).sum(axis=2, keepdims=True) * axis
        turn = np.cos(angle) * (arm - along) + np.sin(angle) * np.cross(axis, arm)
        corners[some] = first[fold][:, None, :] + along + turn
    return corners


def _unfolded(
    own: int, ring: set[int], beside: list[list[tuple[int, int, int]]]
) -> list[tuple[int, list[int], list[int]]]:
    """(triangle, folds on the way to it, how they run) of the neighbourhood: the ring, and what is RINGS edges away."""
    seen: dict[int, tuple[list[int], list[int], int]] = {own: ([], [], 0)}
    waiting = deque([own])
    while waiting:
        here = waiting.popleft()
        folds, runs, steps = seen[here]
        for there, fold, run in beside[here]:
            if there in seen or (steps >= RINGS and there not in ring):
                continue
            crossed = ([*folds, fold], [*runs, run]) if fold >= 0 else (folds, runs)
            seen[there] = (*crossed, steps + 1)
            waiting.append(there)
    return [(triangle, folds, runs) for triangle, (folds, runs, _) in seen.items()]


def _near(cloth: Cloth, triangles: npt.NDArray[np.integer]) -> list[int]:
    """Triangles no more than RINGS vertices away from these."""
    reached = np.zeros(len(cloth.triangles), bool)
    reached[triangles] = True
    for _ in range(RINGS):
        touched = np.zeros(len(cloth.positions), bool)
        touched[cloth.triangles[reached]] = True
        reached = touched[cloth.triangles].any(axis=1)
    return [int(triangle) for triangle in np.flatnonzero(reached)]


def _numbers(ends: IntArray, marked: IntArray) -> npt.NDArray[np.int64]:
    """(E,) which of the marked edges (K, 2) each edge (E, 2), smaller vertex first, is; −1: none."""
    weight = np.array([1 << 32, 1])
    key = np.sort(marked, axis=1) @ weight
    order = np.argsort(key, kind="stable")
    at = np.minimum(np.searchsorted(key[order], ends @ weight), max(len(order) - 1, 0))
    return np.where(key[order][at] == ends @ weight, order[at], -1) if len(order) else np.full(len(ends), -1)


def _sums(of: npt.NDArray[np.integer], values: Array, count: int | None = None) -> Array:
    """(count, 3) the sums of values (L, 3) by number."""
    size = int(of.max(initial=-1)) + 1 if count is None else count
    return np.column_stack([np.bincount(of, values[:, axis], size) for axis in range(3)])


def unit(vectors: Array) -> Array:
    """Rows of length 1; those of length 0 stay."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30))

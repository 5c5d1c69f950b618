# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is inside of a body and belongs there: in a room, a crate, a tub, a tent, over a window sill.

A winding number holds what a room holds for inside of it as it holds a sock that is a hair below the skin. What tells
them apart: where cloth goes through the surface, something is wrong. Where it does not, and reaches outside, it goes
through an opening, and all is well. What lies inside as a whole belongs there if there is room for it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from .scene.arrays import Array, IntArray
from .scene.mesh import unique_edges, with_cords
from .scene.nearest import Body
from .scene.scene import Cloth

Mask = npt.NDArray[np.bool_]

BEFORE = 0.9  #: cosine to the nearest triangle's normal beyond which a point is surely outside, or in what is closed in
SAMPLES = 64  #: vertices of a piece, by which it is seen what room there is
GOLDEN = 0.6180339887498949  #: its multiples are spread evenly over the vertices, and keep no step with their rows
DEEP = 0.25  #: of a piece's radius, that it is away from the surface in a room: by the median, as all that follows
ROOMY = 2.5  #: radii of a piece, that a room is wide at least
ROOMIER = 8.0  #: the same, where the piece lies as near to the surface as if it had been pushed below the skin
NEAR = 4.0  #: gaps that contact keeps, which are as near as that


def inside(points: Array, body: Body, reach: float = 0.0) -> tuple[Mask, Mask]:
    """((P,) which of the points (P, 3) a body holds, (P,) which are nearer to its surface than the reach, m)."""
    held, on = np.zeros((2, len(points)), bool)
    near = np.flatnonzero(((points >= body.low - reach) & (points <= body.high + reach)).all(axis=1))
    if not len(near):
        return held, on
    place, normal = body.nearest(points[near])
    before, away = ((points[near] - place) * normal).sum(axis=1), np.linalg.norm(points[near] - place, axis=1)
    on[near] = away < reach
    sure = np.abs(before) >= BEFORE * away if body.closed else before >= BEFORE * away  # the winding number is dear
    held[near[sure]] = before[sure] < 0.0
    held[near[~sure]] = body.holds(points[near[~sure]])
    return held, on


def belonging(points: Array, edges: IntArray, body: Body, held: Mask, crossing: Mask, gap: float) -> Mask:
    """(N,) which of those that a body holds belong inside of it.

    points: (N, 3) of cloth, m. edges: (E, 2) of its pieces. held: (N,) as of `inside`. crossing: (N,) whose edges or
    faces go through the body. gap: that contact keeps, m.
    """
    belongs = np.zeros(len(points), bool)
    if not held.any():
        return belongs
    reaching, within = edges[held[edges].any(axis=1)], edges[held[edges].all(axis=1)]
    region = _pieces(within, len(points))
    count = int(region.max()) + 1
    wrong = np.bincount(region, held & crossing, count) > 0
    out = reaching[~held[reaching].all(axis=1)]
    reaches = np.bincount(region[out[held[out]]], minlength=count) > 0
    for number in np.unique(region[held]):
        own = held & (region == number)
        if not wrong[number] and (reaches[number] or _has_room(points[own], body, gap)):
            belongs |= own
    return belongs


def edges_of_pieces(cloth: Cloth) -> IntArray:
    """(E, 2) what holds a cloth together: edges of triangles, cords, threads."""
    cords = () if cloth.cords is None else (cloth.cords.ends,)
    threads = () if cloth.seams is None else (cloth.seams,)
    return with_cords(unique_edges(cloth.triangles), np.concatenate([np.zeros((0, 2), np.int32), *cords, *threads]))


def _pieces(edges: IntArray, count: int) -> npt.NDArray[np.int64]:
    """(N,) which piece each of the vertices is of."""
    graph = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    return np.asarray(csgraph.connected_components(graph, directed=False)[1], np.int64)


def _has_room(points: Array, body: Body, gap: float) -> bool:
    """Whether a piece (K, 3) that lies inside as a whole belongs there."""
    radius = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    points = points[(np.arange(SAMPLES) * GOLDEN % 1.0 * len(points)).astype(int)]
    place, triangle = body.nearest_triangles(points)
    depth = np.linalg.norm(points - place, axis=1)
    width = np.median(body.beyond(place, (points - place) / np.maximum(depth, 1e-30)[:, None]))
    made_so = body.turned[triangle].mean() > 0.5  # its faces look at the cloth
    far = float(np.median(depth))
    return bool(
        far > DEEP * radius or width > (ROOMY if far > NEAR * gap else ROOMIER) * radius or (made_so and width > radius)
    )

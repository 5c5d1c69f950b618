# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of a plate that bends equally in every direction: Morley's triangle with reconstructed edge slopes.

Morley (1968) puts a quadratic on each triangle, given by the three heights and by the slope α across the middle of each
edge. Its curvature is constant, H = Σ (l/A) β n⊗n with β = α − (slope of the flat triangle), n and l an edge's outward
normal and length, A the area; the energy is A D/2 H:H, a plate of Poisson ratio 0. We have no unknowns α, so α is a
linear function of the heights around its edge, exact for quadratics. Whatever that function is, the energy is at least
Morley's own minimum over α, which vanishes for flat shapes only: no mesh has a mode that bends for nothing.

docs/theory/bending.md derives this and measures it against the other forms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..scene.arrays import Array, IntArray
from ..scene.mesh import Hinges, hinges, places

NEGLIGIBLE = 1e-6  #: error of the mean slope, relative to that across the patch, that is left as it is
INDEPENDENT = 0.01  #: relative singular value below which the vertices around an edge do not tell two quadratics apart


class PlateRows(NamedTuple):
    rows: sparse.csr_array  #: (R, N) each annihilates linear fields
    triangle: IntArray  #: (R,) owner; the row gives area times curvature, so its stiffness is D over the owner's area
    hinge: IntArray  #: (R, 2) ends of the edge that the row belongs to


def plate_rows(
    corners: Array, triangles: IntArray, vertices: int, held: npt.NDArray[np.bool_], shape: Array | None = None
) -> PlateRows:
    """corners: (T, 3, 3) of the triangles at rest, m. vertices: N. held: (T,) triangles with three hard pins: their
    edges take their slope. They have rows all the same, which are to bear nothing, so that rows are no others when pins
    let go. shape: (N, 3) m, tells which triangles bend at an edge that has more than two."""
    found = hinges(triangles, shape)
    size = _triangle_sizes(corners)
    edge = _edge_of_corner(triangles, found)
    slopes = _edge_slopes(corners, triangles, vertices, found, edge, held)
    factor, order = _factors(size, edge.hinge)
    count = len(triangles)
    kept = np.take_along_axis(edge.hinge, order, axis=1) >= 0  # a border edge's slope minimises: its row is zero
    row = np.repeat(np.arange(3 * count), 3)
    column = np.repeat(3 * np.arange(count)[:, None] + order, 3, axis=0)
    combine = sparse.coo_array((factor.ravel(), (row, column.ravel())), shape=(3 * count, 3 * count)).tocsr()
    triangle = np.nonzero(kept)[0].astype(np.int32)
    rows = (combine[np.flatnonzero(kept.ravel())] @ slopes).tocsr()
    rows.eliminate_zeros()
    owner = np.take_along_axis(edge.hinge, order, axis=1)[kept]
    return PlateRows(rows, triangle, found.corners[owner, :2])


class _Sizes(NamedTuple):
    """Of each triangle: column k belongs to corner k or to the edge opposite to it."""

    length: Array  #: (T, 3)
    cosine: Array  #: (T, 3)
    sine: Array  #: (T, 3)


class _CornerEdges(NamedTuple):
    """The hinge opposite to each corner of each triangle."""

    hinge: IntArray  #: (T, 3), −1 at the border
    second: npt.NDArray[np.bool_]  #: (T, 3) the triangle is the hinge's second
    across: IntArray  #: (T, 3) vertex beyond the edge, −1 at the border


def _triangle_sizes(corner: Array) -> _Sizes:
    to_next, to_previous = np.roll(corner, -1, axis=1) - corner, np.roll(corner, 1, axis=1) - corner
    length = np.linalg.norm(to_previous - to_next, axis=2)
    sides = np.linalg.norm(to_next, axis=2) * np.linalg.norm(to_previous, axis=2)
    doubled = np.linalg.norm(np.cross(to_next[:, 0], to_previous[:, 0]), axis=1)
    return _Sizes(length, (to_next * to_previous).sum(2) / sides, doubled[:, None] / sides)


def _edge_of_corner(triangles: IntArray, found: Hinges) -> _CornerEdges:
    index, across = np.full_like(triangles, -1), np.full_like(triangles, -1)
    second = np.zeros(triangles.shape, bool)
    for side in range(2):
        owner = found.triangles[:, side]
        corner = np.argmax(triangles[owner] == found.corners[:, 2 + side, None], axis=1)
        index[owner, corner] = np.arange(len(owner))
        across[owner, corner] = found.corners[:, 3 - side]
        second[owner, corner] = side == 1
    return _CornerEdges(index, second, across)


def _factors(size: _Sizes, edge: IntArray) -> tuple[Array, IntArray]:
    """R (T, 3, 3) upper triangular with ‖Rβ‖² = A² H:H, and the order (T, 3) of the edges.

    Border edges come first, then from short to long. No moment acts on a border edge, so its slope minimises the
    energy, and that drops its row."""
    order = np.lexsort((size.length, edge >= 0), axis=1).astype(np.int32)
    tensor = np.zeros((len(order), 3, 3))  # columns: n⊗n of each edge as (xx, yy, √2 xy), the first normal along x
    tensor[:, 0, 0] = 1.0
    for corner, turned, sign in ((2, 1, -1.0), (1, 2, 1.0)):
        cosine, sine = size.cosine[:, corner], size.sine[:, corner]
        tensor[:, :, turned] = np.column_stack([cosine**2, sine**2, sign * np.sqrt(2.0) * cosine * sine])
    columns = np.take_along_axis(tensor * size.length[:, None, :], order[:, None, :], axis=2)
    return np.linalg.qr(columns).R, order


def _edge_slopes(
    corners: Array, triangles: IntArray, vertices: int, found: Hinges, edge: _CornerEdges, held: npt.NDArray[np.bool_]
) -> sparse.csr_array:
    """(3T, N): β of each triangle's edges, per height; rows of border edges are empty."""
    flat, vertex = _unfold(corners, triangles, found, edge)
    jump, first_share = _slope_jump(flat)
    correction = _correction(flat, vertex, jump, first_share)
    clamped = held[found.triangles]
    first_share = np.where(clamped[:, 0], 0.0, np.where(clamped[:, 1], 1.0, first_share))
    correction[clamped.any(axis=1)] = 0.0
    first = jump * first_share[:, None] + correction
    of_side = np.stack([first, jump - first])  # (2, E, 8); the two sides' β add up to the jump
    triangle, corner = np.nonzero(edge.hinge >= 0)
    index, side = edge.hinge[triangle, corner], edge.second[triangle, corner].astype(int)
    row = np.repeat(3 * triangle + corner, 8)
    shape = (3 * len(triangles), vertices)
    value, column = of_side[side, index].ravel(), np.maximum(vertex[index], 0).ravel()
    result = sparse.coo_array((value, (row, column)), shape=shape).tocsr()
    result.eliminate_zeros()
    return result


def _unfold(
    corners: Array, triangles: IntArray, found: Hinges, edge: _CornerEdges
) -> tuple[Array, npt.NDArray[np.int64]]:
    """The vertices around each hinge laid flat: (E, 8, 2) places and (E, 8) vertices.

    Axes along the edge, and across it from the first triangle to the second; the origin is the edge's middle. The
    vertices are a, b, c, d, then those beyond bc, ca, ad, db, −1 where there is none. Each triangle has its own shape:
    across a seam, two need not agree on where their common vertices lie."""
    a, b, c, d = found.corners.T
    vertex = np.full((len(a), 8), -1, np.int64)
    vertex[:, :4] = found.corners
    flat = np.zeros((len(a), 8, 2))
    first, second = found.triangles.T
    shape = lambda owner, *of: tuple(places(corners, triangles, owner, one) for one in of)  # noqa: E731
    ends = shape(first, a, b)
    half = 0.5 * np.linalg.norm(ends[1] - ends[0], axis=1)
    flat[:, 0, 0], flat[:, 1, 0] = -half, half
    flat[:, 2] = _laid_beyond(shape(first, a, b, c), flat[:, 0], flat[:, 1], -1.0)
    flat[:, 3] = _laid_beyond(shape(second, a, b, d), flat[:, 0], flat[:, 1], 1.0)
    for place, side, corner, (start, end) in (
        (4, 0, a, (1, 2)),
        (5, 0, b, (2, 0)),
        (6, 1, b, (0, 3)),
        (7, 1, a, (3, 1)),
    ):
        owner = found.triangles[:, side]
        own = np.argmax(triangles[owner] == corner[:, None], axis=1)
        beyond = edge.across[owner, own]
        other = found.triangles[np.maximum(edge.hinge[owner, own], 0), 1 - edge.second[owner, own].astype(int)]
        there = shape(other, vertex[:, start], vertex[:, end], np.maximum(beyond, 0))
        laid = _laid_beyond(there, flat[:, start], flat[:, end], 1.0)
        flat[:, place] = np.where(beyond[:, None] >= 0, laid, 0.0)
        vertex[:, place] = beyond
    return flat, vertex


def _laid_beyond(shape: tuple[Array, ...], start: Array, end: Array, side: float) -> Array:
    """Flat place (E, 2) of the third corner of a triangle whose first two lie at start and end; side 1: to the left.

    shape: (E, 3) of each of the three, at rest."""
    first, second, third = shape
    length = np.linalg.norm(second - first, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # of what lies beyond a border
        along = ((third - first) * (second - first)).sum(1) / length
        away = np.linalg.norm(np.cross(second - first, third - first), axis=1) / length
        direction = (end - start) / length[:, None]
        left = np.column_stack([-direction[:, 1], direction[:, 0]])
        return np.asarray(start + along[:, None] * direction + side * away[:, None] * left)


def _slope_jump(flat: Array) -> tuple[Array, Array]:
    """(E, 8) slope of the second triangle minus that of the first across the edge, and (E,) the first triangle's share
    of it: its height over the sum of both, which is exact for curvature across the edge."""
    length = flat[:, 1, 0] - flat[:, 0, 0]
    height = np.abs(flat[:, 2:4, 1])
    along = (flat[:, 2:4, 0] - flat[:, :1, 0]) / length[:, None]  # foot of c and d, 0 at a, 1 at b
    jump = np.zeros(flat.shape[:2])
    jump[:, 2:4] = 1.0 / height
    jump[:, 0] = -((1.0 - along) / height).sum(axis=1)
    jump[:, 1] = -(along / height).sum(axis=1)
    return jump, height[:, 0] / height.sum(axis=1)


def _correction(flat: Array, vertex: npt.NDArray[np.int64], jump: Array, first_share: Array) -> Array:
    """(E, 8) smallest coefficients that make the edge's slope exact for quadratics, as far as the vertices tell them
    apart. They annihilate linear fields, whatever else they can do."""
    there = (vertex >= 0)[:, None, :]
    scale = np.sqrt((flat**2).sum(axis=(1, 2)) / there.sum(axis=(1, 2)))
    s, h = flat[:, :, 0] / scale[:, None], flat[:, :, 1] / scale[:, None]
    linear = np.stack([np.ones_like(s), s, h], axis=1) * there
    quadratic = np.stack([s * s, s * h, h * h], axis=1) * there
    missing = -np.einsum("eqv,ev->eq", quadratic, _mean_slope(s, h, jump * scale[:, None], first_share))
    poor = np.flatnonzero(np.abs(missing).max(axis=1, initial=0.0) > NEGLIGIBLE)
    linear, quadratic = linear[poor], quadratic[poor]
    quadratic = quadratic - quadratic @ np.linalg.pinv(linear) @ linear
    result = np.zeros_like(s)
    result[poor] = np.einsum("evq,eq->ev", np.linalg.pinv(quadratic, rcond=INDEPENDENT), missing[poor])
    return result / scale[:, None]


def _mean_slope(s: Array, h: Array, jump: Array, first_share: Array) -> Array:
    """(E, 8) slope across the edge: the first triangle's and its share of the jump."""
    slope = jump * first_share[:, None]
    foot = (s[:, 2] - s[:, 0]) / (s[:, 1] - s[:, 0])
    slope[:, :3] += np.column_stack([1.0 - foot, foot, -np.ones_like(foot)]) / -h[:, 2, None]
    return slope

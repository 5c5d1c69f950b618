# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact check: every edge against every triangle, in float64, decided without a tolerance.

It shares no code with the solver, so that the solver's mistakes cannot hide in it. Three sieves follow each other, and
each lets every pair through that shares a point:

1. Boxes on a lattice. Coordinates are rounded down to whole numbers. That never changes the order of two values, so
   boxes that overlap still do, and all that follows is exact. An element lies in the one cell that holds its lowest
   corner; cells are as long as the longest element, so partners lie in the same or in adjacent cells.
2. Extents along the diagonals x ± y, y ± z, z ± x: they part nearly all neighbours within a flat sheet.
3. float64 orientations with a forward error bound (Shewchuk 1997); a certified separating direction decides coplanar
   neighbours; what is left goes to `exact_predicates`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .exact_predicates import segment_meets_triangle

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Lattice = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

ORIENTATION_ERROR = 8 * np.finfo(np.float64).eps  # Shewchuk's bound is (7 + 56ε)ε with ε = eps / 2
PROJECTION_ERROR = 8 * np.finfo(np.float64).eps  # two roundings for the difference, three for the dot product, doubled
UNDERFLOW = 1e-200  # what products of numbers below LARGEST_COORDINATE can lose to underflow, with room to spare
LARGEST_COORDINATE = 1e70  # keeps products of four differences finite
PAIRS_AT_ONCE = 1 << 16  # a chunk's arrays stay in the cache
LATTICE = 1 << 29  # points along the cloth's longest side
SMALLEST_SPAN = 1e-200  # of the cloth: LARGEST_COORDINATE over it is finite
CLASS_TOP, CLASS_RATIO = 1.5, 4.0  # size classes end at CLASS_TOP · CLASS_RATIO^n medians: a regular mesh is one class
ROW_Y, ROW_Z = 19349663, 83492791  # Teschner et al. 2003; neighbours along x have neighbouring keys
ROWS = [y * ROW_Y + z * ROW_Z for y in (-1, 0, 1) for z in (-1, 0, 1)]
LANE = 21  # bits of one packed coordinate, the highest of which keeps the borrow of a difference from the next lane
FINENESS = 14  # bits of a cell's length therein
GUARD = sum(1 << (LANE * axis + LANE - 1) for axis in range(3))
SIGN = GUARD >> 1


def unique_edges(triangles: npt.NDArray[np.integer]) -> Indices:
    """The edges (E, 2) of triangles (T, 3), each once, lower vertex first, sorted."""
    corners = np.asarray(triangles, np.int64)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    low, high = corners.min(axis=1), corners.max(axis=1)
    stride = int(high.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(low * stride + high), stride), axis=1)


def intersections(
    vertices: npt.NDArray[np.floating],
    triangles: npt.NDArray[np.integer],
    edges: npt.NDArray[np.integer] | None = None,
    collider_start: int | None = None,
) -> Indices:
    """All pairs (edge, triangle) that share a point but no vertex, as (K, 2) sorted indices.

    Shapes are closed: touching counts where the shapes truly share a point, a gap of one ulp does not. Pairs of which
    both belong to colliders are left out.

    Args:
        vertices: (V, 3) positions, m; used as float64.
        triangles: (T, 3) vertex indices.
        edges: (E, 2) vertex indices; None takes `unique_edges(triangles)`.
        collider_start: index of the first vertex that belongs to a collider; None where there is no collider.

    Raises:
        ValueError: a position is not finite (or beyond 1e70 m), or an index is out of range.
    """
    positions: Array = np.asarray(vertices, np.float64)
    triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
    edges = unique_edges(triangles) if edges is None else np.asarray(edges, np.int64).reshape(-1, 2)
    _refuse_bad_input(positions, triangles, edges)
    start = len(vertices) if collider_start is None else collider_start
    if start == 0:
        return np.empty((0, 2), np.int64)
    mesh = _Mesh(positions, triangles, edges)
    lattice = _on_lattice(mesh.coordinates, mesh.coordinates[:, :start])
    every_edge, every_triangle = _elements(lattice, mesh.ends), _elements(lattice, mesh.corners)
    edge_is_collider, triangle_is_collider = edges[:, 0] >= start, triangles[:, 0] >= start
    found = [
        _search(mesh, every_edge.where(~edge_is_collider), every_triangle),
        _search(mesh, every_edge.where(edge_is_collider), every_triangle.where(~triangle_is_collider)),
    ]
    pairs = np.concatenate(found)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


class _Mesh:
    """The arrays of one check, with coordinates and corners in rows: gathers are faster along them."""

    def __init__(self, vertices: Array, triangles: Indices, edges: Indices) -> None:
        self.coordinates = np.ascontiguousarray(vertices.T)
        x, y, z = self.coordinates
        self.diagonals = (x + y, y + z, z + x, x - y, y - z, z - x)
        self.ends, self.corners = ([*elements.T.astype(np.int32)] for elements in (edges, triangles))


def _refuse_bad_input(vertices: Array, triangles: Indices, edges: Indices) -> None:
    bad = np.flatnonzero(~(np.abs(vertices) <= LARGEST_COORDINATE).all(axis=1))
    if len(bad):
        raise ValueError(f"vertex {bad[0]} has no finite position: {vertices[bad[0]]}")
    for name, elements in (("triangle", triangles), ("edge", edges)):
        if len(elements) and (elements.min() < 0 or elements.max() >= len(vertices)):
            raise ValueError(f"a {name} names a vertex that does not exist")


def _search(mesh: _Mesh, edges: _Elements, triangles: _Elements) -> Indices:
    found = [np.empty((0, 2), np.int64)]
    for edge, triangle in _batches(_box_pairs(mesh, edges, triangles)):
        edge, triangle = _not_parted_by_diagonals(mesh, edge, triangle)
        meets = _meet(mesh, edge, triangle)
        found.append(np.stack([edge[meets], triangle[meets]], axis=1))
    return np.concatenate(found)


def _batches(chunks: Iterator[Indices]) -> Iterator[Indices]:
    """The same pairs in larger chunks: what is left of one is often short."""
    waiting, size = [], 0
    for chunk in chunks:
        waiting.append(chunk)
        size += chunk.shape[1]
        if size >= PAIRS_AT_ONCE:
            yield np.concatenate(waiting, axis=1)
            waiting, size = [], 0
    if size:
        yield np.concatenate(waiting, axis=1)


# Boxes on a lattice ---------------------------------------------------------------------------------------------------


class _Elements(NamedTuple):
    """Edges or triangles and their boxes."""

    number: Indices  #: (N,)
    low: Lattice  #: (3, N)
    high: Lattice  #: (3, N)

    def where(self, chosen: Mask) -> _Elements:
        return self if chosen.all() else self.take(np.flatnonzero(chosen))

    def take(self, members: Indices) -> _Elements:
        return _Elements(self.number[members], self.low.take(members, axis=1), self.high.take(members, axis=1))


def _on_lattice(coordinates: Array, cloth: Array) -> Lattice:
    """Whole numbers (3, V) in the order of the coordinates. Beyond the cloth's box all are one: no cloth is there."""
    low = cloth.min(axis=1, keepdims=True)
    span = max(float((cloth.max(axis=1, keepdims=True) - low).max()), SMALLEST_SPAN)
    return np.clip(np.floor((coordinates - low) / span * LATTICE), -1, LATTICE + 1).astype(np.int32)


def _elements(lattice: Lattice, corners: list[npt.NDArray[np.int32]]) -> _Elements:
    low = lattice.take(corners[0], axis=1)
    high = low.copy()
    for corner in corners[1:]:
        point = lattice.take(corner, axis=1)
        np.minimum(low, point, out=low)
        np.maximum(high, point, out=high)
    return _Elements(np.arange(len(corners[0])), low, high)


def _box_pairs(mesh: _Mesh, edges: _Elements, triangles: _Elements) -> Iterator[Indices]:
    """Chunks (2, K) of (edge, triangle) whose boxes overlap and that share no vertex, each pair once."""
    edges, triangles = _within_reach(edges, triangles), _within_reach(triangles, edges)
    if not len(edges.number) or not len(triangles.number):
        return
    edge_size, triangle_size = ((elements.high - elements.low).max(axis=0) for elements in (edges, triangles))
    unit = CLASS_TOP * max(float(np.median(triangle_size)), 1.0)
    edge_class, triangle_class = _size_class(edge_size, unit), _size_class(triangle_size, unit)
    for of_edges in np.unique(edge_class):
        for of_triangles in np.unique(triangle_class):
            chosen = edges.where(edge_class == of_edges), triangles.where(triangle_class == of_triangles)
            for edge, triangle in _cell_pairs(*chosen):
                p, q = (end[edge] for end in mesh.ends)
                apart = np.ones(len(edge), bool)
                for corner in mesh.corners:
                    vertex = corner[triangle]
                    apart &= (vertex != p) & (vertex != q)
                yield np.stack([edge[apart], triangle[apart]])


def _within_reach(elements: _Elements, others: _Elements) -> _Elements:
    """Those that touch the box about all others."""
    if not len(others.number):
        return others
    low, high = others.low.min(axis=1, keepdims=True), others.high.max(axis=1, keepdims=True)
    return elements.where(((elements.low <= high) & (elements.high >= low)).all(axis=0))


def _size_class(size: Lattice, unit: float) -> Indices:
    return np.ceil(np.log(np.maximum(size, 1) / unit) / np.log(CLASS_RATIO)).astype(np.int64)


def _cell_pairs(edges: _Elements, triangles: _Elements) -> Iterator[tuple[Indices, Indices]]:
    """Chunks of (edge, triangle) whose boxes overlap, shared vertices included."""
    if len(edges.number) * len(triangles.number) <= PAIRS_AT_ONCE:
        yield _overlapping(edges, triangles)
        return
    longest = [(elements.high - elements.low).max(axis=1, keepdims=True) for elements in (edges, triangles)]
    cell = np.maximum(*longest) + 1
    edges, edge_keys, edge_starts = _by_cell(edges, cell)
    triangles, triangle_keys, triangle_starts = _by_cell(triangles, cell)
    edge_low, edge_high = _packed(edges.low, cell), _packed(edges.high, cell) | GUARD
    triangle_low, triangle_high = _packed(triangles.low, cell), _packed(triangles.high, cell) | GUARD
    cell_of_triangle = np.repeat(np.arange(len(triangle_keys)), np.diff(triangle_starts))
    for row in ROWS:
        first = edge_starts[np.searchsorted(edge_keys, triangle_keys + (row - 1), "left")]
        count = edge_starts[np.searchsorted(edge_keys, triangle_keys + (row + 1), "right")] - first
        busy = np.flatnonzero(count[cell_of_triangle])
        first, count = first[cell_of_triangle[busy]], count[cell_of_triangle[busy]]
        for here in _chunks(count):
            run = count[here]
            edge = _runs(first[here], run)
            low, high = (np.repeat(corner[busy[here]], run) for corner in (triangle_low, triangle_high))
            below, above = edge_high[edge] - low, high - edge_low[edge]
            pair = np.flatnonzero(((below | above) & SIGN) == 0)
            triangle = np.repeat(busy[here], run)[pair]
            yield edges.number[edge[pair]], triangles.number[triangle]


def _overlapping(edges: _Elements, triangles: _Elements) -> tuple[Indices, Indices]:
    """The same from a look at every pair: of few, that is less work than to sort them into cells."""
    overlap = np.ones((len(edges.number), len(triangles.number)), bool)
    for axis in range(3):
        overlap &= edges.low[axis, :, None] <= triangles.high[axis]
        overlap &= edges.high[axis, :, None] >= triangles.low[axis]
    edge, triangle = np.nonzero(overlap)
    return edges.number[edge], triangles.number[triangle]


def _by_cell(elements: _Elements, cell: Lattice) -> tuple[_Elements, Indices, Indices]:
    """The elements in the order of their cells' keys, the keys, and where the elements of each begin, and the end.

    Two cells may share a key: that only adds candidates, which the boxes sort out.
    """
    x, y, z = (elements.low // cell).astype(np.int64)
    key = x + ROW_Y * y + ROW_Z * z
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    return elements.take(order), key[starts], np.append(starts, len(key))


def _packed(corner: Lattice, cell: Lattice) -> Indices:
    """Three coordinates in one number. High bits are cut off, so only what lies in adjacent cells can be compared: such
    coordinates differ by less than four cells, and the bit below the guard is then the sign of the difference.
    """
    shift = [[max(int(length).bit_length() - FINENESS, 0)] for length in cell[:, 0]]
    x, y, z = ((corner >> np.array(shift, np.int32)) & ((1 << (LANE - 1)) - 1)).astype(np.int64)
    return x | y << LANE | z << (2 * LANE)


def _chunks(count: Indices) -> Iterator[slice]:
    """Slices of the runs with about PAIRS_AT_ONCE pairs each."""
    ends = np.cumsum(count)
    start = 0
    while start < len(count):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, "right")))
        yield slice(start, stop)
        start = stop


def _runs(first: Indices, count: Indices) -> Indices:
    """first[0], first[0] + 1, … count[0] times, then first[1], …"""
    starts: Indices = first - np.cumsum(count) + count
    return np.repeat(starts, count) + np.arange(int(count.sum()))


# Floating point -------------------------------------------------------------------------------------------------------


def _not_parted_by_diagonals(mesh: _Mesh, edge: Indices, triangle: Indices) -> tuple[Indices, Indices]:
    """The pairs whose extents along every diagonal overlap. Rounding a sum keeps the order too: no bound is needed."""
    for height in mesh.diagonals:
        p, q = (height[end[edge]] for end in mesh.ends)
        a, b, c = (height[corner[triangle]] for corner in mesh.corners)
        above = np.minimum(p, q) > np.maximum(np.maximum(a, b), c)
        below = np.maximum(p, q) < np.minimum(np.minimum(a, b), c)
        kept = np.flatnonzero(~(above | below))
        edge, triangle = edge[kept], triangle[kept]
    return edge, triangle


def _meet(mesh: _Mesh, edge: Indices, triangle: Indices) -> Mask:
    """For each pair whether the closed edge and the closed triangle share a point."""
    result = np.zeros(len(edge), bool)
    p, q = (mesh.coordinates.take(end[edge], axis=1) for end in mesh.ends)
    a, b, c = (mesh.coordinates.take(corner[triangle], axis=1) for corner in mesh.corners)
    side_p, side_q = _orientation(a, b, c, p), _orientation(a, b, c, q)
    open_pairs = np.flatnonzero((side_p == 0) | (side_p != side_q))
    p, q, a, b, c = (points[:, open_pairs] for points in (p, q, a, b, c))
    straddles = (side_p * side_q)[open_pairs] < 0
    turns = np.stack([_orientation(p, q, a, b), _orientation(p, q, b, c), _orientation(p, q, c, a)])
    lowest, highest = turns.min(axis=0), turns.max(axis=0)
    result[open_pairs[straddles & (lowest == highest) & (lowest != 0)]] = True
    missed = (lowest < 0) & (highest > 0)
    uncertain = np.flatnonzero(~missed & ~result[open_pairs])
    uncertain = uncertain[~_separated(*(points[:, uncertain] for points in (p, q, a, b, c)))]
    for pair in uncertain:
        segment, corners = ([point[:, pair].tolist() for point in shape] for shape in ((p, q), (a, b, c)))
        result[open_pairs[pair]] = segment_meets_triangle(segment, corners)
    return result


def _orientation(a: Array, b: Array, c: Array, d: Array) -> npt.NDArray[np.int8]:
    """Sign of det(a − d, b − d, c − d) where float64 is certain of it, else 0. Points are (3, K)."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = a - d, b - d, c - d
    bycz, bzcy, bzcx, bxcz, bxcy, bycx = by * cz, bz * cy, bz * cx, bx * cz, bx * cy, by * cx
    determinant = ax * (bycz - bzcy) + ay * (bzcx - bxcz) + az * (bxcy - bycx)
    permanent = (
        np.abs(ax) * (np.abs(bycz) + np.abs(bzcy))
        + np.abs(ay) * (np.abs(bzcx) + np.abs(bxcz))
        + np.abs(az) * (np.abs(bxcy) + np.abs(bycx))
    )
    certain = np.abs(determinant) > ORIENTATION_ERROR * permanent + UNDERFLOW
    return np.where(certain, np.sign(determinant), 0.0).astype(np.int8)


def _separated(p: Array, q: Array, a: Array, b: Array, c: Array) -> Mask:
    """Whether a plane certainly lies between edge and triangle. Tries the in-plane normals of all four sides, which is
    complete for coplanar pairs; any direction proves separation, so its own rounding does not matter."""
    u = np.stack([p - a, q - a, b - a, c - a, np.zeros_like(a)])
    normal = _cross(u[2], u[3])
    size = np.abs(u).max(axis=0)
    separated = np.zeros(p.shape[1], bool)
    for side in (u[2], u[3], u[3] - u[2], u[1] - u[0]):
        direction = _cross(normal, side)
        height = (u * direction).sum(axis=1)
        bound = 2 * PROJECTION_ERROR * (np.abs(direction) * size).sum(axis=0) + UNDERFLOW
        edge, triangle = height[:2], height[2:]
        gap = np.maximum(edge.min(axis=0) - triangle.max(axis=0), triangle.min(axis=0) - edge.max(axis=0))
        separated |= gap > bound
    return separated


def _cross(a: Array, b: Array) -> Array:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

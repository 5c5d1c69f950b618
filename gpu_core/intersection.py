"""The exact check: every edge against every triangle, in float64, decided without a tolerance.

It shares no code with the solver, so that the solver's mistakes cannot hide in it. A uniform grid (one per size class
of elements) finds the pairs whose boxes overlap; float64 orientations with a forward error bound (Shewchuk 1997) decide
nearly all of them; a certified separating direction decides coplanar neighbours; what is left goes to
`exact_predicates`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .exact_predicates import segment_meets_triangle

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

ORIENTATION_ERROR = 8 * np.finfo(np.float64).eps  # Shewchuk's bound is (7 + 56ε)ε with ε = eps / 2
PROJECTION_ERROR = 8 * np.finfo(np.float64).eps  # two roundings for the difference, three for the dot product, doubled
UNDERFLOW = 1e-200  # what products of numbers below LARGEST_COORDINATE can lose to underflow, with room to spare
LARGEST_COORDINATE = 1e70  # keeps products of four differences finite
PAIRS_AT_ONCE = 1 << 17  # a chunk's arrays stay in the cache
CELL_FACTOR = 1.25  # cell size over the median triangle: a regular mesh then falls into one size class
LEVELS = 40  # size classes, and bits of a cell coordinate


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
    edge_is_collider, triangle_is_collider = edges[:, 0] >= start, triangles[:, 0] >= start
    mesh = _Mesh(positions, triangles, edges)
    every_triangle = np.arange(len(triangles))
    found = [
        _search(mesh, np.flatnonzero(~edge_is_collider), every_triangle),
        _search(mesh, np.flatnonzero(edge_is_collider), every_triangle[~triangle_is_collider]),
    ]
    pairs = np.concatenate(found)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


class _Mesh:
    """The arrays of one check, with coordinates in rows so that gathers give contiguous x, y and z."""

    def __init__(self, vertices: Array, triangles: Indices, edges: Indices) -> None:
        self.coordinates = np.ascontiguousarray(vertices.T)
        self.triangles, self.edges = triangles, edges
        self.edge_low, self.edge_high = _boxes(self.coordinates, edges)
        self.triangle_low, self.triangle_high = _boxes(self.coordinates, triangles)
        extent = (self.triangle_high - self.triangle_low).sum(axis=1)
        self.axes = np.argsort(extent, kind="stable")  # layers are thinnest across: that axis parts most boxes


def _boxes(coordinates: Array, elements: Indices) -> tuple[Array, Array]:
    corners = coordinates[:, elements]
    return corners.min(axis=2), corners.max(axis=2)


def _refuse_bad_input(vertices: Array, triangles: Indices, edges: Indices) -> None:
    bad = np.flatnonzero(~(np.abs(vertices) <= LARGEST_COORDINATE).all(axis=1))
    if len(bad):
        raise ValueError(f"vertex {bad[0]} has no finite position: {vertices[bad[0]]}")
    for name, elements in (("triangle", triangles), ("edge", edges)):
        if len(elements) and (elements.min() < 0 or elements.max() >= len(vertices)):
            raise ValueError(f"a {name} names a vertex that does not exist")


def _search(mesh: _Mesh, edges: Indices, triangles: Indices) -> Indices:
    found = [np.empty((0, 2), np.int64)]
    for edge, triangle in _box_pairs(mesh, edges, triangles):
        meets = _meet(mesh, edge, triangle)
        found.append(np.stack([edge[meets], triangle[meets]], axis=1))
    return np.concatenate(found)


# Broad phase ----------------------------------------------------------------------------------------------------------


def _box_pairs(mesh: _Mesh, edges: Indices, triangles: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Chunks of (edge, triangle) whose closed boxes overlap and that share no vertex, each pair once."""
    if not len(edges) or not len(triangles):
        return
    origin = np.minimum(mesh.edge_low[:, edges].min(axis=1), mesh.triangle_low[:, triangles].min(axis=1))
    span = np.maximum(mesh.edge_high[:, edges].max(axis=1), mesh.triangle_high[:, triangles].max(axis=1)) - origin
    edge_extent = (mesh.edge_high[:, edges] - mesh.edge_low[:, edges]).max(axis=0)
    triangle_extent = (mesh.triangle_high[:, triangles] - mesh.triangle_low[:, triangles]).max(axis=0)
    smallest_cell = max(float(span.max()) * 2.0**-LEVELS, float(np.finfo(np.float64).tiny))
    unit = max(CELL_FACTOR * float(np.median(triangle_extent)), smallest_cell)
    edge_level, triangle_level = (_levels(extent, unit, smallest_cell) for extent in (edge_extent, triangle_extent))
    for of_edges in np.unique(edge_level):
        for of_triangles in np.unique(triangle_level):
            cell = unit * 2.0 ** float(max(of_edges, of_triangles))
            yield from _grid_pairs(
                mesh, edges[edge_level == of_edges], triangles[triangle_level == of_triangles], origin, cell
            )


def _levels(extent: Array, unit: float, smallest_cell: float) -> Indices:
    """Size class of each element: its cells are unit · 2^level and at least as long as the element."""
    return np.ceil(np.log2(np.maximum(extent, smallest_cell) / unit)).astype(np.int64)


def _grid_pairs(
    mesh: _Mesh, edges: Indices, triangles: Indices, origin: Array, cell: float
) -> Iterator[tuple[Indices, Indices]]:
    edge_member, edge_cell = _cells(mesh.edge_low[:, edges], mesh.edge_high[:, edges], origin, cell)
    member, triangle_cell = _cells(mesh.triangle_low[:, triangles], mesh.triangle_high[:, triangles], origin, cell)
    keys = _hash(triangle_cell)
    order = np.argsort(keys, kind="stable")
    keys, member = keys[order], member[order]
    edge_keys = _hash(edge_cell)
    first = np.searchsorted(keys, edge_keys, "left")
    count = np.searchsorted(keys, edge_keys, "right") - first
    busy = np.flatnonzero(count)
    ends = np.cumsum(count[busy])
    start = 0
    while start < len(busy):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, "right")))
        entries = busy[start:stop]
        entry = np.repeat(entries, count[entries])
        triangle = triangles[member[_runs(first[entries], count[entries])]]
        keep = _overlap_here(mesh, edges[edge_member[entry]], triangle, edge_cell[:, entry], origin, cell)
        yield edges[edge_member[entry[keep]]], triangle[keep]
        start = stop


def _cells(low: Array, high: Array, origin: Array, cell: float) -> tuple[Indices, Indices]:
    """Every (member, cell) with the member's box touching the cell; cells as (3, C) integer coordinates."""
    first, last = _cell_of(low, origin, cell), _cell_of(high, origin, cell)
    size = last - first + 1
    count = size.prod(axis=0)
    member = np.repeat(np.arange(len(count)), count)
    number = _runs(np.zeros_like(count), count)
    rest, x = np.divmod(number, size[0, member])
    z, y = np.divmod(rest, size[1, member])
    return member, first[:, member] + np.stack([x, y, z])


def _cell_of(points: Array, origin: Array, cell: float) -> Indices:
    return np.floor((points - origin[:, None]) / cell).astype(np.int64)


def _hash(cells: Indices) -> Indices:
    """One key a cell. Two cells may share a key: that only adds candidates, which the boxes sort out."""
    primes = np.array([73856093, 19349663, 83492791], np.int64)  # Teschner et al. 2003
    keys: Indices = (cells * primes[:, None]).sum(axis=0)
    return keys


def _runs(first: Indices, count: Indices) -> Indices:
    """first[0], first[0] + 1, … count[0] times, then first[1], …"""
    starts: Indices = first - np.cumsum(count) + count
    return np.repeat(starts, count) + np.arange(int(count.sum()))


def _overlap_here(
    mesh: _Mesh, edge: Indices, triangle: Indices, cell_of_entry: Indices, origin: Array, cell: float
) -> Indices:
    """Indices of the pairs whose boxes overlap, share no vertex, and whose common corner lies in this very cell.

    The last makes each pair appear once: of all cells both boxes touch, the one that holds the lowest common corner
    counts.
    """
    keep = np.arange(len(edge))
    for axis in mesh.axes:
        e, t = edge[keep], triangle[keep]
        corner = np.maximum(mesh.edge_low[axis, e], mesh.triangle_low[axis, t])
        overlap = corner <= np.minimum(mesh.edge_high[axis, e], mesh.triangle_high[axis, t])
        overlap &= np.floor((corner - origin[axis]) / cell) == cell_of_entry[axis, keep]
        keep = keep[overlap]
    ends, corners = mesh.edges[edge[keep]], mesh.triangles[triangle[keep]]
    shares: Mask = (ends[:, :, None] == corners[:, None, :]).any(axis=(1, 2))
    return keep[~shares]


# Narrow phase ---------------------------------------------------------------------------------------------------------


def _meet(mesh: _Mesh, edge: Indices, triangle: Indices) -> Mask:
    """For each pair whether the closed edge and the closed triangle share a point."""
    result = np.zeros(len(edge), bool)
    p, q = (mesh.coordinates[:, mesh.edges[edge, k]] for k in range(2))
    a, b, c = (mesh.coordinates[:, mesh.triangles[triangle, k]] for k in range(3))
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

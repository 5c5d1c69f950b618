# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat strips for material tests: one shape, cut from many kinds of mesh in any direction.

A strip is L × W with a clamp of one cell before it, so its vertices span [−c, L] × [0, W]; x = 0 is a line of edges.
"""

from __future__ import annotations

import itertools
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import Delaunay

from ..gpu_core.scene.mesh import triangle_areas

Array = npt.NDArray[np.float64]
Lines = tuple[float, ...]
Pattern = Literal["one diagonal", "alternating", "equilateral", "stretched", "delaunay", "random"]
SNAP = 0.3  #: a lattice vertex this near to a cut moves onto it, cells


class Strip(NamedTuple):
    positions: Array  #: (N, 3) m, in the plane z = 0
    triangles: npt.NDArray[np.int32]  #: (T, 3) counter-clockwise
    clamp: npt.NDArray[np.int32]  #: vertices with x ≤ 0


def strip(pattern: Pattern, degrees: float, length: float, width: float, cell: float, seed: int = 0) -> Strip:
    """degrees: how far the lattice is turned in the strip; without meaning for the irregular patterns. cell: m."""
    x_lines, y_lines = (-cell, 0.0, length), (0.0, width)
    triangles: npt.NDArray[np.integer]
    if pattern in ("delaunay", "random"):
        points, triangles = _scattered(pattern, x_lines, y_lines, cell, np.random.default_rng(seed))
    else:
        reach = (0.5 * np.hypot(length + cell, width) + 3 * cell) * (4 if pattern == "stretched" else 1)
        points, triangles = _lattice(pattern, int(np.ceil(1.2 * reach / cell)))
        angle = np.radians(degrees)
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        middle = np.array([0.5 * (length - cell), 0.5 * width])
        offset = np.zeros(2) if degrees % 90 == 0 else np.array([0.17, 0.29]) * cell
        if degrees % 90 == 0:
            middle = np.round(middle / cell) * cell
        points = (cell * points + offset) @ turn + middle
        points, triangles = _cut(points, triangles, x_lines, y_lines, cell)
    positions = np.column_stack([points, np.zeros(len(points))])
    return Strip(positions, triangles, np.flatnonzero(points[:, 0] < 1e-9).astype(np.int32))


def _lattice(pattern: Pattern, half: int) -> tuple[Array, npt.NDArray[np.integer]]:
    """A patch of (2 half + 1)² unit cells around the origin: (N, 2), (T, 3)."""
    side = 2 * half + 1
    j, i = (grid.ravel() for grid in np.mgrid[0:side, 0:side])
    points = np.column_stack([i - half, j - half]).astype(float)
    corner = (j * side + i)[(i < side - 1) & (j < side - 1)]
    p, q, r, s = corner, corner + 1, corner + side + 1, corner + side
    falling = np.zeros(len(p), bool)
    if pattern == "alternating":
        falling = (p // side + p % side) % 2 == 1
    if pattern == "equilateral":
        points[:, 0] += 0.5 * (j % 2)
        points[:, 1] *= np.sqrt(0.75)
        falling = (p // side) % 2 == 0
    if pattern == "stretched":
        points[:, 1] *= 0.25
    first = np.where(falling[:, None], np.column_stack([p, q, s]), np.column_stack([p, q, r]))
    second = np.where(falling[:, None], np.column_stack([q, r, s]), np.column_stack([p, r, s]))
    return points, np.concatenate([first, second])


def _scattered(
    pattern: Pattern, x_lines: Lines, y_lines: Lines, cell: float, rng: np.random.Generator
) -> tuple[Array, npt.NDArray[np.int32]]:
    """Delaunay triangles of the boxes between the lines, about one vertex per cell²."""
    rows = max(1, round((y_lines[1] - y_lines[0]) / cell))
    parts = []
    border = np.linspace(y_lines[0], y_lines[1], rows + 1)
    for low, high in itertools.pairwise(x_lines):
        columns = max(1, round((high - low) / cell))
        x, y = np.linspace(low, high, columns + 1), border
        inner = np.stack(np.meshgrid(x[1:-1], y[1:-1]), axis=-1).reshape(-1, 2)
        if pattern == "delaunay":
            inner += rng.uniform(-0.35, 0.35, inner.shape) * cell
        else:
            edge = 0.15 * cell
            inner = rng.uniform([low + edge, y_lines[0] + edge], [high - edge, y_lines[1] - edge], inner.shape)
        rim = [np.column_stack([np.full(len(y), at), y]) for at in (low, high)]
        rim += [np.column_stack([x[1:-1], np.full(len(x) - 2, at)]) for at in y_lines]
        points = np.concatenate([*rim, inner])
        parts.append((points, Delaunay(points).simplices))
    points = np.concatenate([part for part, _ in parts])
    triangles = np.concatenate([t + offset for (_, t), offset in zip(parts, (0, len(parts[0][0])), strict=True)])
    return _joined(points, triangles, cell)


def _cut(
    points: Array, triangles: npt.NDArray[np.integer], x_lines: Lines, y_lines: Lines, cell: float
) -> tuple[Array, npt.NDArray[np.int32]]:
    """What lies between the outer lines, split along the inner ones."""
    for axis, lines in ((0, x_lines), (1, y_lines)):
        for line in lines:
            near = np.abs(points[:, axis] - line) < SNAP * cell
            points[near, axis] = line
    low, high = [x_lines[0], y_lines[0]], [x_lines[-1], y_lines[-1]]
    corner = points[triangles]
    polygons = list(corner[((corner.max(axis=1) > low) & (corner.min(axis=1) < high)).all(axis=1)])
    for axis, lines in ((0, x_lines), (1, y_lines)):
        boxes = list(itertools.pairwise(lines))
        polygons = [_between(polygon, axis, *box) for box in boxes for polygon in polygons]
        polygons = [polygon for polygon in polygons if len(polygon) >= 3]
    faces: list[tuple[int, int, int]] = []
    first = 0
    for polygon in polygons:
        faces += [(first, first + k, first + k + 1) for k in range(1, len(polygon) - 1)]
        first += len(polygon)
    return _joined(np.concatenate(polygons), np.array(faces), cell)


def _between(polygon: Array, axis: int, low: float, high: float) -> Array:
    """Sutherland–Hodgman against two parallel lines."""
    for sign, line in ((1.0, low), (-1.0, high)):
        height = sign * (polygon[:, axis] - line)
        kept: list[Array] = []
        for k in range(len(polygon)):
            before = k - 1
            if height[before] * height[k] < -1e-18:
                share = height[before] / (height[before] - height[k])
                crossing = polygon[before] + share * (polygon[k] - polygon[before])
                crossing[axis] = line
                kept.append(crossing)
            if height[k] >= -1e-9:
                kept.append(polygon[k])
        polygon = np.array(kept).reshape(-1, 2)
        if len(polygon) < 3:
            return polygon
    return polygon


def _joined(points: Array, triangles: npt.NDArray[np.integer], cell: float) -> tuple[Array, npt.NDArray[np.int32]]:
    """Equal points become one, triangles without area vanish."""
    _, first, inverse = np.unique(np.round(points / (1e-6 * cell)), axis=0, return_index=True, return_inverse=True)
    triangles = inverse.ravel()[triangles]
    points = points[first]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    signed = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    triangles = np.where(signed[:, None] < 0, triangles[:, ::-1], triangles)
    area = triangle_areas(np.column_stack([points, np.zeros(len(points))]), triangles.astype(np.int32))
    triangles = triangles[area > 1e-6 * cell**2]
    used = np.unique(triangles)
    number = np.zeros(len(points), np.int64)
    number[used] = np.arange(len(used))
    return points[used], number[triangles].astype(np.int32)

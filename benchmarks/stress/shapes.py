# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes the stress scenes are made of: sheets, bodies of revolution, tubes, boxes. Lengths in metres."""

from __future__ import annotations

from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Mesh(NamedTuple):
    """A triangle mesh."""

    positions: Array  #: (N, 3)
    triangles: npt.NDArray[np.int32]  #: (T, 3)

    def shifted(self, x: float, y: float, z: float) -> Mesh:
        return Mesh(self.positions + [x, y, z], self.triangles)

    def turned(self, axis: tuple[float, float, float], degrees: float) -> Mesh:
        return Mesh(self.positions @ rotation(axis, np.radians(degrees)).T, self.triangles)


def rotation(axis: tuple[float, float, float], angle: float) -> Array:
    """(3, 3) about an axis through the origin, angle in rad (Rodrigues)."""
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def grid(x: npt.ArrayLike, y: npt.ArrayLike) -> Mesh:
    """A sheet in z = 0 with its rows at x (R,) and its columns at y (C,), one diagonal a cell."""
    rows, columns = np.asarray(x, np.float64), np.asarray(y, np.float64)
    i, j = np.meshgrid(rows, columns, indexing="ij")
    return Mesh(np.stack([i, j, 0 * i], axis=-1).reshape(-1, 3), _quads(len(rows), len(columns)))


def sheet(vertices: int, width: float, length: float | None = None) -> Mesh:
    """A sheet of about `vertices` vertices in z = 0 about the origin: width along x, length (None = width) along y."""
    length = width if length is None else length
    rows = max(2, round(np.sqrt(vertices * width / length)))
    columns = max(2, round(vertices / rows))
    return grid(np.linspace(-width / 2, width / 2, rows), np.linspace(-length / 2, length / 2, columns))


def lathe(profile: npt.ArrayLike, segments: int) -> Mesh:
    """Turn a profile (P, 2) of (radius, height) about z; a radius of 0 at an end becomes one vertex."""
    outline = np.asarray(profile, np.float64)
    angle = 2 * np.pi * np.arange(segments) / segments
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    bottom, top = outline[0, 0] == 0.0, outline[-1, 0] == 0.0
    open_part = outline[int(bottom) : len(outline) - int(top)]
    walls = np.concatenate([np.column_stack([r * ring, np.full(segments, z)]) for r, z in open_part])
    ends = [[0.0, 0.0, outline[0, 1]]] * int(bottom) + [[0.0, 0.0, outline[-1, 1]]] * int(top)
    triangles = [_quads(len(open_part), segments, closed=True)]
    around = np.stack([np.arange(segments), (np.arange(segments) + 1) % segments], axis=1)
    if bottom:
        triangles.append(np.column_stack([around[:, ::-1], np.full(segments, len(walls))]))
    if top:
        last = around + (len(open_part) - 1) * segments
        triangles.append(np.column_stack([last, np.full(segments, len(walls) + int(bottom))]))
    return Mesh(np.concatenate([walls, np.reshape(ends, (-1, 3))]), np.concatenate(triangles).astype(np.int32))


def sphere(radius: float, segments: int = 24) -> Mesh:
    latitude = np.linspace(-np.pi / 2, np.pi / 2, segments // 2 + 1)
    profile = np.column_stack([radius * np.cos(latitude), radius * np.sin(latitude)])
    profile[[0, -1], 0] = 0.0
    return lathe(profile, segments)


def cylinder(radius: float, length: float, segments: int = 24, rings: int = 8) -> Mesh:
    """Closed, along z about the origin."""
    heights = np.linspace(-length / 2, length / 2, rings + 1)
    walls = np.column_stack([np.full(rings + 1, radius), heights])
    return lathe([[0.0, heights[0]], *walls.tolist(), [0.0, heights[-1]]], segments)


def tube(path: npt.ArrayLike, radii: npt.ArrayLike, segments: int = 12) -> Mesh:
    """A closed tube along a path (P, 3) with a radius at each point (P,); its sections do not turn about the path."""
    line, radius = np.asarray(path, np.float64), np.broadcast_to(np.asarray(radii, np.float64), len(path))  # type: ignore[arg-type]
    normal, binormal = frames_along(line)
    angle = 2 * np.pi * np.arange(segments) / segments
    ring = np.cos(angle)[None, :, None] * normal[:, None] + np.sin(angle)[None, :, None] * binormal[:, None]
    walls = (line[:, None] + radius[:, None, None] * ring).reshape(-1, 3)
    around = np.stack([np.arange(segments), (np.arange(segments) + 1) % segments], axis=1)
    first = np.column_stack([around[:, ::-1], np.full(segments, len(walls))])
    last = np.column_stack([around + (len(line) - 1) * segments, np.full(segments, len(walls) + 1)])
    triangles = np.concatenate([_quads(len(line), segments, closed=True), first, last])
    return Mesh(np.concatenate([walls, line[[0, -1]]]), triangles.astype(np.int32))


def frames_along(line: Array, first: tuple[float, float, float] = (0.3, 0.5, 0.8)) -> tuple[Array, Array]:
    """(normal, binormal), each (P, 3), along a path (P, 3) that turn as little as possible; `first` leans the first."""
    tangent = np.gradient(line, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    normals = [np.asarray(first, np.float64)]
    for direction in tangent:
        flat = normals[-1] - direction * (normals[-1] @ direction)
        normals.append(flat / np.linalg.norm(flat))
    normal = np.array(normals[1:])
    return normal, np.cross(tangent, normal)


def box(x: float, y: float, z: float) -> Mesh:
    """Eight vertices, twelve large triangles, about the origin."""
    corners = np.array(list(product((-0.5, 0.5), repeat=3))) * [x, y, z]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))]
    return Mesh(corners, np.array(triangles, np.int32))


def merged(*meshes: Mesh) -> Mesh:
    first = np.cumsum([0, *(len(mesh.positions) for mesh in meshes)])
    triangles = np.concatenate([mesh.triangles + at for mesh, at in zip(meshes, first, strict=False)])
    return Mesh(np.concatenate([mesh.positions for mesh in meshes]), triangles.astype(np.int32))


def bezier(points: npt.ArrayLike, pieces: int) -> Array:
    """A chain of cubic Bézier curves through control points (3 K + 1, D), each cut in `pieces`: (K pieces + 1, D)."""
    control = np.asarray(points, np.float64)
    t = np.linspace(0.0, 1.0, pieces + 1)[1:, None]
    weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]
    curve = [control[:1]]
    for start, stop in pairwise(range(0, len(control), 3)):
        curve.append(sum(w * p for w, p in zip(weights, control[start : stop + 1], strict=True)))
    return np.concatenate(curve)


def teapot(radius: float = 0.1, segments: int = 24) -> Mesh:
    """Newell's teapot, its bottom at z = 0: body and lid turned from his profile, spout and handle as round tubes along
    the middle of his patches. Its parts stick in each other, as modelled bodies do."""
    body = [
        (0.0, 0.0), (0.7, 0.0), (1.45, 0.0), (1.5, 0.15), (1.5, 0.225), (2.0, 0.45), (2.0, 0.9), (2.0, 1.35),
        (1.75, 1.875), (1.5, 2.4), (1.45, 2.45), (1.35, 2.45), (1.3, 2.4), (1.3, 2.52), (0.4, 2.5), (0.2, 2.7),
        (0.1, 2.8), (0.75, 3.15), (0.0, 3.15),
    ]  # fmt: skip
    spout = bezier([(1.5, 0, 0.8), (2.5, 0, 0.8), (2.3, 0, 1.9), (3.0, 0, 2.4)], 8)
    handle = bezier(
        [(-1.4, 0, 2.1), (-2.3, 0, 2.2), (-2.85, 0, 2.1), (-2.85, 0, 1.7), (-2.85, 0, 1.3), (-2.5, 0, 1.0),
         (-1.7, 0, 0.75)], 6,
    )  # fmt: skip
    unit = radius / 2.0
    whole = merged(
        lathe(bezier(body, 4), segments),
        tube(spout, np.linspace(0.5, 0.18, len(spout)), max(6, segments // 2)),
        tube(handle, 0.15, max(6, segments // 3)),
    )
    return Mesh(unit * whole.positions, whole.triangles)


def _quads(rows: int, columns: int, *, closed: bool = False) -> npt.NDArray[np.int32]:
    """Two triangles a cell of a row-major grid of vertices; closed joins the last column to the first."""
    i, j = (axis.ravel() for axis in np.meshgrid(np.arange(rows - 1), np.arange(columns - (not closed)), indexing="ij"))
    following = (j + 1) % columns
    a, b, c, d = i * columns + j, (i + 1) * columns + j, (i + 1) * columns + following, i * columns + following
    return np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]).astype(np.int32)

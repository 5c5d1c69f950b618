# SPDX-License-Identifier: GPL-3.0-or-later
"""Where points lie on a surface of triangles, and where they are when it has moved: by numbers alone.

A point has three weights on a triangle and a height along the normal there. The surface is not quite that of the
triangles: as Boubekeur and Alexa, Phong Tessellation (2008), round it, each point goes three quarters of the way to the
planes through the corners, across their normals, but no farther than a limit. So it keeps to the triangles as near as
the limit says, and shading does not show them. The nodes of `dense_nodes` compute `follow` in Blender.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from mathutils.bvhtree import BVHTree

from ...gpu_core.scene.arrays import Array, IntArray

ROUND = 0.75  #: of the way to the planes, as the paper has it
ITERATIONS = 12  #: of Newton's method; five do where points lie near
EXACT = 1.0e-3  #: of the mean edge; as near a point must come to where it was
TINY = 1.0e-12  #: relative area below which a triangle cannot hold a point


class Surface(NamedTuple):
    points: Array  #: (V, 3)
    normals: Array  #: (V, 3), unit length
    triangles: IntArray  #: (T, 3)


class Places(NamedTuple):
    """Where N points are on a surface."""

    corners: IntArray  #: (N, 3) its vertices
    weights: Array  #: (N, 3), whose sum is 1; below 0 beside the triangle
    heights: Array  #: (N,) along the normal, in the surface's units


def surface(points: Array, triangles: IntArray) -> Surface:
    """With the normals that Blender gives vertices: those of the faces, by their angles there."""
    corner = points[triangles]
    sides = np.roll(corner, -1, axis=1) - corner
    across = np.cross(sides[:, 0], sides[:, 1])
    flat = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), np.finfo(float).tiny)
    unit = sides / np.maximum(np.linalg.norm(sides, axis=2, keepdims=True), np.finfo(float).tiny)
    angles = np.arccos(np.clip(-(unit * np.roll(unit, 1, axis=1)).sum(axis=2), -1.0, 1.0))
    normals = np.zeros_like(points)
    np.add.at(normals, triangles, angles[:, :, None] * flat[:, None])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(points, normals / np.where(length > 0.0, length, 1.0), triangles)


def nearest(points: Array, places: Array, triangles: IntArray) -> tuple[IntArray, Array]:
    """(N,) which of the triangles (T, 3) of these places (V, 3) is nearest to each of the points (N, 3), and how far.

    Raises ValueError where no triangle has an area.
    """
    corner = places[triangles]
    first, second = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    area = np.linalg.norm(np.cross(first, second), axis=1)
    whole = np.flatnonzero(area > TINY * (first**2 + second**2).sum(axis=1))
    if not len(whole):
        raise ValueError("no triangle has an area")
    tree = BVHTree.FromPolygons(places.tolist(), triangles[whole].tolist())
    found = [tree.find_nearest(point)[2:] for point in points.tolist()]
    return whole[[triangle for triangle, _ in found]], np.array([far for _, far in found])


def follow(places: Places, held: Surface, limit: float) -> Array:
    """(N, 3) where the points are now. limit: how far the surface may leave its triangles."""
    flat, rounding, normal = _parts(places.corners, places.weights, held, limit)
    return flat + rounding + places.heights[:, None] * normal


def bind(points: Array, held: Surface, triangles: IntArray, limit: float) -> tuple[Places, Array]:
    """Where the points (N, 3) are near these triangles (N,) of the surface, and (N,) how far `follow` misses them.

    That is rounding, unless a point lies farther off than the surface's radius of curvature.
    """
    corners = held.triangles[triangles]
    weights, heights = np.full((len(points), 3), 1.0 / 3.0), np.zeros(len(points))
    best, least = Places(corners, weights, heights), np.full(len(points), np.inf)
    at, normals = held.points[corners], held.normals[corners]
    for _ in range(ITERATIONS):
        flat, rounding, normal = _parts(corners, weights, held, limit)
        missing = points - flat - rounding - heights[:, None] * normal
        far = np.linalg.norm(missing, axis=1)
        better = (far < least)[:, None]
        best = Places(corners, np.where(better, weights, best.weights), np.where(better[:, 0], heights, best.heights))
        least = np.minimum(far, least)
        turning = heights[:, None, None] * (normals[:, 1:] - normals[:, :1])
        slopes = np.concatenate([at[:, 1:] - at[:, :1] + turning, normal[:, None]], axis=1).transpose(0, 2, 1)
        step = _least_squares(slopes, missing)
        weights = weights + np.column_stack([-step[:, 0] - step[:, 1], step[:, 0], step[:, 1]])
        heights = heights + step[:, 2]
    return best, least


def _least_squares(slopes: Array, missing: Array) -> Array:
    """(N, 3) steps by which slopes (N, 3, 3) reach what is missing (N, 3), or come near it where they are singular."""
    square = slopes.transpose(0, 2, 1) @ slopes
    square += TINY * np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    return np.linalg.solve(square, slopes.transpose(0, 2, 1) @ missing[:, :, None])[:, :, 0]


def _parts(corners: IntArray, weights: Array, held: Surface, limit: float) -> tuple[Array, Array, Array]:
    """Of each point: the place on its triangle, the way from there to the rounded surface, the normal, all (N, 3)."""
    points, normals = held.points[corners], held.normals[corners]
    flat = np.einsum("nk,nkx->nx", weights, points)
    planes = np.clip(-ROUND * ((flat[:, None] - points) * normals).sum(axis=2), -limit, limit)
    return flat, np.einsum("nk,nkx->nx", weights * planes, normals), np.einsum("nk,nkx->nx", weights, normals)

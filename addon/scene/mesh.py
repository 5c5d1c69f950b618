# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays out of a Blender mesh."""

from __future__ import annotations

import bpy
import numpy as np

from ...gpu_core.scene.arrays import Array, FloatArray, IntArray

DEGENERATE = 1.0e-12  #: relative to the product of the edges' lengths, in UV and in space


def positions(mesh: bpy.types.Mesh) -> FloatArray:
    """Vertex positions (N, 3), object space, float32 as Blender stores them."""
    out = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", out.reshape(-1))
    return out


def triangles(mesh: bpy.types.Mesh) -> IntArray:
    """The triangles (T, 3) that Blender draws, also for quads and n-gons."""
    return _loop_triangles(mesh, "vertices")


def loose_edges(mesh: bpy.types.Mesh) -> IntArray:
    """(S, 2) the vertices of edges that no face has."""
    ends, of_faces = np.empty((len(mesh.edges), 2), np.int32), np.empty(len(mesh.loops), np.int32)
    mesh.edges.foreach_get("vertices", ends.reshape(-1))
    mesh.loops.foreach_get("edge_index", of_faces)
    return np.delete(ends, np.unique(of_faces), axis=0)


def corner_places(mesh: bpy.types.Mesh, layer: bpy.types.MeshUVLoopLayer) -> Array:
    """(T, 3, 2) where the corners of `triangles(mesh)` are in a UV map."""
    uv = np.empty((len(layer.uv), 2), np.float32)
    layer.uv.foreach_get("vector", uv.reshape(-1))
    return uv.astype(np.float64)[_loop_triangles(mesh, "loops")]


def faces(mesh: bpy.types.Mesh) -> tuple[IntArray, IntArray]:
    """(corners of each face (F,), the vertex of each corner (L,)), face after face."""
    sizes, corners = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.loops), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    mesh.loops.foreach_get("vertex_index", corners)
    return sizes, corners


def quad_folds(points: Array) -> Array:
    """How far each quad (Q, 4, 3) is folded along its first diagonal: −1 flat, 1 shut. Above 0 Blender takes the other.

    The cosine between what lies on both sides; 0 where one of them has no area.
    """
    corner = points.astype(np.float64)
    diagonal = corner[:, 2] - corner[:, 0]
    second, fourth = (np.cross(corner[:, k] - corner[:, 0], diagonal) for k in (1, 3))
    areas = np.linalg.norm(second, axis=1) * np.linalg.norm(fourth, axis=1)
    return (second * fourth).sum(axis=1) / np.where(areas > 0, areas, 1.0)


def warp_directions(mesh: bpy.types.Mesh, points: Array) -> Array | None:
    """The direction of U in each of `triangles(mesh)`, unit length (T, 3); None where the mesh has no UV map.

    A triangle without area in the UV map gets x, or y where its plane is across x, as cloth without a UV map.

    Args:
        points: (N, 3) the vertices in the space of the result.
    """
    layer = mesh.uv_layers.active
    if layer is None or len(layer.uv) == 0:
        return None
    corner = corner_places(mesh, layer)
    first_uv, second_uv = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    place = points[triangles(mesh)]
    first, second = place[:, 1] - place[:, 0], place[:, 2] - place[:, 0]

    determinant = first_uv[:, 0] * second_uv[:, 1] - first_uv[:, 1] * second_uv[:, 0]
    flat = np.abs(determinant) <= DEGENERATE * np.linalg.norm(first_uv, axis=1) * np.linalg.norm(second_uv, axis=1)
    along_u = (first * second_uv[:, 1:] - second * first_uv[:, 1:]) * np.sign(determinant)[:, None]
    along_u = np.where(flat[:, None], _without_map(np.cross(first, second)), along_u)
    length = np.linalg.norm(along_u, axis=1, keepdims=True)
    return along_u / np.where(length > 0, length, 1.0)


def _without_map(normal: Array) -> Array:
    across_x = np.abs(normal[:, 0]) > 0.999 * np.linalg.norm(normal, axis=1)
    return np.where(across_x[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])


def _loop_triangles(mesh: bpy.types.Mesh, what: str) -> IntArray:
    mesh.calc_loop_triangles()
    out = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.loop_triangles.foreach_get(what, out.reshape(-1))
    return out

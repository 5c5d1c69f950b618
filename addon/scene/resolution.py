# SPDX-License-Identifier: GPL-3.0-or-later
"""How fine a sheet is, and making it finer: the mesh itself, with its UV maps, groups and shape keys."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from . import mesh as mesh_arrays
from .mesh_edit import edit

WANTED = 40  #: edges along the longest side of a sheet that folds well
UNEVEN = 3.0  #: times as long as its neighbours is an edge that is cut by itself first
MOST = 100_000  #: vertices that no default goes beyond


def edge_length(item: bpy.types.Object) -> float:
    """The mean length of its edges in the world, scene units; 0 where it has none."""
    mesh = item.data
    ends = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", ends)
    matrix = np.array(item.matrix_world, np.float64)[:3, :3]
    points = mesh_arrays.positions(mesh).astype(np.float64) @ matrix.T
    lengths = np.linalg.norm(points[ends[0::2]] - points[ends[1::2]], axis=1)
    return float(lengths.mean()) if len(lengths) else 0.0


def wanted_cuts(item: bpy.types.Object) -> int:
    """Into how many parts each edge is to be cut so that the sheet folds well; 1 where it is fine enough."""
    edge = edge_length(item)
    size = max(item.dimensions)
    if edge <= 0.0 or size <= 0.0:
        return 1
    parts = max(round(edge * WANTED / size), 1)
    faces = max(len(item.data.polygons), 1)
    return max(min(parts, int((MOST / faces) ** 0.5)), 1)


def refine(item: bpy.types.Object) -> None:
    """Cut it so that the sheet folds well: what is long beside its neighbours by halves, then every edge into as many
    parts. Raises SceneError where the mesh is not this object's alone to change."""
    matrix, limit = item.matrix_world.to_3x3(), 2.0 * max(item.dimensions) / WANTED

    def even(mesh: bmesh.types.BMesh) -> bool:
        changed = False
        while len(mesh.verts) < MOST and (edges := _uneven(mesh, matrix, limit)):
            bmesh.ops.subdivide_edges(mesh, edges=edges, cuts=1, use_grid_fill=True, use_single_edge=True)
            changed = True
        return changed

    edit(item, even)
    subdivide(item, wanted_cuts(item))


def subdivide(item: bpy.types.Object, parts: int) -> None:
    """Cut each edge into so many parts. Raises SceneError where the mesh is not this object's alone to change."""
    if parts <= 1:
        return

    def cut(mesh: bmesh.types.BMesh) -> bool:
        bmesh.ops.subdivide_edges(mesh, edges=mesh.edges[:], cuts=parts - 1, use_grid_fill=True)
        return True

    edit(item, cut)


def _uneven(mesh: bmesh.types.BMesh, matrix: Matrix, limit: float) -> list[bmesh.types.BMEdge]:
    """The edges over `limit` in the world, and over `UNEVEN` times as long as another of a face that they bound."""
    lengths = {edge: (matrix @ (edge.verts[1].co - edge.verts[0].co)).length for edge in mesh.edges}
    shortest = {face: min(lengths[edge] for edge in face.edges) for face in mesh.faces}
    return [
        edge
        for edge, length in lengths.items()
        if length > limit and any(length > UNEVEN * shortest[face] for face in edge.link_faces)
    ]

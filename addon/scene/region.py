# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a body for which a cage is to stand: cut off a little beyond its border, and closed there.

Faces of the body that are wholly within the region stop no cloth afterwards. The cage reaches beyond them, so that no
gap is left between it and the rest, and what closes it lies inside the body.
"""

from __future__ import annotations

from collections.abc import Iterable

import bmesh
import bpy
import numpy as np
from scipy.spatial import cKDTree

from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.scene import SceneError
from . import mesh as mesh_arrays
from .collision_properties import HALF, BoolArray
from .painted import Weights

UNITED = "Lets Through"  #: the vertex group of several regions


def of(body: bpy.types.Object, evaluated: bpy.types.Object, mesh: bpy.types.Mesh, group: str) -> BoolArray:
    """(N,) which vertices of its evaluated mesh are in this group or attribute. Raises SceneError where no face is."""
    inside = Weights(body, evaluated, mesh).of(group, "region") >= HALF
    if not inside[mesh_arrays.triangles(mesh)].all(axis=1).any():
        problem = f"no face of it is in the region “{group}”"
        raise SceneError(body.name, problem, "Choose a group that has all the vertices of some faces")
    return inside


def closed(mesh: bpy.types.Mesh, points: Array, inside: BoolArray, margin: float) -> tuple[Array, list[list[int]]]:
    """(vertices (M, 3), faces) of the region and of what lies less than `margin` from it on the surface, closed.

    points: (N, 3) of the mesh. inside: (N,). margin: in the mesh's own units.
    """
    near = _grown(mesh, points, inside, margin)
    shape = bmesh.new()
    shape.from_mesh(mesh)
    far = [vertex for vertex in shape.verts if not near[vertex.index]]
    bmesh.ops.delete(shape, geom=far, context="VERTS")
    loose = [vertex for vertex in shape.verts if not vertex.link_faces]
    bmesh.ops.delete(shape, geom=loose, context="VERTS")
    bmesh.ops.holes_fill(shape, edges=[edge for edge in shape.edges if edge.is_boundary], sides=0)
    shape.verts.index_update()
    found = np.array([vertex.co for vertex in shape.verts]), [[v.index for v in face.verts] for face in shape.faces]
    shape.free()
    return found


def _grown(mesh: bpy.types.Mesh, points: Array, inside: BoolArray, margin: float) -> BoolArray:
    """(N,) what is inside, what edges lead to from there through less than `margin`, and the vertices beside that."""
    edges = np.array([edge.vertices for edge in mesh.edges]).reshape(-1, 2)
    close = cKDTree(points[inside]).query(points, distance_upper_bound=margin)[0] < np.inf
    near = inside
    while (more := near | (close & _beside(edges, near))).sum() > near.sum():
        near = more
    return near | _beside(edges, near)


def _beside(edges: IntArray, chosen: BoolArray) -> BoolArray:
    """(N,) the vertices that share an edge with a chosen one."""
    result = np.zeros(len(chosen), bool)
    result[edges[chosen[edges].any(axis=1)].ravel()] = True
    return result


def together(body: bpy.types.Object, group: str) -> BoolArray | None:
    """(N,) the vertices of this group and of the one that lets through already; None: there is no other. Raises
    SceneError."""
    before = body.taffeta.collider.lets_through_group
    if before in ("", group):
        return None
    weights = Weights(body, body, body.data)
    return np.maximum(weights.of(before, "“Lets Through”"), weights.of(group, "region")) >= HALF


def let_through(body: bpy.types.Object, group: str, every: BoolArray | None) -> None:
    """Its faces in this group stop no cloth any more, nor do those that did not before. every: as of `together`."""
    if every is not None:
        united = body.vertex_groups.get(UNITED) or body.vertex_groups.new(name=UNITED)
        united.add(np.flatnonzero(every).tolist(), 1.0, "REPLACE")
        group = united.name
    body.taffeta.collider.lets_through_group = group


def except_from(cage: bpy.types.Object, others: Iterable[bpy.types.Object]) -> None:
    """Let a cage that is simulated pass through the body that it is a part of, and through the body's other cages."""
    exceptions = bpy.context.scene.taffeta.encounters
    for other in others:
        pair = sorted((cage, other), key=lambda item: item.taffeta.role != "CLOTH")
        if other != cage and pair[0].taffeta.role == "CLOTH" and other.taffeta.role != "NONE":
            entry = exceptions.add()
            entry.first, entry.second = pair

# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a mesh no face has: vertices, and edges, which are threads of a seam or cords."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ...gpu_core.scene.arrays import IntArray
from . import mesh as mesh_arrays

MANY = 1000  #: meshes whose parts are kept in mind


class Loose(NamedTuple):
    vertices: int  #: that no edge has
    between: int  #: edges between two vertices of faces
    beyond: int  #: edges to a vertex of no face


_found: dict[tuple[int, ...], Loose] = {}


def loose(mesh: bpy.types.Mesh) -> Loose:
    """Counted anew only where the mesh has others, so cheap enough for drawing."""
    key = mesh.session_uid, len(mesh.vertices), len(mesh.edges), len(mesh.polygons), len(mesh.loops)
    if key not in _found:
        if len(_found) > MANY:
            _found.clear()
        ends, between = edges(mesh)
        used = np.zeros(len(mesh.vertices), bool)
        used[ends] = True
        used[mesh_arrays.faces(mesh)[1]] = True
        _found[key] = Loose(int((~used).sum()), int(between.sum()), int((~between).sum()))
    return _found[key]


def cords(item: bpy.types.Object) -> bool:
    """Does its mesh have edges that are cords?"""
    if item.type != "MESH":
        return False
    found = loose(item.data)
    return bool(found.beyond or (found.between and not item.taffeta.cloth.sewing))


def split(item: bpy.types.Object, mesh: bpy.types.Mesh) -> tuple[IntArray | None, IntArray | None]:
    """((S, 2) threads, (C, 2) cords) of its evaluated mesh; None: it has none. Without Sewing all are cords."""
    ends, between = edges(mesh)
    sewn = between if item.taffeta.cloth.sewing else np.zeros(len(ends), bool)
    threads = ends[sewn] if item.taffeta.cloth.sewing else None
    return threads, ends[~sewn] if not sewn.all() else None


def edges(mesh: bpy.types.Mesh) -> tuple[IntArray, np.ndarray]:
    """((L, 2) the edges that no face has, (L,) whether faces have both of its vertices)."""
    ends = mesh_arrays.loose_edges(mesh)
    of_faces = np.zeros(len(mesh.vertices), bool)
    of_faces[mesh_arrays.faces(mesh)[1]] = True
    return ends, of_faces[ends].all(axis=1)

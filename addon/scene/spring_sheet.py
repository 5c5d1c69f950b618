# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's cloth springs are on one mesh, as a sheet: its stiffness in N/m, its flexural rigidity in N·m.

Blender's unit of time is √0.001 s: a frame, at any frame rate, for gravity counts 0.001 of itself. So one of its units
of force is 1000 N. Each edge is a spring of 1000·tension/ℓ N/m, each diagonal of a face one of 1000·shear/ℓ that only
pulls; ℓ is the mean length of the edges. A strain ε stretches a spring d by (d·εd)/|d|, and the sum of all energies
over the area is that of a sheet. An edge between two faces has the moment 100·bending·|d|·h N·m for each radian, h the
mean distance of the edge from the middles of its faces. Checked against Blender's own strips in
tests/addon/scene/test_spring_sheet.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import bpy
import numpy as np

from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.scene import SceneError
from . import mesh as mesh_arrays

TIME = 0.001**0.5  #: s in one of Blender's frames
FORCE = 1000.0  #: N in one of its units of force
TENSE = 0.5  #: share of the diagonals that a shear stretches: the others are slack
BEND = 100.0  #: N·m for each radian and m², of a bending stiffness of 1
BISECTIONS = 100
LEAST = 1.0e-12  #: of the stiffness, where nothing resists


class SpringSheet(NamedTuple):
    """A mesh in the world, in scene units where nothing else is said."""

    vertices: int
    area: float
    edge: float  #: mean length
    edges: Array  #: (3, 3) stiffness of edges of 1 N/m against strains along warp, along weft and in shear; no unit
    diagonals: Array  #: the same of diagonals
    bend: float  #: flexural rigidity of a bending stiffness of 1, N·m in scene units for metres
    bend_lag: float  #: time constant of a bending damping of 1 at a bending stiffness of 1, s
    metre: float  #: of a scene unit

    def moduli(self, tension: float, shear: float) -> tuple[float, float, float]:
        """(along warp, along weft, in shear) of strips that are free at their sides, N/m."""
        stiffness = FORCE / self.edge * (tension * self.edges + shear * self.diagonals)
        if not stiffness.any():
            return 0.0, 0.0, 0.0
        warp, weft, _ = 1.0 / np.diag(np.linalg.inv(stiffness + LEAST * stiffness.max() * np.eye(3)))
        return float(warp), float(weft), self._rigidity(tension, shear)

    def _rigidity(self, tension: float, shear: float) -> float:
        return FORCE / self.edge * float(tension * self.edges[2, 2] + TENSE * shear * self.diagonals[2, 2])

    def shear_of(self, modulus: float, tension: float) -> float:
        """Blender's shear at which the sheet has this modulus (N/m); 0 where edges alone have more."""
        one = self._rigidity(0.0, 1.0)
        return max(modulus - self._rigidity(tension, 0.0), 0.0) / one if one else 0.0

    def tension_of(self, stretch: float, shear: Callable[[float], float]) -> float:
        """Blender's tension at which the mean of warp and weft is this (N/m). shear: Blender's, at a tension."""

        def excess(tension: float) -> float:
            warp, weft, _ = self.moduli(tension, shear(tension))
            return 0.5 * (warp + weft) - stretch

        low, high = 0.0, 1.0
        while excess(high) < 0.0 and high < 1.0e12:
            low, high = high, 2.0 * high
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if excess(middle) < 0.0 else (low, middle)
        return high

    @property
    def sheared(self) -> bool:
        """Triangles have no diagonals."""
        return bool(self.diagonals[2, 2] > 0.0)


class Faces(NamedTuple):
    """F faces and their L corners, face after face."""

    sizes: IntArray  #: (F,) corners
    first: IntArray  #: (F,) the first corner
    corners: IntArray  #: (L,) vertices
    following: IntArray  #: (L,) corners
    face: IntArray  #: (L,)
    edge: IntArray  #: (L,) from the corner to the following one
    areas: Array  #: (F,)
    normals: Array  #: (F, 3)

    def means(self, values: Array) -> Array:
        """(F, …) of what the corners (L, …) have."""
        return (np.add.reduceat(values, self.first, axis=0).T / self.sizes).T


def measure(name: str, mesh: bpy.types.Mesh, points: Array, metre: float) -> SpringSheet:
    """name: of the object, for errors. points: (N, 3) the shape without stress, world, scene units.

    Raises SceneError.
    """
    if not len(mesh.polygons):
        raise SceneError(name, "it has no face", "Fill it: cloth is made of faces")
    faces = _faces(mesh, points)
    area = float(faces.areas.sum())
    if not area > 0.0:
        raise SceneError(name, "its faces have no area", "Repair the mesh, or its scale")
    frame = _frames(mesh, points, faces.normals)
    along = points[faces.corners[faces.following]] - points[faces.corners]
    share = 1.0 / np.bincount(faces.edge)[faces.edge]  # of an edge, at each of its faces
    edge = float((share * np.linalg.norm(along, axis=1)).sum() / share.sum())
    diagonals, diagonal_face = _diagonals(points, faces)
    stiffness = _modes(along, frame[faces.face], share / area), _modes(diagonals, frame[diagonal_face], 1.0 / area)
    return SpringSheet(len(points), area, edge, *stiffness, *_bending(points, faces, along, frame), metre)


def _faces(mesh: bpy.types.Mesh, points: Array) -> Faces:
    sizes, corners = mesh_arrays.faces(mesh)
    first = np.cumsum(sizes) - sizes
    following = np.arange(1, len(corners) + 1)
    following[first + sizes - 1] = first
    edge = np.empty(len(corners), np.int32)
    mesh.loops.foreach_get("edge_index", edge)
    vectors = 0.5 * np.add.reduceat(np.cross(points[corners], points[corners[following]]), first, axis=0)
    areas = np.linalg.norm(vectors, axis=1)
    normals = vectors / np.where(areas > 0.0, areas, 1.0)[:, None]
    return Faces(sizes, first, corners, following, np.repeat(np.arange(len(sizes)), sizes), edge, areas, normals)


def _frames(mesh: bpy.types.Mesh, points: Array, normals: Array) -> Array:
    """(F, 2, 3) warp and weft of each face; without a UV map the warp is along x, or y where that is across."""
    warp = mesh_arrays.warp_directions(mesh, points)
    if warp is None:
        across = np.abs(normals[:, 0]) > 0.999
        faces = np.where(across[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    else:
        of_face = np.empty(len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("polygon_index", of_face)
        faces = np.stack([np.bincount(of_face, warp[:, k], len(normals)) for k in range(3)], axis=1)
    faces = faces - (faces * normals).sum(axis=1, keepdims=True) * normals
    length = np.linalg.norm(faces, axis=1, keepdims=True)
    faces = faces / np.where(length > 0.0, length, 1.0)
    return np.stack([faces, np.cross(normals, faces)], axis=1)


def _diagonals(points: Array, faces: Faces) -> tuple[Array, IntArray]:
    """((D, 3) from corner to corner, (D,) their faces) of all corners of a face that no edge joins."""
    vectors, owners = [np.empty((0, 3))], [np.empty(0, np.int64)]
    for size in np.unique(faces.sizes[faces.sizes > 3]):
        chosen = np.flatnonzero(faces.sizes == size)
        corner = points[faces.corners[faces.first[chosen][:, None] + np.arange(size)]]
        for i in range(size):
            for j in range(i + 2, size - (i == 0)):
                vectors.append(corner[:, j] - corner[:, i])
                owners.append(chosen)
    return np.concatenate(vectors), np.concatenate(owners)


def _modes(along: Array, frame: Array, weight: Array | float) -> Array:
    """(3, 3) of springs (S, 3) in the frames (S, 2, 3) of their faces."""
    warp, weft = np.einsum("skx,sx->ks", frame, along)
    strain = np.stack([warp * warp, weft * weft, warp * weft])
    length = (along**2).sum(axis=1)
    return np.asarray((strain * weight / np.where(length > 0.0, length, 1.0)) @ strain.T)


def _bending(points: Array, mesh: Faces, along: Array, frame: Array) -> tuple[float, float]:
    """(flexural rigidity of a bending stiffness of 1, N·m in scene units for metres, and the time constant of
    `SpringSheet`), the mean of curvatures along warp and weft, over the part of the area that has inner edges."""
    length = np.linalg.norm(along, axis=1)
    length = np.where(length > 0.0, length, 1.0)
    middle = mesh.means(points[mesh.corners])[mesh.face] - points[mesh.corners]
    height = np.linalg.norm(np.cross(middle, along), axis=1) / length
    height = np.where(height > 0.0, height, 1.0)
    inner = np.bincount(mesh.edge)[mesh.edge] == 2
    mean_height = 0.5 * np.bincount(mesh.edge, height)[mesh.edge]
    moment = angles = 0.0
    for k in (0, 1):
        x, half = ((item * frame[mesh.face, k]).sum(axis=1) for item in (points[mesh.corners], 0.5 * along))
        centre = x + half  # of the edge, from where both faces see ½x²
        bulge = mesh.means(x**2)[mesh.face] - 2.0 * centre * mesh.means(x)[mesh.face] + centre**2 - half**2
        slope = 0.5 * bulge / height
        square = np.where(inner, 0.25 * np.bincount(mesh.edge, slope)[mesh.edge] ** 2, 0.0)  # an edge has two corners
        moment += float((square * length * mean_height).sum())
        angles += float((square * mean_height**2).sum())
    area = float((mesh.areas / mesh.sizes)[mesh.face][inner].sum())
    if not moment:
        return 0.0, 0.0
    return BEND * moment / area, TIME * FORCE / BEND * angles / moment

# SPDX-License-Identifier: GPL-3.0-or-later
"""What carries pins along: the surface of a mesh that may deform, or an object's transform.

A clip, a hand, a bone's empty takes pins along rigidly. A body takes each of them as its nearest triangle goes: the
point of the triangle that was nearest moves with its corners, and what the pin is away from it turns with the triangle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import bpy
import numpy as np
import numpy.typing as npt
from mathutils.bvhtree import BVHTree

from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.scene import SceneError
from . import mesh as mesh_arrays
from .bodies import Body
from .evaluated import evaluated_mesh, is_enabled, object_to_world, to_world

LEAST = 1.0e-30  #: m², a triangle smaller than that has no direction


class Carrier(ABC):
    """Takes points along with another object, from where they are at the first frame."""

    @abstractmethod
    def carried(self, target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Array:
        """(P, 3) where they are now, world, m. target: by whatever pointer it has now. Raises SceneError."""


def carrier_of(cloth: str, target: bpy.types.Object, points: Array, depsgraph: bpy.types.Depsgraph) -> Carrier:
    """For points (P, 3) of the cloth with this name, world, m, at the first frame. Raises SceneError."""
    if not is_enabled(target, depsgraph.view_layer.layer_collection):
        problem = f"its pins follow “{target.name}”, which is in no enabled collection of this scene"
        raise SceneError(cloth, problem, "Enable its collection in the Outliner, or choose another target")
    _require_shown(cloth, target, depsgraph)
    if target.type == "MESH" and len(points):
        places, triangles = _surface(target, depsgraph)
        wide = triangles[_areas(places[triangles]) > LEAST]
        if len(wide):
            return _Surface(cloth, points, places, wide)
    return _Transform(cloth, target, points, depsgraph)


def _require_shown(cloth: str, target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Raises SceneError where Blender does not evaluate what pins follow. That a cloth points to it puts it into the
    dependency graph, where it has a place, but one that does not move."""
    if target.hide_viewport or target.evaluated_get(depsgraph).hide_viewport:  # which may be keyed
        raise SceneError(
            target.name,
            f"pins of “{cloth}” follow it, but it is disabled in the viewport at frame {depsgraph.scene.frame_current}",
            "Enable it (screen icon in the Outliner; the eye may stay closed) or choose another target",
        )


class _Transform(Carrier):
    def __init__(self, cloth: str, target: bpy.types.Object, points: Array, depsgraph: bpy.types.Depsgraph) -> None:
        matrix = object_to_world(Body(target), depsgraph, depsgraph.scene.frame_current)
        self._cloth, self._own = cloth, to_world(points, np.linalg.inv(matrix))  # (P, 3) in the target's space

    def carried(self, target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Array:
        _require_shown(self._cloth, target, depsgraph)
        return to_world(self._own, object_to_world(Body(target), depsgraph, depsgraph.scene.frame_current))


class _Surface(Carrier):
    def __init__(self, cloth: str, points: Array, places: Array, triangles: IntArray) -> None:
        """places: (V, 3) of the target's vertices, world, m. triangles: (T, 3) of some area."""
        self._cloth, self._vertices = cloth, len(places)
        tree = BVHTree.FromPolygons(places.tolist(), triangles.tolist(), all_triangles=True)
        found = [tree.find_nearest(point) for point in points.tolist()]
        self._corners = triangles[[triangle for _, _, triangle, _ in found]]  # (P, 3)
        corners = places[self._corners]
        self._shares = _shares(corners, np.array([nearest for nearest, *_ in found]))  # (P, 3)
        away = points - np.einsum("pk,pkx->px", self._shares, corners)
        self._away = np.einsum("pax,px->pa", _directions(corners), away)  # (P, 3) in the triangle's own directions

    def carried(self, target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Array:
        _require_shown(self._cloth, target, depsgraph)
        places, _ = _surface(target, depsgraph)
        if len(places) != self._vertices:
            raise SceneError(
                target.name,
                f"pins of “{self._cloth}” follow its surface, but it has {len(places)} vertices at frame "
                f"{depsgraph.scene.frame_current} and had {self._vertices} at the first",
                "Remove the modifier or the animation that changes their number, or let the pins follow an empty",
            )
        corners = places[self._corners]
        away = np.einsum("pax,pa->px", _directions(corners), self._away)
        return np.asarray(np.einsum("pk,pkx->px", self._shares, corners) + away)


def _surface(target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[Array, IntArray]:
    """((V, 3) world, m; (T, 3)) as Blender shows it now."""
    with evaluated_mesh(Body(target), depsgraph, depsgraph.scene.frame_current) as (mesh, matrix):
        return to_world(mesh_arrays.positions(mesh), matrix), mesh_arrays.triangles(mesh)


def _areas(corners: Array) -> npt.NDArray[np.float64]:
    """(T,) of triangles (T, 3, 3), m²."""
    return 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)


def _shares(corners: Array, points: Array) -> Array:
    """(P, 3) the barycentric coordinates of points (P, 3) in triangles (P, 3, 3)."""
    first, second, to = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], points - corners[:, 0]
    normal = np.cross(first, second)
    size = (normal**2).sum(axis=1)
    b = (np.cross(to, second) * normal).sum(axis=1) / size
    c = (np.cross(first, to) * normal).sum(axis=1) / size
    return np.column_stack([1.0 - b - c, b, c])


def _directions(corners: Array) -> Array:
    """(P, 3, 3) rows: along the first side of triangles (P, 3, 3), across it, and their normal."""
    along = _unit(corners[:, 1] - corners[:, 0])
    normal = _unit(np.cross(along, corners[:, 2] - corners[:, 0]))
    return np.stack([along, np.cross(normal, along), normal], axis=1)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), LEAST))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A cage: a coarser, watertight stand-in for a body, a little outside of it, that follows it and that nobody sees.

Blender's voxel remesh makes it of the body at rest, so that what is nearer than a voxel becomes one. Then its vertices
go to the nearest place of the body and outwards from there, but where it would cross itself. Blender's Surface Deform
binds it to whatever moves the body, armatures and shape keys alike. On a human it crosses itself no more and no less
than with weights that are transferred, and a cage that is decimated or moved along normals crosses itself at rest.

Of a region it is made as of a body that is cut off a little beyond and closed there (`region.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import bmesh
import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...gpu_core.check.intersection import intersections, unique_edges
from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.mesh import counted_edges
from ...gpu_core.scene.scene import SceneError
from . import mesh as mesh_arrays
from . import overridable, preroll, region

SUFFIX = " Cage"
FLESH = "Flesh"  #: the vertex group that holds a soft cage
HELD = 0.95  #: weight of these pins: within 1 mm of their places but where the body folds
#: numbers of a soft cage: skin that gives and hangs from nothing
SOFT = {
    "density": 1.0, "stretch_warp": 5.0, "stretch_weft": 5.0, "shear": 2.0, "bend": 1.0e-6, "bend_friction": 0.0,
    "strain_limit": 0.0, "air_drag": 0.0, "field_all": 0.0, "field_gravity": 0.0,
}  # fmt: skip
BOUND = "Taffeta Cage"  #: the modifier's name
LOST = 0.5  #: of a body's vertices; a cage that more of them stick out of has not got its shape
TENTH = 0.1  #: of a voxel; what sticks out by less is a chord's way from an arc
SHORT = 0.2  #: of a voxel; no edge that was moved becomes shorter
ROUNDS = 20  #: in which vertices that would cross go back
MARGIN = 1.5  #: voxels by which that of a region reaches beyond it
LOOKED_AT = 4000  #: vertices of a body, of which that is judged


@dataclass(frozen=True)
class Made:
    """A cage, and how well it stands for its body."""

    item: bpy.types.Object
    vertices: int
    outside: float  #: share of the body's vertices that stick out of it by more than a tenth of a voxel
    farthest: float  #: how far one does, scene units


def make(body: bpy.types.Object, voxels: int, offset: float, soft: bool, group: str = "") -> Made:
    """Give a collider a cage that takes its place in the simulation, or that of a part of it.

    Args:
        voxels: along the longest side of the body at rest.
        offset: outwards, in voxels.
        soft: it is simulated, and gives way where the body folds; else it is a collider as the body was.
        group: of the body's vertices, or an attribute: the part that it is to stand for. Nothing: all.

    Raises:
        SceneError: names the body and the mend; nothing is changed then.
    """
    _require_fit(body)
    every = region.together(body, group) if group else None
    if every is not None and body.data.library is not None:
        problem = "its mesh is linked, and cannot get a group of both regions"
        raise SceneError(body.name, problem, "Choose a group that has both, and make one cage for them")
    with _at_rest():
        shown = _shown(body, voxels, group)
        mesh = _shell(shown, offset)
        mesh.name = name = f"{body.name}{SUFFIX}"
        cage = bpy.data.objects.new(name, mesh)
        overridable.link_beside(bpy.context.scene, body, cage)
        cage.parent = body
        try:
            made = _measured(body, cage, shown, voxels)
            if _deforms(body):
                _bind(cage, body)
        except SceneError:
            bpy.data.meshes.remove(mesh)  # and the object with it
            raise
    cage.display_type, cage.hide_render, cage.visible_shadow = "WIRE", True, False
    cage.taffeta.role = "CLOTH" if soft else "COLLIDER"
    if group:
        region.let_through(body, group, every)
        region.except_from(cage, [body, *(item for item in body.children if item.name.startswith(name))])
    else:
        body.taffeta.role = "NONE"
    for name in ("thickness", "friction"):
        setattr(cage.taffeta.cloth if soft else cage.taffeta.collider, name, getattr(body.taffeta.collider, name))
    if soft:
        _soften(cage)
    return made


def _soften(cage: bpy.types.Object) -> None:
    """Let soft pins hold it to where the body takes it: as strong as flesh, and weaker than contact with itself."""
    chosen, group = cage.taffeta.cloth, cage.vertex_groups.new(name=FLESH)
    group.add(range(len(cage.data.vertices)), HELD, "REPLACE")
    chosen.pin_group = group.name
    for name, value in SOFT.items():
        setattr(chosen, name, value)


def _require_fit(body: bpy.types.Object) -> None:
    if body.type != "MESH" or body.taffeta.role != "COLLIDER":
        raise SceneError(body.name, "it is no mesh with the role Collider", "Give it that role first")
    if body.library is not None:
        problem = "it is linked, and a cage would take its role away"
        raise SceneError(body.name, problem, "Make it an override: Object > Library Override > Make")


@contextmanager
def _at_rest() -> Iterator[None]:
    """While it lasts, armatures stand in their rest position."""
    posed = preroll.posed(bpy.data.armatures)
    try:
        for armature in posed:
            armature.pose_position = "REST"
        bpy.context.view_layer.update()
        yield
    finally:
        for armature in posed:
            armature.pose_position = "POSE"
        bpy.context.view_layer.update()


class _Shown(NamedTuple):
    """What a cage is to stand for, as it is evaluated, in the body's own space."""

    points: Array  #: (N, 3) of the surface
    faces: list[list[int]]
    judged: Array  #: (M, 3) those that are to be inside
    size: float  #: of a voxel


def _shown(body: bpy.types.Object, voxels: int, group: str) -> _Shown:
    """Raises SceneError."""
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        points = _points(mesh)
        if not len(mesh.polygons) or not np.isfinite(points).all() or np.ptp(points, axis=0).max() == 0.0:
            raise SceneError(body.name, "it has no faces or no size", "Give it some first")
        size = float(np.ptp(points, axis=0).max()) / voxels
        if not group:
            return _Shown(points, [list(face.vertices) for face in mesh.polygons], points, size)
        inside = region.of(body, evaluated, mesh, group)
        return _Shown(*region.closed(mesh, points, inside, MARGIN * size), points[inside], size)
    finally:
        evaluated.to_mesh_clear()


def _shell(shown: _Shown, offset: float) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new("Cage")
    mesh.from_pydata(shown.points.tolist(), [], shown.faces)
    cage = _remeshed(mesh, shown.size)
    if len(cage.polygons):
        places = _near(_points(cage), shown.points, mesh_arrays.triangles(mesh), offset * shown.size)
        _fit(cage, places, SHORT * shown.size)
    bpy.data.meshes.remove(mesh)
    return cage


def _points(mesh: bpy.types.Mesh) -> Array:
    return mesh_arrays.positions(mesh).astype(np.float64)


def _near(points: Array, body: Array, triangles: IntArray, offset: float) -> Array:
    """(N, 3) the places of a surface nearest to points (N, 3), and from there by `offset` along its normal."""
    tree = BVHTree.FromPolygons(body.tolist(), triangles.tolist(), all_triangles=True)
    found = [tree.find_nearest(point) for point in points.tolist()]
    return np.array([place for place, *_ in found]) + offset * np.array([normal for _, normal, *_ in found])


def _fit(cage: bpy.types.Mesh, wanted: Array, shortest: float) -> None:
    """Move its vertices to places (N, 3), but those where it would cross itself then or have shorter edges."""
    points, triangles = _points(cage), mesh_arrays.triangles(cage)
    edges, moved = unique_edges(triangles), np.ones(len(points), bool)
    for _ in range(ROUNDS):
        places = np.where(moved[:, None], wanted, points)
        pairs = intersections(places, triangles, edges)
        short = edges[np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1) < shortest]
        stuck = np.concatenate([edges[pairs[:, 0]].ravel(), triangles[pairs[:, 1]].ravel(), short.ravel()])
        if not moved[stuck].any():
            break
        ring = np.zeros(len(points), bool)
        ring[stuck] = True
        ring[edges[ring[edges].any(axis=1)].ravel()] = True  # and their neighbours, or there are needles
        moved &= ~ring
    cage.vertices.foreach_set("co", places.astype(np.float32).ravel())
    cage.update()


def _remeshed(mesh: bpy.types.Mesh, size: float) -> bpy.types.Mesh:
    """A mesh made anew of voxels of this size."""
    item = bpy.data.objects.new("Cage", mesh)
    bpy.context.scene.collection.objects.link(item)
    try:
        remesh = item.modifiers.new("Remesh", "REMESH")
        remesh.mode, remesh.voxel_size, remesh.adaptivity, remesh.use_smooth_shade = "VOXEL", size, 0.0, True
        item.modifiers.new("Weld", "WELD").merge_threshold = TENTH * size
        graph = bpy.context.evaluated_depsgraph_get()
        made = bpy.data.meshes.new_from_object(item.evaluated_get(graph))
    finally:
        bpy.data.objects.remove(item)
    _drop_open(made)
    made.materials.clear()
    return made


def _drop_open(mesh: bpy.types.Mesh) -> None:
    """Vertices without a face, and pieces that are not closed: welding has left them of single voxels, as at the tips
    of fingers."""
    shape = bmesh.new()
    shape.from_mesh(mesh)
    new = {face for edge in shape.edges if edge.is_boundary for face in edge.link_faces}
    found = set(new)
    while new:
        new = {beside for face in new for edge in face.edges for beside in edge.link_faces} - found
        found |= new
    bmesh.ops.delete(shape, geom=list(found), context="FACES")
    bmesh.ops.delete(shape, geom=[vertex for vertex in shape.verts if not vertex.link_faces], context="VERTS")
    shape.to_mesh(mesh)
    shape.free()


def _measured(body: bpy.types.Object, cage: bpy.types.Object, shown: _Shown, voxels: int) -> Made:
    """Raises SceneError where it is no cage."""
    points, triangles, size = _points(cage.data), mesh_arrays.triangles(cage.data), shown.size
    some = shown.judged[:: max(1, len(shown.judged) // LOOKED_AT)]
    away = _outside(points, triangles, some) if len(triangles) else np.full(1, np.inf)
    if (away > size).mean() > LOST or not _has_inside(points, triangles, size):
        problem = "there is no inside that voxels could fill: it has holes, or is thinner than they are"
        raise SceneError(body.name, problem, "Close the holes (Mesh > Clean Up > Fill Holes), or raise the resolution")
    if len(crossings := intersections(points, triangles)):
        problem = f"its cage crosses itself in {len(crossings)} places with {voxels} voxels"
        raise SceneError(body.name, problem, "Choose another resolution")
    scale = float(np.cbrt(abs(body.matrix_world.determinant())))
    return Made(cage, len(points), float((away > TENTH * size).mean()), float(max(away.max(), 0.0)) * scale)


def _has_inside(points: Array, triangles: IntArray, size: float) -> bool:
    """Is it closed, and on average thicker than a tenth of a voxel?"""
    if (counted_edges(triangles)[1] == 1).any():
        return False
    corners = (points - points.mean(axis=0))[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volume = np.einsum("tx,tx->", corners[:, 0], normals) / 6.0
    return bool(volume > TENTH * size * 0.5 * np.linalg.norm(normals, axis=1).sum())


def _outside(points: Array, triangles: IntArray, asked: Array) -> Array:
    """(Q,) how far points (Q, 3) are outside of a closed surface; inside it is negative."""
    tree = BVHTree.FromPolygons(points.tolist(), triangles.tolist(), all_triangles=True)
    found = [tree.find_nearest(point) for point in asked.tolist()]
    way = asked - np.array([place for place, *_ in found])
    out = np.einsum("qx,qx->q", way, np.array([normal for _, normal, *_ in found])) > 0.0
    return np.asarray(np.where(out, 1.0, -1.0) * np.array([distance for *_, distance in found]))


def _deforms(body: bpy.types.Object) -> bool:
    return body.data.shape_keys is not None or any(entry.show_viewport for entry in body.modifiers)


def _bind(cage: bpy.types.Object, body: bpy.types.Object) -> None:
    """Surface Deform takes no concave faces. Then it is bound to their triangles: afterwards it asks for the vertices
    alone, which are the same. Raises SceneError."""
    if _binds(cage, body):
        return
    cut = body.modifiers.new(BOUND, "TRIANGULATE")
    try:
        if _binds(cage, body):
            return
    finally:
        body.modifiers.remove(cut)
    problem = "Blender's Surface Deform does not bind to it: an edge has more than two faces, or a face no area"
    raise SceneError(body.name, problem, "Repair it: Mesh > Clean Up, Select > All by Trait > Non Manifold")


def _binds(cage: bpy.types.Object, body: bpy.types.Object) -> bool:
    entry: Any = cage.modifiers.new(BOUND, "SURFACE_DEFORM")
    entry.target = body
    bpy.context.view_layer.update()
    with bpy.context.temp_override(object=cage, active_object=cage, selected_objects=[cage]):
        bpy.ops.object.surfacedeform_bind(modifier=entry.name)
    if entry.is_bound:
        return True
    cage.modifiers.remove(entry)  # the next try of this one would only take the first back
    return False

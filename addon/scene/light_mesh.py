# SPDX-License-Identifier: GPL-3.0-or-later
"""A light mesh to simulate, made of a dense one to show: even triangles, with its groups, UV maps and materials.

Blender's Decimate leaves long triangles where a surface bends one way only, and cloth does not bend across them. So it
is given a rough surface, whose error is the same everywhere; afterwards the vertices are laid evenly on the smooth one.
"""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...gpu_core.check.intersection import intersections
from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.scene import SceneError
from . import dense, modifier, overridable
from . import mesh as mesh_arrays

MOST, PART = 8000, 8  #: vertices that none is told to have: a part of the dense mesh's, and no more than this
FEWEST = 16
ROUGH = 0.2  #: of an edge of the light mesh: how far the surface is made rough
ROUNDS = 5  #: twice, in which vertices go half the way to the middle of their neighbours
NEEDLE, SPECK = 0.3, 0.3  #: how even a triangle stays, and its shortest side as a part of the median one
SHORTEST = 0.15  #: of the median edge: what is shorter collapses, after which the median is another
SEED = 1


def make(context: bpy.types.Context, item: bpy.types.Object, vertices: int = 0) -> bpy.types.Object:
    """A light copy of this mesh beside it, which has its deformers, its fabric and the role Cloth; the dense one takes
    no part any more, and is not bound yet. vertices: about so many; 0 chooses. Raises SceneError."""
    wanted = vertices or min(MOST, len(item.data.vertices) // PART)
    _require(item, wanted)
    mesh = _decimated(context, item, wanted)
    mesh.name = f"{item.name} Light"
    light = item.copy()
    light.data, light.name = mesh, mesh.name
    after = list(light.modifiers)[modifier.place(light) :]
    for entry in list(light.modifiers):
        if entry in after or modifier.shows_file(entry):  # a file has the dense mesh
            light.modifiers.remove(entry)
    light.taffeta.cloth.cache_key = light.taffeta.bound_shape = ""
    light.taffeta.role, item.taffeta.role = "CLOTH", "NONE"
    overridable.link_beside(context.scene, item, light)
    return light


def crossings(light: bpy.types.Object) -> int:
    """How many of its edges go through one of its triangles."""
    return len(intersections(mesh_arrays.positions(light.data), mesh_arrays.triangles(light.data)))


def _require(item: bpy.types.Object, wanted: int) -> None:
    count = len(item.data.vertices)
    if item.taffeta.role == "COLLIDER":
        raise SceneError(item.name, "it is a collider", "Choose the mesh of a cloth")
    if modifier.find(item) is not None:
        raise SceneError(item.name, "it is baked itself", "Free its cache first")
    if dense.find(item) is not None:
        raise SceneError(item.name, "it follows a light mesh already", "Unbind it first")
    if problem := dense.obstacle(item):
        raise SceneError(item.name, problem, "Make it local or single: Object > Relations > Make Single User")
    dense.refuse_multires(item)
    if wanted < FEWEST or wanted >= count:
        problem = f"it has {count} vertices, of which no light mesh of {wanted} can be made"
        raise SceneError(item.name, problem, "Choose another number, or simulate the mesh itself")


def _decimated(context: bpy.types.Context, item: bpy.types.Object, wanted: int) -> bpy.types.Mesh:
    rough = item.data.copy()
    _weld(rough, 0.1 * item.taffeta.cloth.thickness)
    if rough.shape_keys is not None:
        holder = bpy.data.objects.new(rough.name, rough)
        holder.shape_key_clear()
        bpy.data.objects.remove(holder)
    points, triangles = mesh_arrays.positions(rough).astype(np.float64), mesh_arrays.triangles(rough)
    smooth = BVHTree.FromPolygons(points.tolist(), triangles.tolist())
    normals = np.empty((len(points), 3), np.float32)
    rough.vertices.foreach_get("normal", normals.reshape(-1))
    corner = points[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1).sum()
    edge = np.sqrt(2.0 / np.sqrt(3.0) * area / wanted)
    away = np.random.default_rng(SEED).uniform(-ROUGH * edge, ROUGH * edge, len(points))
    _set(rough, points + away[:, None] * normals)
    holder = bpy.data.objects.new(rough.name, rough)
    context.scene.collection.objects.link(holder)
    try:
        entry = holder.modifiers.new("Light", "DECIMATE")
        entry.ratio, entry.use_collapse_triangulate = min(wanted / len(points), 1.0), True
        depsgraph = context.evaluated_depsgraph_get()
        made = bpy.data.meshes.new_from_object(
            holder.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph
        )
    finally:
        bpy.data.objects.remove(holder)
        bpy.data.meshes.remove(rough)
    _lay_evenly(made, smooth)
    _turn_edges(made)
    _lay_evenly(made, smooth)
    _collapse_short(made)
    return made


def _weld(mesh: bpy.types.Mesh, distance: float) -> None:
    """Panels whose borders lie on each other become one, which they could not when their vertices are fewer."""
    edited = bmesh.new()
    try:
        edited.from_mesh(mesh)
        bmesh.ops.remove_doubles(edited, verts=edited.verts[:], dist=distance)
        edited.to_mesh(mesh)
    finally:
        edited.free()


def _lay_evenly(mesh: bpy.types.Mesh, smooth: BVHTree) -> None:
    """Vertices go to the middle of their neighbours, of a border to that of their neighbours along it, and back to the
    surface."""
    points, ends, triangles = mesh_arrays.positions(mesh).astype(np.float64), _edges(mesh), mesh_arrays.triangles(mesh)
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    each, faces = np.unique(sides, axis=0, return_counts=True)
    border = each[faces == 1]
    on_border = np.zeros(len(points), bool)
    on_border[border] = True
    inner = ends[~on_border[ends].all(axis=1)]
    for _ in range(ROUNDS):
        middle = np.where(on_border[:, None], _middle(points, border), _middle(points, inner))
        wanted = 0.5 * (points + middle)
        wanted = np.array([smooth.find_nearest(point)[0] for point in wanted.tolist()], np.float64)
        points = _unspoilt(points, wanted, triangles)
    _set(mesh, points)


def _unspoilt(points: Array, wanted: Array, triangles: IntArray) -> Array:
    """(N, 3) the wanted places, but of vertices whose triangles would become needles or specks: ears and holes that are
    hardly wider than an edge would shrink to nothing."""
    before = _evenness(points, triangles)
    least = np.array([NEEDLE, SPECK * np.median(before[:, 1])])
    moved = np.ones(len(points), bool)
    while True:
        places = np.where(moved[:, None], wanted, points)
        now = _evenness(places, triangles)
        stuck = triangles[((now < before) & (now < least)).any(axis=1)]
        if not moved[stuck].any():
            return places
        moved[stuck] = False


def _evenness(points: Array, triangles: IntArray) -> Array:
    """(T, 2) of triangles: 1 where all sides are equal and 0 without area; and the shortest side."""
    corner = points[triangles]
    sides = np.roll(corner, -1, axis=1) - corner
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    square = np.einsum("tkx,tkx->tk", sides, sides)
    even = 2.0 * np.sqrt(3.0) * area / np.maximum(square.sum(axis=1), np.finfo(float).tiny)
    return np.column_stack([even, np.sqrt(square.min(axis=1))])


def _turn_edges(mesh: bpy.types.Mesh) -> None:
    """Where three vertices of a border have come into line, the edge across takes the other diagonal."""
    edited = bmesh.new()
    try:
        edited.from_mesh(mesh)
        bmesh.ops.beautify_fill(edited, faces=edited.faces[:], edges=edited.edges[:], method="AREA")
        edited.to_mesh(mesh)
    finally:
        edited.free()


def _collapse_short(mesh: bpy.types.Mesh) -> None:
    """Pieces of the dense mesh that are smaller than its edges have become specks, of which nothing is left then. Of
    faces that have come to lie in one place one is."""
    edited = bmesh.new()
    try:
        edited.from_mesh(mesh)
        shortest = SHORTEST * float(np.median([edge.calc_length() for edge in edited.edges]))
        bmesh.ops.dissolve_degenerate(edited, edges=edited.edges[:], dist=shortest)
        bmesh.ops.triangulate(edited, faces=edited.faces[:])
        single = {frozenset(face.verts): face for face in edited.faces}.values()
        bmesh.ops.delete(edited, geom=list(set(edited.faces) - set(single)), context="FACES")
        loose = [vertex for vertex in edited.verts if not vertex.link_faces]
        bmesh.ops.delete(edited, geom=loose, context="VERTS")
        edited.to_mesh(mesh)
    finally:
        edited.free()


def _middle(points: Array, ends: IntArray) -> Array:
    """(N, 3) the mean of what each vertex is joined to; itself where that is nothing."""
    total, count = np.zeros_like(points), np.zeros(len(points))
    for one, other in ((0, 1), (1, 0)):
        np.add.at(total, ends[:, one], points[ends[:, other]])
        np.add.at(count, ends[:, one], 1.0)
    return np.where(count[:, None] > 0, total / np.maximum(count, 1.0)[:, None], points)


def _edges(mesh: bpy.types.Mesh) -> IntArray:
    ends = np.empty((len(mesh.edges), 2), np.int32)
    mesh.edges.foreach_get("vertices", ends.reshape(-1))
    return ends


def _set(mesh: bpy.types.Mesh, points: Array) -> None:
    mesh.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).reshape(-1))
    mesh.update()

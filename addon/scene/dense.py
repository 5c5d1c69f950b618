# SPDX-License-Identifier: GPL-3.0-or-later
"""A dense mesh that follows a cloth: the cloth is simulated on a light mesh, and the dense one is shown and rendered.

What binds it lies in attributes of its mesh and in geometry nodes (`dense_nodes`), so the file plays without Taffeta.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import bpy
import numpy as np

from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.scene import SceneError
from . import binding, dense_nodes, modifier, triangulation
from . import mesh as mesh_arrays
from .bodies import Body
from .evaluated import evaluated_mesh, require_enabled, to_world

NAME = "Taffeta Follow"


class Bound(NamedTuple):
    """How a dense mesh lies on its cloth."""

    vertices: int
    farthest: float  #: from the light mesh, m
    inexact: int  #: vertices that do not come back to where they were


def find(item: bpy.types.Object) -> bpy.types.Modifier | None:
    """Our modifier on this object, or None."""
    found = item.modifiers.get(NAME)
    return found if found is not None and found.type == "NODES" and _is_ours(found.node_group) else None


def light_of(item: bpy.types.Object) -> bpy.types.Object | None:
    """The object that it is bound to, which may be gone."""
    own = find(item)
    return own.node_group.nodes[dense_nodes.LIGHT].inputs["Object"].default_value if own is not None else None


def bind(context: bpy.types.Context, item: bpy.types.Object, cloth: bpy.types.Object, as_shown: bool = False) -> Bound:
    """Let a mesh follow a cloth from now on, as the two lie where the scene begins, before the cloth moves.

    as_shown: as Blender shows them at the current frame, on the cloth that was baked.

    The current frame and all modifiers are put back. Raises SceneError before anything is changed.
    """
    _require_free(item, cloth)
    scene, thickness = context.scene, float(cloth.taffeta.cloth.thickness)
    with _at_bind(context, item, cloth, as_shown):
        depsgraph, frame = context.evaluated_depsgraph_get(), scene.frame_current
        with evaluated_mesh(Body(item), depsgraph, frame) as (mesh, to_metres):
            points = mesh_arrays.positions(mesh).astype(np.float64)
        with evaluated_mesh(Body(cloth), depsgraph, frame) as (mesh, matrix):
            light = to_world(mesh_arrays.positions(mesh), matrix)
            triangles = mesh_arrays.triangles(mesh)
        if len(points) != len(item.data.vertices):
            raise SceneError(
                item.name, "a modifier before its other ones makes other vertices", "Apply it, or move it to the end"
            )
    world = to_world(points, to_metres)
    try:
        chosen, away = binding.nearest(world, light, triangles)
    except ValueError as error:
        raise SceneError(cloth.name, f"nothing can follow it: {error}", "Give it faces") from error
    held = binding.surface(to_world(light, np.linalg.inv(to_metres)), triangles)
    limit = item.taffeta.rounding * thickness / np.cbrt(abs(np.linalg.det(to_metres[:3, :3])))
    places, far = binding.bind(points, held, chosen, limit)
    unbind(item)
    _store(item, places)
    _attach(item, cloth, len(light), limit)
    edges = np.linalg.norm(held.points[triangles[:, 0]] - held.points[triangles[:, 1]], axis=1).mean()
    return Bound(len(points), float(away.max()), int((far > binding.EXACT * edges).sum()))


def unbind(item: bpy.types.Object) -> None:
    """Let it stay where it was modelled."""
    own = find(item)
    if own is not None:
        tree = own.node_group
        item.modifiers.remove(own)
        if not tree.users:
            bpy.data.node_groups.remove(tree)
    dense_nodes.forget(item.data)
    item.taffeta.follows = None


def move_to(item: bpy.types.Object, light: bpy.types.Object) -> None:
    """Let it follow another object with the same vertices, which moves as the cloth did."""
    own = find(item)
    if own is None:
        return
    if own.node_group.users > 1:
        own.node_group = own.node_group.copy()
    own.node_group.nodes[dense_nodes.LIGHT].inputs["Object"].default_value = light
    item.taffeta.follows = light


def followers(items: list[bpy.types.Object], cloth: bpy.types.Object) -> list[bpy.types.Object]:
    """Those that are bound to this cloth. items: as `Members.followers`."""
    return [item for item in items if light_of(item) == cloth]


def hide_light(cloth: bpy.types.Object, hide: bool) -> None:
    """Leave the light mesh out of renders, and show it as wire, under what follows it; or show it again."""
    if cloth.hide_render != hide:
        cloth.hide_render = hide
        cloth.display_type = "WIRE" if hide else "TEXTURED"


def obstacle(item: bpy.types.Object) -> str:
    """Why this mesh may not be changed, in words, or nothing."""
    if item.library is not None or item.data.library is not None:
        return "it is linked from another file"
    return f"{item.data.users} objects share its mesh" if item.data.users > 1 else ""


def trouble(item: bpy.types.Object) -> str:
    """Why it does not follow what it is to follow, or nothing. Reads its vertices: not for every draw."""
    cloth = item.taffeta.follows
    if cloth is None:
        return ""
    if item.taffeta.role != "NONE":
        return f"it follows {cloth.name}, and is simulated itself"
    own = find(item)
    bound = own is not None and light_of(item) == cloth
    if not bound and cloth.taffeta.role != "CLOTH":
        return f"it follows {cloth.name}, which is no cloth"
    if own is None or not bound:
        return f"it is to follow {cloth.name} and is not bound to it"
    if not (own.show_viewport and own.show_render):
        return f"its modifier “{NAME}” is switched off, so it does not follow {cloth.name}"
    if _shape(item.data) != item.taffeta.bound_shape:
        return f"its mesh has changed since it was bound to {cloth.name}"
    held, count = dense_nodes.count(own.node_group), len(cloth.data.vertices)
    if count != held and all(map(_keeps_vertices, cloth.modifiers)):
        return f"{cloth.name} has {count} vertices, and had {held} when this was bound to it"
    return ""


def may_be_bound(item: bpy.types.Object) -> bool:
    """Are both in the roles that binding takes?"""
    return item.taffeta.role == "NONE" and item.taffeta.follows.taffeta.role == "CLOTH"


def hindering(cloth: bpy.types.Object) -> bpy.types.Modifier | None:
    """The first modifier after the cache that makes other vertices, so that nothing follows."""
    after = list(cloth.modifiers)[modifier.place(cloth) :]
    kept = modifier.KEEPS_VERTICES | modifier.SHAPELESS | {"NODES", "TRIANGULATE"}
    return next(
        (entry for entry in after if entry.type not in kept and (entry.show_viewport or entry.show_render)), None
    )


def refuse_multires(item: bpy.types.Object) -> None:
    """Raises SceneError where the mesh has one, which would have to come after ours."""
    if (entry := modifier.multires(item)) is not None:
        problem = f"“{entry.name}” makes other vertices, and Multiresolution cannot come after what lets it follow"
        raise SceneError(item.name, problem, "Apply it, or use Subdivision Surface")


def _require_free(item: bpy.types.Object, cloth: bpy.types.Object) -> None:
    for side in (item, cloth):
        if side.type != "MESH":
            raise SceneError(side.name, "only meshes follow each other", "Object > Convert > Mesh")
        require_enabled(side, bpy.context.view_layer.layer_collection)
    if cloth.taffeta.role != "CLOTH" or item == cloth:
        raise SceneError(item.name, f"{cloth.name} is no other cloth", "Give that the role Cloth")
    if item.taffeta.role != "NONE":
        raise SceneError(item.name, "it takes part in the simulation itself", "Set its role to None")
    if problem := obstacle(item):
        remedy = "Make it local or single: Object > Relations > Make Single User"
        raise SceneError(item.name, f"{problem}, which cannot hold what binds it", remedy)
    if cloth.library is not None:
        raise SceneError(cloth.name, "it is linked from another file", "Object > Library Override > Make")
    if not item.data.vertices:
        raise SceneError(item.name, "it has no vertices", "Choose another mesh")
    refuse_multires(item)
    entry = hindering(cloth)
    if entry is not None:
        problem = f"“{entry.name}” after its cache makes other vertices than are simulated, which nothing can follow"
        raise SceneError(cloth.name, problem, f"Remove it, or give it to {item.name}")


@contextmanager
def _at_bind(
    context: bpy.types.Context, item: bpy.types.Object, cloth: bpy.types.Object, as_shown: bool
) -> Iterator[None]:
    """While it lasts, the cloth is as it was before it was simulated, and the mesh as it was before it followed."""
    scene = context.scene
    before = scene.frame_current, scene.frame_subframe
    own = modifier.find(cloth)
    hidden = modifier.simulated(cloth)
    if as_shown:
        hidden = [entry for entry in hidden if entry != own and entry.name != modifier.LIVE]
    try:
        with ExitStack() as undo:
            undo.enter_context(triangulation.shown(cloth))
            undo.enter_context(modifier.suspended(entry for entry in hidden if entry.name != modifier.TRIANGLES))
            undo.enter_context(modifier.suspended(list(item.modifiers)[_place(item) :]))
            scene.frame_set(scene.frame_current if as_shown else scene.frame_start)
            yield
    finally:
        scene.frame_set(before[0], subframe=before[1])


def _place(item: bpy.types.Object) -> int:
    """Index in its stack where our modifier is, or belongs: behind the deformers."""
    own = find(item)
    return item.modifiers.find(own.name) if own is not None else modifier.place(item)


def _store(item: bpy.types.Object, places: binding.Places) -> None:
    columns: list[tuple[str, str, Array | IntArray]] = [
        *((name, "INT", places.corners[:, k]) for k, name in enumerate(dense_nodes.CORNERS)),
        *((name, "FLOAT", places.weights[:, k]) for k, name in enumerate(dense_nodes.WEIGHTS)),
        (dense_nodes.HEIGHT, "FLOAT", places.heights),
    ]
    for name, kind, values in columns:
        held = item.data.attributes.new(name, kind, "POINT")
        held.data.foreach_set("value", np.ascontiguousarray(values, np.int32 if kind == "INT" else np.float32))
    item.data.update()


def _attach(item: bpy.types.Object, cloth: bpy.types.Object, vertices: int, limit: float) -> None:
    place = _place(item)
    own = item.modifiers.new(NAME, "NODES")
    own.node_group = dense_nodes.build(f"{NAME} {cloth.name}", cloth, vertices, limit)
    own.show_expanded = False
    item.modifiers.move(item.modifiers.find(own.name), place)
    item.taffeta.follows, item.taffeta.bound_shape = cloth, _shape(item.data)


def _is_ours(tree: bpy.types.NodeTree | None) -> bool:
    return tree is not None and dense_nodes.LIGHT in tree.nodes


def _keeps_vertices(entry: bpy.types.Modifier) -> bool:
    """Nodes of others may make a light mesh of what the object has."""
    return entry.type in modifier.KEEPS_VERTICES or entry.name.startswith(modifier.PREFIX)


def _shape(mesh: bpy.types.Mesh) -> str:
    """What tells this shape from others."""
    return f"{len(mesh.vertices)}:{zlib.crc32(mesh_arrays.positions(mesh).tobytes()):08x}"

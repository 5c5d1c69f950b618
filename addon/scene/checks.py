# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a bake, will spoil it, or is ignored by it, as far as one can see without evaluating the
scene."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from . import blender_modifier, fields, keyed, modifier, painted, pattern, rest_key, retiming
from . import mesh as mesh_arrays
from .bodies import carries
from .gather import Members
from .render_settings import differs

FEW = 16  #: vertices; a sheet of fewer has nothing to fold with
MEMORY = 1.0  #: s for which what is found among all objects of a scene is true enough


@dataclass(frozen=True)
class Trouble:
    """Something that the user should know before a bake."""

    name: str  #: of the object or scene
    text: str
    mend: str = ""  #: which of `mends.MENDS` puts it right, where one does
    ignored: bool = False  #: a bake goes on without it, and says so
    notice: bool = False  #: nothing is wrong yet

    @property
    def icon(self) -> str:
        return "INFO" if self.ignored or self.notice else "ERROR"


def troubles(scene: bpy.types.Scene, present: Members) -> Iterator[Trouble]:
    """Cheap enough for drawing."""
    yield from _of_scene(scene, present)
    for item in (*present.cloths, *present.colliders):
        yield from _of_member(item)
    for cloth in present.cloths:
        if cloth.type == "MESH":
            yield from _of_cloth(cloth)
    for collider in present.colliders:
        if _instances(collider):
            text = (
                "cloth passes through what it instances: realize the instances in its geometry nodes, or make them real"
            )
            yield Trouble(collider.name, text, ignored=True)
        if scene.taffeta.collider_detail == "VIEWPORT" and differs(scene, collider):
            text = "it renders otherwise than the viewport shows it, which is what cloth meets: choose Colliders As"
            yield Trouble(collider.name, text, notice=True)
    yield from _of_others(scene)


def _of_scene(scene: bpy.types.Scene, present: Members) -> Iterator[Trouble]:
    first, last = retiming.frame_range(scene)
    if last <= first:
        yield Trouble(scene.name, "the frame range has no motion")
    if not scene.use_gravity:
        yield Trouble(scene.name, "gravity is switched off", "GRAVITY")
    if present.cloths and not present.bodies and not any(_is_held(cloth) for cloth in present.cloths):
        yield Trouble(scene.name, "no object is a collider and no cloth is pinned: the cloth falls out of sight")
    yield from _of_keys(scene)


def _is_held(cloth: bpy.types.Object) -> bool:
    return bool(cloth.taffeta.cloth.pin_group) and painted.exists(cloth, cloth.taffeta.cloth.pin_group)


def _of_member(item: bpy.types.Object) -> Iterator[Trouble]:
    if item.type != "MESH" and not carries(item):
        yield Trouble(item.name, "only meshes take part: Object > Convert > Mesh")
    elif item.hide_viewport:
        yield Trouble(item.name, "it is disabled in the viewport, so Blender does not evaluate it", "ENABLE")
    elif item.mode == "EDIT":
        yield Trouble(item.name, "it is in Edit Mode")
    yield from _of_keys(item)


def _of_keys(owner: bpy.types.ID) -> Iterator[Trouble]:
    for path in keyed.ignored(owner):
        text = f"keys on {_last(path)} are not followed: a bake takes its value when it begins"
        yield Trouble(owner.name, text, "KEYS", True)


def _of_cloth(cloth: bpy.types.Object) -> Iterator[Trouble]:
    group = cloth.taffeta.cloth.pin_group
    if group and not painted.exists(cloth, group):
        yield Trouble(cloth.name, f"there is no vertex group or attribute “{group}” to pin", "PINS")
    name = cloth.taffeta.cloth.pattern_map
    if name and not pattern.may_exist(cloth):
        yield Trouble(cloth.name, f"there is no UV map “{name}” for its pattern", "PATTERN")
    key = cloth.taffeta.cloth.rest_shape_key
    if key and not rest_key.exists(cloth, key):
        yield Trouble(cloth.name, f"there is no shape key “{key}” for its rest shape", "REST_KEY")
    for name, group in painted.groups(cloth).items():
        if not painted.exists(cloth, group):
            text = f"there is no vertex group or attribute “{group}” for its {painted.PAINTED[name].label.lower()}"
            yield Trouble(cloth.name, text, "PAINT")
    if cloth.library is not None:
        yield Trouble(cloth.name, "it is linked, so it is not simulated: Object > Library Override > Make")
    place = modifier.place(cloth)
    for index, entry in enumerate(cloth.modifiers):
        if entry.name == modifier.TRIANGLES or not (entry.show_viewport or entry.show_render):
            continue
        if entry.type == "CLOTH":
            text = f"Blender's own Cloth modifier “{entry.name}” moves it too"
            yield Trouble(cloth.name, text, "BLENDER_CLOTH" if _was_set(cloth.taffeta.cloth) else "CONVERT")
        elif index < place and not modifier.comes_before(cloth, entry):
            text = f"“{entry.name}” comes before the cache and makes other vertices"
            yield Trouble(cloth.name, text, "AFTER_CACHE")
        elif index > place and entry.type not in modifier.SHAPELESS and modifier.find(cloth) is not None:
            text = f"what “{entry.name}” makes of the simulated cloth may cross: that is looked at after each bake"
            yield Trouble(cloth.name, text, notice=True)
    yield from _of_mesh(cloth)


def _was_set(group: bpy.types.PropertyGroup) -> bool:
    """Are there numbers of its own that a conversion would take away?"""
    names = (entry.identifier for entry in blender_modifier.numbers(group) if not entry.is_hidden)
    return any(map(group.is_property_set, names))


def _instances(item: bpy.types.Object) -> bool:
    """Does it draw other objects, in many places, which are no part of its mesh?"""
    if item.instance_type in ("VERTS", "FACES"):
        return True
    nodes = {
        node.bl_idname
        for entry in item.modifiers
        if entry.type == "NODES" and entry.node_group is not None and (entry.show_viewport or entry.show_render)
        for node in modifier.nodes(entry.node_group)
    }
    return "GeometryNodeInstanceOnPoints" in nodes and "GeometryNodeRealizeInstances" not in nodes


def _of_mesh(cloth: bpy.types.Object) -> Iterator[Trouble]:
    vertices, edges = loose(cloth.data)
    if vertices:
        text = f"{vertices} loose {'vertex stays' if vertices == 1 else 'vertices stay'} where they are"
        yield Trouble(cloth.name, text, "LOOSE", True)
    if edges and not cloth.taffeta.cloth.sewing:
        text = f"{edges} {'edge has' if edges == 1 else 'edges have'} no face"
        yield Trouble(cloth.name, f"{text}: Sewing is off", "SEW", True)
    if cloth.taffeta.cloth.sewing and not edges:
        yield Trouble(cloth.name, "Sewing is on, but every edge has a face", notice=True)
    if len(cloth.data.vertices) < FEW and not any(
        entry.type not in modifier.KEEPS_VERTICES for entry in cloth.modifiers
    ):
        yield Trouble(cloth.name, f"its {len(cloth.data.vertices)} vertices cannot fold: subdivide it", "SUBDIVIDE")


def _of_others(scene: bpy.types.Scene) -> Iterator[Trouble]:
    """Of objects that take no part, although the user may think so."""
    number = scene.session_uid
    if number not in _others or time.monotonic() - _others[number][0] > MEMORY:
        _others[number] = time.monotonic(), list(_look(scene))
    yield from _others[number][1]


_others: dict[int, tuple[float, list[Trouble]]] = {}  # by the scene: when, and what was found


def _look(scene: bpy.types.Scene) -> Iterator[Trouble]:
    for item in scene.objects:
        for text in fields.ignored(item):
            yield Trouble(item.name, text, ignored=True)
        if item.taffeta.role != "NONE" or item.type != "MESH":
            continue
        if any(entry.type == "CLOTH" and entry.show_viewport for entry in item.modifiers):
            yield Trouble(item.name, "Blender's own Cloth moves it", "CONVERT", notice=True)
        elif item.collision is not None and item.collision.use:
            text = "Blender's Collision does not stop this cloth"
            yield Trouble(item.name, text, "COLLIDER", True)


_loose: dict[tuple[int, ...], tuple[int, int]] = {}


def loose(mesh: bpy.types.Mesh) -> tuple[int, int]:
    """(vertices that no face and no edge has, edges that no face has). Counted anew only where the mesh has others."""
    key = mesh.session_uid, len(mesh.vertices), len(mesh.edges), len(mesh.polygons), len(mesh.loops)
    if key not in _loose:
        if len(_loose) > 1000:
            _loose.clear()
        _loose[key] = _count(mesh)
    return _loose[key]


def _count(mesh: bpy.types.Mesh) -> tuple[int, int]:
    ends = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", ends)
    of_faces = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", of_faces)
    used = np.zeros(len(mesh.vertices), bool)
    used[ends] = True
    used[mesh_arrays.faces(mesh)[1]] = True
    in_face = np.zeros(len(mesh.edges), bool)
    in_face[of_faces] = True
    return int((~used).sum()), int((~in_face).sum())


def _last(path: str) -> str:
    return path.rpartition(".")[2].replace("_", " ")

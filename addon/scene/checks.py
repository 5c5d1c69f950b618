# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a bake, will spoil it, or is ignored by it, as far as one can see without evaluating the
scene."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from . import (
    blender_modifier,
    cache_files,
    collision_properties,
    dense,
    encounters,
    fields,
    folds,
    keyed,
    modifier,
    painted,
    pattern,
    pin_properties,
    preroll,
    rest_key,
    retiming,
    sampled,
    sewn_to,
    triangulation,
    turning,
    weighted,
)
from .bodies import Body, carries
from .evaluated import disabled, is_enabled
from .gather import Members
from .loose import loose
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
        if collider.hide_get() and not collider.hide_render and not collider.hide_viewport:
            yield Trouble(collider.name, "it is hidden in the viewport, and stops the cloth all the same", notice=True)
        if _instances(collider):
            text = (
                "cloth passes through what it instances: realize the instances in its geometry nodes, or make them real"
            )
            yield Trouble(collider.name, text, ignored=True)
        if scene.taffeta.collider_detail == "VIEWPORT" and differs(scene, collider):
            text = "it renders otherwise than the viewport shows it, which is what cloth meets: choose Colliders As"
            yield Trouble(collider.name, text, notice=True)
    for item in present.followers:
        yield from _of_follower(item)
    yield from _of_others(scene, present)


def _of_scene(scene: bpy.types.Scene, present: Members) -> Iterator[Trouble]:
    first, last = retiming.frame_range(scene)
    if last <= first:
        yield Trouble(scene.name, "the frame range has no motion")
    if preroll.morphs(scene, scene.taffeta.preroll) and not preroll.posed(bpy.data.armatures):
        yield Trouble(scene.name, "no armature leaves its rest pose: the pre-roll is as from Still", notice=True)
    if not scene.use_gravity:
        yield Trouble(scene.name, "gravity is switched off", "GRAVITY")
    elif sampled.gravity_scaled(scene):
        text = f"gravity is {abs(sampled.gravity(scene)[2]):.3g} m/s², because of the scene's Unit Scale"
        yield Trouble(scene.name, text, "EARTH", notice=True)
    if present.cloths and not present.bodies and not any(_is_held(cloth) for cloth in present.cloths):
        yield Trouble(scene.name, "no object is a collider and no cloth is pinned: the cloth falls out of sight")
    for index, problem in encounters.faults(scene):
        yield Trouble(scene.name, f"exception {index + 1} says nothing: {problem}", "ENCOUNTERS", notice=True)
    yield from _of_keys(scene)


def _any_body(cloth: bpy.types.PropertyGroup) -> bool:
    among = cloth.collision_collection.all_objects
    return any(item.taffeta.role == "COLLIDER" or carries(item) for item in among)


def _is_held(cloth: bpy.types.Object) -> bool:
    groups = pin_properties.groups(cloth)
    return any(painted.exists(cloth, group) and weighted.may_weigh(cloth, group) for group in groups)


def _of_member(item: bpy.types.Object) -> Iterator[Trouble]:
    if item.type != "MESH" and not carries(item):
        yield Trouble(item.name, "only meshes take part: Object > Convert > Mesh")
    elif item.hide_viewport:
        yield Trouble(item.name, "it is disabled in the viewport, so Blender does not evaluate it", "ENABLE")
    elif item.mode == "EDIT":
        yield Trouble(item.name, "it is in Edit Mode")
    if path := cache_files.missing(item):
        yield Trouble(item.name, f"the file {path} that moves it is missing")
    if item.animation_data and any(curve.data_path == "hide_viewport" for curve in keyed.curves(item.animation_data)):
        text = "keys disable it in the viewport, where Blender does not move it: hide it in renders instead"
        yield Trouble(item.name, text, "SHOW")
    yield from _of_keys(item)


def _of_keys(owner: bpy.types.ID) -> Iterator[Trouble]:
    for path in keyed.ignored(owner):
        text = f"keys on {_last(path)} are not followed: a bake takes its value when it begins"
        yield Trouble(owner.name, text, "KEYS", True)


def _of_cloth(cloth: bpy.types.Object) -> Iterator[Trouble]:
    yield from _of_pins(cloth)
    name = cloth.taffeta.cloth.pattern_map
    if name and not pattern.may_exist(cloth):
        yield Trouble(cloth.name, f"there is no UV map “{name}” for its pattern", "PATTERN")
    key = cloth.taffeta.cloth.rest_shape_key
    if key and not rest_key.exists(cloth, key):
        yield Trouble(cloth.name, f"there is no shape key “{key}” for its rest shape", "REST_KEY")
    if problem := sewn_to.trouble(cloth):
        yield Trouble(cloth.name, problem, "SEAM")
    name = cloth.taffeta.cloth.fold_attribute
    if name and not folds.may_exist(cloth):
        yield Trouble(cloth.name, f"there is no attribute “{name}” for its folds", "FOLDS")
    for group in collision_properties.groups(cloth).values():
        if not painted.exists(cloth, group):
            text = f"there is no vertex group or attribute “{group}” of what is left out of collisions"
            yield Trouble(cloth.name, text, "LEFT_OUT")
    if cloth.taffeta.cloth.collision_collection is not None and not _any_body(cloth.taffeta.cloth):
        text = f"there is no collider in its Collision Collection “{cloth.taffeta.cloth.collision_collection.name}”"
        yield Trouble(cloth.name, text, "COLLECTION", notice=True)
    for name, group in painted.groups(cloth).items():
        if not painted.exists(cloth, group):
            text = f"there is no vertex group or attribute “{group}” for its {painted.PAINTED[name].label.lower()}"
            yield Trouble(cloth.name, text, "PAINT")
    if cloth.library is not None:
        yield Trouble(cloth.name, "it is linked, so it is not simulated: Object > Library Override > Make")
    if (stuck := triangulation.obstacle(cloth)) is not None:
        text = (
            f"“{stuck.name}” makes other vertices, and Multiresolution cannot come after the cache: apply or delete "
            "it, or apply it to a copy that follows as a dense mesh"
        )
        yield Trouble(cloth.name, text)
    place, overriding = modifier.place(cloth), modifier.overriding(cloth)
    movable = modifier.multires(cloth) is None
    for index, entry in enumerate(cloth.modifiers):
        if entry.name == modifier.TRIANGLES or entry == stuck or not (entry.show_viewport or entry.show_render):
            continue
        if entry.type == "CLOTH":
            text = f"Blender's own Cloth modifier “{entry.name}” moves it too"
            yield Trouble(cloth.name, text, "BLENDER_CLOTH" if _was_set(cloth.taffeta.cloth) else "CONVERT")
        elif index < place and not modifier.comes_before(cloth, entry):
            text = f"“{entry.name}” comes before the cache and makes other vertices"
            yield Trouble(cloth.name, text, "AFTER_CACHE" if movable else "")
        elif entry in overriding:
            text = f"“{entry.name}” comes after the cache and shows its file instead"
            yield Trouble(cloth.name, text, "BEFORE_CACHE" if movable else "")
        elif index > place and entry.type not in modifier.SHAPELESS and modifier.find(cloth) is not None:
            text = f"what “{entry.name}” makes of the simulated cloth may cross: that is looked at after each bake"
            yield Trouble(cloth.name, text, notice=True)
    yield from _of_mesh(cloth)


def _of_follower(item: bpy.types.Object) -> Iterator[Trouble]:
    """What of a dense mesh costs nothing to know; whether it has changed is looked at among all others."""
    cloth = item.taffeta.follows
    if item.hide_viewport:
        yield Trouble(item.name, "it is disabled in the viewport, so nobody can look whether it crosses", "ENABLE")
    entry = dense.hindering(cloth) if cloth.type == "MESH" else None
    if entry is not None:
        text = f"“{entry.name}” after the cache makes other vertices, so “{item.name}” does not follow it"
        yield Trouble(cloth.name, text, "LIGHT_AFTER")
    if not cloth.hide_render and dense.light_of(item) == cloth:
        yield Trouble(cloth.name, f"it renders beside “{item.name}”, which follows it", "HIDE_LIGHT", notice=True)


def _of_pins(cloth: bpy.types.Object) -> Iterator[Trouble]:
    for group in dict.fromkeys(pin_properties.groups(cloth)):
        if not painted.exists(cloth, group):
            yield Trouble(cloth.name, f"there is no vertex group or attribute “{group}” to pin", "PINS")
        elif not weighted.may_weigh(cloth, group):
            yield Trouble(cloth.name, pin_properties.without_vertex(group))
    for _, pins in pin_properties.chosen(cloth):
        target = pins.target
        if target is None:
            continue
        if problem := pin_properties.unfit(cloth, target):
            yield Trouble(cloth.name, problem, "TARGET")
        elif target.hide_viewport and target.taffeta.role == "NONE":  # of others that is said as it is
            text = f"it is disabled in the viewport, but pins of “{cloth.name}” follow it"
            yield Trouble(target.name, text, "ENABLE")


def _was_set(group: bpy.types.PropertyGroup) -> bool:
    """Are there numbers of its own that a conversion would take away? A pointer counts as set once it was read."""
    names = (entry.identifier for entry in blender_modifier.numbers(group) if not entry.is_hidden)
    return any(group.is_property_set(name) and getattr(group, name) is not None for name in names)


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
    found, sewing = loose(cloth.data), cloth.taffeta.cloth.sewing
    if found.vertices:
        text = "1 loose vertex stays where it is"
        if found.vertices > 1:
            text = f"{found.vertices} loose vertices stay where they are"
        yield Trouble(cloth.name, text, "LOOSE", True)
    if found.between and not sewing:
        text = "1 edge without a face is a cord"
        if found.between > 1:
            text = f"{found.between} edges without a face are cords"
        yield Trouble(cloth.name, f"{text}: Sewing is off", "SEW", notice=True)
    if sewing and not found.between:
        yield Trouble(cloth.name, "Sewing is on, but no thread joins vertices of faces", notice=True)
    if len(cloth.data.vertices) < FEW and not any(
        entry.type not in modifier.KEEPS_VERTICES and entry.name != modifier.TRIANGLES for entry in cloth.modifiers
    ):
        yield Trouble(cloth.name, f"its {len(cloth.data.vertices)} vertices cannot fold: subdivide it", "SUBDIVIDE")


def _of_others(scene: bpy.types.Scene, present: Members) -> Iterator[Trouble]:
    """Of objects that take no part, although the user may think so, and what costs more than a draw may."""
    number = scene.session_uid
    if number not in _others or time.monotonic() - _others[number][0] > MEMORY:
        _others[number] = time.monotonic(), list(_look(scene, present))
    yield from _others[number][1]


_others: dict[int, tuple[float, list[Trouble]]] = {}  # by the scene: when, and what was found


def _look(scene: bpy.types.Scene, present: Members) -> Iterator[Trouble]:
    first, last = retiming.frame_range(scene)
    layer = bpy.context.view_layer.layer_collection
    for item in dict.fromkeys([*present.cloths, *(body.outermost for body in present.bodies)]):
        if not item.hide_viewport and not is_enabled(item, layer):
            yield Trouble(item.name, disabled(Body(item), layer).problem)
    for item in scene.objects:
        if item.taffeta.role == "COLLIDER":
            yield from _of_turning(item, scene.taffeta.samples_per_frame, turning.fastest(item, first, last))
        for _, pins in pin_properties.chosen(item) if item.taffeta.role == "CLOTH" else ():
            if pins.target is not None and not is_enabled(pins.target, layer):
                text = f"its pins follow “{pins.target.name}”, which is in no enabled collection of this scene"
                yield Trouble(item.name, text, "TARGET")
        for text in fields.ignored(item):
            yield Trouble(item.name, text, ignored=True)
        if item.type == "MESH" and item.mode == "OBJECT" and (text := dense.trouble(item)):
            yield Trouble(item.name, text, "BIND" if dense.may_be_bound(item) else "UNBIND")
        if item.taffeta.role != "NONE" or item.type != "MESH":
            continue
        if any(entry.type == "CLOTH" and entry.show_viewport for entry in item.modifiers):
            yield Trouble(item.name, "Blender's own Cloth moves it", "CONVERT", notice=True)
        elif item.collision is not None and item.collision.use:
            text = "Blender's Collision does not stop this cloth"
            yield Trouble(item.name, text, "COLLIDER", True)


def _of_turning(item: bpy.types.Object, chosen: int, turn: float) -> Iterator[Trouble]:
    if turn / chosen > turning.FAST and turning.samples(turn) > chosen:
        text = f"it turns by {math.degrees(turn):.0f}° in a frame, and goes straight meanwhile: it is not round"
        yield Trouble(item.name, text, "SAMPLES", notice=True)


def _last(path: str) -> str:
    return path.rpartition(".")[2].replace("_", " ")

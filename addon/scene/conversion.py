# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects with Blender's Cloth or Collision become Taffeta's, and back; nothing of Blender's is removed.

Both directions return what did not carry over, as lines “Object: Control: why”.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import bpy

from ...gpu_core.scene.scene import SceneError
from . import blender_cloth, carried_keys, modifier, rest_key
from . import mesh as mesh_arrays
from .blender_cloth import BELOW, LEFT_OF_SURFACE, LEFT_THERE, ONLY_HERE, SURFACES, TIME_SCALE, Values
from .bodies import Body
from .reader import evaluated_mesh, to_world
from .shown import SHOWN
from .spring_sheet import SpringSheet, measure

PARTS = ("settings", "collision_settings", "settings.effector_weights")
ROUNDING = 1.0e-5  #: relative; more is a limit of the property
NOTHING = 1.0e-20  #: what float32 may lose of a number that is nearly 0
TEXT = "Taffeta Conversion"  #: name of the text in which the last conversion is told


def blenders(item: bpy.types.Object, kind: str) -> bpy.types.Modifier | None:
    """Blender's modifier of this kind, CLOTH or COLLISION: it allows one each, or None."""
    return next((entry for entry in item.modifiers if entry.type == kind), None)


def obstacle(item: bpy.types.Object) -> str:
    """Why this object cannot be converted, or nothing."""
    if item.type != "MESH":
        return "only meshes can be converted"
    if item.library is not None:
        return "it is linked: Object > Library Override > Make"
    return ""


def has_blenders(item: bpy.types.Object) -> bool:
    return item.type == "MESH" and any(entry.type in ("CLOTH", "COLLISION") for entry in item.modifiers)


def from_blender(scene: bpy.types.Scene, items: Iterable[bpy.types.Object], keep_pace: bool = True) -> list[str]:
    """keep_pace: the scene's time scale follows Blender's cloth, to which each frame is 1/31.6 s."""
    told, speeds = [], {}
    before = {item.name for item in scene.objects if item.taffeta.role == "CLOTH"}
    for item in items:
        try:
            if reason := obstacle(item):
                told.append(f"{item.name}: {reason}")
            elif (entry := blenders(item, "CLOTH")) is not None:
                told += _named(item, _cloth_from(scene, item, entry))
                speeds[item.name] = entry.settings.time_scale
            elif (entry := blenders(item, "COLLISION")) is not None:
                told += _named(item, _collider_from(scene, item, entry))
        except SceneError as error:
            told.append(str(error))
    return told + list(_pace(scene, speeds, before - set(speeds), keep_pace))


def to_blender(scene: bpy.types.Scene, items: Iterable[bpy.types.Object], keep_pace: bool = True) -> list[str]:
    """keep_pace: Blender's speed follows the scene's time scale at this frame rate."""
    told: list[str] = []
    speed = scene.taffeta.time_scale / (blender_cloth.pace(frame_rate(scene)) if keep_pace else 1.0)
    for item in items:
        try:
            if reason := obstacle(item):
                told.append(f"{item.name}: {reason}")
            elif item.taffeta.role == "CLOTH":
                told += _named(item, _cloth_to(scene, item, speed))
            elif item.taffeta.role == "COLLIDER":
                told += _named(item, _collider_to(scene, item))
        except SceneError as error:
            told.append(str(error))
    return told


def tell(told: Iterable[str]) -> None:
    """Write it where it can be read later: a text of this file."""
    text = bpy.data.texts.get(TEXT) or bpy.data.texts.new(TEXT)
    text.from_string("\n".join(["Not carried over:", *told] if told else ["Everything was carried over."]) + "\n")


def frame_rate(scene: bpy.types.Scene) -> float:
    return float(scene.render.fps / scene.render.fps_base)


def _named(item: bpy.types.Object, told: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{item.name}: {control}: {why}" for control, why in told]


def _cloth_from(scene: bpy.types.Scene, item: bpy.types.Object, entry: bpy.types.Modifier) -> Iterator[tuple[str, str]]:
    there, here = read(entry), item.taffeta.cloth
    with modifier.suspended(list(item.modifiers)[item.modifiers.find(entry.name) :]):
        sheet = _sheet(scene, item, there["settings.rest_shape_key"])
    item.taffeta.role = "CLOTH"
    yield from _set(here, blender_cloth.forward(there, sheet))
    for path, left in LEFT_THERE.items():
        if not left.silent(there):
            yield label(entry, path), left.why

    def convert(values: Mapping[str, float]) -> Values:
        return blender_cloth.forward({**there, **values}, sheet)

    stem = f'modifiers["{bpy.utils.escape_identifier(entry.name)}"]'
    sources = {f"{stem}.{path}": path for path in there if path not in LEFT_THERE and path not in BELOW}
    for path, why in carried_keys.carry(item, sources, "taffeta.cloth.{}".format, convert):
        yield label(entry, path), why
    if entry.point_cache.frame_start != scene.frame_start:
        yield "Cache", f"it starts at frame {entry.point_cache.frame_start}, a bake at that of the scene"
    if entry.point_cache.is_baked:
        yield entry.name, "its bake is not played any more; it comes back with the modifier"
    for own in (entry, blenders(item, "COLLISION")):
        if own is not None:
            own.show_viewport = own.show_render = False


def _cloth_to(scene: bpy.types.Scene, item: bpy.types.Object, speed: float) -> Iterator[tuple[str, str]]:
    here = {entry.identifier: getattr(item.taffeta.cloth, entry.identifier) for entry in numbers(item.taffeta.cloth)}
    place = modifier.place(item)
    with modifier.suspended(modifier.simulated(item)):
        sheet = _sheet(scene, item, here["rest_shape_key"])
    entry = blenders(item, "CLOTH")
    if entry is None:
        entry = item.modifiers.new("Cloth", "CLOTH")
        item.modifiers.move(len(item.modifiers) - 1, place)
        entry.point_cache.frame_start, entry.point_cache.frame_end = scene.frame_start, scene.frame_end
    elif entry.point_cache.is_baked:
        yield entry.name, "it plays its old bake until that is freed"
    there = read(entry)
    yield from _set(entry, {**blender_cloth.backward(here, there, sheet), TIME_SCALE: speed})
    yield from _left_here(item, here, sheet)

    def convert(values: Mapping[str, float]) -> Values:
        return blender_cloth.backward({**here, **values}, there, sheet)

    stem = f'modifiers["{bpy.utils.escape_identifier(entry.name)}"]'
    sources = {f"taffeta.cloth.{name}": name for name in here if name not in ONLY_HERE}
    for name, why in carried_keys.carry(item, sources, f"{stem}.{{}}".format, convert):
        yield label(item.taffeta.cloth, name), why
    item.taffeta.role = "NONE"
    entry.show_viewport = entry.show_render = True
    if (own := modifier.find(item)) is not None:
        own.show_viewport = own.show_render = False


def _left_here(item: bpy.types.Object, here: Values, sheet: SpringSheet) -> Iterator[tuple[str, str]]:
    """What of a cloth Blender has no control for."""
    own = item.taffeta.cloth
    for name, only in ONLY_HERE.items():
        if here[name] != only.value:
            yield label(own, name), f"in Blender {only.why}"
    if abs(here["stretch_warp"] - here["stretch_weft"]) > 0.2 * here["stretch_warp"]:
        yield "Warp, Weft", "Blender has one tension for both: it gives their mean"
    if not sheet.sheared:
        yield "Shear", "in Blender it follows from the tension where all faces are triangles"
    if here["pressure_factor_group"] and (here["pressure_factor"], here["pressure_factor_max"]) != (0.0, 1.0):
        yield "Pressure Group", "in Blender it leads from 0 to 1"


def _collider_from(
    scene: bpy.types.Scene, item: bpy.types.Object, entry: bpy.types.Modifier
) -> Iterator[tuple[str, str]]:
    own, there = item.taffeta.collider, entry.settings
    metre = scene.unit_settings.scale_length
    item.taffeta.role = "COLLIDER"
    yield from _set(own, {here: getattr(there, name) * factor(metre) for name, here, factor in SURFACES})
    values = {name: getattr(there, name) for name in LEFT_OF_SURFACE}
    for name, left in LEFT_OF_SURFACE.items():
        if not left.silent({key: round(value, 6) for key, value in values.items()}):
            yield label(there, name), left.why
    yield from _surface_keys(item, there, "collision", {name: (here, f(metre)) for name, here, f in SURFACES})
    entry.show_viewport = entry.show_render = False


def _collider_to(scene: bpy.types.Scene, item: bpy.types.Object) -> Iterator[tuple[str, str]]:
    entry = blenders(item, "COLLISION") or item.modifiers.new("Collision", "COLLISION")
    own, metre = item.taffeta.collider, scene.unit_settings.scale_length
    yield from _set(entry.settings, {name: getattr(own, here) / factor(metre) for name, here, factor in SURFACES})
    factors = {here: (name, 1.0 / factor(metre)) for name, here, factor in SURFACES}
    yield from _surface_keys(item, own, "taffeta.collider", factors)
    item.taffeta.role = "NONE"
    entry.show_viewport = entry.show_render = True


def _surface_keys(
    item: bpy.types.Object,
    source: bpy.types.bpy_struct,
    place: str,
    factors: Mapping[str, tuple[str, float]],
) -> Iterator[tuple[str, str]]:
    """Keys of a collider. place: of the source. factors: of each of its numbers: which of the other's it is, and how
    many of its units one of this is."""

    def convert(values: Mapping[str, float]) -> Values:
        return {other: values.get(name, getattr(source, name)) * factor for name, (other, factor) in factors.items()}

    where = "taffeta.collider" if place == "collision" else "collision"
    paths = {f"{place}.{name}": name for name in factors}
    for name, why in carried_keys.carry(item, paths, f"{where}.{{}}".format, convert):
        yield label(source, name), why


def _pace(scene: bpy.types.Scene, speeds: Mapping[str, float], others: Iterable[str], keep: bool) -> Iterator[str]:
    """Set the scene's time scale, if all cloths agree."""
    if not speeds:
        return
    factor = blender_cloth.pace(frame_rate(scene)) if keep else 1.0
    wanted, now = {factor * speed for speed in speeds.values()}, scene.taffeta.time_scale
    if len(wanted) > 1:
        values = ", ".join(f"{name} {speed:.4g}" for name, speed in speeds.items())
        yield f"{scene.name}: Speed Multiplier: it differs ({values}), and Time Scale {now:.4g} is of the whole scene"
        return
    (scale,) = wanted
    if others and abs(scale - now) > ROUNDING * now:
        yield f"{scene.name}: Speed Multiplier: other cloths have Time Scale {now:.4g}; Blender's pace is {scale:.4g}"
        return
    scene.taffeta.time_scale = scale


def _sheet(scene: bpy.types.Scene, item: bpy.types.Object, key: str) -> SpringSheet:
    """Of the mesh as it is now without the modifiers that are suspended. key: of the rest shape, or nothing."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    depsgraph.update()
    metre = scene.unit_settings.scale_length
    with evaluated_mesh(Body(item), depsgraph, scene.frame_current) as (mesh, matrix):
        shape, points = rest_key.of_key(item, key), mesh_arrays.positions(mesh)
        if shape is not None and len(shape) == len(points):
            points = shape
        return measure(item.name, mesh, to_world(points, matrix) / metre, metre)


def read(entry: bpy.types.Modifier) -> Values:
    """Every number, switch and name of Blender's Cloth modifier, by its path."""
    values: Values = {}
    for part in PARTS:
        group = entry.path_resolve(part)
        for prop in group.bl_rna.properties:
            if not prop.is_readonly or prop.identifier == "collection":
                value = getattr(group, prop.identifier)
                values[f"{part}.{prop.identifier}"] = value
    block = values["settings.rest_shape_key"]
    values["settings.rest_shape_key"] = block.name if block is not None else ""
    return values


def numbers(group: bpy.types.PropertyGroup) -> list[bpy.types.Property]:
    """What of a cloth or a collider is stored: properties that only show another are left out."""
    return [
        entry
        for entry in group.bl_rna.properties
        if entry.identifier not in SHOWN and entry.identifier not in ("name", "rna_type", "preset", "stretch")
    ]


def _set(owner: bpy.types.bpy_struct, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Set properties by path; yields those that could not have their value."""
    for path, value in values.items():
        place, _, name = path.rpartition(".")
        group = owner.path_resolve(place) if place else owner
        item = owner.id_data
        if name == "rest_shape_key" and isinstance(group, bpy.types.ClothSettings):
            keys = item.data.shape_keys
            group.rest_shape_key = keys.key_blocks.get(value) if keys is not None and value else None
            continue
        if name.startswith("vertex_group_") and value and value not in item.vertex_groups:
            yield label(owner, path), f"“{value}” is an attribute, and Blender's cloth takes vertex groups"
            continue
        setattr(group, name, value)
        got = getattr(group, name)
        if isinstance(value, float) and abs(got - value) > ROUNDING * abs(value) + NOTHING:
            yield label(owner, path), f"{value:.4g} is beyond its limits, so it is {got:.4g}"


def label(owner: bpy.types.bpy_struct, path: str) -> str:
    """The name that a property has in Blender."""
    place, _, name = path.rpartition(".")
    group = owner.path_resolve(place) if place else owner
    return str(group.bl_rna.properties[name].name)

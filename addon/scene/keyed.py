# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation of the numbers of a bake, as far as it can be told without evaluating the scene: F-curves can, drivers and
the NLA cannot. And keys that older files have on what takes none: a bake reads those once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ...gpu_core.scene.keyed import plain
from . import fields
from .sampled import gravity, number, until_last_change
from .shown import SHOWN

OURS = "taffeta."
GRAVITY = "gravity"
Numbers = tuple[dict[str, Any], dict[str, dict[str, Any]]]  #: values at the first frame, and what changes


def numbers(
    item: bpy.types.Object, part: str, names: Sequence[str], frames: Sequence[int], held: Mapping[str, Any]
) -> Numbers:
    """Numbers at the first of the frames, and {"keys": …} as `job.describe` has it. part: whose, `cloth`, `collider` or
    `cloth.pins[0]`.

    held: stands for what cannot be told here, as `differences.flat` has it. Cheap enough for drawing.
    """
    group, animation = item.taffeta.path_resolve(part), item.animation_data
    if animation is None:
        return {name: number(getattr(group, name)) for name in names}, {}
    paths = _animated(animation)
    series = {}
    for name in names:
        found = {alias: paths[path] for alias in _aliases(name) if (path := f"{OURS}{part}.{alias}") in paths}
        alias, curves = next(iter(found.items()), (name, []))
        if not found:
            series[name] = np.array([number(getattr(group, name))])
        elif len(found) > 1 or curves is None:
            series[name] = _held(held, name, number(getattr(group, name)))
        else:
            series[name] = _evaluated(group, alias, curves[0], frames)
    return _split(series)


def field_numbers(item: bpy.types.Object, frames: Sequence[int], held: Mapping[str, Any]) -> Numbers:
    """The same of a force field."""
    own, metre = item.field, bpy.context.scene.unit_settings.scale_length
    paths = _animated(item.animation_data) if item.animation_data is not None else {}
    switched = any(f"field.{name}" in paths for name in fields.SWITCHES.values())
    series = {}
    for name, now in fields.values(own, metre).items():
        found = [paths[path] for alias in fields.NAMES[name] if (path := f"field.{alias}") in paths]
        if not found and not (switched and name in fields.SWITCHES):
            series[name] = np.array([now])
        elif len(found) != 1 or not (curves := found[0]) or switched:
            series[name] = _held(held, name, now)
        else:
            every = _evaluated(own, curves[0].data_path.rpartition(".")[2], curves[0], frames)
            series[name] = np.array([fields.in_use(own, name, value, metre) for value in every.tolist()])
    return _split(series)


def scene_numbers(scene: bpy.types.Scene, frames: Sequence[int], held: Mapping[str, Any]) -> Numbers:
    """The same of gravity and the time scale."""
    animation, now = scene.animation_data, {GRAVITY: gravity(scene), "time_scale": number(scene.taffeta.time_scale)}
    paths = _animated(animation) if animation is not None else {}
    series = {}
    for name, path in ((GRAVITY, GRAVITY), ("time_scale", f"{OURS}time_scale")):
        curves = paths.get(path, ())
        if curves is None or (name == GRAVITY and "use_gravity" in paths):
            series[name] = _held(held, name, now[name])
        elif name == GRAVITY and curves and scene.use_gravity:
            series[name] = _gravity(scene, curves, frames)
        elif name == "time_scale" and curves:
            series[name] = _evaluated(scene.taffeta, name, curves[0], frames)
        else:
            series[name] = np.array([now[name]])
    values, changing = _split(series)
    return {**values, GRAVITY: list(values[GRAVITY])}, changing


def ignored(owner: bpy.types.ID) -> list[str]:
    """The paths of ours on this object or scene that have keys or drivers although they take none."""
    animation = owner.animation_data
    if animation is None:
        return []
    paths = [curve.data_path for curve in (*curves(animation), *animation.drivers)]
    return [path for path in dict.fromkeys(paths) if path.startswith(OURS) and not _takes_keys(owner, path)]


def remove(owner: bpy.types.ID) -> None:
    """Take the keys and drivers away that are ignored."""
    animation, paths = owner.animation_data, ignored(owner)
    if animation is None:
        return
    for curve in [curve for curve in animation.drivers if curve.data_path in paths]:
        animation.drivers.remove(curve)
    for holder in holders(animation):
        for curve in [curve for curve in holder.fcurves if curve.data_path in paths]:
            holder.fcurves.remove(curve)


def renumber(item: bpy.types.Object, path: str, gone: int) -> None:
    """An entry of a collection at this path is gone: so are its keys, and those of later ones have moved up."""
    animation = item.animation_data
    if animation is None:
        return
    for curves in (animation.drivers, *(holder.fcurves for holder in holders(animation))):
        for curve in list(curves):
            known = re.match(rf"{re.escape(path)}\[(\d+)\]", curve.data_path)
            if known and int(known[1]) == gone:
                curves.remove(curve)
            elif known and int(known[1]) > gone:
                curve.data_path = f"{path}[{int(known[1]) - 1}]{curve.data_path[known.end() :]}"


def _aliases(name: str) -> list[str]:
    """The properties that this number has."""
    return [name, *(alias for alias, (stored, _) in SHOWN.items() if stored == name)]


def _animated(animation: bpy.types.AnimData) -> dict[str, list[bpy.types.FCurve] | None]:
    """The F-curves of each path; None where they are not all that moves it."""
    strips = [strip for track in animation.nla_tracks for strip in track.strips if strip.action is not None]
    paths: dict[str, list[bpy.types.FCurve] | None] = {}
    for curve in curves(animation):
        if not curve.mute:
            paths[curve.data_path] = [*(paths.get(curve.data_path) or ()), curve]
    if strips or animation.action_influence < 1.0:
        paths = dict.fromkeys(paths)
    elsewhere = [*animation.drivers, *(curve for strip in strips for curve in curves_of(strip.action))]
    return paths | {curve.data_path: None for curve in elsewhere}


def _evaluated(group: bpy.types.PropertyGroup, alias: str, curve: bpy.types.FCurve, frames: Sequence[int]) -> Any:
    """(F,) what the curve makes of the number that this property shows."""
    properties = group.bl_rna.properties
    name, factor = SHOWN.get(alias, (alias, lambda: 1.0))
    values = np.array([curve.evaluate(frame) for frame in frames], np.float32)
    for entry, scale in ((properties[alias], factor() if alias in SHOWN else 1.0), (properties[name], 1.0)):
        low, high = np.float32(entry.hard_min), np.float32(entry.hard_max)
        values = (np.clip(values, low, high).astype(np.float64) * scale).astype(np.float32)
    return _numbers(values)


def _gravity(scene: bpy.types.Scene, curves: Sequence[bpy.types.FCurve], frames: Sequence[int]) -> Any:
    """(F, 3) m/s²"""
    values = np.tile(np.array(gravity(scene)), (len(frames), 1))
    for curve in curves:
        own = np.array([curve.evaluate(frame) for frame in frames], np.float32)
        values[:, curve.array_index] = _numbers(own) * scene.unit_settings.scale_length
    return values


def _numbers(values: Any) -> Any:
    different, where = np.unique(values, return_inverse=True)
    return np.array([number(value) for value in different])[where]


def _held(held: Mapping[str, Any], name: str, now: Any) -> Any:
    return np.array(held.get("keys", {}).get(name) or [held.get(name, now)])


def _split(series: Mapping[str, Any]) -> Numbers:
    changing = {name: until_last_change(values) for name, values in series.items()}
    keys = {name: values.tolist() for name, values in changing.items() if len(values) > 1}
    return {name: plain(values[0]) for name, values in series.items()}, {"keys": keys} if keys else {}


def _takes_keys(owner: bpy.types.ID, path: str) -> bool:
    place, _, name = path.rpartition(".")
    try:
        return bool(owner.path_resolve(place).bl_rna.properties[name].is_animatable)
    except (ValueError, KeyError, AttributeError):  # of a version that had such a property
        return False


def curves(animation: bpy.types.AnimData) -> Iterator[bpy.types.FCurve]:
    for holder in holders(animation):
        yield from holder.fcurves


def holders(animation: bpy.types.AnimData) -> Iterator[Any]:
    """What has F-curves: the action itself before Blender 4.4, its channels of this slot since."""
    action = animation.action
    if action is None:
        return
    if bpy.app.version < (4, 4, 0):
        yield action
        return
    for layer in action.layers:
        for strip in layer.strips:
            channels = strip.channelbag(animation.action_slot) if animation.action_slot else None
            if channels is not None:
                yield channels


def curves_of(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    """Of all its slots."""
    if bpy.app.version < (4, 4, 0):
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for channels in strip.channelbags:
                yield from channels.fcurves

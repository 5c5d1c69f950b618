# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of some numbers as keys of others that follow from them: frames, handles and interpolation stay.

A number that follows from several animated ones has a key wherever one of them has, and is linear in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import bpy

from . import keyed

#: All numbers that follow, by name, when some of those that they follow from have other values.
Conversion = Callable[[Mapping[str, float]], Mapping[str, Any]]


def carry(
    item: bpy.types.Object, sources: Mapping[str, str], target: Callable[[str], str], convert: Conversion
) -> Iterator[tuple[str, str]]:
    """Yields (a source's name, what of its animation is not carried over).

    Args:
        sources: names of what is converted, by data path.
        target: the data path of a number by its name.
    """
    animation = item.animation_data
    if animation is None:
        return
    yield from _elsewhere(animation, sources)
    curves = {sources[c.data_path]: c for c in keyed.curves(animation) if c.data_path in sources and not c.mute}
    followed: dict[str, list[str]] = {}
    for name, curve in curves.items():
        numbers = _followers(name, curve, convert)
        if not numbers:
            yield name, "its keys are not carried over"
        elif curve.modifiers:
            yield name, "the modifiers of its F-curve are not carried over"
        for number in numbers:
            followed.setdefault(number, []).append(name)
    for number, names in followed.items():
        chosen = {name: curves[name] for name in names}
        if len(chosen) == 1:
            _copy(item, *chosen.popitem(), target(number), number, convert)
        else:
            _join(item, chosen, target(number), number, convert)


def _elsewhere(animation: bpy.types.AnimData, sources: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for curve in animation.drivers:
        if curve.data_path in sources:
            yield sources[curve.data_path], "its driver is not carried over, its value of now is"
    strips = [strip for track in animation.nla_tracks for strip in track.strips if strip.action is not None]
    for curve in (curve for strip in strips for curve in keyed.curves_of(strip.action)):
        if curve.data_path in sources:
            yield sources[curve.data_path], "its keys in the NLA are not carried over, its value of now is"


def _followers(name: str, curve: bpy.types.FCurve, convert: Conversion) -> list[str]:
    """The numbers that change with this one."""
    found = [convert({name: point.co.y}) for point in curve.keyframe_points]
    base = convert({})
    return [key for key in base if isinstance(base[key], float) and any(one[key] != base[key] for one in found)]


def _copy(
    item: bpy.types.Object, name: str, curve: bpy.types.FCurve, path: str, number: str, convert: Conversion
) -> None:
    def of(value: float) -> float:
        return float(convert({name: value})[number])

    made = _insert(item, path, [(point.co.x, of(point.co.y)) for point in curve.keyframe_points])
    made.extrapolation = curve.extrapolation
    for old, new in zip(curve.keyframe_points, made.keyframe_points, strict=True):
        new.interpolation, new.easing = old.interpolation, old.easing
        new.handle_left_type, new.handle_right_type = old.handle_left_type, old.handle_right_type
        new.handle_left = old.handle_left.x, of(old.handle_left.y)
        new.handle_right = old.handle_right.x, of(old.handle_right.y)
    made.update()


def _join(
    item: bpy.types.Object, curves: Mapping[str, bpy.types.FCurve], path: str, number: str, convert: Conversion
) -> None:
    frames = sorted({point.co.x for curve in curves.values() for point in curve.keyframe_points})
    values = [convert({name: curve.evaluate(frame) for name, curve in curves.items()})[number] for frame in frames]
    for point in _insert(item, path, list(zip(frames, values, strict=True))).keyframe_points:
        point.interpolation = "LINEAR"


def _insert(item: bpy.types.Object, path: str, keys: Sequence[tuple[float, float]]) -> bpy.types.FCurve:
    """A curve of these (frame, value) in place of the one that there may be; the value of now stays."""
    place, _, name = path.rpartition(".")
    owner = item.path_resolve(place)
    for holder in keyed.holders(item.animation_data):
        for curve in [curve for curve in holder.fcurves if curve.data_path == path]:
            holder.fcurves.remove(curve)
    now = getattr(owner, name)
    for frame, value in keys:
        setattr(owner, name, value)
        item.keyframe_insert(path, frame=frame)
    setattr(owner, name, now)
    return next(curve for curve in keyed.curves(item.animation_data) if curve.data_path == path)

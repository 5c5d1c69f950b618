# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation of numbers that a bake reads once, at its beginning: no property of ours takes keys, but older files have
some, and gravity is Blender's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

OURS = "taffeta."
GRAVITY = "gravity"


def keyed(owner: bpy.types.ID) -> list[str]:
    """The paths that have keys or drivers on this object or scene although nothing follows them. Cheap for drawing."""
    animation = owner.animation_data
    if animation is None:
        return []
    paths = [curve.data_path for curve in (*_curves(animation), *animation.drivers)]
    return [path for path in dict.fromkeys(paths) if path.startswith(OURS) or path == GRAVITY]


def remove(owner: bpy.types.ID) -> None:
    """Take these keys and drivers away."""
    animation, paths = owner.animation_data, keyed(owner)
    if animation is None:
        return
    for curve in [curve for curve in animation.drivers if curve.data_path in paths]:
        animation.drivers.remove(curve)
    for holder in _holders(animation):
        for curve in [curve for curve in holder.fcurves if curve.data_path in paths]:
            holder.fcurves.remove(curve)


def _curves(animation: bpy.types.AnimData) -> Iterator[bpy.types.FCurve]:
    for holder in _holders(animation):
        yield from holder.fcurves


def _holders(animation: bpy.types.AnimData) -> Iterator[Any]:
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

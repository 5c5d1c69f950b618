# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast bodies turn, as the F-curves of their rotations tell: some turn so fast that they are not round if they are
read once a frame."""

from __future__ import annotations

import math
from collections.abc import Iterator

import bpy
import numpy as np

from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.settings import MOST_SAMPLES
from . import keyed

FAST = math.radians(16.0)  #: from sample to sample; straight ways leave a circle by 1 % of its radius there
ROUND = math.radians(8.0)  #: the same by 0.25 %
MOST_FRAMES = 500  #: of a range that are looked at


def samples(turn: float) -> int:
    """So many in a frame, a power of two, keep round what turns by so much in it, rad."""
    return min(2 ** math.ceil(math.log2(turn / ROUND)), MOST_SAMPLES) if turn > FAST else 1


def fastest(item: bpy.types.Object, first: int, last: int) -> float:
    """rad that it turns at most from a frame of the range to the next, its parents with it. Cheap enough for drawing;
    what drivers, constraints and bones do is known only once the scene is read: the simulator tells of that."""
    return sum(_own(each, range(first, min(last, first + MOST_FRAMES) + 1)) for each in _with_parents(item))


def _with_parents(item: bpy.types.Object | None) -> Iterator[bpy.types.Object]:
    while item is not None:
        yield item
        item = item.parent


def _own(item: bpy.types.Object, frames: range) -> float:
    if item.animation_data is None or len(frames) < 2 or item.rotation_mode == "AXIS_ANGLE":
        return 0.0
    path = "rotation_quaternion" if item.rotation_mode == "QUATERNION" else "rotation_euler"
    curves = [entry for entry in keyed.curves(item.animation_data) if entry.data_path == path and not entry.mute]
    if not curves:
        return 0.0
    values = np.tile(np.array(getattr(item, path)), (len(frames), 1))
    for curve in curves:
        values[:, curve.array_index] = [curve.evaluate(frame) for frame in frames]
    return float((_between_quaternions if path == "rotation_quaternion" else _between_eulers)(values).max())


def _between_eulers(angles: Array) -> Array:
    """(F - 1,) rad, of (F, 3): a bound, which is sharp where one of them changes."""
    return np.asarray(np.linalg.norm(np.diff(angles, axis=0), axis=1))


def _between_quaternions(values: Array) -> Array:
    """(F - 1,) rad, of (F, 4)."""
    unit = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1.0e-12)
    return np.asarray(2.0 * np.arccos(np.minimum(np.abs((unit[1:] * unit[:-1]).sum(axis=1)), 1.0)))

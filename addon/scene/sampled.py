# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of an object or a scene at each frame of a bake, whatever animates them: keys, drivers, the NLA."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ...gpu_core.scene.air import WEIGHTS
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.scene import OF_CORDS, OF_FOLDS, OF_SEAMS, Keys, Material
from ...gpu_core.scene.shape import Shape
from . import sewn_to
from .loose import cords
from .painted import groups

SEAMS, FOLDS, CORDS = OF_SEAMS[1:], OF_FOLDS, OF_CORDS
SURFACE = ("friction", "thickness")  #: the numbers of a collider


def number(value: float) -> float:
    """The shortest decimal of a float32 property: 0.06, not 0.05999999865889549."""
    return float(str(np.float32(value)))


def of_cloth(item: bpy.types.Object) -> tuple[str, ...]:
    """The numbers that a cloth has now: what paint leads to counts where there is paint."""
    sewing = SEAMS if sewn_to.sews(item) else ()
    own = (*Material.__dataclass_fields__, *Shape.__dataclass_fields__, "thickness", "pin_strength", *WEIGHTS)
    folded = FOLDS if item.taffeta.cloth.fold_attribute else ()
    return (*own, *sewing, *folded, *(CORDS if cords(item) else ()), *(f"{name}_max" for name in groups(item)))


def gravity(scene: bpy.types.Scene) -> tuple[float, float, float]:
    """m/s²"""
    metre = scene.unit_settings.scale_length
    x, y, z = (number(value) * metre for value in scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0)
    return x, y, z


def gravity_scaled(scene: bpy.types.Scene) -> bool:
    """Is it Blender's default in a scene of another unit, and so another than the Earth's? Nobody has chosen that."""
    default = scene.bl_rna.properties["gravity"].default_array
    return scene.unit_settings.scale_length != 1.0 and tuple(scene.gravity) == tuple(default)


class Samples:
    """The values of some numbers, frame after frame."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._frames: list[tuple[Any, ...]] = []

    def see(self, group: bpy.types.PropertyGroup) -> None:
        """The numbers of this evaluated group at the next frame."""
        self.add([number(getattr(group, name)) for name in self.names])

    def add(self, values: Sequence[Any]) -> None:
        self._frames.append(tuple(values))

    @property
    def first(self) -> dict[str, Any]:
        """At the first frame."""
        return dict(zip(self.names, self._frames[0], strict=True))

    def keys(self) -> Keys:
        """Of the numbers that change, up to their last change."""
        columns = dict(zip(self.names, zip(*self._frames, strict=True), strict=True))
        return {name: found for name, values in columns.items() if len(found := until_last_change(values)) > 1}


def until_last_change(values: Sequence[Any]) -> Array:
    """(K, …) of the values of all frames: those after are as the last of these."""
    array = np.asarray(values, np.float64)
    other = np.flatnonzero([not np.array_equal(now, before) for before, now in pairwise(array)])
    return array[: (int(other[-1]) + 2 if len(other) else 1)]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as `gpu_core.scene.air.Field`: which there are, what is carried over, and their numbers.

Strengths are Blender's numbers (docs/theory/air.md has what they mean to cloth); lengths follow the scene's unit scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ...gpu_core.scene.air import NUMBERS, Field, FieldKind, FieldShape
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.scene import SceneError
from .sampled import Samples, number

KINDS: dict[str, FieldKind] = {
    "WIND": "wind",
    "FORCE": "force",
    "VORTEX": "vortex",
    "MAGNET": "magnetic",
    "HARMONIC": "harmonic",
    "TURBULENCE": "turbulence",
    "DRAG": "drag",
}
SHAPES: dict[str, FieldShape] = {"POINT": "point", "LINE": "line", "PLANE": "plane"}
#: Those that move particles only: Blender's cloth has no charge, no size and no path either.
OF_PARTICLES = frozenset({"CHARGE", "LENNARDJ", "BOID", "GUIDE"})
#: What Blender calls the numbers of a field; what else it calls some of them, kind by kind.
NAMES = {
    "strength": ("strength", "linear_drag"),  # Blender squares the speed with this one
    "damping": ("harmonic_damping", "quadratic_drag"),
    "flow": ("flow",),
    "wind_factor": ("wind_factor",),
    "size": ("size", "rest_length"),
    "power": ("falloff_power",),
    "distance_min": ("distance_min",),
    "distance_max": ("distance_max",),
    "radial_power": ("radial_falloff",),
    "radial_min": ("radial_min",),
    "radial_max": ("radial_max",),
    "noise": ("noise",),
}
#: Distances that count where their switch says so.
SWITCHES = {
    "distance_min": "use_min_distance",
    "distance_max": "use_max_distance",
    "radial_min": "use_radial_min",
    "radial_max": "use_radial_max",
}
NO_WAY = 1.0e-6  #: m, for a largest distance of 0, which stands for none in `Field`


def has_field(item: bpy.types.Object) -> bool:
    return item.field is not None and item.field.type != "NONE"


def acts(item: bpy.types.Object) -> bool:
    """Does it move cloth, in Blender and here?"""
    if not has_field(item) or item.hide_viewport or not item.field.apply_to_location:
        return False
    layer = bpy.context.view_layer
    enabled = item.name not in bpy.context.scene.objects or item.name in layer.objects
    return enabled and item.field.type in KINDS and item.field.shape in SHAPES


def ignored(item: bpy.types.Object) -> Iterator[str]:
    """What of its field moves no cloth here, in words."""
    if has_field(item):
        yield from _ignored(item.field)
    for system in item.particle_systems:
        for own in (system.settings.force_field_1, system.settings.force_field_2):
            if own is not None and own.type != "NONE":
                yield f"the force field {_shown(own, 'type')} of its particles does not move the cloth"


def _ignored(own: bpy.types.FieldSettings) -> Iterator[str]:
    kind = _shown(own, "type")
    if own.type in OF_PARTICLES:
        yield f"the force field {kind} moves particles only, no cloth"
    elif own.type not in KINDS:
        yield f"the force field {kind} does not move the cloth"
    elif own.shape not in SHAPES:
        yield f"the force field {kind} has the shape {_shown(own, 'shape')}, so it moves no cloth"
    elif not own.apply_to_location:
        yield f"the force field {kind} does not affect locations, so it does not move the cloth"
    elif own.use_absorption:
        yield f"nothing absorbs the force field {kind}: it acts through bodies too"


def _shown(own: bpy.types.FieldSettings, name: str) -> str:
    return str(own.bl_rna.properties[name].enum_items[getattr(own, name)].name)


def values(own: bpy.types.FieldSettings, metre: float) -> dict[str, float]:
    """The numbers of a field as they are now. metre: of a unit of length of Blender."""
    return {name: in_use(own, name, number(getattr(own, NAMES[name][0])), metre) for name in NUMBERS}


def in_use(own: bpy.types.FieldSettings, name: str, value: float, metre: float) -> float:
    """A number of a field as it counts, in `Field`'s unit."""
    if name in SWITCHES and not getattr(own, SWITCHES[name]):
        return 0.0
    angle = name.startswith("radial") and own.falloff_type == "CONE"
    if name in ("size", "distance_min", "distance_max", "radial_min", "radial_max") and not angle:
        value *= metre
    if name.endswith("_max"):
        return max(value, NO_WAY)
    return value


def choices(own: bpy.types.FieldSettings) -> dict[str, Any]:
    """What of a field takes no keys here."""
    return {
        "kind": KINDS[own.type],
        "shape": SHAPES[own.shape],
        "falloff": own.falloff_type.lower(),
        "z_direction": own.z_direction.lower(),
        "gravity_falloff": bool(own.use_gravity_falloff and own.type == "FORCE"),
        "global_coordinates": bool(own.use_global_coords and own.type == "TURBULENCE"),
        "seed": int(own.seed),
    }


class FieldReader:
    """Reads one field at each frame of the range; `finish` gives what `Scene` wants."""

    def __init__(self, item: bpy.types.Object) -> None:
        self.item, self._choices = item, choices(item.field)
        self._numbers = Samples(NUMBERS)
        self._places: list[Array] = []
        self._axes: list[Array] = []

    def read(self, depsgraph: bpy.types.Depsgraph, frame: int) -> None:
        """Raises SceneError."""
        evaluated = self.item.evaluated_get(depsgraph)
        metre = depsgraph.scene.unit_settings.scale_length
        found = values(evaluated.field, metre)
        self._numbers.add([found[name] for name in NUMBERS])
        place, axis = stance(self.item, depsgraph, frame)
        self._places.append(place)
        self._axes.append(axis)

    def finish(self) -> Field:
        return Field(
            name=self.item.name,
            location=_frames(self._places),
            axis=_frames(self._axes),
            keys=self._numbers.keys(),
            **self._choices,
            **self._numbers.first,
        )


def stance(item: bpy.types.Object, depsgraph: bpy.types.Depsgraph, frame: int) -> tuple[Array, Array]:
    """((3,) where a field is, m, (3,) its axis). frame: of now, for errors. Raises SceneError."""
    matrix = np.array(item.evaluated_get(depsgraph).matrix_world, np.float64)
    size = float(np.linalg.norm(matrix[:3, 2]))
    if not np.isfinite(matrix).all() or size == 0.0:
        raise SceneError(item.name, f"its axis has no direction at frame {frame}", "Give it a scale above 0")
    return matrix[:3, 3] * depsgraph.scene.unit_settings.scale_length, matrix[:3, 2] / size


def _frames(places: Sequence[Array]) -> Array:
    """(F, 3), or (1, 3) of what does not move."""
    every = np.array(places)
    return every[:1] if (every == every[0]).all() else every


def acting(cloth: bpy.types.Object, items: Sequence[bpy.types.Object]) -> tuple[int, ...] | None:
    """Which of the fields act on a cloth, by number; None where all do."""
    chosen = cloth.taffeta.cloth.field_collection
    inside = None if chosen is None else set(chosen.all_objects)
    found = tuple(k for k, item in enumerate(items) if item != cloth and (inside is None or item in inside))
    return None if len(found) == len(items) else found

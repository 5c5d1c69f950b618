# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as Blender shows and takes them: lengths in the scene's units, small numbers in units that leave digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import FloatProperty

UNKEYED: set[str] = set()  #: without ANIMATABLE, of what a bake reads once
KEYED = {"ANIMATABLE"}


def metre() -> float:
    """Scene units in a metre. Numbers of ours are in metres; Blender shows and takes a length in scene units."""
    scene = getattr(bpy.context, "scene", None)  # none while Blender starts
    return 1.0 / scene.unit_settings.scale_length if scene is not None else 1.0


#: By the name of a property that shows another one: that one, and how many of its units one of what is shown is.
SHOWN: dict[str, tuple[str, Callable[[], float]]] = {
    "thickness_shown": ("thickness", lambda: 1.0 / metre()),
    "grab_radius_shown": ("grab_radius", lambda: 1.0 / metre()),
    "tolerance_shown": ("tolerance", lambda: 1.0 / metre()),
    "bend_micro": ("bend", lambda: 1.0e-6),
    "bend_friction_milli": ("bend_friction", lambda: 1.0e-3),
    "strain_percent": ("strain_limit", lambda: 0.01),
    "pattern_scale_shown": ("pattern_scale", lambda: 1.0 / metre()),
    "thickness_max_shown": ("thickness_max", lambda: 1.0 / metre()),
    "bend_max_micro": ("bend_max", lambda: 1.0e-6),
    "bend_friction_max_milli": ("bend_friction_max", lambda: 1.0e-3),
    "strain_max_percent": ("strain_limit_max", lambda: 0.01),
}


def shown(identifier: str, label: str, description: str, **options: Any) -> bpy.props._PropertyDeferred:
    """The property of this name in `SHOWN`."""
    name, factor = SHOWN[identifier]

    def get(owner: bpy.types.PropertyGroup) -> float:
        return float(getattr(owner, name) / factor())

    def set_(owner: bpy.types.PropertyGroup, value: float) -> None:
        setattr(owner, name, value * factor())

    return FloatProperty(name=label, description=description, min=0.0, get=get, set=set_, **options)


def shown_length(
    identifier: str, label: str, description: str, soft_max: float, options: set[str] = UNKEYED
) -> bpy.props._PropertyDeferred:
    """A property of `SHOWN` that is one of Blender's lengths: `2mm` can be typed."""
    return shown(
        identifier, label, description, soft_max=soft_max, precision=4, step=0.01, subtype="DISTANCE", unit="LENGTH",
        options=options,
    )  # fmt: skip

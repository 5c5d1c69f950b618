# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as Blender shows and takes them: lengths in the scene's units, whatever its scale."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty

UNKEYED: set[str] = set()  #: without ANIMATABLE: a bake reads a number once, so it takes no keys


def metre() -> float:
    """Scene units in a metre. Numbers of ours are in metres; Blender shows and takes a length in scene units."""
    scene = getattr(bpy.context, "scene", None)  # none while Blender starts
    return 1.0 / scene.unit_settings.scale_length if scene is not None else 1.0


def shown_length(name: str, label: str, description: str, soft_max: float) -> bpy.props._PropertyDeferred:
    """A property that shows the length `name`, in metres, as Blender's lengths: `2mm` can be typed."""

    def get(owner: bpy.types.PropertyGroup) -> float:
        return getattr(owner, name) * metre()

    def set_(owner: bpy.types.PropertyGroup, value: float) -> None:
        setattr(owner, name, value / metre())

    return FloatProperty(
        name=label, description=description, get=get, set=set_, min=0.0, soft_max=soft_max,
        precision=4, step=0.01, subtype="DISTANCE", unit="LENGTH", options=UNKEYED,
    )  # fmt: skip

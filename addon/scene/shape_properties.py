# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user sets of a cloth's shape: the fields of `gpu_core.scene.shape.Shape`, and the key of the rest shape."""

from __future__ import annotations

import math

import bpy
from bpy.props import FloatProperty, PointerProperty, StringProperty

from ...gpu_core.scene.shape import Shape
from . import folds, rest_key
from .painted import SHRINK
from .shown import KEYED, UNKEYED

FOLD_ANGLE = math.radians(120.0)


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """For `ClothProperties`."""
    return {
        "rest_shape_key": StringProperty(
            name="Rest Shape Key",
            description="Shape key without stress: the cloth starts where the mesh is and strives for this shape. "
            "Empty: the shape at the first frame",
            search=rest_key.choices,
            options=UNKEYED,
        ),
        "rest_object": PointerProperty(
            name="Rest Object",
            description="Object whose mesh, as it is at the first frame, is the shape without stress; with the same "
            "vertices. Empty: this one's own",
            type=bpy.types.Object,
            poll=_may_be_rest,
            options=UNKEYED,
        ),
        "fold_attribute": StringProperty(
            name="Fold Attribute",
            description="Attribute of edges that have an angle at rest: 1 for a mountain fold, -1 for a valley. "
            "Blender's own edge crease is one",
            search=folds.choices,
            search_options={"SUGGESTION"},
            options=UNKEYED,
        ),
        "fold_angle": FloatProperty(
            name="Fold Angle",
            description="By how much the faces beside a fold of weight 1 are turned from each other at rest",
            default=FOLD_ANGLE,
            min=-math.pi,
            max=math.pi,
            soft_min=0.0,
            soft_max=math.radians(170.0),
            precision=1,
            step=100,
            subtype="ANGLE",
            options=KEYED,
        ),
        "shrink": FloatProperty(
            name="Shrink",
            description="Share of the rest lengths that is taken away: 0.3 leaves 0.7 of them. Below 0 the cloth grows",
            default=Shape.shrink,
            options=KEYED,
            **SHRINK,
        ),
        "pressure": FloatProperty(
            name="Pressure (Pa)",
            description="By how much the inside exceeds the outside, whatever the volume. Below 0 it sucks",
            default=Shape.pressure,
            soft_min=-2000.0,
            soft_max=2000.0,
            precision=1,
            step=1000,
            options=KEYED,
        ),
        "ambient_pressure": FloatProperty(
            name="Gas (Pa)",
            description="Pressure of a gas inside, and of the air around, at the target volume: 100000 is a sealed "
            "balloon's, less is a softer one. 0 is no gas: the volume does not matter",
            default=Shape.ambient_pressure,
            min=0.0,
            soft_max=1.0e5,
            precision=1,
            step=10000,
            options=KEYED,
        ),
        "target_volume": FloatProperty(
            name="Volume (m³)",
            description="Volume at which the gas is in balance with the air around. 0 takes that of the rest shape",
            default=Shape.target_volume,
            min=0.0,
            soft_max=10.0,
            precision=5,
            step=0.1,
            options=KEYED,
        ),
        "fluid_density": FloatProperty(
            name="Fluid (kg/m³)",
            description="Density of a fluid inside, whose weight presses on what is below: water has 1000. Below 0 the "
            "cloth is immersed in one and driven upwards",
            default=Shape.fluid_density,
            soft_min=-2000.0,
            soft_max=2000.0,
            precision=1,
            step=1000,
            options=KEYED,
        ),
        "pressure_factor": FloatProperty(
            name="Pressure Factor",
            description="Share of the pressure that acts, of all its kinds; it can be painted",
            default=Shape.pressure_factor,
            min=0.0,
            soft_max=1.0,
            precision=3,
            step=1,
            options=KEYED,
        ),
    }


def _may_be_rest(cloth: bpy.types.PropertyGroup, item: bpy.types.Object) -> bool:
    return item.type == "MESH" and item != cloth.id_data

# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes a garment's form: how its pins hold, how far it shrinks, what it encloses, its pattern, its seams."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, StringProperty

from ...gpu_core.scene.scene import Cloth
from ...gpu_core.scene.shape import Shape
from .painted import SHRINK
from .shown import KEYED, UNKEYED, shown_length


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """Of the form, for `ClothProperties`."""
    return {
        "pin_strength": FloatProperty(
            name="Pin Strength",
            description="Factor on the weights of the pins: below 1 hard pins are soft, 0 lets go",
            default=Cloth.pin_strength,
            min=0.0,
            max=1.0,
            precision=3,
            step=1,
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
        "sewing": BoolProperty(
            name="Sewing",
            description="Edges without a face are threads: they pull their two vertices together and sew them to one",
            default=False,
            options=UNKEYED,
        ),
        "sewing_time": FloatProperty(
            name="Closing Time",
            description="How long the threads take to pull the seams closed. Panels that lie far apart can tangle in "
            "a short time",
            default=Cloth.sewing_time,
            min=0.0,
            soft_max=4.0,
            precision=2,
            step=10,
            subtype="TIME_ABSOLUTE",
            unit="TIME_ABSOLUTE",
            options=UNKEYED,
        ),
        "sewing_force": FloatProperty(
            name="Max Force (N)",
            description="The most that one thread pulls with; 0 lets go",
            default=Cloth.sewing_force,
            min=0.0,
            soft_max=20.0,
            precision=2,
            step=10,
            options=KEYED,
        ),
        "pattern_map": StringProperty(
            name="Pattern UV Map",
            description="UV map with the panels as they were cut, flat: the shape without stress. Empty: the mesh",
            search=_uv_maps,
            search_options={"SUGGESTION"},
            options=UNKEYED,
        ),
        "pattern_scale_shown": shown_length(
            "pattern_scale_shown",
            "Pattern Scale",
            "Length of one unit of the pattern's UV map; 0 gives the pattern the area of the mesh",
            10.0,
        ),
        "pattern_scale": FloatProperty(
            name="Pattern Scale (m)",
            description="Length of one unit of the pattern's UV map; 0 gives the pattern the area of the mesh",
            default=0.0,
            min=0.0,
            soft_max=10.0,
            precision=4,
            options=UNKEYED,
        ),
    }


def _uv_maps(cloth: bpy.types.PropertyGroup, _context: bpy.types.Context, text: str) -> list[str]:
    data = cloth.id_data.data
    return [layer.name for layer in data.uv_layers] if isinstance(data, bpy.types.Mesh) else []

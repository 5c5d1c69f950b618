# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user sets of a fabric that does not spring back: damping and plasticity, fields of `Material`."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty

from ...gpu_core.scene.material import Material
from .shown import KEYED


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """For `ClothProperties`."""
    return {
        "stretch_damping": time_constant(
            "Stretch (s)", "stretching: stress is this times the stiffness times the rate of strain"
        ),
        "shear_damping": time_constant("Shear (s)", "shearing, as of stretching"),
        "bend_damping": time_constant("Bend (s)", "bending, as of stretching"),
        "stretch_yield": FloatProperty(
            name="Stretch (1)",
            description="Stretch that springs back: 0.02 is 2 %. What is beyond stays, as in trousers at the knee. "
            "0 is cloth of which all springs back",
            default=Material.stretch_yield,
            min=0.0,
            soft_max=0.5,
            precision=3,
            step=1,
            options=KEYED,
        ),
        "bend_yield": FloatProperty(
            name="Bend (1/m)",
            description="Curvature that springs back, one over the radius: 100 is a fold of 1 cm. What is beyond stays "
            "as a crease. 0 is cloth of which all springs back",
            default=Material.bend_yield,
            min=0.0,
            soft_max=1000.0,
            precision=1,
            step=100,
            options=KEYED,
        ),
        "velocity_damping": FloatProperty(
            name="Velocity (1/s)",
            description="Rate at which cloth loses its velocity, whatever it does, as in oil: at 1 it has 37 % left "
            "after a second",
            default=Material.velocity_damping,
            min=0.0,
            soft_max=20.0,
            precision=3,
            step=10,
            options=KEYED,
        ),
    }


def time_constant(label: str, of: str) -> bpy.props._PropertyDeferred:
    """Of damping: a mode of angular frequency ω has the damping ratio τω/2."""
    return FloatProperty(
        name=label,
        description=f"Time constant of {of}",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=0.1,
        options=KEYED,
    )

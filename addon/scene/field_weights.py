# SPDX-License-Identifier: GPL-3.0-or-later
"""Factors on what gravity and force fields do to one cloth: *Field Weights*, as Blender's cloth has them."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty

from ...gpu_core.scene.air import WEIGHTS
from .shown import KEYED

WORDS = {
    "field_all": ("All", "Factor on every force field; gravity is apart"),
    "field_gravity": ("Gravity", "Factor on the scene's gravity for this cloth: 0 lets it float"),
    "field_wind": ("Wind", "Factor on the speed of Wind fields; the air of a still scene is not changed"),
}


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """Of field weights, for `ClothProperties`."""
    made = {}
    for name in WEIGHTS:
        kind = name.removeprefix("field_").capitalize()
        label, description = WORDS.get(name, (kind, f"Factor on {kind} fields"))
        made[name] = FloatProperty(
            name=label,
            description=description,
            default=1.0,
            min=0.0,
            max=200.0,
            soft_max=1.0,
            precision=3,
            step=1,
            options=KEYED,
        )
    return made

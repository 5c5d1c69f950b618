# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cloth collides with, and what of a body stops it, beside the exceptions for pairs of objects
(`encounter_properties`)."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.props import IntProperty, PointerProperty

from ...gpu_core.scene.arrays import IntArray
from ...gpu_core.scene.scene import MOST_LAYERS, Cloth
from .painted import Weights, field
from .shown import UNKEYED

LEFT_OUT = ("left_out_of_bodies", "left_out_of_itself")  #: as of `Cloth`; a property has `_group` behind it
BoolArray = npt.NDArray[np.bool_]
HALF = 0.5  #: the weight from which a vertex is left out


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """For `ClothProperties`."""
    return {
        "layer": IntProperty(
            name="Layer",
            description="What is worn over what: where cloths with a layer begin in the wrong order, the higher number "
            "is brought outside of the lower. 0: no order",
            default=Cloth.layer,
            min=0,
            max=MOST_LAYERS,
            options=UNKEYED,
        ),
        "collision_collection": PointerProperty(
            name="Collision Collection",
            description="Only colliders in this collection stop this cloth; empty: all of the scene. Other cloths do "
            "in any case",
            type=bpy.types.Collection,
            options=UNKEYED,
        ),
        "left_out_of_bodies_group": field(
            "Ignores Bodies",
            "Vertices of this group, or with this float attribute, pass through bodies where the weight is at least a "
            "half",
        ),
        "left_out_of_itself_group": field(
            "Ignores Itself",
            "Vertices of this group, or with this float attribute, pass through their own cloth where the weight is at "
            "least a half",
        ),
    }


def collider_properties() -> dict[str, bpy.props._PropertyDeferred]:
    """For `ColliderProperties`."""
    return {
        "lets_through_group": field(
            "Lets Through",
            "Triangles stop no cloth where the weight of all their vertices in this group, or in this float attribute, "
            "is at least a half: another body stands there for them",
        ),
    }


def groups(item: bpy.types.Object) -> dict[str, str]:
    """The groups of this cloth by what they leave its vertices out of."""
    chosen = item.taffeta.cloth
    return {name: group for name in LEFT_OUT if (group := getattr(chosen, f"{name}_group"))}


def read(item: bpy.types.Object, weights: Weights) -> dict[str, Any]:
    """(N,) which vertices are left out, by the names of `Cloth`. Raises SceneError."""
    label = item.taffeta.cloth.bl_rna.properties
    return {name: weights.of(group, f"“{label[f'{name}_group'].name}”") >= HALF for name, group in groups(item).items()}


def lets_through(item: bpy.types.Object, evaluated: bpy.types.Object, mesh: bpy.types.Mesh) -> BoolArray | None:
    """(N,) which vertices of a collider's evaluated mesh are in its group; None: it has none. Raises SceneError."""
    group = item.taffeta.collider.lets_through_group
    return Weights(item, evaluated, mesh).of(group, "“Lets Through”") >= HALF if group else None


def stopping(triangles: IntArray, through: BoolArray) -> IntArray:
    """Those of a collider's triangles that stop cloth. through: as of `lets_through`."""
    return triangles[~through[triangles].all(axis=1)]

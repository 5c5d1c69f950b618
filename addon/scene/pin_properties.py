# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of pins beside the first: what the user sets of each, and which of them a bake reads."""

from __future__ import annotations

import bpy
from bpy.props import CollectionProperty, FloatProperty, PointerProperty

from ...gpu_core.scene.pins import PinGroup
from ...gpu_core.scene.scene import Cloth
from .painted import field
from .shown import KEYED, UNKEYED


def _carries(_pins: bpy.types.PropertyGroup, item: bpy.types.Object) -> bool:
    return item.taffeta.role != "CLOTH"


class PinProperties(bpy.types.PropertyGroup):
    """One more group of pins; names as in `gpu_core.scene.pins.PinGroup`."""

    group: field("Group", "Vertex group or float attribute of these pins: weight 1 holds, less pulls")
    strength: FloatProperty(
        name="Strength",
        description="Factor on the weights of these pins: below 1 hard pins are soft, 0 lets go",
        default=PinGroup.strength,
        min=0.0,
        max=1.0,
        precision=3,
        step=1,
        options=KEYED,
    )
    target: PointerProperty(
        name="Target",
        description="Object that carries these pins from where they are at the first frame: a mesh by its deforming "
        "surface, any other by its transform. Empty: they follow the cloth's own animated mesh",
        type=bpy.types.Object,
        poll=_carries,
        options=UNKEYED,
    )


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """For `ClothProperties`."""
    return {
        "pins": CollectionProperty(
            name="Pins",
            description="More groups of pins, each with a strength and a target of its own; at a vertex of several "
            "the strongest holds",
            type=PinProperties,
            options=UNKEYED,
        )
    }


def chosen(item: bpy.types.Object) -> list[tuple[int, PinProperties]]:
    """The groups of this cloth that name what they pin, with their places in the list."""
    return [(index, pins) for index, pins in enumerate(item.taffeta.cloth.pins) if pins.group]


def unfit(item: bpy.types.Object, target: bpy.types.Object) -> str:
    """Why pins of this cloth cannot follow that object, or nothing. Cloth goes where the solver lets it."""
    if target.taffeta.role != "CLOTH":
        return ""
    return f"its pins follow {'the cloth itself' if target == item else f'“{target.name}”, which is cloth too'}"


def groups(item: bpy.types.Object) -> list[str]:
    """The vertex groups and attributes by which this cloth is pinned, those of the first pins too."""
    first = item.taffeta.cloth.pin_group
    return [*([first] if first else []), *(pins.group for _, pins in chosen(item))]


def without_vertex(group: str) -> str:
    """What is said of a group that is there but pins nothing."""
    return f"no vertex has a weight in its pin group “{group}”, so that pins nothing: assign some, or choose another"


def idle(item: bpy.types.Object, cloth: Cloth) -> list[str]:
    """Its groups that pin nothing, modifiers and all. cloth: as it was read of this object."""
    first = item.taffeta.cloth.pin_group
    others = [group.name for group in cloth.pin_groups if not len(group.pins.vertices)]
    return [first, *others] if first and cloth.pins is None else others

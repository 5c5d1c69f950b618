# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions for pairs of objects: what the user sets of each."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, PointerProperty

from ...gpu_core.scene.scene import Material
from .bodies import carries
from .shown import KEYED, UNKEYED


def _may_meet(_exception: bpy.types.PropertyGroup, item: bpy.types.Object) -> bool:
    return item.taffeta.role != "NONE" or carries(item)


class EncounterProperties(bpy.types.PropertyGroup):
    """One exception; see `gpu_core.scene.encounters.Encounter`."""

    first: PointerProperty(
        name="Cloth",
        description="The cloth that the exception is for",
        type=bpy.types.Object,
        poll=_may_meet,
        options=UNKEYED,
    )
    second: PointerProperty(
        name="Meets",
        description="The body or the other cloth that it meets; the cloth itself: an exception for its self collision",
        type=bpy.types.Object,
        poll=_may_meet,
        options=UNKEYED,
    )
    collides: BoolProperty(
        name="Collide",
        description="Off: the two pass through each other. On: they collide, also where the collection of the cloth "
        "leaves the body out",
        default=False,
        options=UNKEYED,
    )
    use_friction: BoolProperty(
        name="Own Friction",
        description="The two rub with a friction of their own, in place of the mean of both",
        default=False,
        options=UNKEYED,
    )
    friction: FloatProperty(
        name="Friction",
        description="Coulomb's coefficient between these two",
        default=Material.friction,
        min=0.0,
        soft_max=1.3,
        precision=2,
        step=1,
        options=KEYED,
    )
    use_frames: BoolProperty(
        name="Only in Frames",
        description="The exception holds from one frame to another, not always",
        default=False,
        options=UNKEYED,
    )
    frame_first: IntProperty(
        name="From Frame",
        description="The first frame at which the exception holds",
        default=1,
        options=UNKEYED,
    )
    frame_last: IntProperty(
        name="To Frame",
        description="The last frame at which the exception holds; in the next one the two collide as ever, but for "
        "what crosses then: that is left alone until it has separated",
        default=250,
        options=UNKEYED,
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators whose button is grey while something is in the way, and says what."""

from __future__ import annotations

import bpy

from ..bake import session
from ..cache import checking, status
from ..scene import modifier, render_job, roster

BAKING = "A bake is running: wait for it or cancel it"


class Greyed(bpy.types.Operator):
    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        """What is in the way, for the button's tooltip, or nothing. Asked whenever the button is drawn."""
        raise NotImplementedError

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obstacle = cls.obstacle(context)
        if obstacle:
            cls.poll_message_set(obstacle)
        return not obstacle


class OnCloth(Greyed):
    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        cloth = context.object is not None and context.object.taffeta.role == "CLOTH"
        return "" if cloth else "The active object is no cloth: give it that role first"


def busy(context: bpy.types.Context) -> str:
    """A bake, a check, a render or Edit Mode, during which the scene's cloth must be left alone; or nothing."""
    if session.current is not None:
        return BAKING
    if checking.current is not None:
        return "The caches are being checked: wait, or press Esc"
    if render_job.runs():
        return "Blender is rendering: wait until it has finished"
    return "Leave Edit Mode first" if context.mode.startswith("EDIT") else ""


def no_cloth(context: bpy.types.Context) -> str:
    return "" if roster.members(context.scene).cloths else "No object of this scene has the role Cloth"


def nothing_baked(context: bpy.types.Context) -> str:
    return "" if any(map(modifier.find, roster.members(context.scene).cloths)) else "Nothing is baked"


def nothing_to_free(context: bpy.types.Context) -> str:
    return "" if status.freeable(context.scene) else "Nothing is baked"

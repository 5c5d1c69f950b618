# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Exception and Remove Exception: pairs of objects that collide otherwise than all others."""

from __future__ import annotations

import bpy
from bpy.props import IntProperty

from ...gpu_core.messages import coded
from ..scene import keyed
from .greyed import Greyed, no_cloth


class TAFFETA_OT_encounter_add(Greyed):
    bl_idname = "taffeta.encounter_add"
    bl_label = "Add Exception"
    bl_description = "Except a pair from collisions: the active object and, where two are selected, the other one"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return no_cloth(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        chosen, active = context.scene.taffeta, context.object
        entry = chosen.encounters.add()
        chosen.encounter_index = len(chosen.encounters) - 1
        if active is not None and active.taffeta.role != "NONE":
            others = [item for item in context.selected_objects if item != active and item.taffeta.role != "NONE"]
            other = others[0] if len(others) == 1 else None
            pair = (active, other) if active.taffeta.role == "CLOTH" or other is None else (other, active)
            entry.first, entry.second = pair
        entry.frame_first, entry.frame_last = context.scene.frame_start, context.scene.frame_end
        return {"FINISHED"}


class TAFFETA_OT_encounter_remove(Greyed):
    bl_idname = "taffeta.encounter_remove"
    bl_label = "Remove Exception"
    bl_description = "Take this exception away, with its keys"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(min=0, options={"SKIP_SAVE"})

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return "" if context.scene.taffeta.encounters else "There is no exception"

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene, chosen = context.scene, context.scene.taffeta
        if self.index >= len(chosen.encounters):
            self.report({"ERROR"}, coded(f"{scene.name}: there are {len(chosen.encounters)} exceptions"))
            return {"CANCELLED"}
        chosen.encounters.remove(self.index)
        keyed.renumber(scene, "taffeta.encounters", self.index)
        chosen.encounter_index = max(0, min(chosen.encounter_index, len(chosen.encounters) - 1))
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_encounter_add, TAFFETA_OT_encounter_remove)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

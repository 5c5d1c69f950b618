# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Pins and Remove Pins: the groups of pins that a cloth has beside its first."""

from __future__ import annotations

import bpy
from bpy.props import IntProperty

from ...gpu_core.messages import coded
from ..scene import keyed, pin_properties
from .greyed import OnCloth


class TAFFETA_OT_pin_add(OnCloth):
    bl_idname = "taffeta.pin_add"
    bl_label = "Add Pins"
    bl_description = "Give the active cloth one more group of pins, with a strength and a target of its own"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        item = context.object
        active, taken, rig = item.vertex_groups.active, pin_properties.groups(item), item.find_armature()
        pins = item.taffeta.cloth.pins.add()
        bones = () if rig is None else rig.data.bones  # whose weights on a garment are no pins
        if active is not None and active.name not in taken and active.name not in bones:
            pins.group = active.name
        return {"FINISHED"}


class TAFFETA_OT_pin_remove(OnCloth):
    bl_idname = "taffeta.pin_remove"
    bl_label = "Remove Pins"
    bl_description = "Take this group of pins away from the active cloth, with its keys; the vertex group stays"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(min=0, options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        item, pins = context.object, context.object.taffeta.cloth.pins
        if self.index >= len(pins):
            self.report({"ERROR"}, coded(f"{item.name}: there are {len(pins)} groups of pins beside the first"))
            return {"CANCELLED"}
        pins.remove(self.index)
        keyed.renumber(item, "taffeta.cloth.pins", self.index)
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_pin_add, TAFFETA_OT_pin_remove)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

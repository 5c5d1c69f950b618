# SPDX-License-Identifier: GPL-3.0-or-later
"""The presets menu of the Fabric panel: the fabrics that come with Taffeta, and the user's own, saved and deleted.

Own fabrics are Blender's preset files in the user's scripts folder, so they are there in every file and can be passed
on.
"""

from __future__ import annotations

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.props import StringProperty

from ...gpu_core.messages import coded
from ...gpu_core.scene.fabrics import FABRIC_NUMBERS, FABRICS
from .greyed import OnCloth

FOLDER = "taffeta/fabric"  #: below the presets of the user's scripts
SAVED = (*FABRIC_NUMBERS, "thickness", "air_drag", "velocity_damping")


class TAFFETA_PT_fabric_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Fabric Presets"
    preset_subdir = FOLDER
    preset_operator = "taffeta.fabric_preset_load"
    preset_add_operator = "taffeta.fabric_preset_add"

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.emboss = "PULLDOWN_MENU"
        column = self.layout.column(align=True)
        for fabric in FABRICS:
            column.prop_enum(context.object.taffeta.cloth, "preset", fabric.identifier)
        self.layout.separator()
        PresetPanel.draw(self, context)


class TAFFETA_OT_fabric_preset_add(AddPresetBase, OnCloth):
    bl_idname = "taffeta.fabric_preset_add"
    bl_label = "Add Fabric Preset"
    bl_description = "Save the active cloth's fabric under this name, or delete one that was saved"
    preset_menu = "TAFFETA_PT_fabric_presets"
    preset_subdir = FOLDER
    # In full, for with a name of one's own Blender 4.3 cannot write presets under Python 3.13.
    preset_values = [f"bpy.context.object.taffeta.cloth.{name}" for name in SAVED]


class TAFFETA_OT_fabric_preset_load(OnCloth):
    bl_idname = "taffeta.fabric_preset_load"
    bl_label = "Load Fabric Preset"
    bl_description = "Give the active cloth a fabric that was saved"
    bl_options = {"INTERNAL", "UNDO"}  # Blender's own operator for presets leaves no undo step

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            return bpy.ops.script.execute_preset(filepath=self.filepath, menu_idname=TAFFETA_PT_fabric_presets.__name__)
        except RuntimeError:  # no path, no such file, or none that Blender can execute
            text = f"{context.object.name}: There is no fabric in “{self.filepath}”. Choose one from Fabric Presets"
            self.report({"ERROR"}, coded(text))
            return {"CANCELLED"}


CLASSES = (TAFFETA_PT_fabric_presets, TAFFETA_OT_fabric_preset_add, TAFFETA_OT_fabric_preset_load)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

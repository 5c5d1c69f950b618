# SPDX-License-Identifier: GPL-3.0-or-later
"""Show what crosses, go there, select it."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, IntProperty

from ...gpu_core.files.disk import DiskError
from ...gpu_core.messages import coded
from ...gpu_core.scene.scene import SceneError
from ..cache import crossings
from ..live import session as live
from .greyed import Greyed, busy, no_cloth

NEAR = 0.05  #: m, no nearer does the view go


def _redraw(context: bpy.types.Context) -> None:
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


class TAFFETA_OT_show_crossings(Greyed):
    bl_idname = "taffeta.show_crossings"
    bl_label = "Show Crossings"
    bl_description = (
        "Look, by the exact check, where cloth goes through itself, other cloth or bodies, and show the lines in the "
        "viewport and the places in the sidebar"
    )
    bl_options = {"INTERNAL"}

    what: EnumProperty(
        name="What",
        description="What is looked at",
        items=(
            ("START", "Start", "Where a bake begins, before anything is untangled"),
            ("FRAME", "This Frame", "What the viewport draws now, baked or not"),
        ),
        default="START",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        if live.current is not None:
            return "Live is running: stop it first"
        return busy(context) or no_cloth(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        look = crossings.show_start if self.what == "START" else crossings.show_frame
        try:
            shown = look(context)
        except (SceneError, DiskError) as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        for place in shown.found.places:
            self.report({"WARNING"}, coded(f"{shown.what}: {place}. The list in the sidebar leads there"))
        if not shown.found.places:
            self.report({"INFO"}, f"{shown.what}: nothing crosses")
        _redraw(context)
        return {"FINISHED"}


class TAFFETA_OT_clear_crossings(bpy.types.Operator):
    bl_idname = "taffeta.clear_crossings"
    bl_label = "Clear Crossings"
    bl_description = "Take the lines and the list away"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        crossings.clear()
        _redraw(context)
        return {"FINISHED"}


class OnPlace(Greyed):
    bl_options = {"INTERNAL", "UNDO"}

    index: IntProperty(name="Place", description="Number of the place in the list", min=0, options={"SKIP_SAVE"})

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return "" if crossings.current is not None else "No crossings are shown"

    def is_there(self) -> bool:
        """Whether the list has this place; says so where it has not."""
        shown = crossings.current
        found = shown is not None and self.index < len(shown.found.places)
        if not found:
            self.report({"WARNING"}, coded("There is no such place"))
        return found


class TAFFETA_OT_go_to_crossing(OnPlace):
    bl_idname = "taffeta.go_to_crossing"
    bl_label = "Go to Crossing"
    bl_description = "Turn the view to this place"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not self.is_there():
            return {"CANCELLED"}
        if context.region_data is None:
            self.report({"WARNING"}, coded("Call this in a 3D viewport"))
            return {"CANCELLED"}
        crossings.look_at(context.region_data, self.index, NEAR)
        return {"FINISHED"}


class TAFFETA_OT_select_crossing(OnPlace):
    bl_idname = "taffeta.select_crossing"
    bl_label = "Select Crossing"
    bl_description = "Select in Edit Mode what crosses here"

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return super().obstacle(context) or ("" if context.mode.startswith("EDIT") else busy(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not self.is_there():
            return {"CANCELLED"}
        for name in crossings.select(context, self.index):
            self.report({"INFO"}, f"{name}: its own mesh has other vertices than what crosses, so none are selected")
        return {"FINISHED"}


CLASSES = (
    TAFFETA_OT_show_crossings,
    TAFFETA_OT_clear_crossings,
    TAFFETA_OT_go_to_crossing,
    TAFFETA_OT_select_crossing,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

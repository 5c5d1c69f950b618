# SPDX-License-Identifier: GPL-3.0-or-later
"""From Blender's Cloth and Collision to Taffeta and back, for the selected objects."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable

import bpy
from bpy.props import BoolProperty

from ...gpu_core.messages import coded
from ..scene import conversion
from .greyed import Greyed, busy

SHOWN, WIDTH = 20, 36  #: lines in the redo panel, and their characters
Conversion = Callable[[bpy.types.Scene, Iterable[bpy.types.Object], bool], list[str]]


class Converting(Greyed):
    bl_options = {"REGISTER", "UNDO"}

    keep_pace: BoolProperty(
        name="Keep Blender's Pace",
        description="To Blender's cloth each frame is 1/31.6 s, at any frame rate: at 24 it moves at 0.76 times the "
        "real speed. On, the cloth keeps that pace; off, Speed Multiplier and Time Scale are the same number",
        default=True,
    )

    _told: tuple[str, ...] = ()

    @classmethod
    def fits(cls, item: bpy.types.Object) -> bool:
        raise NotImplementedError

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        if reason := busy(context) or ("" if context.mode == "OBJECT" else "Go to Object Mode first"):
            return reason
        fitting = [item for item in context.selected_objects if cls.fits(item)]
        reasons = [reason for item in fitting if (reason := conversion.obstacle(item))]
        if not fitting:
            return cls.nothing
        return f"{fitting[0].name}: {reasons[0]}" if len(reasons) == len(fitting) else ""

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.prop(self, "keep_pace")
        lines = [line for text in self._told for line in textwrap.wrap(text, WIDTH, subsequent_indent="    ")]
        column = self.layout.column(align=True)
        for line in lines[:SHOWN]:
            column.label(text=line)
        if len(lines) > SHOWN:
            column.label(text=f"More in the text “{conversion.TEXT}”")

    def _convert(self, context: bpy.types.Context, convert: Conversion) -> set[str]:
        items = [item for item in context.selected_objects if self.fits(item)]
        settings = context.scene.taffeta
        before = settings.time_scale
        self._told = tuple(convert(context.scene, items, self.keep_pace))
        what = f"{len(items)} object{'' if len(items) == 1 else 's'} converted"
        if settings.time_scale != before:
            what += f", Time Scale {settings.time_scale:.3f}"
        self._report(what)
        return {"FINISHED"}

    def _report(self, what: str) -> None:
        """Say what was not carried over: in the status bar, in the Info editor and in a text of the file."""
        conversion.tell(self._told)
        if self._told:
            lines = "; ".join(self._told)
            self.report({"WARNING"}, coded(f"{what}. Not carried over (text “{conversion.TEXT}”): {lines}"))
        else:
            self.report({"INFO"}, f"{what}: everything was carried over")


class TAFFETA_OT_from_blender_cloth(Converting):
    bl_idname = "taffeta.from_blender_cloth"
    bl_label = "Convert Blender's Cloth"
    bl_description = (
        "Selected meshes with Blender's Cloth become Taffeta's, with all numbers that carry over; those with Blender's "
        "Collision become colliders. Blender's modifiers are switched off, not removed"
    )
    nothing = "No selected mesh has Blender's Cloth or Collision"

    @classmethod
    def fits(cls, item: bpy.types.Object) -> bool:
        return conversion.has_blenders(item)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self._convert(context, conversion.from_blender)


class TAFFETA_OT_to_blender_cloth(Converting):
    bl_idname = "taffeta.to_blender_cloth"
    bl_label = "To Blender's Cloth"
    bl_description = (
        "Selected cloths and colliders of Taffeta get Blender's Cloth and Collision, with all numbers that carry over, "
        "and take no part in Taffeta any more"
    )
    nothing = "No selected mesh is Taffeta's cloth or collider"

    @classmethod
    def fits(cls, item: bpy.types.Object) -> bool:
        return item.type == "MESH" and item.taffeta.role != "NONE"

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self._convert(context, conversion.to_blender)


CLASSES = (TAFFETA_OT_from_blender_cloth, TAFFETA_OT_to_blender_cloth)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

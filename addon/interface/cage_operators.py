# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Cage: a stand-in for a body that folds or is too fine."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from ...gpu_core.messages import coded
from ...gpu_core.scene.scene import SceneError
from ..scene import cage, painted
from .greyed import Greyed, busy


def _groups(_operator: bpy.types.Operator, context: bpy.types.Context, _text: str) -> list[str]:
    """Of the body, which is the cage's parent once there is one."""
    item = context.object
    bodies = [] if item is None else [body for body in (item.parent, item) if body is not None]
    return [name for body in bodies for name in painted.names(body)]


class TAFFETA_OT_make_cage(Greyed):
    bl_idname = "taffeta.make_cage"
    bl_label = "Make Cage"
    bl_description = (
        "Make a coarser, watertight stand-in of the active collider, a little outside of it, that follows it and does "
        "not render. Cloth meets it in the body's place. Kind, resolution and region: Edit › Adjust Last Operation (F9)"
    )
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(
        name="Kind",
        description="What the cage does where the body passes through itself",
        items=(
            ("FIRM", "Firm", "A collider, which goes where the body goes, through itself too"),
            (
                "SOFT",
                "Gives Way",
                "Simulated with the cloth and held to the body by soft pins: it never passes through itself, and "
                "leaves room for cloth in armpits and behind knees",
            ),
        ),
        default="FIRM",
    )
    voxels: IntProperty(
        name="Resolution",
        description="Voxels along the longest side of the body: more is nearer to its shape, and slower",
        default=100,
        min=8,
        max=500,
        soft_max=250,
    )
    offset: FloatProperty(
        name="Offset",
        description="How far outside of the body the cage is, in voxels",
        default=0.1,
        min=0.0,
        soft_max=2.0,
        max=10.0,
        precision=2,
    )
    region: StringProperty(
        name="Region",
        description="Vertex group or float attribute of the body: the part that the cage stands for, while the rest of "
        "the body stays as it is. Nothing: all of it",
        search=_groups,
        search_options={"SUGGESTION"},
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        body = context.object is not None and context.object.taffeta.role == "COLLIDER"
        return busy(context) or ("" if body else "The active object is no collider: give it that role first")

    def execute(self, context: bpy.types.Context) -> set[str]:
        body = context.object
        try:
            made = cage.make(body, self.voxels, self.offset, self.kind == "SOFT", self.region)
        except SceneError as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        for item in context.selected_objects:
            item.select_set(False)
        made.item.select_set(True)
        context.view_layer.objects.active = made.item
        units = context.scene.unit_settings
        way = bpy.utils.units.to_string(units.system, "LENGTH", made.farthest * units.scale_length, precision=2)
        of = f"the region “{self.region}”" if self.region else body.name
        sticks = f"{made.outside:.0%} of {of} sticks out of it, by up to {way}"
        self.report({"INFO"}, f"{made.item.name}: {made.vertices} vertices; {sticks}")
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_make_cage,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

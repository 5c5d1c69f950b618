# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Paint and Hide Paint: what a number is painted with, as colours of the mesh in the viewport."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.props import EnumProperty

from ...gpu_core.messages import coded
from ...gpu_core.scene.arrays import FloatArray
from ...gpu_core.scene.scene import SceneError
from ..scene import modifier, painted
from ..scene.bodies import Body
from ..scene.evaluated import evaluated_mesh
from .greyed import Greyed, busy

LAYER = "Taffeta Paint"
#: Colours at weights evenly from 0 to 1, as Blender's weight paint has them.
RAMP = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0]], np.float32)


def colours(weights: FloatArray) -> FloatArray:
    """(N, 4) of weights (N,) in [0, 1]."""
    at = np.linspace(0.0, 1.0, len(RAMP))
    rgb = [np.interp(weights, at, RAMP[:, channel]) for channel in range(3)]
    return np.column_stack([*rgb, np.ones(len(weights))]).astype(np.float32)


def obstacle(context: bpy.types.Context) -> str:
    item = context.object
    if item is None or item.taffeta.role != "CLOTH" or item.type != "MESH":
        return "The active object is no cloth"
    if item.data.library is not None:
        return "Its mesh is linked from another file"
    return busy(context)


class TAFFETA_OT_show_paint(Greyed):
    bl_idname = "taffeta.show_paint"
    bl_label = "Show Paint"
    bl_description = "Show what this number is painted with as colours, blue at weight 0 to red at 1"
    bl_options = {"REGISTER", "UNDO"}

    number: EnumProperty(items=[(name, number.label, "") for name, number in painted.PAINTED.items()])

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return obstacle(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        item, label = context.object, painted.PAINTED[self.number].label
        group = painted.groups(item).get(self.number)
        if group is None:
            self.report({"ERROR"}, coded(f"{item.name}: {label} is not painted. Choose a group for it"))
            return {"CANCELLED"}
        try:
            weights = _weights(context, item, group, label.lower())
        except SceneError as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        layer = item.data.color_attributes.get(LAYER) or item.data.color_attributes.new(LAYER, "FLOAT_COLOR", "POINT")
        layer.data.foreach_set("color", colours(weights).ravel())
        item.data.color_attributes.active_color = layer
        item.data.update()
        for area in context.screen.areas if context.screen else ():
            if area.type == "VIEW_3D":
                area.spaces.active.shading.color_type = "VERTEX"
        return {"FINISHED"}


class TAFFETA_OT_hide_paint(Greyed):
    bl_idname = "taffeta.hide_paint"
    bl_label = "Hide Paint"
    bl_description = "Take the colours of Show Paint away"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return obstacle(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        layers = context.object.data.color_attributes
        if layer := layers.get(LAYER):
            layers.remove(layer)
        return {"FINISHED"}


def _weights(context: bpy.types.Context, item: bpy.types.Object, group: str, what: str) -> FloatArray:
    """(N,) as a bake that begins now reads them. Raises SceneError."""
    with modifier.suspended(modifier.simulated(item)):
        depsgraph = context.evaluated_depsgraph_get()
        depsgraph.update()
        with evaluated_mesh(Body(item), depsgraph, context.scene.frame_current) as (mesh, _):
            if len(mesh.vertices) != len(item.data.vertices):
                raise SceneError(item.name, "its modifiers change the number of vertices", "Apply them")
            return painted.Weights(item, item.evaluated_get(depsgraph), mesh).of(group, what)


CLASSES = (TAFFETA_OT_show_paint, TAFFETA_OT_hide_paint)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

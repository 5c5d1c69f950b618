# SPDX-License-Identifier: GPL-3.0-or-later
"""Bind Dense Mesh, Unbind and Make Light Mesh: simulate a light mesh, show a dense one. Thin: `scene.dense` does it."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, IntProperty

from ...gpu_core.messages import coded
from ...gpu_core.scene.scene import SceneError
from ..live import session as live
from ..scene import dense, light_mesh
from ..scene.dense import Bound
from .greyed import Greyed, busy


def chosen(context: bpy.types.Context) -> list[tuple[bpy.types.Object, bpy.types.Object]]:
    """(dense mesh, cloth): the selected meshes without a role with the active cloth, or each with what it follows."""
    active = context.object
    items = [item for item in dict.fromkeys([*context.selected_objects, active]) if item is not None]
    if active is not None and active.taffeta.role == "CLOTH":
        found = [(item, active) for item in items if item.type == "MESH" and item.taffeta.role == "NONE"]
    else:
        found = [(item, item.taffeta.follows) for item in items if item.taffeta.follows is not None]
    return found


def _bound(context: bpy.types.Context) -> list[bpy.types.Object]:
    items = dict.fromkeys([*context.selected_objects, context.object])
    return [item for item in items if item is not None and item.type == "MESH" and dense.find(item) is not None]


def _other_mode(context: bpy.types.Context) -> str:
    return busy(context) or ("" if context.mode == "OBJECT" else "Go to Object Mode first")


class TAFFETA_OT_bind_dense(Greyed):
    bl_idname = "taffeta.bind_dense"
    bl_label = "Bind Dense Mesh"
    bl_description = (
        "Let the selected meshes without a role follow the active cloth, or the active mesh what it is to follow: they "
        "are bound as both lie at the first frame, before the cloth moves. Bound ones are bound anew"
    )
    bl_options = {"REGISTER", "UNDO"}

    as_shown: BoolProperty(
        name="As Shown Now",
        description="Bind as both are shown at the current frame, for a mesh that was modelled on the baked cloth",
        default=False,
        options={"SKIP_SAVE"},
    )
    hide_light: BoolProperty(
        name="Hide the Light Mesh",
        description="Leave the cloth's own mesh out of renders, and show it as wire",
        default=True,
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        if live.current is not None:
            return "Live is running: stop it first"
        nothing = "Select a mesh without a role, then the cloth; or choose what the active mesh follows"
        return _other_mode(context) or ("" if chosen(context) else nothing)

    def execute(self, context: bpy.types.Context) -> set[str]:
        said: list[str] = []
        for item, cloth in chosen(context):
            try:
                bound = dense.bind(context, item, cloth, self.as_shown)
            except SceneError as error:
                self.report({"ERROR"}, coded(str(error)))
                return {"FINISHED"} if said else {"CANCELLED"}
            if self.hide_light:
                dense.hide_light(cloth, True)
            said.append(_in_words(context, item, cloth, bound))
            if bound.inexact:
                text = f"{item.name}: {bound.inexact} vertices lie too far off {cloth.name} to be held exactly"
                self.report({"WARNING"}, coded(text))
        self.report({"INFO"}, "; ".join(said))
        return {"FINISHED"}


def _in_words(context: bpy.types.Context, item: bpy.types.Object, cloth: bpy.types.Object, bound: Bound) -> str:
    units = context.scene.unit_settings
    far = bpy.utils.units.to_string(units.system, "LENGTH", bound.farthest, precision=3)
    return f"{item.name} follows {cloth.name}: {bound.vertices} vertices, {far} off it at most"


class TAFFETA_OT_unbind_dense(Greyed):
    bl_idname = "taffeta.unbind_dense"
    bl_label = "Unbind Dense Mesh"
    bl_description = "Let the selected meshes stay where they were modelled; cloth that nothing follows is shown again"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return _other_mode(context) or ("" if _bound(context) else "No selected mesh follows a cloth")

    def execute(self, context: bpy.types.Context) -> set[str]:
        for item in _bound(context):
            cloth, problem = dense.light_of(item), dense.obstacle(item)
            if problem:
                self.report({"ERROR"}, coded(f"{item.name}: {problem}"))
                return {"CANCELLED"}
            dense.unbind(item)
            if cloth is not None and not dense.followers(list(context.scene.objects), cloth):
                dense.hide_light(cloth, False)
        return {"FINISHED"}


class TAFFETA_OT_make_light(Greyed):
    bl_idname = "taffeta.make_light"
    bl_label = "Make Light Mesh"
    bl_description = (
        "Make a mesh of few, even triangles of the active one, with its groups, fabric and deformers, give it the role "
        "Cloth, and bind the active mesh to it: simulate the light one, show the dense one"
    )
    bl_options = {"REGISTER", "UNDO"}

    vertices: IntProperty(
        name="Vertices",
        description="About so many has the light mesh; 0 takes an eighth, and 8000 at most",
        default=0,
        min=0,
        soft_max=50_000,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        mesh = context.object is not None and context.object.type == "MESH"
        return _other_mode(context) or ("" if mesh else "The active object is no mesh")

    def execute(self, context: bpy.types.Context) -> set[str]:
        item = context.object
        try:
            light = light_mesh.make(context, item, self.vertices)
            bound = dense.bind(context, item, light)
        except SceneError as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        dense.hide_light(light, True)
        for other in context.selected_objects:
            other.select_set(False)
        light.select_set(True)
        context.view_layer.objects.active = light
        if found := light_mesh.crossings(light):
            text = f"{light.name}: it crosses itself in {found} places as it was made. Set Tangled Start to Untangle, "
            self.report({"WARNING"}, coded(text + "part them, or choose another number of vertices"))
        self.report({"INFO"}, f"{len(light.data.vertices)} vertices. {_in_words(context, item, light, bound)}")
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_bind_dense, TAFFETA_OT_unbind_dense, TAFFETA_OT_make_light)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

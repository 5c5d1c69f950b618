# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles for whole selections: Object › Quick Effects, Object › Taffeta and the viewport's context menu."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ...gpu_core.messages import coded
from ...gpu_core.scene.fabrics import FABRICS
from ...gpu_core.scene.scene import SceneError
from ..scene import resolution
from ..scene.bodies import has_surface, holds_collider
from ..scene.conversion import TEXT
from ..scene.mends import MENDS, mend
from ..scene.properties import FABRIC_PRESETS, ROLES
from .greyed import Greyed, busy

NAMED = 3  #: objects of a message
ROLE_ICONS = {"CLOTH": "MOD_CLOTH", "COLLIDER": "MOD_PHYSICS", "NONE": "X"}


def _other_mode(context: bpy.types.Context) -> str:
    return "" if context.mode == "OBJECT" else "Go to Object Mode first"


class OnSelectedMeshes(Greyed):
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def takes(cls, item: bpy.types.Object) -> bool:
        return item.type == "MESH"

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return _other_mode(context) or ("" if any(map(cls.takes, context.selected_objects)) else "No mesh is selected")

    def _own(self, items: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
        """Those of them that keep a role, and a warning of the others."""
        linked = [item for item in items if item.library is not None]
        if linked:
            names = ", ".join(item.name for item in linked[:NAMED]) + (", …" if len(linked) > NAMED else "")
            mend = "Object > Library Override > Make; or give it the role there"
            self.report({"WARNING"}, coded(f"{names}: linked from another file, which keeps the role. {mend}"))
        return [item for item in items if item not in linked]


class TAFFETA_OT_quick_cloth(OnSelectedMeshes):
    bl_idname = "taffeta.quick_cloth"
    bl_label = "Quick Cloth"
    bl_description = (
        "Make the selected meshes cloth of one fabric, ready to bake with Taffeta, and every other mesh that is "
        "visible a collider"
    )

    fabric: EnumProperty(
        name="Fabric", description="What the cloth is made of", items=FABRIC_PRESETS[: len(FABRICS)], default="COTTON"
    )
    colliders: BoolProperty(
        name="Others Are Colliders",
        description="Every other mesh that is visible, or instanced, becomes a collider, unless it is cloth",
        default=True,
    )
    subdivide: BoolProperty(
        name="Subdivide Sheets",
        description="Cut the edges of a sheet that is too coarse to fold, in the mesh itself",
        default=True,
    )
    parts: IntProperty(
        name="Parts per Edge",
        description="Into how many parts each edge is cut; 0 chooses so that the sheet folds well",
        default=0,
        min=0,
        soft_max=100,
        max=1000,
    )
    smooth: BoolProperty(name="Shade Smooth", description="Shade the cloth without facets", default=True)

    _told: tuple[str, ...] = ()  #: what became of each sheet, for the redo panel

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in ("fabric", "colliders", "subdivide"):
            layout.prop(self, name)
        row = layout.row()
        row.enabled = self.subdivide
        row.prop(self, "parts")
        layout.prop(self, "smooth")
        for text in self._told:
            layout.label(text=text)

    def execute(self, context: bpy.types.Context) -> set[str]:
        sheets = self._own([item for item in context.selected_objects if self.takes(item)])
        if not sheets:
            return {"CANCELLED"}
        for item in sheets:
            item.taffeta.role = "CLOTH"
            item.taffeta.cloth.preset = self.fabric
            self._refine(item)
            if self.smooth:
                item.data.shade_smooth()
        free = [item for item in context.visible_objects if item.taffeta.role == "NONE" and not holds_collider(item)]
        bodies = self._own(list(filter(has_surface, free))) if self.colliders else []
        for item in bodies:
            item.taffeta.role = "COLLIDER"
        made = [_colliders(bodies)] if bodies else []
        self._told = (*(_fineness(context.scene, item) for item in sheets), *made)
        self.report({"INFO"}, "; ".join(self._told))
        return {"FINISHED"}

    def _refine(self, item: bpy.types.Object) -> None:
        if not self.subdivide or item.modifiers:
            return
        try:
            if self.parts:
                resolution.subdivide(item, self.parts)
            else:
                resolution.refine(item)
        except SceneError as error:
            self.report({"WARNING"}, coded(str(error)))


def _colliders(bodies: Sequence[bpy.types.Object]) -> str:
    if len(bodies) == 1:
        return f"{bodies[0].name} is a collider now"
    named = bodies[1].name if len(bodies) == 2 else f"{len(bodies) - 1} more"
    return f"{bodies[0].name} and {named} are colliders now"


def _fineness(scene: bpy.types.Scene, item: bpy.types.Object) -> str:
    units = scene.unit_settings
    length = resolution.edge_length(item) * units.scale_length
    edge = bpy.utils.units.to_string(units.system, "LENGTH", length, precision=3)
    return f"{item.name}: {len(item.data.vertices)} vertices, edges of {edge}"


class TAFFETA_OT_set_role(OnSelectedMeshes):
    bl_idname = "taffeta.set_role"
    bl_label = "Set Cloth Role"
    bl_description = "Give the selected meshes this role in the cloth simulation"

    role: EnumProperty(name="Role", description="What the objects are in the simulation", items=ROLES)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return next(text for identifier, _, text in ROLES if identifier == properties.role)

    @classmethod
    def takes(cls, item: bpy.types.Object) -> bool:
        return has_surface(item)

    def execute(self, context: bpy.types.Context) -> set[str]:
        takers = [item for item in context.selected_objects if self.takes(item)]
        for item in self._own([item for item in takers if item.type == "MESH" or self.role != "CLOTH"]):
            item.taffeta.role = self.role
        return {"FINISHED"}


class TAFFETA_OT_select(Greyed):
    bl_idname = "taffeta.select"
    bl_label = "Select"
    bl_description = "Make this object the active one, and the only one that is selected"
    bl_options = {"INTERNAL", "UNDO"}

    name: StringProperty(name="Object", description="Name of the object", options={"SKIP_SAVE"})

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return _other_mode(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        item = context.view_layer.objects.get(self.name)
        if item is None:
            self.report({"WARNING"}, coded(f"{self.name} is not in this view layer"))
            return {"CANCELLED"}
        for other in context.selected_objects:
            other.select_set(False)
        item.select_set(True)
        context.view_layer.objects.active = item
        return {"FINISHED"}


class TAFFETA_OT_mend(Greyed):
    bl_idname = "taffeta.mend"
    bl_label = "Mend"
    bl_description = "Put right what this line says"
    bl_options = {"INTERNAL", "UNDO"}

    name: StringProperty(name="Object", description="Name of the object or scene", options={"SKIP_SAVE"})
    how: EnumProperty(
        name="How",
        description="What is done",
        items=[(identifier, text, text) for identifier, (text, _) in MENDS.items()],
        options={"SKIP_SAVE"},
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return _other_mode(context) or busy(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            told = mend(context.scene, self.name, self.how)
        except SceneError as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        if told:
            self.report({"WARNING"}, coded(f"Not carried over (text “{TEXT}”): " + "; ".join(told)))
        return {"FINISHED"}


class TAFFETA_MT_object(bpy.types.Menu):
    bl_label = "Taffeta"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        for identifier, name, _ in ROLES:
            text = "No Cloth Role" if identifier == "NONE" else f"Make {name}"
            layout.operator("taffeta.set_role", text=text, icon=ROLE_ICONS[identifier]).role = identifier
        layout.operator("taffeta.from_blender_cloth", icon="IMPORT")
        layout.operator("taffeta.to_blender_cloth", icon="EXPORT")
        layout.operator("taffeta.bind_dense", icon="LINKED")
        layout.operator("taffeta.make_light", icon="MOD_DECIM")
        layout.separator()
        layout.operator("taffeta.live", icon="PLAY")
        layout.operator("taffeta.bake", text="Bake Selected Cloth", icon="PHYSICS").scope = "SELECTED"
        layout.operator("taffeta.bake", text="Bake Stale Cloth").scope = "STALE"
        layout.operator("taffeta.free", text="Free Cloth Caches", icon="TRASH")


def _draw_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.menu("TAFFETA_MT_object", icon="MOD_CLOTH")


def _draw_quick_effect(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator("taffeta.quick_cloth")


CLASSES = (TAFFETA_OT_quick_cloth, TAFFETA_OT_set_role, TAFFETA_OT_select, TAFFETA_OT_mend, TAFFETA_MT_object)
MENUS = (
    ("VIEW3D_MT_object_quick_effects", _draw_quick_effect),
    ("VIEW3D_MT_object", _draw_menu),
    ("VIEW3D_MT_object_context_menu", _draw_menu),
)
_register_classes, _unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    _register_classes()
    for name, draw in MENUS:
        getattr(bpy.types, name).append(draw)


def unregister() -> None:
    for name, draw in reversed(MENUS):
        getattr(bpy.types, name).remove(draw)
    _unregister_classes()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties > Physics > Taffeta. Panels only draw: no disk, no search, no writing."""

from __future__ import annotations

import re
import textwrap

import bpy

from ...gpu_core.messages import code_of
from ...gpu_core.scene.air import WEIGHTS
from ..scene import collision_properties, folds, painted, pattern, rest_key, sewn_to
from ..scene.bodies import carries
from ..scene.conversion import has_blenders
from ..scene.loose import cords
from ..scene.sampled import CORDS
from .fabric_presets import TAFFETA_PT_fabric_presets
from .paint_operators import LAYER

PIXELS_PER_CHARACTER = 7.5
BUTTON = 3  #: characters that a button with an icon takes
NARROWEST = 24  #: characters


class Lines(textwrap.TextWrapper):
    """Words whole, and paths broken behind their slashes, where one line has no room for them."""

    wordsep_simple_re = re.compile(r"(\s+)|(?<=[/\\])(?=[^\s/\\])")

    def __init__(self, width: int) -> None:
        super().__init__(width, break_on_hyphens=False)


class PhysicsPanel:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"


class ClothPanel(PhysicsPanel):
    bl_parent_id = "TAFFETA_PT_physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.taffeta.role == "CLOTH"


class TAFFETA_PT_physics(PhysicsPanel, bpy.types.Panel):
    bl_label = "Taffeta"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = self.layout, context.object
        layout.row().prop(item.taffeta, "role", expand=True)
        if item.taffeta.role == "NONE" and item.type == "MESH":
            layout.operator("taffeta.quick_cloth", icon="MOD_CLOTH")
        if item.taffeta.role == "NONE" and has_blenders(item):
            layout.operator("taffeta.from_blender_cloth", icon="IMPORT")
        if (
            item.taffeta.role != "NONE"
            and item.type != "MESH"
            and not (item.taffeta.role == "COLLIDER" and carries(item))
        ):
            message(layout, context, "Only mesh objects take part. Convert this one: Object > Convert > Mesh", "ERROR")


class TAFFETA_PT_fabric(ClothPanel, bpy.types.Panel):
    bl_label = "Fabric"

    def draw(self, context: bpy.types.Context) -> None:
        cloth = context.object.taffeta.cloth
        fabric = cloth.bl_rna.properties["preset"].enum_items[cloth.preset].name
        self.layout.popover(TAFFETA_PT_fabric_presets.__name__, text=fabric, icon="PRESET")
        layout = property_column(self)
        for name in ("density", "bend_micro", "bend_friction_milli", "strain_percent", "air_drag"):
            layout.prop(cloth, name)


class TAFFETA_PT_stiffness(ClothPanel, bpy.types.Panel):
    bl_label = "Stiffness"
    bl_parent_id = "TAFFETA_PT_fabric"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        draw_numbers(self, context, "stretch_warp", "stretch_weft", "shear", "softening")


class TAFFETA_PT_damping(ClothPanel, bpy.types.Panel):
    bl_label = "Damping"
    bl_parent_id = "TAFFETA_PT_fabric"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        draw_numbers(self, context, "stretch_damping", "shear_damping", "bend_damping", "velocity_damping")


class TAFFETA_PT_plasticity(ClothPanel, bpy.types.Panel):
    bl_label = "Plasticity"
    bl_parent_id = "TAFFETA_PT_fabric"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        draw_numbers(self, context, "stretch_yield", "bend_yield")


class TAFFETA_PT_shape(ClothPanel, bpy.types.Panel):
    bl_label = "Shape"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = property_column(self), context.object
        cloth = item.taffeta.cloth
        layout.prop(cloth, "pin_group")
        if cloth.pin_group and not painted.exists(item, cloth.pin_group):
            message(layout, context, f"There is no vertex group or attribute “{cloth.pin_group}”", "ERROR")
        if cloth.pin_group:
            layout.prop(cloth, "pin_strength")
        _draw_pin_groups(layout, context)
        layout.separator()
        layout.prop(cloth, "rest_shape_key")
        if cloth.rest_shape_key and not rest_key.exists(item, cloth.rest_shape_key):
            message(layout, context, f"There is no shape key “{cloth.rest_shape_key}”", "ERROR")
        layout.prop(cloth, "rest_object")
        layout.prop(cloth, "shrink")
        layout.prop(cloth, "pattern_map", icon="GROUP_UVS")
        if cloth.pattern_map:
            layout.prop(cloth, "pattern_scale_shown")
            if not pattern.may_exist(item):
                message(layout, context, f"There is no UV map “{cloth.pattern_map}”", "ERROR")
        layout.prop(cloth, "fold_attribute", icon="EDGESEL")
        if cloth.fold_attribute:
            layout.prop(cloth, "fold_angle")
            if not folds.may_exist(item):
                message(layout, context, f"There is no attribute “{cloth.fold_attribute}”", "ERROR")


class TAFFETA_PT_sewing(ClothPanel, bpy.types.Panel):
    bl_label = "Sewing"
    bl_parent_id = "TAFFETA_PT_shape"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.taffeta.cloth, "sewing", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = property_column(self), context.object
        cloth = item.taffeta.cloth
        layout.prop(cloth, "sew_object")
        if cloth.sew_object is not None:
            layout.prop(cloth, "sew_group", icon="GROUP_VERTEX")
            if problem := sewn_to.trouble(item):
                message(layout, context, problem[0].upper() + problem[1:], "ERROR")
        layout.prop(cloth, "weld_seams")
        layout = layout.column()
        layout.active = sewn_to.sews(item)
        layout.prop(cloth, "sewing_time")
        layout.prop(cloth, "sewing_force")
        layout.prop(cloth, "seam_stiffness")


class TAFFETA_PT_cords(ClothPanel, bpy.types.Panel):
    bl_label = "Cords"
    bl_parent_id = "TAFFETA_PT_shape"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = property_column(self), context.object
        layout.active = cords(item)
        for name in CORDS:
            label = item.taffeta.cloth.bl_rna.properties[name].name
            layout.prop(item.taffeta.cloth, name, text=label.removeprefix("Cord "))


class TAFFETA_PT_pressure(ClothPanel, bpy.types.Panel):
    bl_label = "Pressure"
    bl_parent_id = "TAFFETA_PT_shape"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        draw_numbers(self, context, "pressure", "ambient_pressure", "target_volume", "fluid_density", "pressure_factor")


class TAFFETA_PT_painted(ClothPanel, bpy.types.Panel):
    bl_label = "Painted"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = property_column(self), context.object
        cloth = item.taffeta.cloth
        for name, number in painted.PAINTED.items():
            column, group = layout.column(align=True), getattr(cloth, f"{name}_group")
            row = column.row(align=True)
            row.prop(cloth, f"{name}_group", text=number.label)
            if group:
                row.operator("taffeta.show_paint", text="", icon="HIDE_OFF").number = name
                most = cloth.bl_rna.properties[number.most].name
                column.prop(cloth, number.most, text=most.removeprefix(f"{number.label} "))
            if group and not painted.exists(item, group):
                message(column, context, f"There is no vertex group or attribute “{group}”", "ERROR")
        if item.type == "MESH" and LAYER in item.data.color_attributes:
            layout.operator("taffeta.hide_paint")


class TAFFETA_PT_collisions(ClothPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = property_column(self), context.object
        cloth = item.taffeta.cloth
        for name in ("thickness_shown", "friction", "layer"):
            layout.prop(cloth, name)
        layout.prop(cloth, "collision_collection", text="Collection")
        layout.prop(cloth, "left_out_of_bodies_group")
        layout.prop(cloth, "self_collision")
        column = layout.column()
        column.active = cloth.self_collision
        column.prop(cloth, "left_out_of_itself_group")
        for group in collision_properties.groups(item).values():
            if not painted.exists(item, group):
                message(layout, context, f"There is no vertex group or attribute “{group}”", "ERROR")


class TAFFETA_PT_field_weights(ClothPanel, bpy.types.Panel):
    bl_label = "Field Weights"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, cloth = property_column(self), context.object.taffeta.cloth
        layout.prop(cloth, "field_collection", text="Collection")
        for name in WEIGHTS:
            layout.prop(cloth, name, slider=True)


class TAFFETA_PT_collider(PhysicsPanel, bpy.types.Panel):
    bl_label = "Surface"
    bl_parent_id = "TAFFETA_PT_physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.taffeta.role == "COLLIDER"

    def draw(self, context: bpy.types.Context) -> None:
        layout, collider = property_column(self), context.object.taffeta.collider
        layout.prop(collider, "thickness_shown")
        layout.prop(collider, "friction")
        if context.object.type == "MESH":
            layout.prop(collider, "lets_through_group")
            group = collider.lets_through_group
            if group and not painted.exists(context.object, group):
                message(layout, context, f"There is no vertex group or attribute “{group}”", "ERROR")
            layout.operator("taffeta.make_cage", icon="MOD_LATTICE")


CLASSES = (
    TAFFETA_PT_physics,
    TAFFETA_PT_fabric,
    TAFFETA_PT_stiffness,
    TAFFETA_PT_damping,
    TAFFETA_PT_plasticity,
    TAFFETA_PT_shape,
    TAFFETA_PT_sewing,
    TAFFETA_PT_cords,
    TAFFETA_PT_pressure,
    TAFFETA_PT_collisions,
    TAFFETA_PT_painted,
    TAFFETA_PT_field_weights,
    TAFFETA_PT_collider,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)


def property_column(panel: bpy.types.Panel) -> bpy.types.UILayout:
    """A column of properties, names left and values right, as in Blender's own physics panels: what takes keys with a
    dot to set one."""
    panel.layout.use_property_split = True
    return panel.layout.column()


def _draw_pin_groups(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Those beside the first."""
    item = context.object
    for index, pins in enumerate(item.taffeta.cloth.pins):
        layout.separator()
        column = layout.column(align=True)
        row = column.row(align=True)
        row.prop(pins, "group")
        row.operator("taffeta.pin_remove", text="", icon="X").index = index
        column.prop(pins, "strength")
        column.prop(pins, "target")
        if pins.group and not painted.exists(item, pins.group):
            message(column, context, f"There is no vertex group or attribute “{pins.group}”", "ERROR")
    layout.operator("taffeta.pin_add", icon="ADD")


def draw_numbers(panel: bpy.types.Panel, context: bpy.types.Context, *names: str) -> None:
    """Properties of the cloth by name, one below the other."""
    layout = property_column(panel)
    for name in names:
        layout.prop(context.object.taffeta.cloth, name)


def message(
    layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: str, code: str | None = None
) -> None:
    """A label as wide as the region, in as many lines as it takes; beside it a question mark that explains it.

    code: of the message, where its text alone does not tell.
    """
    code = code_of(text) if code is None else code
    width = context.region.width / context.preferences.system.ui_scale if context.region else 0
    beside = 4 + (BUTTON if code else 0)
    lines = Lines(max(NARROWEST, int(width / PIXELS_PER_CHARACTER) - beside)).wrap(text)
    row = layout.row(align=True)
    column = row.column(align=True)
    for index, line in enumerate(lines):
        column.label(text=line, icon=icon if index == 0 else "BLANK1")
    if code:
        row.operator("taffeta.help", text="", icon="HELP").code = code

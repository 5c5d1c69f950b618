"""Properties > Physics > Taffeta. Panels only draw: no disk, no search, no writing."""

from __future__ import annotations

import textwrap

import bpy

from ..gpu_core.cache import CacheState
from . import cache_place, modifier, session
from .bake_progress import Phase

PIXELS_PER_CHARACTER = 7.5
NARROWEST = 24  #: characters


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
        if item.taffeta.role != "NONE" and item.type != "MESH":
            _message(layout, context, "Only mesh objects take part. Convert this one: Object > Convert > Mesh", "ERROR")


class TAFFETA_PT_fabric(ClothPanel, bpy.types.Panel):
    bl_label = "Fabric"

    def draw(self, context: bpy.types.Context) -> None:
        layout, cloth = _column(self), context.object.taffeta.cloth
        for name in ("preset", "density", "bend_micro", "strain_limit", "friction", "thickness"):
            layout.prop(cloth, name)


class TAFFETA_PT_stiffness(ClothPanel, bpy.types.Panel):
    bl_label = "Stiffness"
    bl_parent_id = "TAFFETA_PT_fabric"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, cloth = _column(self), context.object.taffeta.cloth
        for name in ("stretch_warp", "stretch_weft", "shear", "softening"):
            layout.prop(cloth, name)


class TAFFETA_PT_shape(ClothPanel, bpy.types.Panel):
    bl_label = "Pins and Air"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = _column(self), context.object
        cloth = item.taffeta.cloth
        layout.prop_search(cloth, "pin_group", item, "vertex_groups")
        if cloth.pin_group and cloth.pin_group not in item.vertex_groups:
            _message(layout, context, f"There is no vertex group “{cloth.pin_group}”", "ERROR")
        layout.prop(cloth, "air_drag")


class TAFFETA_PT_collider(PhysicsPanel, bpy.types.Panel):
    bl_label = "Surface"
    bl_parent_id = "TAFFETA_PT_physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.taffeta.role == "COLLIDER"

    def draw(self, context: bpy.types.Context) -> None:
        layout, collider = _column(self), context.object.taffeta.collider
        layout.prop(collider, "thickness")
        layout.prop(collider, "friction")


class TAFFETA_PT_bake(ClothPanel, bpy.types.Panel):
    bl_label = "Bake"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        if not bpy.data.filepath:
            text = "This file was never saved: the cache goes to a temporary folder that is lost when Blender closes"
            _message(layout, context, text, "ERROR")
        progress = session.progress()
        if progress.busy:
            row = layout.row(align=True)
            row.progress(factor=progress.share, text=f"{progress.headline}  {session.remaining_text()}".strip())
            row.operator("taffeta.cancel", text="", icon="X")
        else:
            row = layout.row(align=True)
            row.operator("taffeta.bake", icon="PHYSICS")
            if session.cache_state is CacheState.PARTIAL:
                row.operator("taffeta.bake", text="Resume").resume = True
            row.operator("taffeta.free", icon="TRASH")
            if progress.phase is not Phase.IDLE:
                icon = "ERROR" if progress.phase is Phase.FAILED else "INFO"
                _message(layout, context, progress.headline, icon)
        for warning in progress.warnings:
            _message(layout, context, warning, "ERROR")
        own = modifier.find(context.object)
        if own is not None and bpy.data.filepath and cache_place.is_temporary(own.filepath):
            text = "This cache lies in a temporary folder that is lost when Blender closes: bake again"
            _message(layout, context, text, "ERROR")
        elif own is not None and progress.phase is Phase.IDLE and session.cache_state is not CacheState.READY:
            _message(layout, context, session.cache_reason, "ERROR")


class TAFFETA_PT_solver(ClothPanel, bpy.types.Panel):
    bl_label = "Solver"
    bl_parent_id = "TAFFETA_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, chosen = _column(self), context.scene.taffeta
        for name in ("step_rate", "tolerance", "self_collision", "strict_start", "preset", "backend"):
            layout.prop(chosen, name)
        layout.prop(chosen, "cache_folder")


CLASSES = (
    TAFFETA_PT_physics,
    TAFFETA_PT_fabric,
    TAFFETA_PT_stiffness,
    TAFFETA_PT_shape,
    TAFFETA_PT_collider,
    TAFFETA_PT_bake,
    TAFFETA_PT_solver,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)


def _column(panel: bpy.types.Panel) -> bpy.types.UILayout:
    panel.layout.use_property_split = True
    panel.layout.use_property_decorate = False
    return panel.layout.column()


def _message(layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: str) -> None:
    """A label as wide as the region, in as many lines as it takes."""
    width = context.region.width / context.preferences.system.ui_scale if context.region else 0
    lines = textwrap.wrap(text, max(NARROWEST, int(width / PIXELS_PER_CHARACTER) - 4))
    column = layout.column(align=True)
    for index, line in enumerate(lines):
        column.label(text=line, icon=icon if index == 0 else "BLANK1")

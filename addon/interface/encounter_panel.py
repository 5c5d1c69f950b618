# SPDX-License-Identifier: GPL-3.0-or-later
"""The exceptions from collisions, in Properties > Physics > Taffeta > Collisions and > Surface. Panels only draw."""

from __future__ import annotations

import bpy

from ..scene import encounters
from .physics import PhysicsPanel, message, property_column


class TAFFETA_UL_encounters(bpy.types.UIList):
    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _scene: bpy.types.PropertyGroup,
        entry: bpy.types.PropertyGroup,
        _icon: int,
        _chosen: bpy.types.PropertyGroup,
        _index: str,
    ) -> None:
        row = layout.row(align=True)
        names = [item.name if item is not None else "…" for item in (entry.first, entry.second)]
        itself = entry.first is not None and entry.first == entry.second
        row.label(text=names[0], icon="ERROR" if encounters.fault(entry) else "MOD_CLOTH")
        row.label(text="itself" if itself else names[1])
        row.prop(entry, "collides", text="", icon="MOD_PHYSICS" if entry.collides else "GHOST_DISABLED", emboss=False)


class TAFFETA_PT_encounters(PhysicsPanel, bpy.types.Panel):
    bl_label = "Exceptions"
    bl_parent_id = "TAFFETA_PT_collisions"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        _draw_list(self, context)


class TAFFETA_PT_collider_encounters(PhysicsPanel, bpy.types.Panel):
    bl_label = "Exceptions"
    bl_parent_id = "TAFFETA_PT_collider"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        _draw_list(self, context)


def _draw_list(panel: bpy.types.Panel, context: bpy.types.Context) -> None:
    """All exceptions of the scene, and the chosen one."""
    chosen = context.scene.taffeta
    row = panel.layout.row()
    row.template_list(TAFFETA_UL_encounters.__name__, "", chosen, "encounters", chosen, "encounter_index", rows=3)
    buttons = row.column(align=True)
    buttons.operator("taffeta.encounter_add", text="", icon="ADD")
    buttons.operator("taffeta.encounter_remove", text="", icon="REMOVE").index = chosen.encounter_index
    if chosen.encounter_index < len(chosen.encounters):
        _draw(property_column(panel), context, chosen.encounters[chosen.encounter_index])


def _draw(layout: bpy.types.UILayout, context: bpy.types.Context, entry: bpy.types.PropertyGroup) -> None:
    """One exception."""
    for name in ("first", "second", "collides"):
        layout.prop(entry, name)
    if entry.collides:
        layout.prop(entry, "use_friction")
        if entry.use_friction:
            layout.prop(entry, "friction")
    layout.prop(entry, "use_frames")
    if entry.use_frames:
        layout.prop(entry, "frame_first")
        layout.prop(entry, "frame_last")
    if problem := encounters.fault(entry):
        message(layout, context, problem[0].upper() + problem[1:], "ERROR")


CLASSES = (TAFFETA_UL_encounters, TAFFETA_PT_encounters, TAFFETA_PT_collider_encounters)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

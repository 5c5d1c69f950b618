# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties > Physics > Taffeta > Finalise. It only draws."""

from __future__ import annotations

import bpy

from ..cache import frames
from .greyed import busy
from .physics import ClothPanel, message


class TAFFETA_PT_finalise(ClothPanel, bpy.types.Panel):
    bl_label = "Finalise"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        occupied = busy(context)
        obstacle = occupied or str(frames.trouble(context.scene, context.object) or "")
        if obstacle:
            message(self.layout, context, obstacle, "INFO" if occupied else "ERROR")
        column = self.layout.column()
        column.enabled = not obstacle
        row = column.row(align=True)
        row.operator("taffeta.to_shape_keys", text="To Shape Keys", icon="SHAPEKEY_DATA")
        row.operator("taffeta.to_shape_keys", text="To Absolute Keys").absolute = True
        row = column.row(align=True)
        row.operator("taffeta.export_alembic", text="Export Alembic", icon="EXPORT")
        row.operator("taffeta.export_usd", text="Export USD")
        row = column.row(align=True)
        row.operator("taffeta.to_mesh", text="To Mesh of Frame", icon="MESH_DATA")
        row.operator("taffeta.velocity", text="Add Velocity", icon="FORCE_WIND")


CLASSES = (TAFFETA_PT_finalise,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

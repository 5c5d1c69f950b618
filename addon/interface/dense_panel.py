# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties > Physics > Taffeta > Dense Mesh: of a cloth what follows it, of a mesh without a role what it follows."""

from __future__ import annotations

import bpy

from ..scene import dense, roster
from .physics import PhysicsPanel, message, property_column


class TAFFETA_PT_dense(PhysicsPanel, bpy.types.Panel):
    bl_label = "Dense Mesh"
    bl_parent_id = "TAFFETA_PT_physics"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        return item is not None and item.type == "MESH" and item.taffeta.role in ("NONE", "CLOTH")

    def draw(self, context: bpy.types.Context) -> None:
        if context.object.taffeta.role == "CLOTH":
            self._draw_followers(context)
        else:
            self._draw_follows(context)

    def _draw_followers(self, context: bpy.types.Context) -> None:
        layout, cloth = self.layout, context.object
        found = dense.followers(roster.members(context.scene).followers, cloth)
        column = layout.column(align=True)
        for item in found:
            column.operator("taffeta.select", text=item.name, icon="MESH_DATA").name = item.name
        if not found:
            message(layout, context, "Nothing follows this cloth: select a dense mesh, then the cloth", "INFO")
        layout.operator("taffeta.bind_dense", icon="LINKED")
        layout.operator("taffeta.make_light", icon="MOD_DECIM")

    def _draw_follows(self, context: bpy.types.Context) -> None:
        layout, item = property_column(self), context.object
        layout.prop(item.taffeta, "follows")
        layout.prop(item.taffeta, "rounding")
        cloth, bound = item.taffeta.follows, dense.find(item) is not None
        if cloth is not None and not bound:
            message(layout, context, f"It is not bound to {cloth.name} yet", "INFO")
        row = layout.row(align=True)
        row.operator("taffeta.bind_dense", text="Bind Again" if bound else "Bind Dense Mesh", icon="LINKED")
        row.operator("taffeta.unbind_dense", text="Unbind", icon="UNLINKED")
        layout.operator("taffeta.make_light", icon="MOD_DECIM")


CLASSES = (TAFFETA_PT_dense,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

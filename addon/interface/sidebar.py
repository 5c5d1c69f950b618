# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab Taffeta in the 3D viewport's sidebar: the whole scene at a glance.

Panels only draw: no disk, no search, no writing.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...gpu_core.files.cache import CacheState
from ..bake import session
from ..cache import checking, crossings, status
from ..cache.status import Held
from ..scene import roster
from .bake_panels import BAKING, FRAMES_SHOWN, ICONS, amount, draw_bake, draw_check, word
from .object_menu import TAFFETA_OT_quick_cloth
from .physics import message
from .trouble_rows import ROWS_SHOWN, draw_rest, draw_troubles


class SidebarPanel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Taffeta"


class ClothSidebarPanel(SidebarPanel):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(roster.members(context.scene).cloths)


class TAFFETA_PT_sidebar_cloths(SidebarPanel, bpy.types.Panel):
    bl_label = "Cloths"

    def draw(self, context: bpy.types.Context) -> None:
        layout, cloths = self.layout, status.every(context.scene)
        column = layout.column(align=True)
        for cloth, state, _ in cloths[:ROWS_SHOWN]:
            row = column.row(align=True)
            row.operator("taffeta.select", text=cloth.name, icon="MOD_CLOTH").name = cloth.name
            row.prop(cloth.taffeta.cloth, "preset", text="")
            if session.baking(cloth):
                row.label(text="Baking", icon="TIME")
            else:
                row.label(text=word(state), icon=ICONS[state])
        draw_rest(layout, len(cloths))
        if not cloths:
            layout.label(text=TAFFETA_OT_quick_cloth.obstacle(context) or "No object is cloth yet")
            layout.operator("taffeta.quick_cloth", icon="MOD_CLOTH")
        elif any(item.type == "MESH" and item.taffeta.role != "CLOTH" for item in context.selected_objects):
            layout.operator("taffeta.quick_cloth", text="Make Selected Cloth", icon="MOD_CLOTH")


class TAFFETA_PT_sidebar_layers(SidebarPanel, bpy.types.Panel):
    bl_label = "Layers"
    bl_parent_id = "TAFFETA_PT_sidebar_cloths"
    bl_options = {"DEFAULT_CLOSED"}  # what begins in order needs none

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return len(roster.members(context.scene).cloths) > 1

    def draw(self, context: bpy.types.Context) -> None:
        cloths = roster.members(context.scene).cloths
        column = self.layout.column(align=True)
        for cloth in cloths[:ROWS_SHOWN]:
            column.prop(cloth.taffeta.cloth, "layer", text=cloth.name)
        draw_rest(self.layout, len(cloths))


class TAFFETA_PT_sidebar_colliders(ClothSidebarPanel, bpy.types.Panel):
    bl_label = "Colliders"

    def draw(self, context: bpy.types.Context) -> None:
        colliders = roster.members(context.scene).colliders
        column = self.layout.column(align=True)
        for collider in colliders[:ROWS_SHOWN]:
            row = column.row(align=True)
            row.operator("taffeta.select", text=collider.name, icon="MOD_PHYSICS").name = collider.name
            row.prop(collider.taffeta.collider, "thickness_shown", text="")
        draw_rest(self.layout, len(colliders))
        if not colliders:
            text = "The cloth meets nothing but itself. Select a body, and make it a Collider in Properties › Physics"
            message(self.layout, context, text, "INFO")


class TAFFETA_PT_sidebar_bake(SidebarPanel, bpy.types.Panel):
    bl_label = "Bake"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """A bake goes on where an undo has made its cloth a plain mesh again, and has to be ended somewhere."""
        return session.state().busy or bool(roster.members(context.scene).cloths)

    def draw(self, context: bpy.types.Context) -> None:
        draw_bake(self.layout, context)


class TAFFETA_PT_sidebar_cache(ClothSidebarPanel, bpy.types.Panel):
    bl_label = "Cache"

    def draw(self, context: bpy.types.Context) -> None:
        layout, cloths = self.layout, status.every(context.scene)
        baking = [cloth.name for cloth, _, _ in cloths if session.baking(cloth)]
        if baking:
            message(layout, context, f"{_named(baking)}: {BAKING.lower()}", "TIME", "")
        entries = _alike(entry for entry in cloths if entry[0].name not in baking)
        for names, state, reason in entries[:ROWS_SHOWN]:
            message(layout, context, status.in_words(names, state, reason), ICONS[state], status.code(state, reason))
        draw_rest(layout, len(entries))
        caches = _caches(context.scene, (cloth for cloth, _, _ in cloths))
        if caches:
            free = min(held.free for held in caches)
            layout.label(text=f"{amount(sum(held.size for held in caches))}, {amount(free)} free on the disk")
        draw_check(layout)


class TAFFETA_PT_sidebar_checks(ClothSidebarPanel, bpy.types.Panel):
    bl_label = "Checks"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        if not draw_troubles(layout, context):
            layout.label(text="Nothing stands in the way of a bake", icon="CHECKMARK")
        if not session.state().busy:  # of frames that are just being replaced
            _draw_frames(layout, context, _caches(context.scene, roster.members(context.scene).cloths))


class TAFFETA_PT_sidebar_crossings(ClothSidebarPanel, bpy.types.Panel):
    bl_label = "Crossings"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, shown = self.layout, crossings.current
        row = layout.row(align=True)
        row.operator("taffeta.show_crossings", text="Show at Start", icon="VIEWZOOM").what = "START"
        row.operator("taffeta.show_crossings", text="This Frame").what = "FRAME"
        if shown is None:
            return
        places = shown.found.places
        row = layout.row(align=True)
        row.label(text=f"{shown.what}: {sum(place.crossings for place in places) or 'nothing crosses'}")
        row.operator("taffeta.clear_crossings", text="", icon="X")
        column = layout.column(align=True)
        for index, place in enumerate(places[:ROWS_SHOWN]):
            row = column.row(align=True)
            row.label(text=str(place))
            row.operator("taffeta.go_to_crossing", text="", icon="ZOOM_SELECTED").index = index
            row.operator("taffeta.select_crossing", text="", icon="RESTRICT_SELECT_OFF").index = index
        draw_rest(layout, len(places))


def _draw_frames(layout: bpy.types.UILayout, context: bpy.types.Context, caches: Iterable[Held]) -> None:
    """Over all bakes of the scene: how many frames were checked, and the first that are not clean."""
    certificates = [entry for held in caches for entry in held.certificates]
    if not certificates:
        return
    unchecked = sum(entry.intersections is None for entry in certificates)
    layout.label(text=f"{len(certificates) - unchecked} of {len(certificates)} frames checked")
    if checking.unjudged(context.scene):
        message(layout, context, "What Blender makes of them was not looked at yet: Check Caches", "QUESTION")
    bad = [(entry.frame, texts) for entry in certificates if (texts := entry.troubles)]
    if not bad and unchecked < len(certificates):
        layout.label(text="None of them has trouble", icon="CHECKMARK")
    for frame, texts in bad[:FRAMES_SHOWN]:
        message(layout, context, f"Frame {frame}: {'; '.join(texts)}", "ERROR")
    if len(bad) > FRAMES_SHOWN:
        layout.label(text=f"and {len(bad) - FRAMES_SHOWN} more frames")


def _alike(entries: Iterable[tuple[bpy.types.Object, CacheState, str]]) -> list[tuple[str, CacheState, str]]:
    """Garments of one bake have one sentence, behind all of their names."""
    found: dict[tuple[CacheState, str], list[str]] = {}
    for cloth, state, reason in entries:
        found.setdefault((state, reason), []).append(cloth.name)
    return [(_named(names), state, reason) for (state, reason), names in found.items()]


def _named(names: list[str]) -> str:
    """As many of them as there is room for."""
    more = len(names) - ROWS_SHOWN
    return ", ".join(names[:ROWS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _caches(scene: bpy.types.Scene, cloths: Iterable[bpy.types.Object]) -> list[Held]:
    """What is known of each bake once, however many cloths play it."""
    found = {id(held): held for cloth in cloths if (held := status.held(scene, cloth)).frames}
    return list(found.values())


CLASSES = (
    TAFFETA_PT_sidebar_cloths,
    TAFFETA_PT_sidebar_layers,
    TAFFETA_PT_sidebar_colliders,
    TAFFETA_PT_sidebar_bake,
    TAFFETA_PT_sidebar_cache,
    TAFFETA_PT_sidebar_checks,
    TAFFETA_PT_sidebar_crossings,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

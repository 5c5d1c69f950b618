# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake, the caches and the frames that are not clean: in Properties > Physics.

Panels only draw: no disk, no search, no writing.
"""

from __future__ import annotations

import bpy

from ...gpu_core.bake.certificate import Certificate, preroll_text
from ...gpu_core.bake.log import MIB
from ...gpu_core.files.cache import CacheState
from ..bake import save_as, session
from ..bake.state import BakeState, Phase
from ..cache import checking, place, status
from ..scene import retiming, roster
from .physics import ClothPanel, message, property_column
from .trouble_rows import draw_troubles

ICONS = {
    CacheState.READY: "CHECKMARK",
    CacheState.PARTIAL: "TIME",
    CacheState.STALE: "FILE_REFRESH",
    CacheState.CORRUPT: "ERROR",
    CacheState.MISSING: "REMOVE",
    CacheState.HIDDEN: "HIDE_ON",
}
BAKING = "Being baked"
FRAMES_SHOWN = 8
PROGRESS_LETTERS = 32  #: “1999 / 2000 frames  1:01:18 left”, which the bars have room for


class TAFFETA_PT_bake(ClothPanel, bpy.types.Panel):
    bl_label = "Bake"

    def draw(self, context: bpy.types.Context) -> None:
        """What an artist needs who sets the cloth up here; the rest is in the sidebar, once for the scene."""
        draw_troubles(self.layout, context, of=context.object)
        draw_bake(self.layout, context, whole=False)


class TAFFETA_PT_cache(ClothPanel, bpy.types.Panel):
    bl_label = "Cache"
    bl_parent_id = "TAFFETA_PT_bake"

    def draw(self, context: bpy.types.Context) -> None:
        draw_cache(self.layout, context, context.object)


class TAFFETA_PT_frames(ClothPanel, bpy.types.Panel):
    bl_label = "Frames"
    bl_parent_id = "TAFFETA_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}  # what is wrong with one is in the Cache panel

    def draw(self, context: bpy.types.Context) -> None:
        column, chosen = property_column(self), context.scene.taffeta
        column.prop(chosen, "preroll")
        if chosen.preroll:
            column.prop(chosen, "preroll_from", text="From")
        column.prop(chosen, "samples_per_frame")
        draw_frames(self.layout, context, context.object)


class TAFFETA_PT_solver(bpy.types.Panel):
    """Of the whole scene, so where Blender has gravity and units."""

    bl_label = "Taffeta"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(roster.members(context.scene).cloths)

    def draw(self, context: bpy.types.Context) -> None:
        layout, chosen = property_column(self), context.scene.taffeta
        layout.prop(chosen, "time_scale")
        layout.prop(chosen, "step_rate", text="Steps/Second")  # the dot of what takes keys leaves no room for more
        for name in (
            "tolerance_shown",
            "frame_budget",
            "collider_detail",
            "start",
            "method",
            "backend",
            "cache_folder",
        ):
            layout.prop(chosen, name)


def draw_bake(layout: bpy.types.UILayout, context: bpy.types.Context, whole: bool = True) -> None:
    """Buttons, or the progress of the bake that runs, and how the last one ended. whole: with what is seldom needed."""
    if not bpy.data.filepath:
        text = "This file was never saved: the cache goes to a temporary folder until you save it"
        message(layout, context, text, "INFO")
    state = session.state()
    if state.busy:
        draw_progress(layout, state)
    else:
        _draw_buttons(layout, context, whole)
        if state.phase is not Phase.IDLE:
            icon = "ERROR" if state.phase is Phase.FAILED else "INFO"
            message(layout, context, state.headline, icon, state.code or None)
    for warning in state.warnings:
        message(layout, context, warning, "ERROR")
    if whole:
        layout.operator("taffeta.copy_report", icon="COPYDOWN")


def _draw_buttons(layout: bpy.types.UILayout, context: bpy.types.Context, whole: bool) -> None:
    row = layout.row(align=True)
    row.operator("taffeta.bake", icon="PHYSICS")
    if status.left(context.scene):
        row.operator("taffeta.bake", text="Resume").resume = True
    row.operator("taffeta.free", icon="TRASH")
    if any(state is CacheState.HIDDEN for _, state, _ in status.every(context.scene)):
        layout.operator("taffeta.play", icon="HIDE_OFF")
    if whole:
        column = layout.column(align=True)
        picked = column.row(align=True)
        picked.enabled = any(cloth.select_get() for cloth in roster.members(context.scene).cloths)
        picked.operator("taffeta.bake", text="Bake Selected").scope = "SELECTED"
        later = column.column(align=True)  # before anything is baked they are as Bake, or nothing
        later.enabled = status.begun(context.scene)
        later.operator("taffeta.bake", text="Bake Stale").scope = "STALE"
        later.operator("taffeta.bake", text="Bake from Current").from_current = True


def draw_progress(layout: bpy.types.UILayout, state: BakeState) -> None:
    row = layout.row(align=True)
    row.progress(factor=state.share, text=_progress_text(state))
    paused = state.phase is Phase.PAUSED
    row.operator("taffeta.pause", text="", icon="PLAY" if paused else "PAUSE")
    row.operator("taffeta.cancel", text="", icon="X")


def _progress_text(state: BakeState) -> str:
    """How far it is, and the time. Where both have no room it is “8/20” for “step 8/20”, or without the time."""
    both = f"{state.headline}  {session.time_text()}".rstrip()
    shorter = both.replace("step ", "")
    return next((text for text in (both, shorter) if len(text) <= PROGRESS_LETTERS), state.headline)


def _draw_statistics(layout: bpy.types.UILayout, state: BakeState) -> None:
    column = layout.column(align=True)
    if state.device:
        column.label(text=f"On {state.device}")
    for line in statistics_lines(state):
        column.label(text=line)


def statistics_lines(state: BakeState) -> list[str]:
    """What the solver reported of the last frame."""
    latest = state.latest
    if "iterations" not in latest:
        return []
    gap = "Nothing near" if latest["smallest_gap"] is None else f"Smallest gap {latest['smallest_gap'] * 1000:.3g} mm"
    memory = [f"{latest['memory'] / MIB:.0f} MiB"] if latest.get("memory") else []
    return [
        f"Frame {latest['frame']}: {latest['seconds']:.2f} s, {latest['iterations']} iterations",
        f"{latest['contacts']} contacts, {gap[0].lower()}{gap[1:]}",
        ", ".join([f"Largest stretch {latest['largest_stretch']:.3f}", *memory]),
    ]


def word(state: CacheState) -> str:
    """An artist who has just made a cloth misses nothing yet."""
    return status.MISSING.reason if state is CacheState.MISSING else state.value.capitalize()


def draw_cache(layout: bpy.types.UILayout, context: bpy.types.Context, cloth: bpy.types.Object) -> None:
    """State, reason, size and folder of one cloth's cache."""
    state, reason = status.of(context.scene, cloth)
    if session.baking(cloth):
        layout.label(text=BAKING, icon="TIME")
    else:
        layout.label(text=word(state), icon=ICONS[state])
        if reason and reason != status.MISSING.reason:
            message(layout, context, reason, "BLANK1", status.code(state, reason))
    folder, held = str(place.played(cloth)), status.held(context.scene, cloth)
    if bpy.data.filepath and place.is_temporary(folder):
        later = "its frames follow the file once the bake has ended" if session.baking(cloth) else "bake again"
        why = save_as.stranded.get(folder, later)
        text = f"This cache lies in a temporary folder that is lost when Blender closes: {why}"
        message(layout, context, text, "ERROR")
    if held.foreign and not status.shared(context.scene, cloth):
        text = f"It is the bake of {held.foreign}: a bake here goes to a place of its own"
        message(layout, context, text, "INFO")
    bad = sum(bool(entry.troubles) for entry in held.certificates)
    if bad:
        text = f"{bad} of {len(held.certificates)} frames are not clean: see Frames"
        message(layout, context, text, "ERROR")
    if held.size:
        layout.label(text=f"{amount(held.size)}, {amount(held.free)} free on the disk")
    draw_check(layout.row(align=True)).operator("taffeta.open_cache", icon="FILE_FOLDER")


def draw_check(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """The button, or how far the check is."""
    if checking.current is not None:
        layout.progress(factor=checking.current.share, text="Checking: Esc ends it")
    else:
        layout.operator("taffeta.check", icon="VIEWZOOM")
    return layout


def draw_frames(layout: bpy.types.UILayout, context: bpy.types.Context, cloth: bpy.types.Object) -> None:
    """What the solver said of the last frame, the certificate of the current one, and the frames that are not clean."""
    running = session.state().busy
    if running:
        _draw_statistics(layout, session.state())
    certificates = status.held(context.scene, cloth).certificates
    if not certificates:
        if not running:
            layout.label(text="No frame has been baked")
        return
    frame = retiming.current(context.scene)
    index = frame - certificates[0].frame
    if 0 <= index < len(certificates):
        _draw_certificate(layout, context, certificates[index])
    else:
        layout.label(text=f"Frame {frame} is not in the cache")
    bad = [entry for entry in certificates if entry.troubles]
    if not bad:
        unchecked = sum(entry.intersections is None for entry in certificates)
        rest = f", {unchecked} not checked yet" if unchecked else ""
        layout.label(text=f"No trouble in {len(certificates)} frames{rest}", icon="CHECKMARK")
        return
    layout.label(text=f"{len(bad)} of {len(certificates)} frames are not clean:", icon="ERROR")
    for entry in bad[:FRAMES_SHOWN]:
        message(layout, context, f"{entry.frame}: {'; '.join(entry.troubles)}", "BLANK1")
    if len(bad) > FRAMES_SHOWN:
        layout.label(text=f"and {len(bad) - FRAMES_SHOWN} more: see bake.log in the cache folder")


def _draw_certificate(layout: bpy.types.UILayout, context: bpy.types.Context, entry: Certificate) -> None:
    if entry.intersections is None:
        verdict, icon = "not checked", "QUESTION"
    elif entry.intersections:
        verdict, icon = f"{entry.intersections} intersections", "ERROR"
    else:
        verdict, icon = "free of intersections", "CHECKMARK"
    layout.label(text=f"Frame {entry.frame}: {verdict}", icon=icon)
    steps = f", {entry.unfinished_steps} of {entry.steps} steps unfinished" if entry.unfinished_steps else ""
    layout.label(text=f"Largest stretch {entry.largest_stretch:.3f}{steps}", icon="BLANK1")
    if rolled := preroll_text(entry.preroll):
        message(layout, context, rolled.capitalize(), "BLANK1")
    for text in entry.findings:
        message(layout, context, text, "BLANK1")


def amount(size: int) -> str:
    """Bytes, for people."""
    return f"{size / MIB / 1024:.1f} GiB" if size >= 1024 * MIB else f"{size / MIB:.1f} MiB"


CLASSES = (
    TAFFETA_PT_bake,
    TAFFETA_PT_cache,
    TAFFETA_PT_frames,
    TAFFETA_PT_solver,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

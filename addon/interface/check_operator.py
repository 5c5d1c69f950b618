# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the caches: whether they are whole and of this scene, and whether what Blender draws of them crosses."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from ...gpu_core.files.cache import CacheState
from ...gpu_core.messages import coded
from ..cache import checking, status
from ..live import session as live
from .beside import SLICE, TICK, Ticking, redraw
from .greyed import busy, nothing_baked

LATER = "Nobody has looked yet whether what Blender draws of it crosses: Check Caches"


class TAFFETA_OT_check(Ticking):
    bl_idname = "taffeta.check"
    bl_label = "Check Caches"
    bl_description = (
        "Read the scene and every cached frame: which caches are stale, and why, which are damaged, and whether "
        "anything crosses as Blender draws and renders it. Esc ends it"
    )
    bl_options = {"INTERNAL"}

    only_drawn: BoolProperty(
        name="Only What Is Drawn",
        description="Of caches that were just baked: look only whether what Blender makes of them crosses",
        default=False,
        options={"SKIP_SAVE", "HIDDEN"},
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        if live.current is not None:
            return "Live is running: stop it first"
        return busy(context) or nothing_baked(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        checking.start(context, self.only_drawn)
        return self._run_beside(context, TICK)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """At once: scripts and background mode."""
        for _ in checking.judge_by_frame(context) if self.only_drawn else checking.check_by_frame(context):
            pass
        return self._tell(context)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Nothing may change the scene meanwhile, so no event goes on."""
        if checking.current is None:  # another file was loaded
            return self._break_off(context)
        if event.type == "ESC" and event.value == "PRESS":
            return self._break_off(context)
        if event.type == "TIMER":
            try:
                more = checking.current.step(SLICE)
            except BaseException:
                self.cancel(context)
                raise
            redraw(context)
            if not more:
                self.cancel(context)
                return self._tell(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """The window closes, or it is over."""
        checking.close()
        self._remove_timer(context)

    def _break_off(self, context: bpy.types.Context) -> set[str]:
        self.cancel(context)
        self.report({"WARNING"}, coded("The check was broken off"))
        redraw(context)
        return {"CANCELLED"}

    def _tell(self, context: bpy.types.Context) -> set[str]:
        found = status.every(context.scene)
        bad = [
            coded(status.in_words(cloth.name, state, reason), status.code(state, reason))
            for cloth, state, reason in found
            if state is not CacheState.READY
        ]
        bad += map(coded, checking.troubles(context.scene))
        for line in bad:
            self.report({"WARNING"}, line)
        if not bad:
            self.report({"INFO"}, "Every cache is whole and of this scene, and nothing crosses as Blender draws it")
        redraw(context)
        return {"FINISHED"}


def judge_drawn(bake: Ticking, context: bpy.types.Context, beside: bool) -> None:
    """After a bake: look at what Blender makes of it, unless the user is busy, who is told instead.

    beside: the interface, which has a user.
    """
    at_work = beside and (context.mode != "OBJECT" or context.screen.is_animation_playing)
    if at_work or not bpy.ops.taffeta.check.poll():
        bake.report({"WARNING"}, coded(LATER))
    else:
        bpy.ops.taffeta.check("INVOKE_DEFAULT" if beside else "EXEC_DEFAULT", only_drawn=True)


CLASSES = (TAFFETA_OT_check,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

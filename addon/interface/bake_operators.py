# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, pause, cancel, free. Thin: what they do is in `session` and `status`."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...gpu_core.files.cache import CacheError, CacheState
from ...gpu_core.files.disk import DiskError
from ...gpu_core.messages import coded
from ...gpu_core.scene.scene import SceneError
from ..bake import kept, save_as, session
from ..bake import report as bake_report
from ..bake.state import BakeState, Happening, Phase
from ..cache import checking, place, status
from ..scene import modifier, retiming
from ..scene.gather import cloth_objects
from .beside import SLICE, TICK, Ticking, redraw
from .check_operator import judge_drawn
from .greyed import Greyed, busy, no_cloth, nothing_to_free

SCOPES = (
    ("ALL", "All", "Every cloth of the scene, together"),
    (
        "SELECTED",
        "Selected",
        "The selected cloth; other cloth acts as a collider if it has a cache and is ignored if not",
    ),
    ("STALE", "Stale", "The cloth whose cache is missing, partial, damaged, or of another scene than this"),
)
RESUME = (
    "Continue after the last frame in the cache, to the same result as if it had never stopped, with the cloth that "
    "was baked so far; of several bakes one, first that with which others collide"
)
FROM_CURRENT = "Keep the baked frames up to the current one and go on from there, with the scene as it is now"


class TAFFETA_OT_bake(Ticking):
    bl_idname = "taffeta.bake"
    bl_label = "Bake"
    bl_description = "Simulate the cloth of this scene over its frame range, in a process of its own"
    bl_options = {"UNDO"}  # not REGISTER: nothing that bakes may run from Adjust Last Operation

    _asked = False  #: was it invoked in a window, and has the user said yes?

    resume: BoolProperty(
        name="Resume",
        description=RESUME,
        default=False,
        options={"SKIP_SAVE"},
    )
    scope: EnumProperty(
        name="Scope", description="Which cloth is baked", items=SCOPES, default="ALL", options={"SKIP_SAVE"}
    )
    from_current: BoolProperty(
        name="From Current Frame",
        description=FROM_CURRENT,
        default=False,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return no_cloth(context) or busy(context)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        if properties.resume:
            return RESUME
        later = "" if status.begun(context.scene) else ". Nothing is baked yet"  # so the panel has the button grey
        if properties.from_current:
            return f"{FROM_CURRENT}{later}"
        why = "" if _selected(context.scene) else ". No cloth is selected now"
        return {
            "SELECTED": f"Bake {SCOPES[1][2].lower()}{why}",
            "STALE": f"Bake {SCOPES[2][2].lower()}{later}",
        }.get(properties.scope, cls.bl_description)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        self._asked = True
        cloths = self._scoped(context)
        replaces = not self.resume and cloths != []
        lost = kept.would_replace(context.scene, self._frames_kept(context), cloths) if replaces else ""
        if lost:
            return confirmed(self, context, event, "Bake over the cache?", lost, "Bake")
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Block until the bake is over: scripts and background mode, where no timer ever fires."""
        if self._asked:
            return self._run_beside(context, TICK) if self._start(context) else {"CANCELLED"}
        if not self._start(context):
            return {"CANCELLED"}
        assert session.current is not None
        try:
            session.current.wait()
        except BaseException:  # a fault of ours, or Ctrl-C: no bake may be left that nobody follows
            session.close()
            raise
        return self._finish(context)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        bake = session.current
        if bake is None:  # closed: another file was loaded
            return self._finish(context)
        reading = bake.state.phase is Phase.READING
        if event.type == "ESC" and event.value == "PRESS" and (reading or _is_ours(context, event)):
            bake.handle(Happening.CANCEL)
        if event.type == "TIMER":
            try:
                bake.step(SLICE)
            except BaseException:  # a fault of ours
                session.close()
                self._remove_timer(context)
                raise
            redraw(context)
            if not bake.state.busy:
                return self._finish(context)
        # While the scene is read nothing may change it; afterwards Blender is the user's again.
        return {"RUNNING_MODAL"} if reading else {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """The window closes."""
        session.close_window()
        self._remove_timer(context)

    def _start(self, context: bpy.types.Context) -> bool:
        try:
            session.start(session.Bake(context, self._order(context)))
        except (session.NothingToDoError, SceneError, CacheError, DiskError) as error:
            self.report({"ERROR"}, coded(str(error)))
            return False
        return True

    def _frames_kept(self, context: bpy.types.Context) -> int | None:
        """The last frame that stays of what is there, or none."""
        return retiming.current(context.scene) if self.from_current else None

    def _scoped(self, context: bpy.types.Context, known: bool = False) -> list[bpy.types.Object] | None:
        """The cloths that are to be baked; None: all. known: the scene was read before, to know what is stale."""
        if self.scope == "SELECTED":
            return _selected(context.scene)
        if self.scope == "ALL":
            return None
        if not known:
            checking.check(context)
        return [cloth for cloth, state, _ in status.every(context.scene) if state is not CacheState.READY]

    def _order(self, context: bpy.types.Context) -> session.Order:
        """Raises NothingToDoError."""
        cloths = self._scoped(context, known=self._asked)
        if cloths == [] and self.scope == "STALE":
            raise session.NothingToDoError("Nothing is stale: every cache is ready")
        if cloths == []:
            raise session.NothingToDoError("No cloth is selected")
        frame = self._frames_kept(context)
        return session.Order(cloths=cloths, resume=self.resume, from_frame=frame)

    def _finish(self, context: bpy.types.Context) -> set[str]:
        self._remove_timer(context)
        state = session.finish(context)
        for trouble in save_as.settle(context.scene):  # saved for the first time while the bake ran
            self.report({"WARNING"}, coded(trouble))
        status.look(context.scene)
        redraw(context)
        for warning in state.warnings:
            self.report({"WARNING"}, coded(warning))
        self.report(_severity(state), coded(state.headline, state.code or None))
        if state.phase is Phase.DONE and checking.unjudged(context.scene):
            judge_drawn(self, context, beside=self._asked)
        return {"FINISHED"} if state.phase is Phase.DONE else {"CANCELLED"}


class TAFFETA_OT_cancel(Greyed):
    bl_idname = "taffeta.cancel"
    bl_label = "Cancel Bake"
    bl_description = "Stop the bake; the frames so far are kept and the bake can be resumed"
    bl_options = {"INTERNAL"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        if session.current is None:
            return "No bake is running"
        return "The bake stops already" if session.current.state.phase is Phase.CANCELLING else ""

    def execute(self, context: bpy.types.Context) -> set[str]:
        session.tell(Happening.CANCEL)
        return {"FINISHED"}


class TAFFETA_OT_pause(Greyed):
    bl_idname = "taffeta.pause"
    bl_label = "Pause Bake"
    bl_description = "Let the solver wait after its step, or go on; it keeps its memory while it waits"
    bl_options = {"INTERNAL"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        if session.current is None:
            return "No bake is running"
        if session.current.state.phase is Phase.READING:
            return "The scene is being read: cancel instead"
        return "The bake stops already" if session.current.state.phase is Phase.CANCELLING else ""

    def execute(self, context: bpy.types.Context) -> set[str]:
        paused = session.state().phase is Phase.PAUSED
        session.tell(Happening.CONTINUE if paused else Happening.PAUSE)
        return {"FINISHED"}


class TAFFETA_OT_free(Greyed):
    bl_idname = "taffeta.free"
    bl_label = "Free"
    bl_description = (
        "Delete this scene's cache files and the modifiers that play them; undo cannot bring the files back"
    )
    bl_options = {"UNDO"}  # not REGISTER: nothing that deletes may run from Adjust Last Operation

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return busy(context) or nothing_to_free(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        lost = kept.would_free(context.scene) or "Its modifiers go, and what this scene has on the disk"
        return confirmed(self, context, event, "Free the cache?", lost, "Free")

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            count = kept.free(context.scene)
        except (CacheError, DiskError) as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        whose = f"{count} {'cloth' if count == 1 else 'cloths'}" if count else "cloths that are gone"
        self.report({"INFO"}, f"Freed the cache of {whose}")
        return {"FINISHED"}


class TAFFETA_OT_play(Greyed):
    bl_idname = "taffeta.play"
    bl_label = "Play Cache"
    bl_description = "Let the cloth of this scene show the frames that lie on the disk"
    bl_options = {"UNDO"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return no_cloth(context) or busy(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            count = kept.play(context.scene)
        except (CacheError, DiskError) as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{count} {'cloth plays its' if count == 1 else 'cloths play their'} frames")
        redraw(context)
        return {"FINISHED"}


class TAFFETA_OT_open_cache(Greyed):
    bl_idname = "taffeta.open_cache"
    bl_label = "Open Folder"
    bl_description = "Show the folder of this cloth's cache, with its log, in the system's file browser"
    bl_options = {"INTERNAL"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return "" if context.object is not None and modifier.find(context.object) else "This object has no cache"

    def execute(self, context: bpy.types.Context) -> set[str]:
        folder = place.played(context.object)
        if folder is None or not Path(folder).is_dir():
            self.report({"ERROR"}, coded(f"{folder} does not exist. Bake again"))
            return {"CANCELLED"}
        bpy.ops.wm.path_open(filepath=str(folder))
        return {"FINISHED"}


class TAFFETA_OT_copy_report(bpy.types.Operator):
    bl_idname = "taffeta.copy_report"
    bl_label = "Copy Report"
    bl_description = "Versions, device, scene and the log of the last bake to the clipboard, without personal paths"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        text = bake_report.text(context.scene, session.state())
        context.window_manager.clipboard = text
        self.report({"INFO"}, f"Copied {len(text.splitlines())} lines")
        return {"FINISHED"}


CLASSES = (
    TAFFETA_OT_bake,
    TAFFETA_OT_cancel,
    TAFFETA_OT_pause,
    TAFFETA_OT_free,
    TAFFETA_OT_play,
    TAFFETA_OT_open_cache,
    TAFFETA_OT_copy_report,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)


def confirmed(
    operator: bpy.types.Operator, context: bpy.types.Context, event: bpy.types.Event, title: str, lost: str, yes: str
) -> set[str]:
    """Ask before something is lost; Blender calls `execute` where the user says yes."""
    return context.window_manager.invoke_confirm(
        operator, event, title=title, message=lost, confirm_text=yes, icon="WARNING"
    )


def _severity(state: BakeState) -> set[str]:
    match state.phase:
        case Phase.FAILED:
            return {"ERROR"}
        case Phase.CANCELLED:
            return {"WARNING"}
        case _:
            return {"INFO"}


def _selected(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [cloth for cloth in cloth_objects(scene) if cloth.select_get()]


def _is_ours(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """Is the mouse over our panels, and nothing plays? Else Esc is for whatever the user does there."""
    if any(window.screen.is_animation_playing for window in context.window_manager.windows):
        return False
    areas = context.window.screen.areas
    sidebars = (region for area in areas if area.type == "VIEW_3D" for region in area.regions if region.type == "UI")
    return any(
        place.x <= event.mouse_x < place.x + place.width and place.y <= event.mouse_y < place.y + place.height
        for place in (*(area for area in areas if area.type == "PROPERTIES"), *sidebars)
    )

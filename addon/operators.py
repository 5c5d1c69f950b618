"""Bake, cancel, free. Thin: what they do is in `session`."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from ..gpu_core.cache import CacheError
from ..gpu_core.disk import DiskError
from ..gpu_core.scene import SceneError
from . import modifier, session
from .bake_progress import Phase, Progress
from .gather import cloth_objects

TICK = 0.1  #: s between two redraws of the progress
SLICE = 0.04  #: s of reading per tick; the interface answers in between

RUNNING = "A bake is running: wait for it or cancel it"


class TAFFETA_OT_bake(bpy.types.Operator):
    bl_idname = "taffeta.bake"
    bl_label = "Bake"
    bl_description = "Simulate the cloth of this scene over its frame range, in a process of its own"
    bl_options = {"REGISTER", "UNDO"}

    resume: BoolProperty(
        name="Resume",
        description="Continue after the last frame in the cache",
        default=False,
        options={"SKIP_SAVE"},
    )

    _timer: bpy.types.Timer | None = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if session.current is not None:
            cls.poll_message_set(RUNNING)
            return False
        if not any(cloth_objects(context.scene)):
            cls.poll_message_set("No object of this scene has the role Cloth")
            return False
        if context.mode.startswith("EDIT"):
            cls.poll_message_set("Leave Edit Mode first")
            return False
        return True

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return "Continue after the last frame in the cache" if properties.resume else cls.bl_description

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if not self._start(context):
            return {"CANCELLED"}
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Block until the bake is over: scripts and background mode, where no timer ever fires."""
        if not self._start(context):
            return {"CANCELLED"}
        assert session.current is not None
        try:
            session.current.wait()
        except BaseException:  # a fault of ours, or Ctrl-C: no bake may be left that nobody follows
            session.kill()
            raise
        return self._finish(context)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        bake = session.current
        if bake is None:  # killed: another file was loaded
            return self._finish(context)
        reading = bake.progress.phase is Phase.READING
        if event.type == "ESC" and reading:
            bake.cancel()
        if event.type == "TIMER":
            try:
                bake.step(SLICE)
            except BaseException:
                self.cancel(context)
                raise
            _redraw(context)
            if not bake.progress.busy:
                return self._finish(context)
        # While the scene is read nothing may change it; afterwards Blender is the user's again.
        return {"RUNNING_MODAL"} if reading else {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """The window closes, or something went wrong that should not."""
        session.kill()
        self._remove_timer(context)

    def _start(self, context: bpy.types.Context) -> bool:
        try:
            session.start(session.Bake(context, resume=self.resume))
        except (session.NothingToDoError, SceneError, DiskError) as error:
            self.report({"ERROR"}, str(error))
            return False
        return True

    def _finish(self, context: bpy.types.Context) -> set[str]:
        self._remove_timer(context)
        progress = session.finish(context)
        _redraw(context)
        for warning in progress.warnings:
            self.report({"WARNING"}, warning)
        self.report(_severity(progress), progress.headline)
        return {"FINISHED"} if progress.phase is Phase.DONE else {"CANCELLED"}

    def _remove_timer(self, context: bpy.types.Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None


class TAFFETA_OT_cancel(bpy.types.Operator):
    bl_idname = "taffeta.cancel"
    bl_label = "Cancel Bake"
    bl_description = "Stop the bake; the frames so far are kept and the bake can be resumed"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if session.current is None:
            cls.poll_message_set("No bake is running")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        assert session.current is not None
        session.current.cancel()
        return {"FINISHED"}


class TAFFETA_OT_free(bpy.types.Operator):
    bl_idname = "taffeta.free"
    bl_label = "Free"
    bl_description = "Delete this scene's cache files and the modifiers that play them"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if session.current is not None:
            cls.poll_message_set(RUNNING)
            return False
        if not any(modifier.find(cloth) for cloth in cloth_objects(context.scene)):
            cls.poll_message_set("Nothing is baked")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            count = session.free(context.scene)
        except (CacheError, DiskError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Freed the cache of {count} {'cloth' if count == 1 else 'cloths'}")
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_bake, TAFFETA_OT_cancel, TAFFETA_OT_free)
register, unregister = bpy.utils.register_classes_factory(CLASSES)


def _severity(progress: Progress) -> set[str]:
    match progress.phase:
        case Phase.FAILED:
            return {"ERROR"}
        case Phase.CANCELLED:
            return {"WARNING"}
        case _:
            return {"INFO"}


def _redraw(context: bpy.types.Context) -> None:
    """Our panels; a redraw of every viewport ten times a second would slow Blender down."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()

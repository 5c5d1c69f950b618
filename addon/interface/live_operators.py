# SPDX-License-Identifier: GPL-3.0-or-later
"""Live and what can be done with it. Thin: what they do is in `live`, `hand` and `frozen_shape`."""

from __future__ import annotations

from collections.abc import Callable

import bpy
from mathutils import Vector

from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import DiskError
from ...gpu_core.messages import coded
from ...gpu_core.scene.arrays import FloatArray
from ...gpu_core.scene.scene import SceneError
from ..live import hand
from ..live import session as live
from ..live.state import Drag, Grab, LiveState, Occurrence, Phase
from ..scene import frozen_shape
from .beside import Ticking, redraw
from .greyed import Greyed, busy, no_cloth

TICK = 1 / 120  #: s between two looks at the worker


class WhileLive(Greyed):
    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return "Live is not running" if live.current is None else ""


class TAFFETA_OT_live(Ticking):
    bl_idname = "taffeta.live"
    bl_label = "Live Cloth"
    bl_description = (
        "Simulate the cloth of this scene at preview quality while the timeline runs. "
        "Drag cloth with the left mouse button; Esc over the viewport ends it"
    )
    bl_options = {"REGISTER"}

    _view: hand.View | None = None
    _depth: Vector | None = None

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return no_cloth(context) or ("Live runs already" if live.current is not None else busy(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        self.report({"ERROR"}, coded("Live needs a window: bake instead"))
        return {"CANCELLED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        try:
            live.start(context)
        except (SceneError, DiskError) as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        redraw(context)
        return self._run_beside(context, TICK)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if live.current is None or not live.current.state.busy:
            return self._finish(context)
        if event.type == "TIMER":
            try:
                spoke = live.current.step()
            except BaseException:  # a fault of ours: no Live may be left that nobody follows
                self.cancel(context)
                raise
            if spoke:
                redraw(context)
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"} if self._takes(context, event, live.current.state) else {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """The window closes, or something went wrong that should not."""
        live.close()
        self._remove_timer(context)

    def _takes(self, context: bpy.types.Context, event: bpy.types.Event, state: LiveState) -> bool:
        """Does the event belong to Live, and nobody else may have it?"""
        if state.cloth:
            return self._drags(context, event)
        if event.value != "PRESS" or event.type not in ("LEFTMOUSE", "ESC"):
            return False
        view = hand.view_at(context.window, event.mouse_x, event.mouse_y)
        if view is None:
            return False
        if event.type == "ESC":
            live.tell(Occurrence.STOP)
            return True
        return not (event.shift or event.ctrl or event.alt) and self._grabs(context, view)

    def _grabs(self, context: bpy.types.Context, view: hand.View) -> bool:
        found = hand.touched(context, view)
        key = live.current.key(found[0]) if found and live.current else ""
        if not found or not key:
            return False
        self._view, self._depth = view, found[1]
        live.tell(Grab(key, hand.in_metres(context.scene, self._depth)))
        return True

    def _drags(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        if (event.type == "LEFTMOUSE" and event.value == "RELEASE") or event.type in ("ESC", "WINDOW_DEACTIVATE"):
            live.tell(Occurrence.RELEASE)
            return event.type != "WINDOW_DEACTIVATE"
        if event.type != "MOUSEMOVE" or self._view is None or self._depth is None:
            return False
        region = self._view.region
        view = self._view._replace(mouse=(event.mouse_x - region.x, event.mouse_y - region.y))
        place = hand.at_depth(view, self._depth)
        live.tell(Drag(hand.in_metres(context.scene, place)))
        return True

    def _finish(self, context: bpy.types.Context) -> set[str]:
        self._remove_timer(context)
        state = live.finish()
        redraw(context)
        if state.phase is Phase.FAILED:
            self.report({"ERROR"}, coded(state.headline))
        elif state.text:
            self.report({"INFO"}, state.headline)
        return {"FINISHED"}


class TAFFETA_OT_live_end(WhileLive):
    bl_idname = "taffeta.live_end"
    bl_label = "End Live Cloth"
    bl_description = "End Live; the cloth looks as before. Freeze its shape first to keep it"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        live.tell(Occurrence.STOP)
        return {"FINISHED"}


class TAFFETA_OT_live_pause(WhileLive):
    bl_idname = "taffeta.live_pause"
    bl_label = "Pause Live Cloth"
    bl_description = "Hold the cloth where it is, or let it go on"
    bl_options = {"INTERNAL"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        starting = "The solver is starting" if live.state().phase is Phase.STARTING else ""
        return super().obstacle(context) or starting

    def execute(self, context: bpy.types.Context) -> set[str]:
        paused = live.state().phase is Phase.PAUSED
        live.tell(Occurrence.CONTINUE if paused else Occurrence.PAUSE)
        return {"FINISHED"}


class TAFFETA_OT_live_restart(WhileLive):
    bl_idname = "taffeta.live_restart"
    bl_label = "Restart Live Cloth"
    bl_description = "Start over at the first frame, with the scene as it is now; going back in the timeline does too"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        live.tell(Occurrence.RESTART)
        return {"FINISHED"}


class Freezing(WhileLive):
    """Keeps the shapes that Live shows, of the selected cloth and the active one: all of them, or none."""

    bl_options = {"REGISTER", "UNDO"}

    done: str  #: what is to be said then
    require: Callable[[bpy.types.Object, FloatArray], None]  #: raises SceneError where it is not possible
    freeze: Callable[[bpy.types.Object, FloatArray], None]

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        starting = "The solver is starting" if live.state().turn is None else ""
        return super().obstacle(context) or starting or ("" if _chosen(context) else "No cloth of Live is selected")

    def execute(self, context: bpy.types.Context) -> set[str]:
        cloths = _chosen(context)
        try:
            shapes = [live.shape(cloth) for cloth in cloths]
            for cloth, shape in zip(cloths, shapes, strict=True):
                self.require(cloth, shape)
        except (SceneError, CacheError, DiskError) as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        for cloth, shape in zip(cloths, shapes, strict=True):
            self.freeze(cloth, shape)
        self.report({"INFO"}, f"{self.done} of {', '.join(cloth.name for cloth in cloths)}")
        return {"FINISHED"}


class TAFFETA_OT_freeze_start(Freezing):
    bl_idname = "taffeta.freeze_start"
    bl_label = "Freeze Cloth as Start"
    bl_description = "Let bakes and Live start from the shape that Live shows now; the rest shape stays"
    done = "This is the start"
    require, freeze = staticmethod(frozen_shape.require_start), staticmethod(frozen_shape.set_start)


class TAFFETA_OT_freeze_rest(Freezing):
    bl_idname = "taffeta.freeze_rest"
    bl_label = "Freeze Cloth as Rest Shape"
    bl_description = "Make the shape that Live shows now the mesh itself: without stress, and where the cloth starts"
    done = "This is the rest shape"
    require, freeze = staticmethod(frozen_shape.require_rest), staticmethod(frozen_shape.set_rest)


class TAFFETA_OT_clear_start(Greyed):
    bl_idname = "taffeta.clear_start"
    bl_label = "Clear Cloth Start"
    bl_description = "Let this cloth start from its rest shape again"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        item = context.object
        frozen = item is not None and item.type == "MESH" and frozen_shape.has_start(item)
        return "" if frozen else "This object starts from its rest shape"

    def execute(self, context: bpy.types.Context) -> set[str]:
        frozen_shape.clear_start(context.object)
        return {"FINISHED"}


def _chosen(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected objects and the active one, as far as Live simulates them."""
    items = dict.fromkeys([*context.view_layer.objects.selected, context.object])
    return [item for item in items if item is not None and live.current is not None and live.current.key(item)]


CLASSES = (
    TAFFETA_OT_live,
    TAFFETA_OT_live_end,
    TAFFETA_OT_live_pause,
    TAFFETA_OT_live_restart,
    TAFFETA_OT_freeze_start,
    TAFFETA_OT_freeze_rest,
    TAFFETA_OT_clear_start,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)

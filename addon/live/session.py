# SPDX-License-Identifier: GPL-3.0-or-later
"""The one Live that may run in this Blender: it sends events to `live_state` and carries its effects out.

Module state on purpose, as in `session`: properties of a scene are saved with the file and undone with its steps.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...gpu_core.bake.events import Failed
from ...gpu_core.files import job
from ...gpu_core.files.disk import DiskError
from ...gpu_core.files.point_cache import read_frames
from ...gpu_core.live.process import JOB, LiveProcess, shape_path
from ...gpu_core.scene.arrays import FloatArray
from ...gpu_core.scene.scene import Scene, SceneError
from ..device.libraries import libraries
from ..scene import keys, render_job
from ..scene.gather import gather, members
from ..scene.surroundings import Surroundings
from . import display
from .state import Effect, Event, LiveState, Occurrence, Phase, transition

IDLE_WAIT = 0.005  #: s between two looks at the worker, where a caller waits
RECENT = 12  #: frames that the rate averages


class Live:
    """One run of Live, from its button to its end; a little at each `step`."""

    def __init__(self, context: bpy.types.Context) -> None:
        """Goes to the first frame of the scene. Raises SceneError, DiskError: nothing is changed then."""
        self.state = LiveState(Phase.STARTING, waiting=True)
        self._scene_uid = context.scene.session_uid
        self._folder = Path(tempfile.mkdtemp(prefix="live_", dir=bpy.app.tempdir))
        self._landings: deque[float] = deque(maxlen=RECENT)
        self._due = 0.0
        try:
            self._read(context.scene)
            self._process = LiveProcess(self._folder, libraries())
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._process.begin()

    def handle(self, event: Event) -> None:
        """Something has happened: move the state and do what follows. Troubles with that are events too."""
        self.state, effects = transition(self.state, event)
        for effect in effects:
            try:
                EFFECTS[effect](self)
            except SceneError as error:
                self.handle(Failed("scene", str(error), error.object))
            except DiskError as error:
                self.handle(Failed("disk", str(error)))

    def step(self) -> bool:
        """Take what the worker has said and ask for more, no faster than the scene plays; whether it said anything."""
        if (rendering := render_job.runs()) != self.state.rendering:
            self.handle(Occurrence.RENDER_BEGINS if rendering else Occurrence.RENDER_ENDED)
        if not self.state.active:
            return False
        scene = self._scene()
        if scene is None or scene != bpy.context.scene:
            self.handle(Occurrence.SCENE_GONE)
            return True
        self._look_at_timeline(scene)
        events = self._process.poll()
        for event in events:
            self.handle(event)
        now = time.monotonic()
        if self.state.active and now >= self._due and not bpy.context.mode.startswith("EDIT"):
            self._due = max(self._due + scene.render.fps_base / scene.render.fps, now)
            there = self._surroundings.are_there(scene)
            self.handle(Occurrence.DUE if there else Occurrence.SCENE_GONE)
        return bool(events)

    def wait(self) -> None:
        """Step until an answer has come."""
        while self.state.active and not self.step():
            time.sleep(IDLE_WAIT)

    @property
    def rate(self) -> float | None:
        """Frames a second of late, or None before there are two."""
        if len(self._landings) < 2 or self._landings[-1] == self._landings[0]:
            return None
        return (len(self._landings) - 1) / (self._landings[-1] - self._landings[0])

    def key(self, cloth: bpy.types.Object) -> str:
        """Of a cloth that takes part; nothing for any other object."""
        return next((key for key, uid in self._cloths.items() if uid == cloth.session_uid), "")

    def shape(self, cloth: bpy.types.Object) -> FloatArray:
        """(N, 3), object space, as a cloth that takes part is shown. Raises SceneError, CacheError, DiskError."""
        key = self.key(cloth)
        if not key or self.state.turn is None:
            raise SceneError(cloth.name, "Live does not show it", "Start Live again")
        return np.array(read_frames(shape_path(self._folder, key, self.state.turn))[0])

    def _read(self, scene: bpy.types.Scene) -> None:
        """Put the job where the worker looks for it, and the timeline where it begins."""
        first, chosen = scene.frame_start, scene.taffeta
        present, gathered = members(scene), gather(bpy.context, (first, first), with_preroll=False)
        settings = replace(
            gathered.settings,
            step_rate=gathered.settings.fps * chosen.live_steps,
            tolerance=gathered.settings.tolerance * chosen.live_coarseness,
            solver="ndb",
            preset="default" if gathered.settings.preset == "paper" else gathered.settings.preset,
        )
        job.save(
            Scene(gathered.cloths, gathered.colliders, settings, fields=gathered.fields, threads=gathered.threads),
            self._folder / JOB,
        )
        assigned = keys.assign(present.cloths)
        self._cloths = {assigned[item.name_full]: item.session_uid for item in present.cloths}
        scene.frame_set(first)
        self._surroundings = Surroundings(present, gathered)
        self._shown = self._following = first  #: frame of the cloth that is shown, and of the next one

    def _look_at_timeline(self, scene: bpy.types.Scene) -> None:
        """The user may go where he likes; back is a new start."""
        frame, before = scene.frame_current, self._shown
        if frame != before:
            self._shown = self._following = frame
        if frame < before:
            self.handle(Occurrence.RESTART)

    def _scene(self) -> bpy.types.Scene | None:
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_uid), None)

    # Effects

    def _begin(self) -> None:
        scene = self._scene()
        if scene is not None:
            self._landings.clear()
            self._read(scene)
            self._process.begin()

    def _advance(self) -> None:
        """Colliders are read where they will be once the frame is there, and shown where they are until then."""
        scene = self._scene()
        if scene is None:
            return
        now = scene.frame_current
        leads = scene.taffeta.live_timeline and not _plays(scene)
        self._following = max(now, min(now + 1, scene.frame_end)) if leads else now
        with self._surroundings.without_simulation(scene):
            if self._following != now:
                scene.frame_set(self._following)
            moved = self._surroundings.moved(bpy.context.evaluated_depsgraph_get(), self._following)
        if self._following != now:
            scene.frame_set(now)
        self._process.step(moved, self.state.hand)

    def _follow(self) -> None:
        self._landings.append(time.monotonic())
        scene = self._scene()
        if scene is not None and self._following != scene.frame_current:
            scene.frame_set(self._following)
        self._shown = self._following

    def _stay(self) -> None:
        scene = self._scene()
        if scene is not None:
            self._shown = self._following = scene.frame_current

    def _show(self) -> None:
        scene, turn = self._scene(), self.state.turn
        if scene is None or turn is None:
            return
        present = {item.session_uid: item for item in scene.objects}
        for key, uid in self._cloths.items():
            if uid in present:
                display.show(present[uid], shape_path(self._folder, key, turn))

    def _grab(self) -> None:
        chosen, hand = bpy.context.scene.taffeta, self.state.hand
        if hand is not None:
            self._process.grab(self.state.cloth, hand, chosen.grab_radius, chosen.grab_strength)

    def _release(self) -> None:
        self._process.release()

    def _kill_worker(self) -> None:
        self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


EFFECTS: dict[Effect, Any] = {
    Effect.BEGIN: Live._begin,
    Effect.ADVANCE: Live._advance,
    Effect.FOLLOW: Live._follow,
    Effect.STAY: Live._stay,
    Effect.SHOW: Live._show,
    Effect.HIDE: lambda live: display.remove(),
    Effect.GRAB: Live._grab,
    Effect.RELEASE: Live._release,
    Effect.KILL_WORKER: Live._kill_worker,
}


def _plays(scene: bpy.types.Scene) -> bool:
    """Does Blender itself play this scene's timeline?"""
    windows = bpy.context.window_manager.windows
    return any(window.scene == scene and window.screen.is_animation_playing for window in windows)


current: Live | None = None
last = LiveState()  #: how the last one ended


def start(context: bpy.types.Context) -> Live:
    """Make a Live the running one. Raises SceneError, DiskError."""
    global current
    current = Live(context)
    return current


def tell(event: Event) -> None:
    """Something has happened in Blender or to a button; the running Live, if there is one, should know."""
    if current is not None:
        current.handle(event)


def finish() -> LiveState:
    """Take note of how it ended; nothing runs or is shown after this."""
    global current, last
    if current is not None:
        last, current = current.state, None
        display.remove()  # a render may have been in the way
    return last


def shape(cloth: bpy.types.Object) -> FloatArray:
    """As the running Live shows a cloth; see `Live.shape`."""
    if current is None:
        raise SceneError(cloth.name, "Live does not run", "Start it")
    return current.shape(cloth)


def state() -> LiveState:
    """Of the running Live, or of the last one."""
    return current.state if current is not None else last


def close() -> None:
    """End it at once: the file it belongs to goes away, or Blender does."""
    tell(Occurrence.FILE_CLOSING)
    finish()


def forget() -> None:
    """The last Live was another file's, and what a crash has left of one goes."""
    global last
    last = LiveState()
    display.remove()

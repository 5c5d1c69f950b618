# SPDX-License-Identifier: GPL-3.0-or-later
"""The one bake that may run in this Blender: it sends events to `bake_state` and carries its effects out.

Module state on purpose: properties of a scene are saved with the file and would claim a running bake after reopening.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...gpu_core.bake.events import Cancelled, Checked, Done, Failed, Frame, Warn, to_json
from ...gpu_core.bake.failure import failed
from ...gpu_core.bake.process import BakeProcess
from ...gpu_core.files import cache, handover
from ...gpu_core.files import folder as own_folder
from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import DiskError, require_writable
from ...gpu_core.files.job import JobError
from ...gpu_core.files.job_writer import JobWriter
from ...gpu_core.files.lock import require_free
from ...gpu_core.messages import Told
from ...gpu_core.scene.scene import Scene, SceneError, Settings
from ..cache import place, status, writeback
from ..device.libraries import libraries
from ..live import session as live
from ..live.state import Occurrence
from ..scene import keys, pin_properties, render_job
from ..scene.checks import troubles
from ..scene.gather import FrameRange, cloth_objects, gather_by_frame, members, own_cloths
from . import going_on
from .state import BakeState, Effect, Ended, Event, Happening, Phase, Read, transition

IDLE_WAIT = 0.02  #: s between two looks at the worker, where a caller waits
LAST_WORDS = (Done, Cancelled, Failed)  #: of a worker, before it ends


class NothingToDoError(Told, RuntimeError):
    """There is no cloth, or the cache is complete already."""


@dataclass(frozen=True)
class Order:
    """What is to be baked, where it is not everything from the start."""

    frames: FrameRange | None = None  #: None takes the scene's range
    cloths: Sequence[bpy.types.Object] | None = None  #: None takes all cloth
    folder: Path | None = None  #: of the cache; None takes its place beside the .blend
    blend: Path | None = None  #: the .blend file the result is for, where it is not the open one
    resume: bool = False  #: go on after the last frame
    from_frame: int | None = None  #: keep what the cache holds up to this frame and go on from there


class Bake:
    """One bake: read the scene, hand it to the worker process, follow it; a little at each `step`."""

    def __init__(self, context: bpy.types.Context, order: Order | None = None) -> None:
        """Raises NothingToDoError, SceneError, CacheError, DiskError: before anything is changed."""
        order = order or Order()
        scene = context.scene
        every = cloth_objects(scene)
        if not every:
            raise NothingToDoError("No object has the role Cloth: choose it in Properties > Physics > Taffeta")
        earlier = _goes_on(scene, order)
        cloths, played = _of(earlier, scene) if order.resume and order.cloths is None else (order.cloths, None)
        cloths = own_cloths(scene) if cloths is None else list(cloths)
        if not cloths:
            raise NothingToDoError("Every cloth is linked from another file: Object > Library Override > Make")
        place.refuse_shared(cloths, scene)
        self.order = order
        self.state = BakeState(phase=Phase.READING, warnings=tuple(_ignored(scene)))
        self.settings: Settings | None = None  #: of the scene, once it is read
        self.reports: list[dict[str, Any]] = []
        self._began = time.monotonic()
        self._blend = order.blend or place.open_file()
        self._place(scene, cloths, earlier)
        place.refuse_foreign(self.folder, scene, self._blend)
        own_folder.prepare(self.folder)
        require_writable(self.folder)
        require_free(self.folder)
        # Numbers outlive undo and renaming, unlike the objects and their names.
        self._scene_uid = scene.session_uid
        assigned = keys.assign(every)
        self._uids = {assigned[item.name_full]: item.session_uid for item in cloths}
        by_role = sorted(scene.objects, key=lambda item: item.taffeta.role == "NONE")  # those that take part first
        self._names = {item.session_uid: item.name for item in by_role}
        self._job = JobWriter(handover.incoming(self.folder))  # until the worker has the lock, and takes it in
        self._reading: Generator[float, None, Scene] | None = gather_by_frame(
            context, order.frames, cloths, played, into=self._job
        )
        self._process: BakeProcess | None = None
        self._last_words: Event | None = None

    def _place(self, scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object], earlier: Path | None) -> None:
        """The folder; and where it is somebody else's bake that goes on, that one as the source."""
        self.folder = self.order.folder or place.target(scene, self.order.blend, cloths)
        self._source: Path | None = None
        if earlier is None or earlier == self.folder:
            return
        if place.foreign(earlier, scene, self._blend):
            self._source = earlier
        elif self.order.blend is None:
            self.folder = earlier

    def handle(self, event: Event) -> None:
        """Something has happened: move the state and do what follows. Troubles with that are events too."""
        self.state, effects = transition(self.state, event)
        for effect in effects:
            try:
                EFFECTS[effect](self)
            except NothingToDoError as error:
                self.handle(Failed("nothing", str(error)))
            except (SceneError, DiskError, CacheError, JobError) as error:
                self.handle(failed(error))

    def step(self, seconds: float) -> None:
        """Read the scene for about this long, or take what the worker has said since."""
        if (rendering := render_job.runs()) != self.state.rendering:
            self.handle(Happening.RENDER_BEGINS if rendering else Happening.RENDER_ENDED)
        if self.state.active and not self._is_there():
            self.handle(Happening.SCENE_GONE)
        if self._reading is not None and not self.state.rendering:
            self._read(self._reading, seconds)
        if self._process is not None:
            self._follow(self._process)

    def wait(self) -> None:
        """Step until the bake is over."""
        while self.state.busy:
            self.step(1.0)
            time.sleep(IDLE_WAIT)

    @property
    def remaining(self) -> float | None:
        """Seconds to go, or None while nobody knows."""
        return self._process.eta if self._process is not None else None

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def bakes(self, cloth: bpy.types.Object) -> bool:
        """Is this one of its cloths?"""
        return cloth.session_uid in self._uids.values()

    def _read(self, reading: Generator[float, None, Scene], seconds: float) -> None:
        until = time.monotonic() + seconds
        try:
            while True:  # a little at least, however late it is by now
                self.handle(Read(next(reading)))
                if time.monotonic() >= until:
                    return
        except StopIteration as finished:
            self._reading, self.settings = None, finished.value.settings
            self._warn_of_idle_pins(finished.value)
        except (SceneError, CacheError, DiskError) as error:
            return self.handle(failed(error))
        except ReferenceError:  # a reader's object was deleted
            return self.handle(self._went_away())
        self.handle(Happening.SCENE_READ)  # here, where nobody holds the arrays of the job's files any more

    def _warn_of_idle_pins(self, scene: Scene) -> None:
        items = self._cloths()
        for cloth in scene.cloths:
            for group in pin_properties.idle(items[cloth.key], cloth) if cloth.key in items else ():
                self.handle(Warn(f"{cloth.name}: {pin_properties.without_vertex(group)}"))

    def _went_away(self) -> Failed:
        """By name, where it is one of the scene's own that was deleted."""
        scene = self._blender_scene()
        there = {item.session_uid for item in scene.objects} if scene is not None else set()
        gone = next((name for uid, name in self._names.items() if uid not in there), "")
        if not gone:
            return Failed("scene", "An object changed or went away while the scene was read. Bake again")
        return Failed("scene", f"{gone}: it was deleted while the scene was read. Bake again", gone)

    def _follow(self, process: BakeProcess) -> None:
        for event in process.poll():
            if isinstance(event, LAST_WORDS):
                self._last_words = event
                continue
            if isinstance(event, Frame):
                self.reports.append(to_json(event))
            elif isinstance(event, Checked) and (scene := self._blender_scene()) is not None:
                status.certify(scene, self.folder, self.reports, event.report)
            self.handle(event)
        if not process.running:  # only now nobody writes into the folder any more
            handover.discard(self._job.folder)
            killed = Cancelled() if process.state == "cancelled" else None
            self.handle(self._last_words or killed or Ended(process.error))
            self._give_copy_back()

    def _give_copy_back(self) -> None:
        """A copy of somebody else's bake that nothing was added to is of no use: the cloth still plays the original."""
        if self._source is not None and not self.state.done and self.state.phase is not Phase.DONE:
            with suppress(CacheError, DiskError):  # what is left is a whole bake
                own_folder.free(self.folder)

    # Effects

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.close()  # puts modifiers and the current frame back
            self._reading = None
        self._job.close()

    def _start_worker(self) -> None:
        with closing(self._job):
            self._hand_over()

    def _hand_over(self) -> None:
        settings, blender_scene = self.settings, self._blender_scene()
        if settings is None or blender_scene is None:
            raise NothingToDoError("The scene is gone")
        before, keep = self._source or self.folder, 0
        if self.order.resume:
            going_on.require_same(before, self._job.content)
        elif self.order.from_frame is not None:
            keep = going_on.kept(before, settings, self.order.from_frame)
            self._require_cached(before)
        if self._source is not None:
            place.take_over(self._source, self.folder)
        self._job.commit()
        keys.store(blender_scene, cloth_objects(blender_scene))
        place.claim(self._job.folder, self.folder, blender_scene, self._blend)
        status.begin(blender_scene, self.folder)
        self._process = BakeProcess(
            self._job.folder,
            self.folder,
            resume=self.order.resume,
            keep=keep,
            libraries=libraries(),
            gives_way=not bpy.app.background,
        )

    def _require_cached(self, folder: Path) -> None:
        """Raises SceneError where a cloth is not in the cache whose frames stay, CacheError."""
        points = cache.read_contents(folder).points
        new = next((item for key, item in self._cloths().items() if key not in points), None)
        if new is not None:
            raise SceneError(
                new.name,
                "there is nothing to go on from: it is new since this bake",
                "Bake from the start, or select it and use Bake Selected",
            )

    def _pause_worker(self) -> None:
        if self._process is not None:
            self._process.pause()

    def _continue_worker(self) -> None:
        if self._process is not None:
            self._process.proceed()

    def _cancel_worker(self) -> None:
        if self._process is not None:
            self._process.cancel()

    def _kill_worker(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._give_copy_back()

    def _play(self) -> None:
        if self.settings is not None:
            writeback.attach(self._cloths(), self.settings.frame_start, self.folder)

    def _cloths(self) -> dict[str, bpy.types.Object]:
        """Those that are still in the scene, by cache key."""
        scene = self._blender_scene()
        there = {item.session_uid: item for item in scene.objects} if scene is not None else {}
        return {key: there[uid] for key, uid in self._uids.items() if uid in there}

    def _blender_scene(self) -> bpy.types.Scene | None:
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_uid), None)

    def _is_there(self) -> bool:
        scene = self._blender_scene()
        return scene is not None and not set(self._uids.values()).isdisjoint(item.session_uid for item in scene.objects)


EFFECTS = {
    Effect.STOP_READING: Bake._stop_reading,
    Effect.START_WORKER: Bake._start_worker,
    Effect.PAUSE_WORKER: Bake._pause_worker,
    Effect.CONTINUE_WORKER: Bake._continue_worker,
    Effect.CANCEL_WORKER: Bake._cancel_worker,
    Effect.KILL_WORKER: Bake._kill_worker,
    Effect.PLAY: Bake._play,
}


def _ignored(scene: bpy.types.Scene) -> Iterator[str]:
    """What the bake goes on without, in words."""
    for trouble in troubles(scene, members(scene)):
        if trouble.ignored:
            yield f"{trouble.name}: {trouble.text}"


def _goes_on(scene: bpy.types.Scene, order: Order) -> Path | None:
    """The folder of the bake that goes on; None where one begins, or somebody has named the folder."""
    if order.folder is not None or not (order.resume or order.from_frame is not None):
        return None
    if order.resume and order.cloths is None:
        status.look(scene)
        if (left := status.left(scene)) is not None:
            return status.folder_of(scene, left)
    return next(iter(place.lying(scene, own_cloths(scene) if order.cloths is None else order.cloths)), None)


def _of(folder: Path | None, scene: bpy.types.Scene) -> tuple[list[bpy.types.Object] | None, list[str] | None]:
    """(the cloths that the bake in a folder simulated, names of those that were colliders); None where it cannot
    tell."""
    if folder is None:
        return None, None
    with suppress(CacheError):
        contents = cache.read_contents(folder)
        return status.cloths_of(contents, scene) or None, status.colliders_of(contents)
    return place.lying(scene, own_cloths(scene)).get(folder), None


current: Bake | None = None
last = BakeState()  #: how the last bake ended


def start(bake: Bake) -> None:
    """Make this the running bake; Live ends for it."""
    global current
    live.tell(Occurrence.BAKE_BEGINS)
    current = bake


def tell(event: Event) -> None:
    """Something has happened in Blender or to a button; the running bake, if there is one, should know."""
    if current is not None:
        current.handle(event)


def finish(context: bpy.types.Context) -> BakeState:
    """Take note of how the running bake ended; nothing runs after this."""
    global current, last
    if current is not None:
        last, current = current.state, None
    status.look(context.scene)
    return last


def state() -> BakeState:
    """Of the running bake, or of the last one."""
    return current.state if current is not None else last


def baking(cloth: bpy.types.Object) -> bool:
    """Is it in the running bake? What its cache is worth will be looked up at the end."""
    return current is not None and current.bakes(cloth)


def close() -> None:
    """Stop a running bake at once: the file it belongs to goes away, or Blender does."""
    global current
    if current is not None:
        tell(Happening.FILE_CLOSING)
        current = None
        status.forget()


def close_window() -> None:
    """Stop a running bake whose window goes away, and keep how it ended: Blender and the file stay."""
    global current, last
    if current is not None:
        current.handle(Happening.WINDOW_CLOSING)
        last, current = current.state, None
        status.forget()


def forget() -> None:
    """The last bake was another file's."""
    global last
    last = BakeState()


def time_text() -> str:
    """“1:20 left”, or while nobody knows that, “0:07 so far”."""
    if current is None:
        return ""
    left = current.remaining
    return f"{_clock(current.elapsed)} so far" if left is None else f"{_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

"""The one bake that may run in this Blender, and what the panels show of it.

Module state on purpose: properties of a scene are saved with the file and would claim a running bake after reopening.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy

from ..gpu_core import cache, job
from ..gpu_core.bake import BakeProcess
from ..gpu_core.cache import CacheError, CacheState
from ..gpu_core.disk import DiskError
from ..gpu_core.job import JobError
from ..gpu_core.scene import Scene, SceneError
from . import cache_place, keys, writeback
from .bake_progress import Phase, Progress, fail, transition
from .gather import FrameRange, cloth_objects, gather_by_frame

IDLE_WAIT = 0.02  #: s between two looks at the worker, where a caller waits


class NothingToDoError(RuntimeError):
    """There is no cloth, or the cache is complete already."""


class Bake:
    """One bake: read the scene, hand it to the worker process, follow it; a little at each `step`."""

    def __init__(
        self,
        context: bpy.types.Context,
        frames: FrameRange | None = None,
        folder: Path | None = None,
        blend: Path | None = None,
        resume: bool = False,
    ) -> None:
        """
        Args:
            frames: None takes the scene's range.
            folder: of the cache; None takes the scene's place for it.
            blend: the .blend file the result is for, where it is not the open one.

        Raises:
            NothingToDoError, SceneError, DiskError: before anything is changed.
        """
        if not cloth_objects(context.scene):
            raise NothingToDoError("No object has the role Cloth: choose it in Properties > Physics > Taffeta")
        resumable = cache_place.attached(context.scene) if resume and blend is None else None
        self.folder = folder or resumable or cache_place.target(context.scene, blend)
        cache_place.make_writable(self.folder)
        self.resume = resume
        self._scene_uid = context.scene.session_uid  # outlives undo and renaming, unlike the object and its name
        self.scene: Scene | None = None
        self.reports: list[dict[str, Any]] = []
        self.progress = Progress(phase=Phase.READING)
        self._reading: Generator[float, None, Scene] | None = gather_by_frame(context, frames)
        self._process: BakeProcess | None = None
        self._playing = False

    def step(self, seconds: float) -> None:
        """Read the scene for about this long, or take what the worker has said since. Errors end up in `progress`."""
        try:
            if self._reading is not None:
                self._read(seconds)
            elif self._process is not None:
                self._follow(self._process)
        except NothingToDoError as error:
            self._fail("nothing", error)
        except SceneError as error:
            self._fail("scene", error, error.object)
        except (DiskError, CacheError, JobError) as error:
            self._fail("disk", error)

    def wait(self) -> None:
        """Step until the bake is over."""
        while self.progress.busy:
            self.step(1.0)
            time.sleep(IDLE_WAIT)

    def cancel(self) -> None:
        """Stop soon; the frames so far are kept."""
        self.progress = transition(self.progress, {"event": "cancelling"})
        if self._process is not None:
            self._process.cancel()
        else:
            self._stop_reading()
            self.progress = transition(self.progress, {"event": "cancelled"})

    def kill(self) -> None:
        """Stop now."""
        self._stop_reading()
        if self._process is not None:
            self._process.kill()
        self.progress = transition(self.progress, {"event": "cancelled"})

    @property
    def remaining(self) -> float | None:
        """Seconds to go, or None while nobody knows."""
        return self._process.eta if self._process is not None else None

    def _read(self, seconds: float) -> None:
        assert self._reading is not None
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                share = next(self._reading)
            except StopIteration as finished:
                self._reading = None
                self.scene = finished.value
                self._start(finished.value)
                return
            self.progress = transition(self.progress, {"event": "read", "share": min(share, 0.999)})

    def _start(self, scene: Scene) -> None:
        if self.resume:
            _require_resumable(self.folder, scene)
        folder = self.folder / cache_place.JOB
        job.save(scene, folder)
        blender_scene = self._blender_scene()
        if blender_scene is not None:
            keys.store(cloth_objects(blender_scene))
        self._process = BakeProcess(folder, self.folder, resume=self.resume)
        self.progress = transition(self.progress, {"event": "read", "share": 1.0})

    def _follow(self, process: BakeProcess) -> None:
        for event in process.poll():
            self.progress = transition(self.progress, event)
            if event["event"] == "frame":
                self.reports.append(event)
                if not self._playing:  # frames play as they land
                    self._attach(self.scene)
        if self.progress.busy and process.state in ("done", "cancelled", "failed"):
            self.progress = transition(self.progress, {"event": "ended", "text": process.error})
        if not self.progress.busy and self.progress.done:
            self._attach(self.scene)  # again, because undo may have taken it back

    def _attach(self, baked: Scene | None) -> None:
        scene = self._blender_scene()
        if baked is not None and scene is not None:
            writeback.attach(scene, baked, self.folder)
            self._playing = True

    def _blender_scene(self) -> bpy.types.Scene | None:
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_uid), None)

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.close()  # puts modifiers and the current frame back
            self._reading = None

    def _fail(self, kind: str, error: Exception, culprit: str = "") -> None:
        self._stop_reading()
        self.progress = fail(self.progress, kind, str(error), culprit)


def _require_resumable(folder: Path, scene: Scene) -> None:
    state, reason, _ = cache.inspect(folder, job.digest(scene))
    if state is CacheState.READY:
        raise NothingToDoError(f"The cache is complete: {reason}")
    if state is CacheState.STALE:
        held, asked = cache.read_contents(folder), scene.settings
        if (held.frame_start, held.frame_end) != (asked.frame_start, asked.frame_end):
            reason = f"it is of frames {held.frame_start}..{held.frame_end}, not {asked.frame_start}..{asked.frame_end}"
    if state in (CacheState.STALE, CacheState.CORRUPT):
        raise SceneError("Cache", f"this bake cannot be resumed: {reason}", "Bake from the start")


current: Bake | None = None
last = Progress()  #: how the last bake ended
cache_state, cache_reason = CacheState.MISSING, ""  #: of the scene's cache, when it was last looked at


def start(bake: Bake) -> None:
    """Make this the running bake."""
    global current
    current = bake


def finish(context: bpy.types.Context) -> Progress:
    """Take note of how the running bake ended; nothing runs after this."""
    global current, last
    if current is not None:
        last, current = current.progress, None
    inspect_cache(context.scene)
    return last


def progress() -> Progress:
    """Of the running bake, or of the last one."""
    return current.progress if current is not None else last


def kill() -> None:
    """Stop a running bake at once: the file it belongs to goes away, or Blender does."""
    global current
    if current is not None:
        current.kill()
        current = None


def forget() -> None:
    """The last bake was another file's."""
    global last
    last = Progress()


def inspect_cache(scene: bpy.types.Scene) -> None:
    """Find out what the scene's cache is worth. Reads the disk, so panels do not call it."""
    global cache_state, cache_reason
    try:
        cache_state, cache_reason, _ = cache.inspect(cache_place.current(scene))
    except SceneError:  # never saved, so there is no place for one
        cache_state, cache_reason = CacheState.MISSING, ""


def free(scene: bpy.types.Scene) -> int:
    """Delete the scene's cache and our modifiers, and nothing else; the number of cloths that had one.

    Raises:
        CacheError: the folder is in use or holds somebody else's files.
        DiskError: a file cannot be deleted.
    """
    folder = cache_place.attached(scene)
    count = writeback.detach(scene)
    forget()
    try:
        if folder is not None:
            cache_place.free_job(folder)
            cache.free(folder)
    finally:
        inspect_cache(scene)
    return count


def remaining_text() -> str:
    """“1:20 left”, or nothing while nobody knows."""
    seconds = current.remaining if current is not None else None
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} left"

# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake: from a job folder to frames in a cache folder, one after the other, each on disk before the next begins.

Runs in the calling process. Blender and the command line start it through `BakeProcess` in a process of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import checkpoint, folder, handover
from ..files import job as job_folder
from ..files.cache_writer import CacheWriter
from ..files.disk import DiskError
from ..files.lock import locked
from ..scene.scene import Scene
from ..scene.settings import BackendName
from .beginning import Beginning, beginning
from .events import BakeEvent, Cancelled, Checked, Done, Frame, Start, Warn, Working
from .extension import extended
from .frame_report import warnings, with_memory
from .preroll import State, first_frame
from .process import BakeProcess

if TYPE_CHECKING:
    from ..report import FrameReport
    from ..simulator import Simulator
    from .frame_checker import FrameChecker

SILENCE = 5.0  #: s of a frame after which is said where it is
WAIT = 0.1  #: s between two questions whether to go on, while the last frames are checked


def bake(
    job: Path,
    cache: Path,
    *,
    resume: bool = False,
    keep: int = 0,
    backend: BackendName | None = None,
    check: bool = True,
    on_event: Callable[[BakeEvent], None],
    cancelled: Callable[[], bool],
) -> None:
    """Simulate the scene of a job folder into a cache folder.

    Args:
        job: folder written by `job.save`; one that was left in `handover.incoming` of the cache is taken in.
        cache: folder of ours for the frames; made where it is missing, an earlier bake in it is replaced.
        resume: go on after the last good frame instead; the result has the same bytes as an unbroken bake. The range
            may have another end than the bake so far.
        keep: so many first frames of the cache stay, whatever scene they are of, and the bake begins at the last of
            them (`continuation`); 0 begins at the start.
        backend: where the solver runs, in place of what the job says.
        check: let another process look for intersections in each frame.
        on_event: called with each event, at the end `Done` or `Cancelled`; failures are raised.
        cancelled: asked before every step; the frames so far are kept and can be resumed. It may take its time: that
            is a pause.

    Raises:
        BusyError: somebody else bakes there. Nothing of theirs was touched.
        StaleError, CompleteError: `resume`, and the cache is of another scene, or nothing is left to do.
        JobError, SceneError: the job is not usable.
        BackendError: the device asked for is not there.
        CacheError, DiskError: the cache folder is damaged, foreign, read-only or full.
        SolverError, FloatingPointError: the simulation diverged; the frames before stay good.
    """
    # Imported here: Blender's own Python imports this module for BakeProcess and has no SciPy.
    from ..backend import select
    from ..check.folding import folding
    from ..simulator import Simulator
    from .frame_checker import FrameChecker

    digest = job_folder.digest(job)
    folder.prepare(cache)
    with locked(cache):
        earlier, same = extended(cache / folder.JOB, job) if resume else ("", 0)
        begin = beginning(cache, digest, resume, keep, earlier, same if earlier not in ("", digest) else None)
        if handover.is_incoming(job, cache):  # not before, for what is refused leaves the job of the frames
            job = handover.adopt(job, cache)
        scene = job_folder.load(job)
        device = select(backend or scene.settings.backend, scene.vertices)
        on_event(Start(scene.settings.frames, device.name, device.device))
        for text in filter(None, (device.passed_over, *begin.warnings)):
            on_event(Warn(text))
        if begin.backend not in ("", device.name):
            so_far = f"The frames so far were baked on {begin.backend}"
            on_event(Warn(f"{so_far}: on {device.name} the rest may differ in last digits"))
        if not begin.complete:
            simulator = Simulator(_begun(scene, cache, begin.kept), device, cache=cache)
            for text in (*simulator.warnings, *(folding(scene) if check and not begin.done else ())):
                on_event(Warn(text))
            if begin.state:
                simulator.restore(begin.state)
            if begin.state and earlier not in ("", digest):
                checkpoint.save(cache, begin.done, scene.settings.frames, digest, begin.state)
            writer = _writer(scene, cache, device.name, begin)
        with closing(FrameChecker(job, cache, scene.settings.frame_start)) if check else nullcontext() as checker:
            if not begin.complete and not _run(simulator, writer, checker, on_event, cancelled, begin):
                on_event(Cancelled())
                return
            if checker is not None:
                checker.submit_until(scene.settings.frame_end)
                while checker.open and not cancelled():
                    _tell(checker, on_event, wait=WAIT)
    on_event(Done())


def _begun(scene: Scene, cache: Path, kept: int) -> Scene:
    from .continuation import continued

    return continued(scene, cache, kept) if kept else scene


def _writer(scene: Scene, cache: Path, device: str, begin: Beginning) -> CacheWriter:
    writer = CacheWriter(cache, scene, device, begin.kept)
    if begin.done:
        writer.rewind(begin.done)
    else:
        writer.begin()
    return writer


def _run(
    simulator: Simulator,
    writer: CacheWriter,
    checker: FrameChecker | None,
    on_event: Callable[[BakeEvent], None],
    cancelled: Callable[[], bool],
    begin: Beginning,
) -> bool:
    """From the simulator's frame to the last of the range; whether it got there."""
    from ..simulator import InterruptionError

    first, last = writer.contents.frame_start, writer.contents.frame_end
    frames = writer.contents.frames
    asked = _Asked(cancelled, simulator.scene.settings.steps_per_frame, on_event)

    def advance() -> FrameReport:
        asked.begin(simulator.frame + 1)
        if asked():
            raise InterruptionError
        report = simulator.advance_frame(asked)
        report.seconds = max(report.seconds - asked.seconds, 0.0)
        return report

    def save(done: int, state: State) -> None:
        checkpoint.save(writer.folder, done, frames, writer.contents.digest, state)

    def record(report: dict[str, Any]) -> None:
        writer.append(simulator.frame, simulator.positions(), report)
        landed = simulator.frame - first + 1
        save(landed, simulator.state())
        on_event(Frame(report, landed, frames))
        if checker is not None:
            checker.submit_until(simulator.frame)
            _tell(checker, on_event)

    try:
        if not begin.done:
            record(first_frame(simulator, advance, partial(save, 0), begin.state, on_event))
        while simulator.frame < last:
            report = advance()
            record(with_memory(report))
            for text in warnings(report):
                on_event(Warn(text))
        for text in simulator.open_seams():
            on_event(Warn(text))
        writer.mark("done")
    except InterruptionError:
        writer.mark("cancelled")
        return False
    except BaseException:
        with suppress(DiskError):  # on a full disk the cache still says running, which is as good
            writer.mark("failed")
        raise
    return True


class _Asked:
    """Asks before each step whether to stop, and says where a frame is that takes long.

    Counts the seconds that asking takes: a pause is no time of the solver's.
    """

    def __init__(self, cancelled: Callable[[], bool], steps: int, on_event: Callable[[BakeEvent], None]) -> None:
        self._cancelled, self._steps, self._on_event = cancelled, steps, on_event

    def begin(self, frame: int) -> None:
        self._frame, self._step, self.seconds = frame, 0, 0.0
        self._spoken = time.perf_counter()

    def __call__(self) -> bool:
        began = time.perf_counter()
        self._step += 1
        if began - self._spoken > SILENCE:
            self._on_event(Working(self._frame, min(self._step, self._steps), self._steps))
            self._spoken = began
        answer = self._cancelled()
        self.seconds += time.perf_counter() - began
        return answer


def _tell(checker: FrameChecker, on_event: Callable[[BakeEvent], None], wait: float = 0.0) -> None:
    for line in checker.answers(wait):
        on_event(Checked(line))


__all__ = ["BakeProcess", "bake"]

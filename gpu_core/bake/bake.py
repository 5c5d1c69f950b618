# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake: from a job folder to frames in a cache folder, one after the other, each on disk before the next begins.

Runs in the calling process. Blender and the command line start it through `BakeProcess` in a process of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import checkpoint
from ..files import job as job_folder
from ..files.cache import CacheError, CacheState, CacheWriter, inspect, locked, read_contents
from ..files.disk import DiskError, make_folder
from ..files.job import JobError
from ..files.program import program
from ..scene.scene import BackendName, Scene
from .events import BakeEvent, Cancelled, Checked, Done, Frame, Start, Warn
from .memory import peak_memory
from .process import BakeProcess

if TYPE_CHECKING:
    from ..simulator import FrameReport, Simulator
    from .frame_checker import FrameChecker

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
        job: folder written by `job.save`.
        cache: folder for the frames; made where it is missing, an earlier bake in it is replaced.
        resume: go on after the last checkpoint instead; the result has the same bytes as an unbroken bake.
        keep: so many first frames of the cache stay, whatever scene they are of, and the bake begins at the last of
            them (`continuation`); 0 begins at the start.
        backend: where the solver runs, in place of what the job says.
        check: let another process look for intersections in each frame.
        on_event: called with each event, at the end `Done` or `Cancelled`; failures are raised.
        cancelled: asked before every step; the frames so far are kept and can be resumed. It may take its time: that
            is a pause.

    Raises:
        JobError, SceneError: the job is not usable, or `resume` and the scene is another than the cache's.
        BackendError: the device asked for is not there.
        CacheError, DiskError: the cache folder is in use, damaged, foreign, read-only or full.
        SolverError, FloatingPointError: the simulation diverged; the frames before stay good.
    """
    # Imported here: Blender's own Python imports this module for BakeProcess and has no SciPy.
    from ..backend import select
    from ..simulator import Simulator
    from .frame_checker import FrameChecker

    scene = job_folder.load(job)
    digest = job_folder.digest(job)
    make_folder(cache)
    with locked(cache):
        state, reason, _ = inspect(cache, digest, program()) if resume else (CacheState.MISSING, "", 0)
        _refuse_resume(state, reason)
        device = select(backend or scene.settings.backend)
        on_event(Start(scene.settings.frames, device.name, device.device))
        saved = None
        if state is CacheState.PARTIAL:
            before = read_contents(cache)
            keep = before.kept
            if before.backend != device.name:
                text = f"The frames so far were baked on {before.backend}: on {device.name} the rest may differ"
                on_event(Warn(f"{text} in last digits"))
            saved = checkpoint.load(cache, digest)
        if state is not CacheState.READY:
            simulator = Simulator(_begun(scene, cache, keep), device, cache=job)
            for text in simulator.warnings:
                on_event(Warn(text))
            writer = CacheWriter(cache, scene, device.name, keep)
            done = saved[0] - scene.settings.frame_start + 1 if saved is not None else keep
            if saved is not None:
                simulator.restore(saved[1])
            if done:
                writer.rewind(done)
            else:
                writer.begin()
        with closing(FrameChecker(job, cache, scene.settings.frame_start)) if check else nullcontext() as checker:
            if state is not CacheState.READY and not _run(scene, simulator, writer, checker, on_event, cancelled, done):
                on_event(Cancelled())
                return
            if checker is not None:
                checker.submit_until(scene.settings.frame_end)
                while checker.open and not cancelled():
                    _tell(checker, on_event, wait=WAIT)
    on_event(Done())


def _begun(scene: Scene, cache: Path, keep: int) -> Scene:
    from .continuation import continued

    return continued(scene, cache, keep) if keep else scene


def _refuse_resume(state: CacheState, reason: str) -> None:
    if state is CacheState.STALE:
        raise JobError(reason, "Bake from the start instead of resuming")
    if state is CacheState.CORRUPT:
        raise CacheError(reason, "Bake from the start instead of resuming")


def _run(
    scene: Scene,
    simulator: Simulator,
    writer: CacheWriter,
    checker: FrameChecker | None,
    on_event: Callable[[BakeEvent], None],
    cancelled: Callable[[], bool],
    done: int,
) -> bool:
    """From the simulator's frame to the last of the range; whether it got there. done: frames in the cache."""
    from ..simulator import InterruptionError

    first, frames = scene.settings.frame_start, scene.settings.frames
    asked = _Asked(cancelled)

    def record(report: dict[str, Any]) -> None:
        writer.append(simulator.frame, simulator.positions(), report)
        checkpoint.save(writer.folder, simulator.frame, writer.contents.digest, simulator.state())
        on_event(Frame(report, simulator.frame - first + 1, frames))
        if checker is not None:
            checker.submit_until(simulator.frame)
            _tell(checker, on_event)

    try:
        if not done:
            record({"frame": first, "seconds": 0.0})
        while simulator.frame < scene.settings.frame_end:
            asked.seconds = 0.0
            if asked():
                raise InterruptionError
            report = simulator.advance_frame(asked)
            report.seconds = max(report.seconds - asked.seconds, 0.0)
            record({**report_values(report), "memory": peak_memory()})
            for text in _warnings(report):
                on_event(Warn(text))
        writer.mark("done")
    except InterruptionError:
        writer.mark("cancelled")
        return False
    except BaseException:
        with suppress(DiskError):  # on a full disk the cache still says running, which is as good
            writer.mark("failed")
        raise
    checkpoint.remove(writer.folder)
    return True


class _Asked:
    """Asks whether to stop and counts the seconds that takes: a pause is no time of the solver's."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self.seconds = 0.0

    def __call__(self) -> bool:
        began = time.perf_counter()
        answer = self._cancelled()
        self.seconds += time.perf_counter() - began
        return answer


def _tell(checker: FrameChecker, on_event: Callable[[BakeEvent], None], wait: float = 0.0) -> None:
    for line in checker.answers(wait):
        on_event(Checked(line))


def _warnings(report: FrameReport) -> Iterator[str]:
    if report.released:
        text = f"Frame {report.frame}: no room was left between {', '.join(report.released)}"
        yield f"{text}. There the cloth may be crossed until they part"
    if report.faults:
        text = f"Frame {report.frame}: {'; '.join(report.faults)} cross although nothing was released there"
        yield f"{text}. This is a fault of Taffeta: please report the scene"


def report_values(report: FrameReport) -> dict[str, Any]:
    """The report as JSON values; JSON knows no infinity (the gap where nothing is near)."""
    values = asdict(report)
    return {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in values.items()}


__all__ = ["BakeProcess", "bake"]

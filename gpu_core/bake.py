"""The bake: from a job folder to frames in a cache folder, one after the other, each on disk before the next begins.

Runs in the calling process. Blender and the command line start it through `BakeProcess` in a process of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import checkpoint
from . import job as job_folder
from .bake_process import BakeProcess
from .cache import CacheError, CacheState, CacheWriter, inspect, locked, read_contents
from .disk import DiskError, make_folder
from .job import JobError
from .scene import Scene

if TYPE_CHECKING:
    from .simulator import FrameReport, Simulator

Event = dict[str, Any]


def bake(
    job: Path, cache: Path, *, resume: bool = False, on_event: Callable[[Event], None], cancelled: Callable[[], bool]
) -> None:
    """Simulate the scene of a job folder into a cache folder.

    Args:
        job: folder written by `job.save`.
        cache: folder for the frames; made where it is missing, an earlier bake in it is replaced.
        resume: go on after the last checkpoint instead; the result has the same bytes as an unbroken bake.
        on_event: called with each event (see `worker`): start, warning, frame, and at the end done or cancelled.
        cancelled: asked before every frame; the frames so far are kept and can be resumed.

    Raises:
        JobError, SceneError: the job is not usable, or `resume` and the scene is another than the cache's.
        BackendError: the device asked for is not there.
        CacheError, DiskError: the cache folder is in use, damaged, foreign, read-only or full.
        SolverError, FloatingPointError: the simulation diverged; the frames before stay good.
    """
    # Imported here: Blender's own Python imports this module for BakeProcess and has no SciPy.
    from .backend import select
    from .simulator import Simulator

    scene = job_folder.load(job)
    digest = job_folder.digest(job)
    frames = scene.settings.frames
    make_folder(cache)
    with locked(cache):
        state, reason, _ = inspect(cache, digest) if resume else (CacheState.MISSING, "", 0)
        _refuse_resume(state, reason)
        backend = select(scene.settings.backend)
        on_event({"event": "start", "frames": frames, "backend": backend.name, "device": backend.device})
        if state is CacheState.READY:
            on_event({"event": "done"})
            return
        simulator = Simulator(scene, backend, cache=job)
        for text in simulator.warnings:
            on_event({"event": "warning", "text": text})
        writer = CacheWriter(cache, scene, digest, backend.name)
        if state is CacheState.PARTIAL and (baked_on := read_contents(cache).backend) != backend.name:
            text = f"The frames so far were baked on {baked_on}: on {backend.name} the rest may differ in last digits"
            on_event({"event": "warning", "text": text})
        saved = checkpoint.load(cache, digest) if state is CacheState.PARTIAL else None
        if saved is None:
            writer.begin()
        else:
            simulator.restore(saved[1])
            writer.rewind(saved[0] - scene.settings.frame_start + 1)
        _run(scene, simulator, writer, on_event, cancelled, fresh=saved is None)


def _refuse_resume(state: CacheState, reason: str) -> None:
    if state is CacheState.STALE:
        raise JobError(reason, "Bake from the start instead of resuming")
    if state is CacheState.CORRUPT:
        raise CacheError(reason, "Bake from the start instead of resuming")


def _run(
    scene: Scene,
    simulator: Simulator,
    writer: CacheWriter,
    on_event: Callable[[Event], None],
    cancelled: Callable[[], bool],
    *,
    fresh: bool,
) -> None:
    """From the simulator's frame to the last of the range."""
    first, last, frames = scene.settings.frame_start, scene.settings.frame_end, scene.settings.frames

    def record(report: Event) -> None:
        writer.append(simulator.frame, simulator.positions(), report)
        checkpoint.save(writer.folder, simulator.frame, writer.contents.digest, simulator.state())
        on_event({"event": "frame", **report, "done": simulator.frame - first + 1, "frames": frames})

    try:
        if fresh:
            record({"frame": first, "seconds": 0.0})
        while simulator.frame < last:
            if cancelled():
                writer.mark("cancelled")
                on_event({"event": "cancelled"})
                return
            report = simulator.advance_frame()
            record(_values(report))
            if report.released:
                text = f"Frame {report.frame}: no room was left between {', '.join(report.released)}"
                on_event({"event": "warning", "text": f"{text}. There the cloth may be crossed until they part"})
            if report.faults:
                text = f"Frame {report.frame}: {'; '.join(report.faults)} cross although nothing was released there"
                on_event({"event": "warning", "text": f"{text}. This is a fault of Taffeta: please report the scene"})
        writer.mark("done")
    except BaseException:
        with suppress(DiskError):  # on a full disk the cache still says running, which is as good
            writer.mark("failed")
        raise
    checkpoint.remove(writer.folder)
    on_event({"event": "done"})


def _values(report: FrameReport) -> Event:
    """The report as JSON values; JSON knows no infinity (the gap where nothing is near)."""
    values = asdict(report)
    return {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in values.items()}


__all__ = ["BakeProcess", "bake"]

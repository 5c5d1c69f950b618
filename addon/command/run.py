# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta run`: bake a job folder. Needs Python, NumPy and SciPy, but no Blender."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from ...gpu_core.bake.events import Frame, Prerolled, Working, to_json
from ...gpu_core.bake.failure import kind_of
from ...gpu_core.bake.process import BakeProcess
from ...gpu_core.files import job
from ...gpu_core.files.disk import DiskError
from ...gpu_core.files.folder import of_user
from ...gpu_core.files.job import JobError
from ..device.answer import FAILURES, CommandError, Exit, Report, tell, tell_frame
from ..device.libraries import libraries

CACHE = "cache"  #: within the job folder, so that one folder travels both ways


def run(options: Namespace, report: Report) -> None:
    folder = options.job.resolve()
    place = of_user(options.cache.resolve()) if options.cache else folder / CACHE
    try:
        job.digest(folder)
        backend = options.backend or ""
        process = BakeProcess(folder, place, resume=options.resume, backend=backend, libraries=libraries())
    except (JobError, DiskError) as error:
        raise CommandError(FAILURES[kind_of(error)], str(error)) from error
    reports = _follow(process, quiet=options.json)
    report.bake(
        place,
        state=process.state,
        frames_done=process.done,
        frames=process.frames,
        backend=process.backend,
        device=process.device,
        warnings=process.warnings,
        reports=reports,
    )
    if process.state == "failed":
        raise CommandError(FAILURES[process.error_kind], process.error, process.error_object)
    if process.state == "cancelled":
        raise CommandError(Exit.CANCELLED, f"Cancelled: {process.done} of {process.frames} frames are in the cache")


def _follow(process: BakeProcess, quiet: bool) -> list[dict[str, Any]]:
    """Tell each frame that lands, until the worker has ended; the reports of the frames."""
    reports = []
    while process.running:
        try:
            for event in process.follow():
                if isinstance(event, Frame):
                    reports.append(to_json(event))
                    tell_frame(reports[-1], quiet)
                elif isinstance(event, Prerolled):
                    text = f"frame {event.frame}: pre-roll {event.done} of {event.frames}"
                    tell(text, sys.stderr)
                elif isinstance(event, Working):
                    text = f"frame {event.frame}: step {event.step} of {event.steps}"
                    tell(text, sys.stderr)
        except KeyboardInterrupt:
            process.cancel()
    for warning in process.warnings:
        tell(f"taffeta: {warning}", sys.stderr)
    return reports

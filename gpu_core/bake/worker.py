# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker process: `python -m gpu_core.bake.worker JOB --cache CACHE [--resume | --keep FRAMES] [--backend NAME]
[--gives-way]`, started in the extension's root.

On standard output one JSON object a line (`events`), and nothing else:

    {"event": "start", "frames": 48, "backend": "cpu", "device": "…"}
    {"event": "warning", "text": "…"}
    {"event": "frame", "frame": 2, …the solver's report…, "seconds": 0.8, "memory": …, "done": 2, "frames": 48}
    {"event": "certificate", "frame": 2, "intersections": 0, …}
    {"event": "done"} or {"event": "cancelled"}
    {"event": "error", "kind": "scene" | "backend" | "solver" | "disk", "text": "…", "object": "…"}

Exit codes: 0 done, 3 bad scene, job or backend, 5 cancelled, 6 solver or disk failure. SIGTERM, a file named `cancel`
in the cache folder, or a reader that went away stop it after the step it works on; the frames are kept and can be
resumed. While a file named `pause` lies there, it waits after its step. The bake's story goes to `bake.log` beside.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from ..backend import BackendError
from ..files.cache import CANCEL, PAUSE, CacheError
from ..files.disk import DiskError
from ..files.job import JobError
from ..scene.scene import BackendName, SceneError
from ..simulator import SolverError
from .bake import bake
from .events import BakeEvent, Failed, to_json
from .log import BakeLog
from .priority import give_way

DONE, BAD_SCENE, CANCELLED, FAILED = 0, 3, 5, 6
PAUSE_LOOK = 0.1  #: s between two looks whether a pause is over

#: Errors that speak to the user; everything else is a fault of ours and goes to the log with its traceback.
KINDS: dict[type[Exception], str] = {
    SceneError: "scene",
    JobError: "scene",
    BackendError: "backend",
    CacheError: "disk",
    DiskError: "disk",
    SolverError: "solver",
    FloatingPointError: "solver",
}


class Messages:
    """Standard output, kept for events: whatever else a library prints goes to standard error."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self.reader_is_gone = False
        self.last = ""
        os.dup2(2, 1)

    def send(self, line: Mapping[str, Any]) -> None:
        self.last = line["event"]
        if self.reader_is_gone:
            return
        try:
            print(json.dumps(line), file=self._stream, flush=True)
        except OSError:
            self.reader_is_gone = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Bake one job and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gpu_core.bake.worker", description="Bake a Taffeta job folder.")
    parser.add_argument("job", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    beginning = parser.add_mutually_exclusive_group()
    beginning.add_argument("--resume", action="store_true")
    beginning.add_argument("--keep", type=int, default=0, metavar="FRAMES")
    parser.add_argument("--backend", choices=get_args(BackendName))
    parser.add_argument("--gives-way", action="store_true", help="to the window of whoever started it")
    options = parser.parse_args(arguments)
    if options.gives_way:
        give_way()
    messages, stop = Messages(), Stop()
    cancel, pause = options.cache / CANCEL, options.cache / PAUSE
    log = BakeLog(options.job, options.cache, goes_on=options.resume or bool(options.keep))

    def stopped() -> bool:
        return stop.asked or messages.reader_is_gone or cancel.exists()

    def cancelled() -> bool:
        while pause.exists() and not stopped():
            time.sleep(PAUSE_LOOK)
        return stopped()

    def send(event: BakeEvent) -> None:
        log.write(event)
        messages.send(to_json(event))

    try:
        bake(
            options.job,
            options.cache,
            resume=options.resume,
            keep=options.keep,
            backend=options.backend,
            on_event=send,
            cancelled=cancelled,
        )
    except Exception as error:  # the parent must hear of every failure, of those nobody thought of too
        failed = failure(error)
        send(failed)
        return exit_code(failed)
    finally:
        with suppress(OSError):
            cancel.unlink(missing_ok=True)
            pause.unlink(missing_ok=True)
    return CANCELLED if messages.last == "cancelled" else DONE


class Stop:
    """Set by SIGTERM."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, number: int, frame: Any) -> None:
        self.asked = True


def exit_code(failed: Failed) -> int:
    return BAD_SCENE if failed.kind in ("scene", "backend") else FAILED


def _kind(error: Exception) -> str:
    return next((kind for known, kind in KINDS.items() if isinstance(error, known)), "solver")


def failure(error: Exception) -> Failed:
    """What a worker says before it ends; a fault of ours goes to standard error, with its traceback."""
    text = str(error)
    if not isinstance(error, tuple(KINDS)):
        traceback.print_exception(error)
        text = "Out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
    return Failed(_kind(error), text, getattr(error, "object", ""))


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())

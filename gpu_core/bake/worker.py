# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker process: `python -m gpu_core.bake.worker JOB --cache CACHE [--resume | --keep FRAMES] [--backend NAME]
[--led] [--gives-way]`, started in the extension's root.

On standard output one JSON object a line (`events`), and nothing else:

    {"event": "start", "frames": 48, "backend": "cpu", "device": "…"}
    {"event": "warning", "text": "…", "code": "TAF-…"}
    {"event": "preroll", "frame": -3, …as of a frame, "done": 2, "frames": 6}    before the range, and not stored
    {"event": "frame", "frame": 2, …the solver's report…, "seconds": 0.8, "memory": …, "done": 2, "frames": 48}
    {"event": "working", "frame": 3, "step": 5, "steps": 8}    a frame takes long
    {"event": "certificate", "frame": 2, "intersections": 0, …}
    {"event": "done"} or {"event": "cancelled"}
    {"event": "error", "kind": "…", "text": "…", "object": "…", "code": "TAF-…"}

The exit code is one of EXITS. SIGTERM, a file named `cancel` in the cache folder, a reader that went away, and with
--led a word or the end of standard input (`stop`) stop it within a second or two; the frames so far are kept and can be
resumed. The bake's story goes to `bake.log` in the cache folder.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from ..files.cache_writer import mark_cancelled
from ..files.disk import DiskError
from ..files.errors import CacheError
from ..files.lock import CANCEL
from ..scene.settings import BackendName
from ..simulator import SolverError
from .bake import bake
from .events import BakeEvent, Cancelled, Failed, Frame, Prerolled, to_json
from .failure import KINDS, kind_of
from .log import BakeLog
from .priority import give_way
from .stop import Stop

DONE, CANCELLED, FAILED = 0, 5, 6

#: Exit codes by the kind of failure; the commands have the same (`addon.device.answer`).
EXITS = {"scene": 3, "backend": 3, "nothing": 4, "solver": FAILED, "stale": 7, "disk": 8, "busy": 9, "damaged": 10}

#: Every error that speaks to the user; anything else is a fault of ours and goes to the log with its traceback.
TOLD: Mapping[type[Exception], str] = {**KINDS, SolverError: "solver", FloatingPointError: "solver"}


class Messages:
    """Standard output, kept for events: whatever else a library prints goes to standard error."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self._one_at_a_time = threading.Lock()
        self.reader_is_gone = False
        self.last = ""
        os.dup2(2, 1)

    def send(self, line: Mapping[str, Any]) -> None:
        with self._one_at_a_time:
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
    parser.add_argument("--led", action="store_true", help="by a parent that speaks on standard input until its end")
    parser.add_argument("--gives-way", action="store_true", help="to the window of whoever started it")
    options = parser.parse_args(arguments)
    if options.gives_way:
        give_way()
    messages = Messages()
    log = BakeLog(options.job, options.cache, goes_on=options.resume or bool(options.keep))
    under_way = threading.Event()

    def send(event: BakeEvent) -> None:
        if isinstance(event, Frame | Prerolled):
            under_way.set()
        log.write(event)
        messages.send(to_json(event))

    def give_up() -> None:
        """In the midst of a step. Every frame is whole on disk before it counts, so nothing is lost but that step."""
        if under_way.is_set():  # before, what lies there may be another bake's
            with suppress(CacheError, DiskError):  # then it says that it was broken off, which is as good
                mark_cancelled(options.cache)
        send(Cancelled())
        os._exit(CANCELLED)

    stop = Stop(options.cache / CANCEL, options.led, give_up)
    try:
        bake(
            options.job,
            options.cache,
            resume=options.resume,
            keep=options.keep,
            backend=options.backend,
            on_event=send,
            cancelled=lambda: stop.stopped() or messages.reader_is_gone,
        )
    except Exception as error:  # the parent must hear of every failure, of those nobody thought of too
        stop.over.set()
        event = failure(error)
        send(event)
        return exit_code(event)
    stop.over.set()
    return CANCELLED if messages.last == "cancelled" else DONE


def exit_code(event: Failed) -> int:
    return EXITS[event.kind]


def failure(error: Exception) -> Failed:
    """What a worker says before it ends; a fault of ours goes to standard error, with its traceback."""
    text, kind = str(error), kind_of(error, TOLD)
    if not kind:
        traceback.print_exception(error)
        text = "Out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
    return Failed(kind or "solver", text, getattr(error, "object", ""))


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())

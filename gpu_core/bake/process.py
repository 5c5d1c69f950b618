# SPDX-License-Identifier: GPL-3.0-or-later
"""The parent's side of a bake: starts the worker, listens, and survives whatever happens to it. No bpy, no SciPy."""

from __future__ import annotations

import atexit
import shutil
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..files.disk import disk_errors
from ..files.folder import LOG
from .events import BakeEvent, Cancelled, Done, Failed, Frame, Prerolled, Start, Warn, from_json
from .worker_process import Listener, end_of_log, ending, send_signal, start, tell

PATIENCE = 1.8  #: seconds a worker may take to stop after `cancel`, before it is killed; it takes 1 where it can
RECENT = 8  #: frames that the estimate of the remaining time averages


def time_left(frames: int, seconds: Sequence[float], since: float) -> float:
    """How long so many frames still take, s, where those before them took `seconds` each, the last ended `since` s ago.

    One that takes longer counts with them: what is left grows while it lasts, and does not jump at its end.
    """
    pace = sum(seconds) / len(seconds)
    if since <= pace:
        return max(frames * pace - since, 0.0)
    return max(frames - 1, 0) * (sum(seconds) + since) / (len(seconds) + 1)


class BakeProcess:
    """A worker process that bakes a job folder into a cache folder. Starts when made; call `poll` now and then.

    Attributes:
        state: starting, running, done, cancelled or failed.
        frames: frames of the whole range; done: how many are in the cache; frame: the last one's scene frame.
        backend, device: what the worker runs on, once it says so.
        warnings: what it warned of.
        error, error_kind, error_object: why it failed: see `events.Failed`; crash where it could not say.
        exit_code: of the process once it has ended; negative is the signal that ended it.
    """

    def __init__(
        self,
        job: Path,
        cache: Path,
        *,
        resume: bool = False,
        keep: int = 0,
        backend: str = "",
        libraries: Sequence[Path] = (),
        gives_way: bool = False,
    ) -> None:
        """resume, keep, backend: see `bake.bake`. libraries: folders that come first on the worker's module path.
        gives_way: somebody looks at a window meanwhile, which comes first on the processors.

        Raises DiskError (no room for the worker's log).
        """
        self.state: Literal["starting", "running", "done", "cancelled", "failed"] = "starting"
        self.frames = self.done = 0
        self.frame: int | None = None
        self.backend = self.device = self.error = self.error_kind = self.error_object = ""
        self.warnings: list[str] = []
        self.exit_code: int | None = None
        self._cache = Path(cache).resolve()
        self._ahead = 0  #: frames of the pre-roll that are still to come
        self._seconds: deque[float] = deque(maxlen=RECENT)
        self._arrived = time.monotonic()  #: when the last frame came
        self._paused: float | None = None  #: since when it waits
        self._last_event: BakeEvent | None = None
        self._deadline: float | None = None  # set by cancel
        self._stopped_by_us = False
        how = ["--led"]
        how += ["--resume"] if resume else ["--keep", str(keep)] if keep else []
        how += ["--backend", backend] if backend else []
        how += ["--gives-way"] if gives_way else []
        arguments = [str(Path(job).resolve()), "--cache", str(self._cache), *how]
        with disk_errors(Path(tempfile.gettempdir())):
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        self._process = start("gpu_core.bake.worker", arguments, self._log, libraries, hears=True)
        self._listener = Listener(self._process, from_json)
        atexit.register(self.kill)

    @property
    def running(self) -> bool:
        return self.state in ("starting", "running")

    @property
    def eta(self) -> float | None:
        """Seconds to go at the pace of the last frames, or None before there is one."""
        if not self._seconds or not self.running:
            return None
        since = (self._paused or time.monotonic()) - self._arrived
        return time_left(self.frames - self.done + self._ahead, self._seconds, since)

    def poll(self) -> list[BakeEvent]:
        """Events since the last call, without waiting; updates every attribute."""
        ended = self._process.poll() is not None
        events = self._listener.events(ended)
        for event in events:
            self._take(event)
        if ended and self.running:
            self._finish()
        elif self._deadline is not None and time.monotonic() > self._deadline:
            send_signal(self._process, getattr(signal, "SIGKILL", signal.SIGTERM))
        return events

    def follow(self, interval: float = 0.1) -> Iterator[BakeEvent]:
        """Events until the worker has ended, waiting between them."""
        while self.running:
            yield from self.poll()
            if self.running:
                time.sleep(interval)

    def pause(self) -> None:
        """Let the worker wait after the step it works on. It keeps its memory."""
        tell(self._process, "pause")
        self._paused = time.monotonic()

    def proceed(self) -> None:
        """End a pause."""
        tell(self._process, "continue")
        if self._paused is not None:
            self._arrived += time.monotonic() - self._paused
            self._paused = None

    def cancel(self) -> None:
        """Ask the worker to stop. `poll` goes on until state is cancelled; a worker that does not listen within
        PATIENCE seconds is killed, which costs it no frame that is on disk."""
        if not self.running or self._deadline is not None:
            return
        self._stopped_by_us = True
        self._deadline = time.monotonic() + PATIENCE
        tell(self._process, "cancel")

    def kill(self) -> None:
        """End the worker at once and wait for that. The frames on disk stay good."""
        if self._process.poll() is None:
            self._stopped_by_us = True
            send_signal(self._process, getattr(signal, "SIGKILL", signal.SIGTERM))
            self._process.wait()
        self.poll()

    def _take(self, event: BakeEvent) -> None:
        self._last_event = event
        match event:
            case Start():
                self.state = "running"
                self.frames, self.backend, self.device = event.frames, event.backend, event.device
            case Warn():
                self.warnings.append(event.text)
            case Prerolled():
                self._ahead = event.frames - event.done
                self._seconds.append(event.seconds)
                self._arrived = time.monotonic()
            case Frame():
                self.frame, self.done = event.frame, event.done
                self._arrived = time.monotonic()
                if event.seconds:  # the start state takes no time
                    self._seconds.append(event.seconds)
            case Failed():
                self.error, self.error_kind, self.error_object = event.text, event.kind, event.object

    def _finish(self) -> None:
        self.exit_code = self._process.returncode
        self._deadline = None  # the number of a process that is gone may be another's
        atexit.unregister(self.kill)
        if self.exit_code == 0 and isinstance(self._last_event, Done):
            self.state, self.done = "done", self.frames
        elif isinstance(self._last_event, Cancelled) or (self._stopped_by_us and not self.error):
            self.state = "cancelled"
        else:
            self.state = "failed"
            if not self.error:
                self.error, self.error_kind = self._crash(), "crash"
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._keep_log()

    def _keep_log(self) -> None:
        """What the worker said besides goes to the folder it had, where there is anything."""
        with suppress(OSError), self._log:
            if self._log.seek(0, 2) and self.backend:
                self._log.seek(0)
                with open(self._cache / LOG, "wb") as file:
                    shutil.copyfileobj(self._log, file)

    def _crash(self) -> str:
        where = "before the first frame" if self.frame is None else f"after frame {self.frame}"
        kept = "" if self.frame is None else " The frames so far are kept: resume to go on."
        tail = end_of_log(self._log)
        return f"The worker ended with {ending(self.exit_code or 0)} {where}.{kept}" + (f"\n{tail}" if tail else "")

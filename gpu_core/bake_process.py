"""The parent's side of a bake: starts the worker, listens, and survives whatever happens to it. No bpy, no SciPy."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Literal

from .cache import CANCEL, LOG, PAUSE
from .disk import disk_errors, make_folder

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 3.0  #: seconds a worker may take for the step it works on after `cancel`, before it is killed
RECENT = 8  #: frames that the estimate of the remaining time averages
LOG_LINES = 30  #: of the worker's log in an error text; a crash in C leaves a long one


class BakeProcess:
    """A worker process that bakes a job folder into a cache folder. Starts when made; call `poll` now and then.

    Attributes:
        state: starting, running, done, cancelled or failed.
        frames: frames of the whole range; done: how many are in the cache; frame: the last one's scene frame.
        backend, device: what the worker runs on, once it says so.
        warnings: what it warned of.
        error, error_kind, error_object: why it failed: scene, backend, solver, disk, or crash where it could not say.
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
    ) -> None:
        """resume, keep, backend: see `bake.bake`. libraries: folders that come first on the worker's module path.

        Raises DiskError (the cache folder).
        """
        self.state: Literal["starting", "running", "done", "cancelled", "failed"] = "starting"
        self.frames = self.done = 0
        self.frame: int | None = None
        self.backend = self.device = self.error = self.error_kind = self.error_object = ""
        self.warnings: list[str] = []
        self.exit_code: int | None = None
        self._cache = Path(cache).resolve()
        self._seconds: deque[float] = deque(maxlen=RECENT)
        self._last_event = ""
        self._deadline: float | None = None  # set by cancel
        self._stopped_by_us = False
        make_folder(self._cache)
        with disk_errors(self._cache):
            for name in (CANCEL, PAUSE):
                (self._cache / name).unlink(missing_ok=True)
            how = ["--resume"] if resume else ["--keep", str(keep)] if keep else []
            how += ["--backend", backend] if backend else []
            with open(self._cache / LOG, "wb") as log:
                self._process = _start(Path(job).resolve(), self._cache, how, libraries, log)
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue()
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=_read, args=(self._process.stdout, self._queue), daemon=True)
        self._reader.start()
        atexit.register(self.kill)

    @property
    def running(self) -> bool:
        return self.state in ("starting", "running")

    @property
    def eta(self) -> float | None:
        """Seconds to go at the pace of the last frames, or None before there is one."""
        if not self._seconds or not self.running:
            return None
        return (self.frames - self.done) * sum(self._seconds) / len(self._seconds)

    def poll(self) -> list[dict[str, Any]]:
        """Events since the last call, without waiting; updates every attribute."""
        ended = self._process.poll() is not None
        if ended:
            self._reader.join(timeout=1.0)  # the pipe holds what the worker said last
        events = []
        with suppress(queue.Empty):
            while True:
                events.append(self._queue.get_nowait())
                self._take(events[-1])
        if ended and self.running:
            self._finish()
        elif self._deadline is not None and time.monotonic() > self._deadline:
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        return events

    def follow(self, interval: float = 0.1) -> Iterator[dict[str, Any]]:
        """Events until the worker has ended, waiting between them."""
        while self.running:
            yield from self.poll()
            if self.running:
                time.sleep(interval)

    def pause(self) -> None:
        """Let the worker wait after the step it works on. It keeps its memory. Raises DiskError."""
        with disk_errors(self._cache / PAUSE):
            (self._cache / PAUSE).touch()

    def proceed(self) -> None:
        """End a pause. Raises DiskError."""
        with disk_errors(self._cache / PAUSE):
            (self._cache / PAUSE).unlink(missing_ok=True)

    def cancel(self) -> None:
        """Ask the worker to stop after the step it works on. `poll` goes on until state is cancelled; a worker that
        does not listen within PATIENCE seconds is killed, which costs it no frame that is on disk."""
        if not self.running or self._deadline is not None:
            return
        self._stopped_by_us = True
        self._deadline = time.monotonic() + PATIENCE
        with suppress(OSError):  # on a full disk the signal must do
            (self._cache / CANCEL).touch()
        if os.name == "posix":  # elsewhere terminate would be a kill
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the worker at once and wait for that. The frames on disk stay good."""
        if self._process.poll() is None:
            self._stopped_by_us = True
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            self._process.wait()
        self.poll()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            if os.name == "posix":
                os.killpg(self._process.pid, number)  # it leads its own session: children go with it
            else:
                self._process.terminate()

    def _take(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        self._last_event = kind
        if kind == "start":
            self.state = "running"
            self.frames, self.backend, self.device = event["frames"], event["backend"], event["device"]
        elif kind == "warning":
            self.warnings.append(event["text"])
        elif kind == "frame":
            self.frame, self.done = event["frame"], event["done"]
            if event["seconds"]:  # the first frame is the start state and takes no time
                self._seconds.append(event["seconds"])
        elif kind == "error":
            self.error, self.error_kind, self.error_object = event["text"], event["kind"], event["object"]

    def _finish(self) -> None:
        self.exit_code = self._process.returncode
        atexit.unregister(self.kill)
        self._reader.join(timeout=1.0)
        if self.exit_code == 0 and self._last_event == "done":
            self.state, self.done = "done", self.frames
        elif self._last_event == "cancelled" or (self._stopped_by_us and not self.error):
            self.state = "cancelled"
        else:
            self.state = "failed"
            if not self.error:
                self.error, self.error_kind = self._crash(), "crash"
        for name in (CANCEL, PAUSE):
            with suppress(OSError):
                (self._cache / name).unlink(missing_ok=True)

    def _crash(self) -> str:
        code = self.exit_code or 0
        how = f"signal {-code} ({_signal_name(-code)})" if code < 0 else f"exit code {code}"
        where = "before the first frame" if self.frame is None else f"after frame {self.frame}"
        kept = "" if self.frame is None else " The frames so far are kept: resume to go on."
        tail = _tail(self._cache / LOG)
        return f"The worker ended with {how} {where}.{kept}" + (f"\n{tail}" if tail else "")


def _start(
    job: Path, cache: Path, how: Sequence[str], libraries: Sequence[Path], log: IO[bytes]
) -> subprocess.Popen[str]:
    command = [sys.executable, "-s", "-m", "gpu_core.worker", str(job), "--cache", str(cache), *how]
    flags: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": _windows_flags()}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=worker_environment(libraries),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        encoding="utf-8",
        errors="replace",
        **flags,
    )


def worker_environment(libraries: Sequence[Path] = ()) -> dict[str, str]:
    """Ours without Python's own variables: those of the parent (Blender) would mislead the worker."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    folders = [str(Path(folder).resolve()) for folder in libraries] + _library_folders()
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    return environment


def _library_folders() -> list[str]:
    """Where this process would import NumPy and SciPy from: an extension's wheels are not on a bare Python's path."""
    specs = [importlib.util.find_spec(name) for name in ("numpy", "scipy")]
    return [str(Path(spec.origin).parents[1]) for spec in specs if spec is not None and spec.origin]


def _windows_flags() -> int:
    names = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW")
    return sum(int(getattr(subprocess, name, 0)) for name in names)


def _read(stream: IO[str], into: queue.Queue[dict[str, Any]]) -> None:
    """Runs in a thread of its own: reading would block the parent."""
    for line in stream:
        with suppress(ValueError, TypeError, KeyError):  # a line cut off by a crash is no event
            event = json.loads(line)
            event["event"]
            into.put(event)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _tail(path: Path) -> str:
    with suppress(OSError):
        return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:])
    return ""

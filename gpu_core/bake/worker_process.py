# SPDX-License-Identifier: GPL-3.0-or-later
"""A module of ours in a process of its own that says JSON lines: starting, hearing, ending it. No bpy, no SciPy."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from .events import EventError, Failed

ROOT = Path(__file__).resolve().parents[2]
LOG_LINES = 30  #: of a worker's log in an error text; a crash in C leaves a long one
FAULT = "Fatal Python error"  #: how faulthandler begins what it writes of a crash


def start(
    module: str,
    arguments: Sequence[str],
    log: IO[bytes],
    libraries: Sequence[Path] = (),
    *,
    hears: bool = False,
) -> subprocess.Popen[str]:
    """Run `python -m module`. log: gets standard error. libraries: folders that come first on its module path.
    hears: it is spoken to on standard input; otherwise that is closed."""
    flags: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": _windows_flags()}
    return subprocess.Popen(
        [sys.executable, "-s", "-m", module, *arguments],
        cwd=ROOT,
        env=worker_environment(libraries),
        stdin=subprocess.PIPE if hears else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        encoding="utf-8",
        errors="replace",
        **flags,
    )


Said = TypeVar("Said")


class Listener(Generic[Said]):
    """What a process has said, without waiting for it."""

    def __init__(self, process: subprocess.Popen[str], event_of: Callable[[dict[str, Any]], Said]) -> None:
        """event_of: the event of a line, or EventError."""
        assert process.stdout is not None
        self._queue: queue.Queue[Said | Failed] = queue.Queue()
        self._reader = threading.Thread(target=_read, args=(process.stdout, event_of, self._queue), daemon=True)
        self._reader.start()

    def events(self, ended: bool) -> list[Said | Failed]:
        """All since the last call. ended: the process is gone, so this is the last it said."""
        if ended:
            self._reader.join(timeout=1.0)  # the pipe may still hold some
        events = []
        with suppress(queue.Empty):
            while True:
                events.append(self._queue.get_nowait())
        return events


def send_signal(process: subprocess.Popen[str], number: int) -> None:
    """To the process and its children, where the system knows signals; elsewhere end it. Nothing where it is gone."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, number)  # it leads its own session
        else:
            process.terminate()


def worker_environment(libraries: Sequence[Path] = ()) -> dict[str, str]:
    """Ours without Python's own variables: those of the parent (Blender) would mislead the worker."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    folders = [str(Path(folder).resolve()) for folder in libraries] + _library_folders()
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads wait for each other; ours share the cores
    return environment


def ending(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    return f"signal {-code} ({name})"


def tell(process: subprocess.Popen[str], line: str) -> None:
    """A line on its standard input; one that is gone hears nothing."""
    assert process.stdin is not None
    with suppress(OSError, ValueError):
        print(line, file=process.stdin, flush=True)


def end_of_log(log: IO[bytes]) -> str:
    """Why a process ended, of its log: the first lines of a crash, which name it, or else the last lines."""
    with suppress(OSError, ValueError):
        log.seek(0)
        lines = log.read().decode("utf-8", errors="replace").splitlines()
        crash = next((number for number, line in enumerate(lines) if line.startswith(FAULT)), len(lines) - LOG_LINES)
        return "\n".join(lines[max(crash, 0) :][:LOG_LINES])
    return ""


def _library_folders() -> list[str]:
    """Where this process would import NumPy and SciPy from: an extension's wheels are not on a bare Python's path."""
    specs = [importlib.util.find_spec(name) for name in ("numpy", "scipy", "filelock")]
    return [str(Path(spec.origin).parents[1]) for spec in specs if spec is not None and spec.origin]


def _windows_flags() -> int:
    names = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW")
    return sum(int(getattr(subprocess, name, 0)) for name in names)


def _read(stream: IO[str], event_of: Callable[[dict[str, Any]], Said], into: queue.Queue[Said | Failed]) -> None:
    """Runs in a thread of its own: reading would block the parent."""
    for text in stream:
        try:
            line = json.loads(text)
        except ValueError:  # cut off by a crash
            continue
        if not isinstance(line, dict):  # what a library printed
            continue
        try:
            into.put(event_of(line))
        except EventError as error:  # parent and worker are of different versions: say so, go no further on a guess
            into.put(Failed("crash", f"The worker said what cannot be understood: {error}"))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The parent's side of Live: starts the worker, speaks to it, and survives whatever happens to it. No bpy, no SciPy."""

from __future__ import annotations

import atexit
import json
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ..bake.worker_process import Listener, end_of_log, ending, send_signal, start, tell
from ..files.disk import disk_errors, write_arrays
from ..files.folder import LOG, frames_path
from .events import Ended, LiveEvent, from_json

JOB = "job"  #: folder of the scene where Live begins
MOVED = "moved.npz"  #: what has another place at the end of the step that is asked for

Point = tuple[float, float, float]


def shape_path(folder: Path, key: str, turn: int) -> Path:
    """The point cache of one frame that an answer with this turn has written for a cloth."""
    return frames_path(folder, f"{key}.{turn}")


class LiveProcess:
    """A worker that simulates FOLDER/job frame by frame. Starts when made; call `poll` now and then.

    Ask for one answer at a time (`begin`, `step`): the file of the last one is free only then.
    """

    def __init__(self, folder: Path, libraries: Sequence[Path] = ()) -> None:
        """libraries: folders that come first on the worker's module path. Raises DiskError."""
        self._folder, self._ended = Path(folder), False
        with disk_errors(self._folder / LOG), open(self._folder / LOG, "wb") as log:
            self._process = start("gpu_core.live.live", [str(self._folder)], log, libraries, hears=True)
        self._listener = Listener(self._process, from_json)
        atexit.register(self.kill)

    def begin(self) -> None:
        """Stand where the job begins; the answer is `ready`."""
        self._say({"command": "begin"})

    def step(self, moved: Mapping[str, npt.NDArray[Any]], hand: Point | None) -> None:
        """One frame on; the answer is `frame`. moved: see `Live.move`. hand: where it is, m. Raises DiskError."""
        if moved:
            with disk_errors(self._folder / MOVED), open(self._folder / MOVED, "wb") as file:
                write_arrays(file, moved)
        self._say({"command": "step", "moved": bool(moved), "hand": hand})

    def grab(self, key: str, point: Point, radius: float, strength: float) -> None:
        """Take hold of a cloth; see `Live.grab`."""
        self._say({"command": "grab", "cloth": key, "point": point, "radius": radius, "strength": strength})

    def release(self) -> None:
        """Let go."""
        self._say({"command": "release"})

    def poll(self) -> list[LiveEvent]:
        """Events since the last call, without waiting; the last one of all is `Ended`."""
        ended = self._process.poll() is not None
        events: list[LiveEvent] = list(self._listener.events(ended))
        if ended and not self._ended:
            self._close()
            tail = self._end_of_log()
            text = f"The worker ended with {ending(self._process.returncode)}." + (f"\n{tail}" if tail else "")
            events.append(Ended(text))
        return events

    def kill(self) -> None:
        """End the worker at once and wait for that; it has nothing to lose."""
        if self._process.poll() is None:
            send_signal(self._process, getattr(signal, "SIGKILL", signal.SIGTERM))
            self._process.wait()
            self._listener.events(ended=True)
        self._close()

    def _say(self, command: Mapping[str, Any]) -> None:
        """A worker that is gone hears nothing; `poll` says so."""
        tell(self._process, json.dumps(command))

    def _end_of_log(self) -> str:
        with suppress(OSError), open(self._folder / LOG, "rb") as log:
            return end_of_log(log)
        return ""

    def _close(self) -> None:
        self._ended = True
        atexit.unregister(self.kill)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

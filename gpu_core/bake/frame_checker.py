# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact check beside a running bake: a process of its own looks at each frame as it lies in the cache.

`python -m gpu_core.bake.frame_checker JOB CACHE` reads frame numbers from standard input, one a line, and answers each
with a JSON line. The solver does not wait for it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ..check.scene_check import SceneCheck
from ..files import json_lines
from ..files.folder import CERTIFICATES, frames_path
from ..files.job import load
from ..files.point_cache import read_frames

FINDINGS_KEPT = 3  #: per frame, in words
NICENESS = 19  #: where all cores are busy the solver goes first
ROOT = Path(__file__).resolve().parents[2]


def check(scene_check: SceneCheck, cache: Path, frame: int) -> dict[str, Any]:
    """The line of certificates.jsonl for a frame of the cache. Raises CacheError, DiskError."""
    began, scene = time.perf_counter(), scene_check.scene
    index = frame - scene.settings.frame_start
    found = scene_check.cached_findings(
        frame, [read_frames(frames_path(cache, c.cache_key))[index] for c in scene.cloths]
    )
    return {
        "frame": frame,
        "intersections": len(found),
        **({"let_through": scene_check.let_through} if scene_check.let_through else {}),
        "findings": [str(finding) for finding in found[:FINDINGS_KEPT]],
        "check_seconds": time.perf_counter() - began,
    }


class FrameChecker:
    """Hands frames to the process and brings its answers into certificates.jsonl, in the order of the frames."""

    def __init__(self, job: Path, cache: Path, frame_start: int) -> None:
        """Frames that certificates.jsonl tells of already are left out."""
        self._path = cache / CERTIFICATES
        self._next = frame_start + len(json_lines.read(self._path))
        self.open = 0  #: frames that were submitted and not answered
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", "gpu_core.bake.frame_checker", str(job.resolve()), str(cache.resolve())],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()

    def submit_until(self, frame: int) -> None:
        """Check the frames up to this one some time soon. What a checker that died does not answer stays unchecked."""
        assert self._process.stdin is not None
        with suppress(OSError):
            for number in range(self._next, frame + 1):
                print(number, file=self._process.stdin, flush=True)
                self.open += 1
                self._next = number + 1

    def answers(self, wait: float = 0.0) -> Iterator[dict[str, Any]]:
        """What was found since the last call; waits so many seconds for the first. Raises DiskError."""
        while self.open:
            try:
                answer = self._answers.get(timeout=wait) if wait else self._answers.get_nowait()
            except queue.Empty:
                return
            if answer is None:  # the process is gone
                self.open = 0
                return
            self.open -= 1
            json_lines.append(self._path, answer)
            yield answer

    def close(self) -> None:
        """End the process; frames that were not checked stay so."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # a frame number that nobody will read any more
                    stream.close()


def _read(stream: IO[str], into: queue.Queue[dict[str, Any] | None]) -> None:
    """Runs in a thread of its own: reading would block the solver."""
    with suppress(ValueError):  # cut off by a kill, or closed
        for line in stream:
            into.put(json.loads(line))
    into.put(None)


def main() -> None:
    """Answer one line for each line, until there are no more: then the bake is over, or its process gone."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if hasattr(signal, "SIGPIPE"):  # of a worker that crashed the log should end with its own last words
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    job, cache = (Path(argument) for argument in sys.argv[1:])
    scene_check = SceneCheck(load(job))
    asked: queue.Queue[int] = queue.Queue()
    threading.Thread(target=_hear, args=(asked,), daemon=True).start()
    while True:
        print(json.dumps(check(scene_check, cache, asked.get())), flush=True)


def _hear(asked: queue.Queue[int]) -> None:
    """Runs in a thread of its own: nobody waits for the frame that is looked at when the end comes."""
    said = b""
    while chunk := os.read(0, 4096):
        *lines, said = (said + chunk).split(b"\n")
        for line in lines:
            asked.put(int(line))
    os._exit(0)


if __name__ == "__main__":
    main()

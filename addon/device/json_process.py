# SPDX-License-Identifier: GPL-3.0-or-later
"""A module of ours in a process of its own that prints one JSON object. Needs no bpy."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ...gpu_core.bake.worker_process import ROOT, worker_environment

PATIENCE = 300.0  #: s until a process is given up; on a graphics card it may have to compile the kernels first
LONGEST_WORDS = 500  #: characters of what a process said before it died


class JsonProcess:
    """Starts when made. `answer` is None while it runs, then what the module printed, or what `broken` makes of it."""

    def __init__(self, module: str, *arguments: str, libraries: Sequence[Path] = ()) -> None:
        """libraries: folders that come first on its module path."""
        self.answer: dict[str, Any] | None = None
        self._deadline = time.monotonic() + PATIENCE
        # Files, for a pipe that nobody reads stops a process when it is full: on Windows with a few lines.
        self._output, self._errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", module, *arguments],
            cwd=ROOT,
            env=worker_environment(libraries),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._errors,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def broken(self, how: str) -> dict[str, Any]:
        """The answer for a process that ended without one."""
        return {"error": how}

    def poll(self) -> dict[str, Any] | None:
        """The answer, or None while the process runs."""
        if self.answer is None and time.monotonic() > self._deadline:
            self._process.kill()
        if self.answer is None and self._process.poll() is not None:
            with suppress(ValueError):
                self.answer = json.loads(_all_of(self._output))
            if self.answer is None:
                words = _all_of(self._errors).strip()[-LONGEST_WORDS:]
                self.answer = self.broken(f"ended with code {self._process.returncode}: {words}")
            self._close()
        return self.answer

    def wait(self) -> dict[str, Any]:
        """The answer, once there is one."""
        while self.poll() is None:
            time.sleep(0.05)
        assert self.answer is not None
        return self.answer

    def kill(self) -> None:
        """End it now; nothing happens where it has ended."""
        if self.answer is None:
            self._process.kill()
            self._process.wait()
            self._close()
            self.answer = self.broken("was ended")

    def _close(self) -> None:
        self._output.close()
        self._errors.close()


def _all_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")

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
from typing import Any

from ...gpu_core.bake.worker_process import ROOT, worker_environment

PATIENCE = 300.0  #: s until a process is given up; on a graphics card it may have to compile the kernels first
LONGEST_WORDS = 500  #: characters of what a process said before it died


class JsonProcess:
    """Starts when made. `answer` is None while it runs, then what the module printed, or what `broken` makes of it."""

    def __init__(self, module: str, *arguments: str, libraries: Sequence[Path] = ()) -> None:
        """libraries: folders that come first on its module path."""
        self.answer: dict[str, Any] | None = None
        self._deadline = time.monotonic() + PATIENCE
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # a pipe that nobody reads would stop it when full
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", module, *arguments],
            cwd=ROOT,
            env=worker_environment(libraries),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            errors="replace",
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
            output, _ = self._process.communicate()
            with suppress(ValueError):
                self.answer = json.loads(output)
            if self.answer is None:
                self.answer = self.broken(f"ended with code {self._process.returncode}: {self._last_words()}")
            self._errors.close()
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
            self._process.communicate()
            self._errors.close()
            self.answer = self.broken("was ended")

    def _last_words(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace").strip()[-LONGEST_WORDS:]

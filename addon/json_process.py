"""A module of ours in a process of its own that prints one JSON object. Needs no bpy."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..gpu_core.bake_process import ROOT, worker_environment

LONGEST_WORDS = 500  #: characters of what a process said before it died


class JsonProcess:
    """Starts when made. `answer` is None while it runs, then what the module printed, or what `broken` makes of it."""

    def __init__(self, module: str, *arguments: str, libraries: Sequence[Path] = (), patience: float = 60.0) -> None:
        """libraries: folders that come first on its module path. patience: s until it is given up."""
        self.answer: dict[str, Any] | None = None
        self._deadline = time.monotonic() + patience
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", module, *arguments],
            cwd=ROOT,
            env=worker_environment(libraries),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
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
            output, errors = self._process.communicate()
            with suppress(ValueError):
                self.answer = json.loads(output)
            if self.answer is None:
                words = errors.strip()[-LONGEST_WORDS:]
                self.answer = self.broken(f"ended with code {self._process.returncode}: {words}")
        return self.answer

    def wait(self) -> dict[str, Any]:
        """The answer, once there is one."""
        while self.poll() is None:
            time.sleep(0.05)
        assert self.answer is not None
        return self.answer

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.communicate()

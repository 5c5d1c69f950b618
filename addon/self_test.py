"""The simulator's self-test, in a process of its own: a driver that dies there takes nobody with it. Needs no bpy."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from ..gpu_core.bake_process import ROOT, worker_environment

PATIENCE = 60.0  #: s until a test that should take ten is given up


class SelfTest:
    """Starts when made. `answer` is None while it runs, then what gpu_core.self_test says."""

    def __init__(self, backend: str = "auto") -> None:
        self.answer: dict[str, Any] | None = None
        self._deadline = time.monotonic() + PATIENCE
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", "gpu_core.self_test", "--backend", backend],
            cwd=ROOT,
            env=worker_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def poll(self) -> dict[str, Any] | None:
        """The answer, or None while the test runs."""
        if self.answer is None and time.monotonic() > self._deadline:
            self._process.kill()
        if self.answer is None and self._process.poll() is not None:
            output, errors = self._process.communicate()
            with suppress(ValueError):
                self.answer = json.loads(output)
            if self.answer is None:
                ended = f"the test ended with code {self._process.returncode}: {errors.strip()[-500:]}"
                self.answer = {"device": "", "checks": [{"name": "run", "passed": False, "detail": ended}]}
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


def passed(answer: dict[str, Any]) -> bool:
    return all(check["passed"] for check in answer["checks"])


def lines(answer: dict[str, Any]) -> list[tuple[bool, str]]:
    """For people: whether a check passed, and what it saw."""
    return [(check["passed"], f"{check['name']}: {check['detail']}") for check in answer["checks"]]

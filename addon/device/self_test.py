# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator's self-test, in a process of its own: a driver that dies there takes nobody with it. Needs no bpy."""

from __future__ import annotations

from typing import Any

from .json_process import JsonProcess
from .libraries import libraries


class SelfTest(JsonProcess):
    """The answer is what gpu_core.self_test says."""

    def __init__(self, backend: str = "auto") -> None:
        super().__init__("gpu_core.self_test", "--backend", backend, libraries=libraries())

    def broken(self, how: str) -> dict[str, Any]:
        return {"device": "", "checks": [{"name": "run", "passed": False, "detail": f"the test {how}"}]}


def passed(answer: dict[str, Any]) -> bool:
    return all(check["passed"] for check in answer["checks"])


def lines(answer: dict[str, Any]) -> list[tuple[bool, str]]:
    """For people: whether a check passed, and what it saw."""
    return [(check["passed"], f"{check['name']}: {check['detail']}") for check in answer["checks"]]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a graphics card may be taken without being asked for: only after the self-test has passed on this very card,
with this driver and these kernels. It runs once, in a process of its own, and the verdict is kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import build
from .cuda import OPTIONS, CudaBackend
from .signatures import cuda_source

PATIENCE = 600.0  #: s, for a self-test that has to compile the kernels first
VARIABLE = "TAFFETA_VERDICTS"  #: names another file for the verdicts


@dataclass(frozen=True)
class Verdict:
    """What the self-test said of a card."""

    passed: bool
    text: str  #: the first check that failed, or how long it took

    @property
    def in_words(self) -> str:
        return f"the self-test passed on it: {self.text}" if self.passed else f"the self-test failed on it: {self.text}"


def verdict_on(card: CudaBackend) -> Verdict:
    """The kept one, or else that of a self-test now."""
    return known(card) or _tested(card)


def known(card: CudaBackend) -> Verdict | None:
    """What is kept of this card, driver and kernels."""
    entry = _kept().get(_key(card))
    return Verdict(bool(entry["passed"]), str(entry["text"])) if isinstance(entry, dict) else None


def remember(card: CudaBackend, verdict: Verdict) -> None:
    """Keep it for the next time. Where that cannot be written, the next time tests again."""
    path = _place()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps({**_kept(), _key(card): asdict(verdict)}, indent=1), encoding="utf-8")
        part.replace(path)


def _tested(card: CudaBackend) -> Verdict:
    module = f"{__package__.rpartition('.')[0]}.self_test"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        run = subprocess.run(
            [sys.executable, "-s", "-m", module, "--backend", "cuda"],
            cwd=Path(__file__).resolve().parents[1 + module.count(".")],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        return Verdict(False, f"it found no end in {PATIENCE:.0f} s")
    try:
        return verdict_of(json.loads(run.stdout))  # which the process has kept
    except ValueError:
        died = Verdict(False, f"it ended with code {run.returncode}")
        remember(card, died)
        return died


def verdict_of(answer: dict[str, Any]) -> Verdict:
    """Of what the self-test printed."""
    failed = [f"{check['name']}: {check['detail']}" for check in answer["checks"] if not check["passed"]]
    return Verdict(not failed, failed[0] if failed else f"{answer['seconds']:.0f} s")


def _key(card: CudaBackend) -> str:
    """Of what a verdict is about: another card, driver, CuPy or kernel, and it is worth nothing."""
    kernels = hashlib.sha256("\0".join([cuda_source(), *OPTIONS]).encode()).hexdigest()[:16]
    return " | ".join([card.device, *card.versions, kernels])


def _kept() -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(_place().read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def _place() -> Path:
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else build.user_cache() / "verdicts.json"

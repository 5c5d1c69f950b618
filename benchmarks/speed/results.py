# SPDX-License-Identifier: GPL-3.0-or-later
"""results/speed-<machine>.json: one file a machine, one entry a part, each with what it was measured with."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PREFIX = "speed-"

Entry = dict[str, Any]  # commit, command, note, rows


def save(
    machine: str, part: str, rows: list[Entry], key: tuple[str, ...], command: str, note: str, at: str | None = None
) -> Path:
    """Put the rows into the machine's file. Rows of the same part with the same values of `key` give way.

    at: the commit that was measured, if it is not this one.
    """
    path = RESULTS / f"{PREFIX}{re.sub(r'[^A-Za-z0-9]+', '_', machine).strip('_')}.json"
    content: dict[str, Any] = {"machine": machine, "parts": {}}
    if path.exists():
        content = json.loads(path.read_text(encoding="utf-8"))
    measured = {"commit": at or commit(), "command": command, "note": note, "versions": versions()}
    fresh = [{**row, "measured": measured} for row in rows]
    replaced = {_identity(row, key) for row in fresh}
    kept = [row for row in content["parts"].get(part, []) if _identity(row, key) not in replaced]
    content["parts"][part] = sorted(kept + fresh, key=lambda row: [str(v).zfill(12) for v in _identity(row, key)])
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def every() -> list[dict[str, Any]]:
    """The contents of all machines' files."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob(f"{PREFIX}*.json"))]


def commit() -> str:
    """The checkout's commit, with a + where files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude", "*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def versions() -> str:
    """Of what a measurement runs on, beside the commit."""
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy"))
    return f"Python {platform.python_version()}, {packages}, {platform.system()} {platform.release()}"


def _identity(row: Entry, key: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in key)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The readable log of a bake, `bake.log` in the cache folder: what was baked, where, and how every frame went."""

from __future__ import annotations

import platform
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ..files import job as job_folder
from ..files.cache import BAKE_LOG
from ..files.disk import disk_errors, make_folder
from ..files.job import JobError
from ..files.program import program
from .certificate import certificate
from .events import BakeEvent, Checked, Failed, Frame, Start, Warn, to_json

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"
MIB = 2**20


class BakeLog:
    """Writes one line an event. What cannot be written is not: a log must never end a bake."""

    def __init__(self, job: Path, cache: Path, goes_on: bool) -> None:
        """goes_on: append to the log of the bake that is continued."""
        self._path = cache / BAKE_LOG
        try:
            make_folder(cache)
            with disk_errors(self._path), open(self._path, "a" if goes_on else "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in heading(job))
        except RuntimeError:
            return

    def write(self, event: BakeEvent) -> None:
        line = words(event)
        if not line:
            return
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{datetime.now():%H:%M:%S}  {line}\n")
        except OSError:
            return


def heading(job: Path) -> Iterator[str]:
    """Versions, system and the scene in numbers."""
    version = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"]
    yield f"Taffeta {version}, solver {program()}, {datetime.now():%Y-%m-%d %H:%M}"
    yield f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    try:
        yield from scene_lines(job_folder.read_description(job))
    except JobError:
        return


def scene_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """The scene that `job.describe` described, a line an object."""
    settings = content["settings"]
    yield f"Frames {settings['frame_start']}–{settings['frame_end']} at {settings['fps']:g} fps"
    yield "Settings: " + ", ".join(f"{name} {_number(value)}" for name, value in settings.items())
    for cloth in content["cloths"]:
        numbers = {**cloth["material"], "thickness": cloth["thickness"]}
        yield f"Cloth {cloth['name']}: " + ", ".join(f"{name} {_number(value)}" for name, value in numbers.items())
    for collider in content["colliders"]:
        yield f"Collider {collider['name']}: friction {collider['friction']:g}, thickness {collider['thickness']:g}"


def words(event: BakeEvent) -> str:
    """One line for an event of the worker, or nothing for one that is no news."""
    match event:
        case Start():
            return f"start on {event.backend}: {event.device}"
        case Frame():
            return f"frame {event.frame}: {statistics(event.report)}"
        case Checked():
            trouble = certificate({"frame": event.frame}, event.report).troubles
            return f"frame {event.frame}: {'; '.join([*trouble, *event.report['findings']])}" if trouble else ""
        case Warn():
            return f"warning: {event.text}"
        case Failed():
            return f"failed ({event.kind}): {event.text}"
        case _:
            return str(to_json(event)["event"])


def statistics(report: Mapping[str, Any]) -> str:
    """The numbers of a frame's report, those that are there."""
    if "iterations" not in report:
        return "start state"
    gap, memory = report["smallest_gap"], report.get("memory")
    texts = [
        f"{report['seconds']:.2f} s",
        f"{report['steps']} steps",
        f"{report['iterations']} iterations",
        f"{report['contacts']} contacts",
        "nothing near" if gap is None else f"smallest gap {gap * 1000:.3g} mm",
        f"largest stretch {report['largest_stretch']:.3f}",
    ]
    if report["unfinished_steps"]:
        texts.append(f"{report['unfinished_steps']} steps unfinished")
    if memory:
        texts.append(f"{memory / MIB:.0f} MiB")
    return ", ".join(texts)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

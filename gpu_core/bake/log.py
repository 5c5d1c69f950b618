# SPDX-License-Identifier: GPL-3.0-or-later
"""The readable log of a bake, `bake.log` in the cache folder: what was baked, where, and how every frame went."""

from __future__ import annotations

import platform
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from ..files import job as job_folder
from ..files.folder import BAKE_LOG, JOB
from ..files.job import JobError
from ..files.program import program
from ..messages import coded
from .certificate import certificate, preroll_text
from .events import BakeEvent, Checked, Failed, Frame, Prerolled, Start, Warn, Working, to_json

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"
MIB = 2**20
REFUSED = ("busy", "damaged", "nothing", "stale", "disk")  #: kinds of failure of a bake that has not begun


class BakeLog:
    """Writes one line an event. What cannot be written is not: a log must never end a bake.

    It begins with the bake's first event that only the holder of the folder has, so that a bake which was refused
    leaves the log of the one that runs alone.
    """

    def __init__(self, job: Path, cache: Path, goes_on: bool) -> None:
        """goes_on: append to the log of the bake that is continued."""
        self._job, self._cache, self._goes_on = job, cache, goes_on
        self._begun = False

    def write(self, event: BakeEvent) -> None:
        if isinstance(event, Failed) and event.kind in REFUSED and not self._begun:
            return
        line = words(event)
        with suppress(OSError):
            if not self._begun:
                self._begin()
            if line:
                with open(self._cache / BAKE_LOG, "a", encoding="utf-8") as file:
                    file.write(f"{datetime.now():%H:%M:%S}  {line}\n")

    def _begin(self) -> None:
        self._begun = True
        taken_in = self._cache / JOB
        with open(self._cache / BAKE_LOG, "a" if self._goes_on else "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in heading(self._job if self._job.is_dir() else taken_in))


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
    preroll = f", after {settings['preroll']} of pre-roll" if settings.get("preroll") else ""
    yield f"Frames {settings['frame_start']}–{settings['frame_end']} at {settings['fps']:g} fps{preroll}"
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
        case Prerolled():
            return f"pre-roll {event.done} of {event.frames}: {statistics(event.report)}"
        case Frame():
            return coded(
                f"frame {event.frame}: {statistics(event.report)}", ", ".join(certificate(event.report, {}).codes)
            )
        case Checked():
            trouble = certificate({"frame": event.frame}, event.report).troubles
            told = [coded(text) for text in trouble]
            return f"frame {event.frame}: {'; '.join([*told, *event.report['findings']])}" if trouble else ""
        case Working():
            return ""
        case Warn():
            return f"warning: {coded(event.text, event.code)}"
        case Failed():
            return f"failed ({event.kind}): {coded(event.text, event.code)}"
        case _:
            return str(to_json(event)["event"])


def statistics(report: Mapping[str, Any]) -> str:
    """The numbers of a frame's report, those that are there."""
    stretch = f"largest stretch {report['largest_stretch']:.3f}" if "largest_stretch" in report else ""
    if "iterations" not in report:
        return ", ".join(filter(None, ("start state", stretch)))
    gap, memory = report["smallest_gap"], report.get("memory")
    texts = [
        f"{report['seconds']:.2f} s",
        f"{report['steps']} steps",
        f"{report['iterations']} iterations",
        f"{report['contacts']} contacts",
        "nothing near" if gap is None else f"smallest gap {gap * 1000:.3g} mm",
        stretch,
    ]
    if report["unfinished_steps"]:
        texts.append(f"{report['unfinished_steps']} steps unfinished")
    if report.get("given_up_steps"):
        texts.append(f"{report['given_up_steps']} of them ended by the frame's budget")
    if memory:
        texts.append(f"{memory / MIB:.0f} MiB")
    if rolled := preroll_text(report.get("preroll", {})):
        texts.append(rolled)
    return ", ".join(texts)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

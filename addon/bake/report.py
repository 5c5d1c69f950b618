# SPDX-License-Identifier: GPL-3.0-or-later
"""The report for the clipboard: what somebody needs who is to understand a bake from afar, and no personal paths."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator
from pathlib import Path

import bpy

from ...gpu_core.bake.certificate import preroll_text, summary
from ...gpu_core.bake.log import scene_lines, statistics
from ...gpu_core.files.folder import BAKE_LOG
from ...gpu_core.messages import coded
from ..cache import place, status
from ..device.answer import Report
from ..device.info import info
from ..scene.gather import cloth_objects
from .state import BakeState

LOG_LINES = 40
#: A path with at least one folder: drive, UNC or POSIX; kept is what follows the last separator.
PATH = re.compile(r"(?:[A-Za-z]:[\\/]|\\\\|(?<![\w.:/])/)(?:[^\\/\s\"'“”<>|:*?][^\\/\n\"'“”<>|:*?]*[\\/])+")


def text(scene: bpy.types.Scene, state: BakeState) -> str:
    """The report, a line a fact."""
    return without_paths("\n".join(_lines(scene, state)))


def without_paths(report: str) -> str:
    """Folders become an ellipsis, file names stay; the user's name goes wherever else it stands."""
    shortened = PATH.sub("…/", report).replace(str(Path.home()), "~")
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without users
        return shortened
    return re.sub(rf"\b{re.escape(name)}\b", "user", shortened) if name else shortened


def _lines(scene: bpy.types.Scene, state: BakeState) -> Iterator[str]:
    versions = Report("info")
    info(versions)
    yield from versions.lines
    yield f"Blender {bpy.app.version_string}, unit scale {scene.unit_settings.scale_length:g}"
    if state.headline:
        yield f"Last bake: {coded(state.headline, state.code or None)}"
    if state.device:
        yield f"Device: {state.backend}, {state.device}"
    if state.latest:
        yield f"Last frame {state.latest['frame']}: {statistics(state.latest)}"
    yield from (f"Warning: {coded(warning)}" for warning in state.warnings)
    for cloth in cloth_objects(scene):
        found, reason = status.of(scene, cloth)
        vertices, told = len(getattr(cloth.data, "vertices", ())), coded(reason, status.code(found, reason))
        yield f"Cache of {cloth.name}, {vertices} vertices: {found.value}, {told}"
    for folder, cloths in place.lying(scene, cloth_objects(scene)).items():
        held = status.held(scene, cloths[0])
        if held.contents is not None and held.contents.scene:
            yield from scene_lines(held.contents.scene)
        if held.certificates:
            yield f"Certificates: {summary(held.certificates)}"
            if rolled := preroll_text(held.certificates[0].preroll):
                yield f"Its first frame comes {rolled}"
        yield from _log(folder)


def _log(folder: Path) -> list[str]:
    try:
        lines = (folder / BAKE_LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ["There is no log"]
    return [f"Log, the last {min(LOG_LINES, len(lines))} of {len(lines)} lines:", *lines[-LOG_LINES:]]

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the commands that need Blender begin and end with: the file, what was set, and saving it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

from ...gpu_core.bake.failure import kind_of
from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import DiskError
from ...gpu_core.files.job import JobError
from ...gpu_core.scene.scene import SceneError
from ..bake import session
from ..cache import place
from ..device.answer import FAILURES, CommandError, Exit, Report
from ..scene.assignment import AssignmentError, assign
from .interruption import deferred


@contextmanager
def failures() -> Iterator[None]:
    """What may be wrong with a scene, a cache or a disk ends the command."""
    try:
        yield
    except session.NothingToDoError as error:
        raise CommandError(Exit.NOTHING_TO_DO, str(error)) from error
    except (SceneError, CacheError, DiskError, JobError) as error:
        raise CommandError(FAILURES[kind_of(error)], str(error), getattr(error, "object", "")) from error


def open_file(options: Namespace, report: Report) -> None:
    """Open the file that was named, and set what was to be set in it."""
    _open(options.file)
    values = {}
    for owner, name, text in options.assignments:
        try:
            values[f"{owner}.{name}"] = assign(bpy.context.scene, owner, name, text)
        except AssignmentError as error:
            raise CommandError(Exit.USAGE, str(error), owner) from error
    if values:
        report.values["set"] = values


def _open(file: Path | None) -> None:
    if file is None:
        if not bpy.data.filepath:
            raise CommandError(Exit.USAGE, "Name a .blend file")
        return
    if file.is_dir():
        raise CommandError(Exit.BAD_SCENE, f"{file} is a folder. Name a .blend file in it")
    if not file.is_file():
        raise CommandError(Exit.BAD_SCENE, f"{file} does not exist. Name a saved .blend file")
    try:
        with deferred():
            bpy.ops.wm.open_mainfile(filepath=str(file.resolve()), load_ui=False)
    except RuntimeError as error:
        raise CommandError(Exit.BAD_SCENE, f"Blender cannot open {file}: {str(error).strip()}") from error


def save(out: Path, report: Report, chosen: Path | None = None) -> None:
    """Save the scene. It remembers a cache folder that was chosen on the command line."""
    if chosen is not None:
        bpy.context.scene.taffeta.cache_folder = place.blend_path(chosen, out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(out), check_existing=False)
    except (OSError, RuntimeError) as error:
        text = f"{out} cannot be saved: {str(error).strip()}. Choose another place"
        raise CommandError(Exit.DISK, text) from error
    report.values["saved"] = str(out)
    report.lines.append(f"saved {out}")

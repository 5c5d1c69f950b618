# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that happens elsewhere: `taffeta job` hands the scene over, `taffeta fetch` brings the frames back.

In between, `taffeta run` bakes the job folder on a machine without Blender (`command_run`).
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import bpy

from ...gpu_core.files import cache, handover, job
from ...gpu_core.files import folder as own_folder
from ...gpu_core.files.cache import CacheError, CacheState
from ...gpu_core.files.disk import require_writable
from ...gpu_core.files.errors import StaleError
from ...gpu_core.scene.scene import Scene
from ..cache import place, status, writeback
from ..device.answer import CommandError, Exit, Report
from ..scene import keys
from ..scene.gather import cloth_objects, gather
from .file import failures, open_file, save
from .run import CACHE


def write(options: Namespace, report: Report) -> None:
    open_file(options, report)
    out = options.out.resolve()
    with failures():
        _require_cloth()
        scene = gather(bpy.context, options.frames)
        job.save(scene, out)
    report.values |= {
        "job": str(out),
        "digest": job.digest(scene),
        "frames": [scene.settings.frame_start, scene.settings.frame_end],
        "vertices": {cloth.name: len(cloth.positions) for cloth in scene.cloths},
    }
    report.lines.append(f"job {out}")


def fetch(options: Namespace, report: Report) -> None:
    open_file(options, report)
    scene, out = bpy.context.scene, options.save_blend.resolve() if options.save_blend else None
    source = _source(options.folder.resolve())
    with failures():
        _require_cloth()
        contents = cache.read_contents(source)
        gathered = gather(bpy.context, (contents.frame_start, contents.frame_end))
        state, reason, done = _require_ours(source, gathered)
        folder = place.target(scene, out)
        place.refuse_foreign(folder, scene, out)
        own_folder.prepare(folder)
        require_writable(folder)
        if source != folder:
            _bring(source, folder)
        cloths = cloth_objects(scene)
        assigned = keys.assign(cloths)
        keys.store(scene, cloths)
        place.claim(folder / own_folder.JOB, folder, scene, out)
        writeback.attach({assigned[item.name_full]: item for item in cloths}, contents.frame_start, folder)
    report.values |= {"cache": str(folder), "state": state.value, "frames_done": done, "frames": contents.frames}
    report.lines += [f"{state.value}: {reason}", f"cache {folder}"]
    if out is not None:
        save(out, report)


def _source(folder: Path) -> Path:
    """The cache that was meant: this folder, that of the job in it, or the one within a folder that was chosen."""
    candidates = (folder, folder / CACHE, folder / own_folder.WITHIN)
    return next((place for place in candidates if (place / cache.CONTENTS).exists()), folder)


def _require_cloth() -> None:
    if not cloth_objects(bpy.context.scene):
        raise CommandError(Exit.NOTHING_TO_DO, "No object has the role Cloth")


def _require_ours(source: Path, scene: Scene) -> tuple[CacheState, str, int]:
    """The state of a bake of this very scene, every frame of it sound. Raises CacheError."""
    state, reason, done = status.compare(source, job.describe(scene))
    if state is CacheState.STALE:
        raise StaleError(f"{source} is the bake of another scene: {reason}", "Hand the scene over again")
    if state is CacheState.CORRUPT:
        raise CacheError(reason, "Copy it again")
    cache.verify(source)
    return state, reason, done


def _bring(source: Path, folder: Path) -> None:
    """Copy a bake into its place. The one that lies there stays until the copy is whole."""
    incoming = handover.incoming(folder)
    try:
        place.take_over(source, incoming)
        own_folder.free(folder)
        place.move(incoming, folder)
    finally:
        handover.discard(incoming)

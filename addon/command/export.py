# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta export`: a whole cache as Alembic, USD, shape keys, a mesh or velocities, without opening a window."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy

from ...gpu_core.files import cache
from ...gpu_core.files import folder as own_folder
from ...gpu_core.files.cache import CacheState
from ..cache import checking, place, status, velocity, writeback
from ..cache import frames as baked_frames
from ..cache.frames import BakedFrames
from ..device.answer import CommandError, Exit, Report
from ..finalise import to_file, to_mesh, to_shape_keys
from ..scene import keys, retiming
from ..scene.gather import FrameRange, cloth_objects, own_cloths
from .file import failures, open_file, save


def export(options: Namespace, report: Report) -> None:
    out = options.out.resolve()
    _require_sense(options, out)
    open_file(options, report)
    with failures(), _frame_range(options.frames):
        cloths = _chosen(options.objects)
        play_own(bpy.context.scene)
        checking.check(bpy.context)
        baked = [_read(cloth) for cloth in cloths]
        for frames in baked if options.velocity else []:
            velocity.add(frames, velocity.write(frames))
        if out.suffix == ".blend":
            made = [_convert(frames, options) for frames in baked]
        else:
            to_file.write(bpy.context, baked, out, options.modifiers, options.meshes.upper())
            made = cloths
    start, end = min(frames.frame_start for frames in baked), max(frames.frame_end for frames in baked)
    report.values |= {"objects": [item.name for item in made], "frames": [start, end]}
    if out.suffix == ".blend":
        save(out, report)
        return
    report.values |= {"saved": str(out), "bytes": out.stat().st_size}
    report.lines.append(f"saved {out}")


@contextmanager
def _frame_range(frames: FrameRange | None) -> Iterator[None]:
    """The scene has the range that was baked, where that is not its own; otherwise its cache counts as stale."""
    scene = bpy.context.scene
    before = scene.frame_start, scene.frame_end
    scene.frame_start, scene.frame_end = frames or before
    try:
        yield
    finally:
        scene.frame_start, scene.frame_end = before


def play_own(scene: bpy.types.Scene) -> None:
    """Let cloth that plays nothing play what lies in the scene's own place: a bake need not have saved the file.

    Raises SceneError (no place), CacheError.
    """
    own = own_cloths(scene)
    if any(own_folder.holds_bake(played) for played in place.attached(own)):
        return
    folder = place.target(scene)
    if not (folder / cache.CONTENTS).exists() or place.foreign(folder, scene):
        return
    contents, assigned = cache.read_contents(folder), keys.assign(cloth_objects(scene))
    cloths = {assigned[item.name_full]: item for item in own}
    writeback.attach({key: cloths[key] for key in contents.points if key in cloths}, contents.frame_start, folder)


def _require_sense(options: Namespace, out: Path) -> None:
    if out.suffix == ".blend":
        if options.kind is None:
            raise CommandError(Exit.USAGE, "What is the cloth in the .blend to be? Choose with --as")
        if options.modifiers or options.velocity:
            raise CommandError(Exit.USAGE, "--modifiers and --velocity are for Alembic and USD")
    else:
        trouble = to_file.unavailable(out.suffix)
        if trouble:
            raise CommandError(Exit.USAGE, trouble)
        if options.kind is not None:
            raise CommandError(Exit.USAGE, f"--as is for a .blend: {out.suffix} says what the file is")
    if options.frame is not None and options.kind != "mesh":
        raise CommandError(Exit.USAGE, "--frame is for --as mesh: everything else has all frames")


def _chosen(names: Sequence[str]) -> list[bpy.types.Object]:
    every = {item.name: item for item in cloth_objects(bpy.context.scene)}
    if not every:
        raise CommandError(Exit.NOTHING_TO_DO, "No object has the role Cloth")
    unknown = [name for name in names if name not in every]
    if unknown:
        raise CommandError(Exit.USAGE, f"There is no cloth {unknown[0]!r}. There are: {', '.join(every)}", unknown[0])
    return [every[name] for name in names] if names else list(every.values())


def _read(cloth: bpy.types.Object) -> BakedFrames:
    if status.of(bpy.context.scene, cloth)[0] is CacheState.MISSING:
        raise CommandError(Exit.NOTHING_TO_DO, str(baked_frames.trouble(bpy.context.scene, cloth)), cloth.name)
    return baked_frames.read(bpy.context, cloth)


def _convert(frames: BakedFrames, options: Namespace) -> bpy.types.Object:
    """The object of the open .blend that the cloth is then."""
    context = bpy.context
    match options.kind:
        case "velocity":
            velocity.add(frames, velocity.write(frames))
            return frames.cloth
        case "mesh":
            frame = retiming.current(context.scene) if options.frame is None else options.frame
            return to_mesh.convert(context, frames, frame)
        case _:
            return to_shape_keys.convert(context, frames, absolute=options.kind == "absolute-shape-keys")

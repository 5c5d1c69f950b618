"""The commands that need Blender: bake, check, sample. They raise `CommandError`; the report gets the rest."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module, util
from pathlib import Path
from typing import Any

import bpy

from .. import register, unregister
from ..gpu_core import cache, job, json_lines
from ..gpu_core.cache import CacheError, CacheState
from ..gpu_core.certificate import certificate
from ..gpu_core.disk import DiskError
from ..gpu_core.scene import Scene, SceneError
from ..gpu_core.scene_check import check_frame
from . import cache_place, cache_status, session
from .bake_state import BakeState, Phase
from .gather import FrameRange, cloth_objects, gather
from .report import CommandError, Exit, Report

ROOT_PACKAGE = __package__.rpartition(".")[0]
FINDINGS_SHOWN = 3  #: per frame

EXIT_CODES = {
    "nothing": Exit.NOTHING_TO_DO,
    "scene": Exit.BAD_SCENE,
    "backend": Exit.BAD_SCENE,
    "disk": Exit.BAD_SCENE,
    "solver": Exit.SOLVER_FAILURE,
    "crash": Exit.SOLVER_FAILURE,
}


@contextmanager
def registered() -> Iterator[None]:
    """The add-on's properties exist inside; with the bpy module nobody has installed it, so it is for this command."""
    if hasattr(bpy.types.Scene, "taffeta"):
        yield
        return
    register()
    try:
        yield
    finally:
        unregister()


@contextmanager
def failures() -> Iterator[None]:
    """What may be wrong with a scene, a cache or a disk ends the command."""
    try:
        yield
    except session.NothingToDoError as error:
        raise CommandError(Exit.NOTHING_TO_DO, str(error)) from error
    except SceneError as error:
        raise CommandError(Exit.BAD_SCENE, str(error), error.object) from error
    except (CacheError, DiskError) as error:
        raise CommandError(Exit.BAD_SCENE, str(error)) from error


def bake(options: Namespace, report: Report) -> None:
    _open(options.file)
    scene = bpy.context.scene
    out = options.save_blend.resolve() if options.save_blend else None
    backend_of_file = scene.taffeta.backend
    if options.backend:
        scene.taffeta.backend = options.backend.upper()
    with failures():
        order = session.Order(
            frames=options.frames,
            folder=options.cache.resolve() if options.cache else None,
            blend=out,
            resume=options.resume,
        )
        bake = session.Bake(bpy.context, order)
        session.start(bake)
        try:
            _follow(bake, quiet=options.json)
        except KeyboardInterrupt:
            bake.handle({"event": "cancel"})
            bake.wait()
        progress = session.finish(bpy.context)
    scene.taffeta.backend = backend_of_file  # the choice for this run is not the scene's
    _report_bake(report, bake, progress)
    if out is not None and progress.done:  # also after a failure: the frames so far play
        _save(out, bake.folder if options.cache else None)
        report.values["saved"] = str(out)
        report.lines.append(f"saved {out}")
    if progress.phase is Phase.FAILED:
        raise CommandError(EXIT_CODES[progress.kind], progress.text, progress.culprit)
    if progress.phase is Phase.CANCELLED:
        raise CommandError(Exit.CANCELLED, progress.headline)


def check(options: Namespace, report: Report) -> None:
    _open(options.file)
    with failures():
        if not cloth_objects(bpy.context.scene):
            raise CommandError(Exit.NOTHING_TO_DO, "No object has the role Cloth")
        folder = cache_place.current(bpy.context.scene)
        _require_cache(*cache.inspect(folder)[:2])
        contents = cache.read_contents(folder)
        garments = cache_place.attached(cloth_objects(bpy.context.scene)).get(folder)
        bodies = cache_status.bodies(contents)
        scene = gather(bpy.context, (contents.frame_start, contents.frame_end), garments, bodies)
        state, reason, done = cache.inspect(folder, job.digest(scene))
        _require_cache(state, reason)
        cache.verify(folder)
        frames = _frames_to_check(options.frames, contents.frame_start, done)
        report.values |= {"cache": str(folder), "state": state.value, "frames": list(frames)}
        _check_frames(scene, folder, frames, report)
        whole = state is CacheState.READY or options.frames is not None
        if not whole and report.exit_code is Exit.DONE:
            raise CommandError(Exit.BAD_SCENE, f"The bake is not whole: {reason}. Resume it (bake --resume)")


def sample(options: Namespace, report: Report) -> None:
    package = f"{ROOT_PACKAGE}.sample_blends"
    if util.find_spec(package) is None:
        raise CommandError(Exit.USAGE, "Samples are part of Taffeta's sources, not of the installed extension")
    samples = import_module(package)
    if options.name not in samples.NAMES:
        raise CommandError(Exit.USAGE, f"There is no sample {options.name!r}; there are: {', '.join(samples.NAMES)}")
    bpy.ops.wm.read_homefile(use_empty=True)
    samples.build(options.name, options.vertices)
    _save_as(options.out.resolve())
    vertices = {item.name: len(item.data.vertices) for item in cloth_objects(bpy.context.scene)}
    report.values |= {"saved": str(options.out.resolve()), "vertices": vertices}
    report.lines.append(f"saved {options.out.resolve()}")


def _open(file: Path | None) -> None:
    if file is None:
        if not bpy.data.filepath:
            raise CommandError(Exit.USAGE, "Name a .blend file")
        return
    if not file.is_file():
        raise CommandError(Exit.BAD_SCENE, f"{file} does not exist. Name a saved .blend file")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(file.resolve()), load_ui=False)
    except RuntimeError as error:
        raise CommandError(Exit.BAD_SCENE, f"Blender cannot open {file}: {str(error).strip()}") from error


def _follow(bake: session.Bake, quiet: bool) -> None:
    """Step until the bake is over, with a line a frame on standard output – or on standard error where it is quiet."""
    said = 0
    while bake.state.busy:
        bake.step(1.0)
        for line in bake.reports[said:]:
            text = f"frame {line['frame']}: {line['done']} of {line['frames']}, {line['seconds']:.2f} s"
            print(text, file=sys.stderr if quiet else sys.stdout, flush=True)
        said = len(bake.reports)
        time.sleep(session.IDLE_WAIT)
    for warning in bake.state.warnings:
        print(f"taffeta: {warning}", file=sys.stderr)


def _report_bake(report: Report, bake: session.Bake, progress: BakeState) -> None:
    seconds = [float(line["seconds"]) for line in bake.reports if line["seconds"]]
    report.values |= {
        "state": progress.phase.value,
        "cache": str(bake.folder),
        "frames_done": progress.done,
        "frames": progress.frames,
        "backend": progress.backend,
        "device": progress.device,
        "seconds_per_frame": sum(seconds) / len(seconds) if seconds else None,
        "warnings": list(progress.warnings),
        "reports": bake.reports,
    }
    if progress.phase is Phase.DONE:
        pace = f", {sum(seconds) / len(seconds):.3f} s per frame" if seconds else ""
        report.lines.append(f"{progress.done} frames on {progress.device}{pace}")
        report.lines.append(f"cache {bake.folder}")


def _save(out: Path, chosen: Path | None) -> None:
    """Save the baked scene; it remembers a cache folder that was chosen on the command line."""
    if chosen is not None:
        bpy.context.scene.taffeta.cache_folder = cache_place.blend_path(chosen, out)
    _save_as(out)


def _save_as(out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(out), check_existing=False)
    except (OSError, RuntimeError) as error:
        raise CommandError(
            Exit.BAD_SCENE, f"{out} cannot be saved: {str(error).strip()}. Choose another place"
        ) from error


def _require_cache(state: CacheState, reason: str) -> None:
    if state is CacheState.MISSING:
        raise CommandError(Exit.NOTHING_TO_DO, f"{reason}. Bake first")
    if state in (CacheState.STALE, CacheState.CORRUPT):
        raise CommandError(Exit.BAD_SCENE, f"{reason}. Bake again")


def _frames_to_check(asked: FrameRange | None, start: int, done: int) -> FrameRange:
    first, last = start, start + done - 1
    if done == 0:
        raise CommandError(Exit.NOTHING_TO_DO, "The cache holds no frame yet")
    if asked is None:
        return first, last
    if asked[0] > asked[1] or asked[0] < first or asked[1] > last:
        raise CommandError(Exit.BAD_SCENE, f"The cache holds frames {first}:{last}, not {asked[0]}:{asked[1]}")
    return asked


def _check_frames(scene: Scene, folder: Path, frames: FrameRange, report: Report) -> None:
    start = scene.settings.frame_start
    caches = [cache.read_frames(cache.frames_path(folder, cloth.cache_key)) for cloth in scene.cloths]
    reports = {line["frame"]: line for line in json_lines.read(folder / cache.REPORTS)}
    verdicts: list[dict[str, Any]] = []
    for frame in range(frames[0], frames[1] + 1):
        findings = check_frame(scene, frame, [positions[frame - start] for positions in caches])
        texts = [str(entry) for entry in findings[:FINDINGS_SHOWN]]
        found = certificate(reports.get(frame, {"frame": frame}), {"intersections": len(findings), "findings": texts})
        verdicts.append({**asdict(found), "clean": found.clean})
        report.lines.append(f"frame {frame}: {'; '.join(found.troubles) or 'clean'}")
        report.lines.extend(f"  {text}" for text in texts)
    bad = [verdict["frame"] for verdict in verdicts if verdict["intersections"]]
    unclean = [verdict["frame"] for verdict in verdicts if not verdict["clean"]]
    report.values |= {
        "verdicts": verdicts,
        "intersecting_frames": bad,
        "unclean_frames": unclean,
        "clean": not unclean,
    }
    if bad:
        summary = f"{len(bad)} of {len(verdicts)} frames intersect"
    elif unclean:
        summary = f"none of {len(verdicts)} frames intersects, {len(unclean)} have other troubles"
    else:
        summary = f"all {len(verdicts)} frames are clean"
    report.lines.append(summary)
    if bad:
        report.exit_code = Exit.INTERSECTING

# SPDX-License-Identifier: GPL-3.0-or-later
"""bake, check, free, sample: the commands on a scene. They raise `CommandError`; the report gets the rest."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from dataclasses import asdict
from importlib import import_module, util
from pathlib import Path
from typing import Any

import bpy

from ...gpu_core.bake.cancellation import end_bake
from ...gpu_core.bake.certificate import certificate
from ...gpu_core.check.scene_check import SceneCheck
from ...gpu_core.files import cache, job, json_lines
from ...gpu_core.files.cache import CacheState
from ...gpu_core.files.folder import holds_bake, of_user, size
from ...gpu_core.messages import coded
from ...gpu_core.scene.scene import Scene
from ..bake import kept, session
from ..bake.state import BakeState, Happening, Phase
from ..cache import checking, place, status
from ..cache.drawn import differs_from_simulated
from ..cache.drawn import findings as drawn_findings
from ..device.answer import FAILURES, CommandError, Exit, Report, tell, tell_frame
from ..scene.gather import FrameRange, cloth_objects, gather
from .export import play_own
from .file import failures, open_file, save
from .interruption import deferred, heard

ROOT_PACKAGE = __package__.rsplit(".", 2)[0]
FINDINGS_SHOWN = 3  #: per frame
STEP = 0.2  #: s between two looks whether somebody has interrupted a bake


def bake(options: Namespace, report: Report) -> None:
    open_file(options, report)
    scene = bpy.context.scene
    out = options.save_blend.resolve() if options.save_blend else None
    backend_of_file = scene.taffeta.backend
    if options.backend:
        scene.taffeta.backend = options.backend.upper()
    with failures(), deferred():
        order = session.Order(
            frames=options.frames,
            folder=of_user(options.cache.resolve()) if options.cache else None,
            blend=out,
            resume=options.resume,
        )
        bake = session.Bake(bpy.context, order)
        session.start(bake)
        _follow(bake, quiet=options.json)
        progress = session.finish(bpy.context)
    crossing = _crossing_as_drawn(progress)
    scene.taffeta.backend = backend_of_file  # the choice for this run is not the scene's
    report.bake(
        bake.folder,
        state=progress.phase.value,
        frames_done=progress.done,
        frames=progress.frames,
        backend=progress.backend,
        device=progress.device,
        warnings=[*progress.warnings, *crossing],
        reports=bake.reports,
    )
    if out is not None and progress.done:  # also after a failure: the frames so far play
        save(out, report, options.cache)
    if progress.phase is Phase.FAILED:
        raise CommandError(FAILURES[progress.kind], progress.text, progress.culprit)
    if progress.phase is Phase.CANCELLED:
        raise CommandError(Exit.CANCELLED, progress.headline)


def check(options: Namespace, report: Report) -> None:
    open_file(options, report)
    with failures():
        if not cloth_objects(bpy.context.scene):
            raise CommandError(Exit.NOTHING_TO_DO, "No object has the role Cloth")
        play_own(bpy.context.scene)
        folder = place.current(bpy.context.scene)
        _require_cache(*cache.inspect(folder)[:2])
        contents = cache.read_contents(folder)
        simulated = status.cloths_of(contents, bpy.context.scene) or None
        played = status.colliders_of(contents)
        scene = gather(bpy.context, (contents.frame_start, contents.frame_end), simulated, played)
        state, reason, done = status.compare(folder, job.describe(scene))
        _require_cache(state, reason)
        cache.verify(folder)
        frames = _frames_to_check(options.frames, contents.frame_start, done)
        report.values |= {"cache": str(folder), "state": state.value, "frames": list(frames)}
        _check_frames(scene, folder, frames, report)
        whole = state is CacheState.READY or options.frames is not None
        if not whole and report.exit_code is Exit.DONE:
            raise CommandError(Exit.DAMAGED, f"The bake is not whole: {reason}. Resume it (bake --resume)")


def free(options: Namespace, report: Report) -> None:
    open_file(options, report)
    scene = bpy.context.scene
    with failures():
        folders = [folder for folder in place.all_of(scene) if holds_bake(folder) and not place.foreign(folder, scene)]
        if not folders:
            raise CommandError(Exit.NOTHING_TO_DO, "There is no cache of this scene")
        freed = sum(size(folder) for folder in folders)
        kept.free(scene)
    report.values |= {"freed": [str(folder) for folder in folders], "bytes": freed}
    report.lines += [f"freed {folder}" for folder in folders]
    if options.save_blend:
        save(options.save_blend.resolve(), report)


def cancel(options: Namespace, report: Report) -> None:
    if options.cache is not None:
        folders = [of_user(options.cache.resolve())]
    else:
        open_file(options, report)
        folders = place.all_of(bpy.context.scene)
    with failures():
        ended = {str(folder): str(who) for folder in folders if (who := end_bake(folder)) is not None}
    if not ended:
        raise CommandError(Exit.NOTHING_TO_DO, "No bake of this scene runs")
    report.values["ended"] = ended
    report.lines += [f"ended the bake in {folder}: {who}" for folder, who in ended.items()]


def sample(options: Namespace, report: Report) -> None:
    samples = import_module(f"{ROOT_PACKAGE}.sample_blends")
    known = (*samples.NAMES, *samples.FETCHED)
    if options.name not in known:
        raise CommandError(Exit.USAGE, f"There is no sample {options.name!r}; there are: {', '.join(known)}")
    if util.find_spec(f"{samples.__name__}.{options.name}") is None:
        problem = f"The sample {options.name} is part of Taffeta's sources, not of the installed extension"
        raise CommandError(Exit.USAGE, problem)
    bpy.ops.wm.read_homefile(use_empty=True)
    try:
        samples.build(options.name, options.vertices)
    except samples.NotFetchedError as error:
        raise CommandError(Exit.BAD_SCENE, f"The sample cannot be built: {error}") from error
    report.values["vertices"] = {item.name: len(item.data.vertices) for item in cloth_objects(bpy.context.scene)}
    save(options.out.resolve(), report)


def _follow(bake: session.Bake, quiet: bool) -> None:
    """Step until the bake is over, with a line a frame on standard output – or on standard error where it is quiet."""
    said, working = 0, ""
    while bake.state.busy:
        if heard():
            bake.handle(Happening.CANCEL)
        bake.step(STEP)
        if bake.state.working not in ("", working):
            tell(bake.state.working, sys.stderr)
        working = bake.state.working
        for line in bake.reports[said:]:
            tell_frame(line, quiet)
        said = len(bake.reports)
        time.sleep(session.IDLE_WAIT)
    for warning in bake.state.warnings:
        tell(f"taffeta: {warning}", sys.stderr)


def _crossing_as_drawn(progress: BakeState) -> list[str]:
    """Of a bake that is whole: what modifiers after the cache, or bodies that render otherwise, make of it."""
    if progress.phase is not Phase.DONE or not differs_from_simulated(bpy.context.scene):
        return []
    with failures():
        checking.check(bpy.context)
    found = checking.troubles(bpy.context.scene)
    for text in found:
        tell(f"taffeta: {coded(text)}", sys.stderr)
    return found


def _require_cache(state: CacheState, reason: str) -> None:
    if state is CacheState.MISSING:
        raise CommandError(Exit.NOTHING_TO_DO, f"{reason}. Bake first")
    if state is CacheState.STALE:
        raise CommandError(Exit.SCENE_CHANGED, f"{reason}. Bake from the start")
    if state is CacheState.CORRUPT:
        raise CommandError(Exit.DAMAGED, f"{reason}. Bake from the start, or resume, which keeps what is good")


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
    start, scene_check = scene.settings.frame_start, SceneCheck(scene)
    drawn = dict(drawn_findings(bpy.context, frames))
    caches = [cache.read_frames(cache.frames_path(folder, cloth.cache_key)) for cloth in scene.cloths]
    reports = {line["frame"]: line for line in json_lines.read(folder / cache.REPORTS)}
    verdicts: list[dict[str, Any]] = []
    for frame in range(frames[0], frames[1] + 1):
        findings = scene_check.cached_findings(frame, [positions[frame - start] for positions in caches])
        texts = [str(entry) for entry in findings[:FINDINGS_SHOWN]]
        seen = [str(entry) for entry in drawn[frame][:FINDINGS_SHOWN]]
        checked = {"intersections": len(findings), "findings": texts, "let_through": scene_check.let_through}
        checked |= {"drawn": len(drawn[frame]), "drawn_findings": seen}
        found = certificate(reports.get(frame, {"frame": frame}), checked)
        verdicts.append({**asdict(found), "clean": found.clean, "codes": found.codes})
        report.lines.append(f"frame {frame}: {'; '.join(map(coded, found.troubles)) or 'clean'}")
        report.lines.extend(f"  {text}" for text in dict.fromkeys([*texts, *seen]))
    bad = [verdict["frame"] for verdict in verdicts if verdict["intersections"] or verdict["drawn"]]
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

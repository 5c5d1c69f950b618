# SPDX-License-Identifier: GPL-3.0-or-later
"""What numbers cannot tell of a cache: is it whole, of this scene, and does what Blender draws of it cross?

Both take as long as reading the scene does, so both are generators that evaluate one frame at each `next` and give the
share done, 0..1. What they find is in `status`; closed early, they put the current frame and the modifiers back.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import bpy

from ...gpu_core.files import cache, job
from ...gpu_core.files.cache import CacheError, CacheState
from ...gpu_core.files.disk import DiskError
from ...gpu_core.scene.scene import SceneError
from ..scene.gather import cloth_objects, gather_by_frame, own_cloths
from . import drawn, place, status
from .status import REASONS_SHOWN

JUDGED_FROM = 0.5  #: of the share of a whole check; before it the scene is read


def check(context: bpy.types.Context) -> None:
    """A whole check, at once."""
    for _ in check_by_frame(context):
        pass


def check_by_frame(context: bpy.types.Context) -> Generator[float, None, None]:
    """Read the scene and every cached frame; where all are of this scene, judge what is drawn as well."""
    status.look(context.scene)
    caches = place.lying(context.scene, own_cloths(context.scene))
    for index, folder in enumerate(caches):
        for share in _compare(context, folder):
            yield JUDGED_FROM * (index + share) / len(caches)
    if all(entry.state is not CacheState.STALE for entry in status.known(context.scene).values()):
        for share in judge_by_frame(context):
            yield JUDGED_FROM + (1.0 - JUDGED_FROM) * share


def _compare(context: bpy.types.Context, folder: Path) -> Generator[float, None, None]:
    """Is this cache whole, and of its cloths as the scene has them now? Of those too that play a later bake."""
    scene = context.scene
    held = status.known(scene)[folder]
    contents = held.contents
    if contents is None or held.state in (CacheState.MISSING, CacheState.CORRUPT):
        return
    frames, simulated = (contents.frame_start, contents.frame_end), status.cloths_of(contents, scene)
    try:
        cache.verify(folder)
        found = yield from gather_by_frame(context, frames, simulated, status.colliders_of(contents))
        differs = status.stale(contents, job.describe(found))
    except (CacheError, DiskError) as error:
        status.put(scene, folder, replace(held, state=CacheState.CORRUPT, reason=error.problem))
    except SceneError as error:
        status.put(scene, folder, replace(held, state=CacheState.STALE, reason=str(error)))
    else:
        status.put(scene, folder, replace(held, differs=differs))


def judge_by_frame(context: bpy.types.Context) -> Generator[float, None, None]:
    """Whether what Blender draws of the baked frames crosses, into their certificates."""
    ends = [
        (held.contents.frame_start, held.contents.frame_start + held.frames - 1)
        for held in status.known(context.scene).values()
        if held.frames and held.contents is not None
    ]
    if not ends:
        return
    first, last = min(start for start, _ in ends), max(end for _, end in ends)
    seen: dict[int, tuple[str, ...]] = {}
    for frame, found in drawn.findings(context, (first, last)):
        seen[frame] = tuple(map(str, found))
        yield (frame - first + 1) / (last - first + 1)
    for folder, held in status.known(context.scene).items():
        judged = (
            replace(entry, drawn=len(seen[entry.frame]), drawn_findings=seen[entry.frame][:REASONS_SHOWN])
            for entry in held.certificates
            if entry.frame in seen
        )
        status.put(context.scene, folder, replace(held, certificates=tuple(judged)))


def troubles(scene: bpy.types.Scene) -> list[str]:
    """What was found of crossings in what Blender draws, a line a bake."""
    found = {id(held): held for cloth in cloth_objects(scene) if (held := status.held(scene, cloth)).certificates}
    lines = []
    for held in found.values():
        crossing = [entry for entry in held.certificates if entry.drawn]
        if crossing:
            count = f"{len(crossing)} of {len(held.certificates)} frames cross as Blender draws them"
            lines.append(f"{count}: {crossing[0].drawn_findings[0]}")
    return lines


def unjudged(scene: bpy.types.Scene) -> bool:
    """Has a cache frames of which nobody knows whether what Blender makes of them crosses? Cheap enough for drawing."""
    if not drawn.differs_from_simulated(scene):
        return False
    return any(
        entry.drawn is None for cloth in cloth_objects(scene) for entry in status.held(scene, cloth).certificates
    )


class Checking:
    """A check that runs beside the interface: a little at each `step`."""

    def __init__(self, context: bpy.types.Context, only_drawn: bool) -> None:
        """only_drawn: of caches that were just baked from this scene."""
        self.share = 0.0  #: done, 0..1
        self._steps = judge_by_frame(context) if only_drawn else check_by_frame(context)

    def step(self, seconds: float) -> bool:
        """Go on for about this long, by one frame at least; is there more to do?"""
        until = time.monotonic() + seconds
        for share in self._steps:
            self.share = share
            if time.monotonic() >= until:
                return True
        return False

    def close(self) -> None:
        self._steps.close()


current: Checking | None = None  #: the one that runs in this Blender


def start(context: bpy.types.Context, only_drawn: bool) -> None:
    global current
    current = Checking(context, only_drawn)


def close() -> None:
    """End it where it is; the current frame and the modifiers are put back."""
    global current
    if current is not None:
        running, current = current, None
        running.close()

# SPDX-License-Identifier: GPL-3.0-or-later
"""What each cloth's cache is worth, kept in memory: looked up on the disk after bakes and clicks, never to draw.

A cache is stale as soon as a number differs from what it was baked with; that is compared while drawing. Whether a mesh
or a motion differs only reading the scene can tell, which `check` does.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from ...gpu_core.bake import certificate
from ...gpu_core.bake.certificate import Certificate
from ...gpu_core.files import cache, job
from ...gpu_core.files import folder as own_folder
from ...gpu_core.files.cache import CacheError, CacheState, Contents
from ...gpu_core.files.disk import DiskError
from ...gpu_core.files.program import program
from ...gpu_core.scene.differences import differences
from ...gpu_core.scene.scene import SceneError
from ..scene import modifier, roster
from ..scene.gather import Members, cloth_objects, gather, gather_numbers
from . import place

REASONS_SHOWN = 3


@dataclass(frozen=True)
class Held:
    """What was found in one cache folder."""

    state: CacheState
    reason: str
    frames: int = 0
    size: int = 0  #: bytes
    free: int = 0  #: bytes left on its disk
    contents: Contents | None = None
    certificates: tuple[Certificate, ...] = ()
    foreign: str = ""  #: whose bake it is, where it is not this scene's


MISSING = Held(CacheState.MISSING, "Not baked")

_held: dict[Path, Held] = {}
_folders: dict[str, Path] = {}  #: path as the modifier stores it → folder; resolving paths is too slow for drawing


def look(scene: bpy.types.Scene) -> None:
    """Find out what the caches of the scene are worth. Reads headers, sizes and reports."""
    _held.clear()
    _folders.clear()
    for cloth in cloth_objects(scene):
        own = modifier.find(cloth)
        folder = place.played(cloth)
        if own is not None and folder is not None:
            _folders[own.filepath] = folder
            if folder not in _held:
                _held[folder] = _look_at(folder, scene)


def _look_at(folder: Path, scene: bpy.types.Scene) -> Held:
    state, reason, frames = cache.inspect(folder, solver=program())
    held = Held(state, reason, frames, foreign=place.foreign(folder, scene))
    try:
        return replace(
            held,
            size=own_folder.size(folder),
            free=shutil.disk_usage(folder).free,
            contents=cache.read_contents(folder),
            certificates=tuple(certificate.read(folder)),
        )
    except (CacheError, DiskError) as error:
        if state in (CacheState.CORRUPT, CacheState.MISSING):
            return held
        return replace(held, state=CacheState.CORRUPT, reason=error.problem)
    except OSError as error:
        return replace(held, state=CacheState.CORRUPT, reason=str(error))


def held(cloth: bpy.types.Object) -> Held:
    """What this cloth's cache is worth, as far as memory knows. Cheap enough for drawing."""
    own = modifier.find(cloth)
    if own is None:
        return MISSING
    return _held.get(_folders.get(own.filepath, Path()), replace(MISSING, reason="Its cache has not been looked at"))


def of(scene: bpy.types.Scene, cloth: bpy.types.Object) -> tuple[CacheState, str]:
    """(state, reason in words) of this cloth's cache for the scene as it is now. Cheap enough for drawing."""
    return _worth(held(cloth), scene, roster.members(scene), {})


def every(scene: bpy.types.Scene) -> list[tuple[bpy.types.Object, CacheState, str]]:
    """Every cloth of the scene with its `of`: one look at each object, one comparison a bake."""
    present, reasons = roster.members(scene), dict[int, str]()
    return [(cloth, *_worth(held(cloth), scene, present, reasons)) for cloth in present.cloths]


def in_words(cloth: bpy.types.Object, state: CacheState, reason: str) -> str:
    """“Sheet: density is 0.2, was 0.1”: what `of` says, with the name of the cloth, once."""
    text = reason or state.value
    return text if text.startswith(f"{cloth.name}: ") else f"{cloth.name}: {text}"


def _worth(found: Held, scene: bpy.types.Scene, present: Members, reasons: dict[int, str]) -> tuple[CacheState, str]:
    """reasons: why a bake is stale, by the identity of its contents; what is missing is added."""
    contents = found.contents
    if contents is None or found.state in (CacheState.MISSING, CacheState.CORRUPT, CacheState.STALE):
        return found.state, found.reason
    if id(contents) not in reasons:
        numbers = gather_numbers(scene, present, contents.points, colliders_of(contents))
        reasons[id(contents)] = why_stale(contents, numbers)
    reason = reasons[id(contents)]
    return (CacheState.STALE, reason) if reason else (found.state, found.reason)


def colliders_of(contents: Contents) -> list[str]:
    """Who took part in the bake besides. A cloth baked later does not make it stale."""
    return [entry["name"] for entry in contents.scene.get("colliders", ())]


def why_stale(contents: Contents, asked: Mapping[str, Any]) -> str:
    """The first differences between a cache and a scene, or nothing where they agree or the cache is too old to say."""
    if not contents.scene:
        return ""
    lines = differences(contents.scene, asked)
    more = f" and {len(lines) - REASONS_SHOWN} more" if len(lines) > REASONS_SHOWN else ""
    return "; ".join(lines[:REASONS_SHOWN]) + more


def check(context: bpy.types.Context) -> None:
    """Read the scene, and every cached frame, to find out what numbers cannot tell: takes as long as reading does."""
    look(context.scene)
    for folder, simulated in place.attached(cloth_objects(context.scene)).items():
        found = _held[folder]
        if found.contents is None or found.state in (CacheState.MISSING, CacheState.CORRUPT):
            continue
        try:
            cache.verify(folder)
            asked = job.describe(gather(context, simulated=simulated, played=colliders_of(found.contents)))
            reason = why_stale(found.contents, asked)
        except (CacheError, DiskError) as error:
            _held[folder] = replace(found, state=CacheState.CORRUPT, reason=error.problem)
        except SceneError as error:
            _held[folder] = replace(found, state=CacheState.STALE, reason=str(error))
        else:
            if reason:
                _held[folder] = replace(found, state=CacheState.STALE, reason=reason)


def certify(folder: Path, reports: Sequence[Mapping[str, Any]], line: Mapping[str, Any]) -> None:
    """A running bake certified a frame."""
    report = next((report for report in reversed(reports) if report["frame"] == line["frame"]), line)
    before = _held.get(folder, MISSING)
    kept = tuple(entry for entry in before.certificates if entry.frame != line["frame"])
    _held[folder] = replace(before, certificates=(*kept, certificate.certificate(report, line)))

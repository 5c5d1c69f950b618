# SPDX-License-Identifier: GPL-3.0-or-later
"""What each cloth's cache is worth, kept in memory: looked up on the disk after bakes and clicks, and once where a
scene or a cloth comes into sight; not to draw again.

A cache is stale as soon as a number differs from what it was baked with; that is compared while drawing, as is all
that costs nothing to know: whether the file is there, the modifier plays it, and the mesh has its vertices. Whether a
mesh or a motion differs only reading the scene can tell, which `checking` does. A range that has become shorter makes
no cache stale, and one that has become longer leaves the rest to be baked.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ...gpu_core.bake import certificate
from ...gpu_core.bake.certificate import Certificate
from ...gpu_core.files import cache, job
from ...gpu_core.files import folder as own_folder
from ...gpu_core.files.cache import CacheError, CacheState, Contents
from ...gpu_core.files.disk import DiskError
from ...gpu_core.files.program import program
from ...gpu_core.messages import code_of
from ...gpu_core.scene.differences import Difference, alike, differences
from ..scene import keys, modifier, retiming, roster
from ..scene.gather import Members, cloth_objects, gather_numbers
from . import place, playback

REASONS_SHOWN = 3
#: Codes of states whose reason has none of its own.
CODES = {
    CacheState.PARTIAL: "TAF-C001",
    CacheState.STALE: "TAF-C002",
    CacheState.CORRUPT: "TAF-C006",
    CacheState.MISSING: "TAF-C004",
    CacheState.HIDDEN: "TAF-C005",
}


class Stale(NamedTuple):
    """How a cache and a scene differ."""

    reason: str = ""  #: in words; nothing where they agree, or the cache is too old to say
    good: int = 0  #: so many first frames would be the same


ALIKE = Stale()


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
    differs: Stale = ALIKE  #: from the scene as it was when that was looked at (`checking`)


MISSING = Held(CacheState.MISSING, "Unbaked")  #: as short as the other words, whose column is narrow


@dataclass
class _Seen:
    """What was found of the bakes of one scene."""

    held: dict[Path, Held] = field(default_factory=dict)
    #: session_uid of a cloth, library, and path as its modifier stores it → folder; resolving is too slow for drawing
    folders: dict[tuple[int, str, str], Path | None] = field(default_factory=dict)
    unplayed: dict[int, Path | None] = field(default_factory=dict)  #: session_uid of a cloth without a modifier
    shared: dict[int, str] = field(default_factory=dict)  #: session_uid of a cloth → another scene whose bake it plays
    remains: bool | None = None  #: whether there is anything to free, though its cloths may be gone


_seen: dict[int, _Seen] = {}  # by the scene's session_uid


def look(scene: bpy.types.Scene) -> None:
    """Find out what the caches of the scene are worth, and of others when they are asked for. Reads headers, sizes and
    reports."""
    forget()
    for cloth in cloth_objects(scene):
        held(scene, cloth)
        shared(scene, cloth)


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
    except (CacheError, DiskError, OSError) as error:
        if state in (CacheState.CORRUPT, CacheState.MISSING):  # so the folder itself may be gone
            return held
        return replace(held, state=CacheState.CORRUPT, reason=getattr(error, "problem", str(error)))


def forget() -> None:
    """Something may have changed on the disk."""
    _seen.clear()


def held(scene: bpy.types.Scene, cloth: bpy.types.Object) -> Held:
    """What this cloth's cache is worth, as far as memory knows. Cheap enough for drawing, but for the first time."""
    folder, known = folder_of(scene, cloth), _seen_in(scene).held
    if folder is None:
        return MISSING
    if folder not in known:
        known[folder] = _look_at(folder, scene)
    return known[folder]


def shared(scene: bpy.types.Scene, cloth: bpy.types.Object) -> str:
    """`place.shared`, as far as memory knows. Cheap enough for drawing, but for the first time."""
    known = _seen_in(scene).shared
    if cloth.session_uid not in known:
        known[cloth.session_uid] = place.shared(cloth, scene)
    return known[cloth.session_uid]


def held_in(scene: bpy.types.Scene, folder: Path) -> Held:
    """The same of a folder, which no cloth need play; it is not kept in memory."""
    return _seen_in(scene).held.get(folder) or _look_at(folder, scene)


def _seen_in(scene: bpy.types.Scene) -> _Seen:
    return _seen.setdefault(scene.session_uid, _Seen())


def folder_of(scene: bpy.types.Scene, cloth: bpy.types.Object) -> Path | None:
    """Where its bake lies, whether a modifier plays it or not; as far as memory knows."""
    seen = _seen_in(scene)
    own = modifier.find(cloth)
    if own is None:
        if cloth.session_uid not in seen.unplayed:
            seen.unplayed[cloth.session_uid] = place.lies_in(scene, cloth)
        return seen.unplayed[cloth.session_uid]
    asked = cloth.session_uid, cloth.library.filepath if cloth.library is not None else "", own.filepath
    if asked not in seen.folders:
        seen.folders[asked] = place.lies(scene, cloth)
    return seen.folders[asked]


def freeable(scene: bpy.types.Scene) -> bool:
    """Does anything play a bake of this scene, or lie on the disk, though its cloths may be gone? Cheap enough for
    drawing, but for the first time."""
    seen = _seen_in(scene)
    if seen.remains is None:
        folders = (folder for folder in place.all_of(scene) if own_folder.holds_bake(folder))
        seen.remains = any(not place.shared(item, scene) for item in place.players(scene)) or any(
            not place.foreign(folder, scene) for folder in folders
        )
    return seen.remains


def of(scene: bpy.types.Scene, cloth: bpy.types.Object) -> tuple[CacheState, str]:
    """(state, reason in words) of this cloth's cache for the scene as it is now. Cheap enough for drawing."""
    return _worth(cloth, scene, roster.members(scene), {})


def every(scene: bpy.types.Scene) -> list[tuple[bpy.types.Object, CacheState, str]]:
    """Every cloth of the scene with its `of`: one look at each object, one comparison a bake."""
    present, reasons = roster.members(scene), dict[int, Stale]()
    return [(cloth, *_worth(cloth, scene, present, reasons)) for cloth in present.cloths]


def begun(scene: bpy.types.Scene) -> bool:
    """Is anything baked, of any cloth and to whatever worth?"""
    return any(state is not CacheState.MISSING for _, state, _ in every(scene))


def left(scene: bpy.types.Scene) -> bpy.types.Object | None:
    """A cloth whose bake can go on: of several the first that has no other of them as a collider."""
    unfinished = [cloth for cloth, state, _ in every(scene) if _unfinished(cloth, state, scene)]
    names = {cloth.name for cloth in unfinished}
    ready = (cloth for cloth in unfinished if names.isdisjoint(colliders_of(held(scene, cloth).contents)))
    return next(ready, next(iter(unfinished), None))


def _unfinished(cloth: bpy.types.Object, state: CacheState, scene: bpy.types.Scene) -> bool:
    """Is its bake interrupted, damaged, or shorter than the range is now?"""
    if state is CacheState.HIDDEN:
        state = held(scene, cloth).state
    rest = state is not CacheState.STALE and _rest(held(scene, cloth), scene)
    return rest or state in (CacheState.PARTIAL, CacheState.CORRUPT)


def in_words(name: str, state: CacheState, reason: str) -> str:
    """“Sheet: density is 0.2, was 0.1”: what `of` says, with the name of the cloth, once."""
    text = reason or state.value
    return text if text.startswith(f"{name}: ") else f"{name}: {text}"


def code(state: CacheState, reason: str) -> str:
    """Of the message that `of` says; nothing of a cache that is ready."""
    return "" if state is CacheState.READY else code_of(reason) or CODES[state]


def _worth(
    cloth: bpy.types.Object, scene: bpy.types.Scene, present: Members, reasons: dict[int, Stale]
) -> tuple[CacheState, str]:
    """reasons: why bakes are stale, by the identity of their contents; what is missing is added."""
    found = held(scene, cloth)
    contents = found.contents
    if contents is None or found.state in (CacheState.MISSING, CacheState.CORRUPT, CacheState.STALE):
        return found.state, found.reason
    if cloth.library is not None:  # of the scene in its library
        return found.state, found.reason
    if gone := playback.gone(cloth):
        if folder_of(scene, cloth) != place.played(cloth):
            return CacheState.HIDDEN, f"Its modifier looks for it elsewhere ({found.reason})"
        return CacheState.CORRUPT, f"{gone} is missing"
    if id(contents) not in reasons:
        frames = contents.frame_start, contents.frame_end
        numbers = gather_numbers(scene, present, contents.points, colliders_of(contents), frames, contents.scene)
        reasons[id(contents)] = stale(contents, numbers)
    differs = reasons[id(contents)] if reasons[id(contents)].reason else found.differs
    if other := playback.other_mesh(cloth, contents):
        return CacheState.STALE, differs.reason or other
    if worse := _of_stale(contents, found.frames, differs):
        return worse
    hidden = playback.hidden(cloth, contents)
    if hidden:
        return CacheState.HIDDEN, f"{hidden} ({found.reason})"
    return _in_range(found, contents, scene)


def _in_range(found: Held, contents: Contents, scene: bpy.types.Scene) -> tuple[CacheState, str]:
    """Of the frames that the scene shows now."""
    first, last = retiming.frame_range(scene)
    if first < contents.frame_start:
        return CacheState.STALE, f"It begins at frame {contents.frame_start}, the scene at frame {first}"
    if _rest(found, scene):
        return (
            CacheState.PARTIAL,
            f"{found.frames} of {last - contents.frame_start + 1} frames: the range is longer now",
        )
    if found.state is CacheState.PARTIAL and last < contents.frame_start + found.frames:
        return CacheState.READY, f"{found.frames} frames, all that the range shows"
    return found.state, found.reason


def _rest(found: Held, scene: bpy.types.Scene) -> bool:
    """Has the range become longer than the bake?"""
    contents = found.contents
    return contents is not None and found.frames > 0 and retiming.frame_range(scene)[1] > contents.frame_end


def colliders_of(contents: Contents | None) -> list[str]:
    """Who took part in the bake besides. A cloth baked later does not make it stale."""
    return [entry["name"] for entry in contents.scene.get("colliders", ())] if contents is not None else []


def cloths_of(contents: Contents, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Those of the scene's cloths that this bake simulated."""
    every = cloth_objects(scene)
    assigned = keys.assign(every)
    return [item for item in every if item.library is None and assigned[item.name_full] in contents.points]


def stale(contents: Contents, asked: Mapping[str, Any]) -> Stale:
    """asked: as `job.describe` has the scene."""
    found = differences(contents.scene, asked) if contents.scene else []
    good = alike(found, contents.frames)
    return Stale(in_brief(found), good if good >= contents.kept else 0) if found else ALIKE


def compare(folder: Path, asked: Mapping[str, Any]) -> tuple[CacheState, str, int]:
    """`cache.inspect` for the scene as `job.describe` has it; of a stale cache the reason names what differs."""
    state, reason, done = cache.inspect(folder, job.digest_of(asked))
    if state is CacheState.STALE:
        reason = stale(cache.read_contents(folder), asked).reason or reason
    return state, reason, done


def _of_stale(contents: Contents, frames: int, found: Stale) -> tuple[CacheState, str] | None:
    """What a cache of so many frames is worth where the scene is another now; None where it is as good as it was."""
    if not found.reason or found.good >= frames:
        return None
    if not found.good:
        return CacheState.STALE, found.reason
    return CacheState.PARTIAL, f"Good up to frame {contents.frame_start + found.good - 1}. {found.reason}"


def in_brief(found: Sequence[Difference]) -> str:
    """The first of these differences, or nothing."""
    more = f" and {len(found) - REASONS_SHOWN} more" if len(found) > REASONS_SHOWN else ""
    return "; ".join(difference.text for difference in found[:REASONS_SHOWN]) + more


def known(scene: bpy.types.Scene) -> dict[Path, Held]:
    """What was found in each folder that a cloth of the scene plays or could play."""
    return dict(_seen_in(scene).held)


def put(scene: bpy.types.Scene, folder: Path, held: Held) -> None:
    """Somebody knows better what this folder is worth."""
    _seen_in(scene).held[folder] = held


def begin(scene: bpy.types.Scene, folder: Path) -> None:
    """A bake into this folder begins: it is looked at once that is over."""
    _seen_in(scene).held.setdefault(folder, MISSING)


def certify(
    scene: bpy.types.Scene, folder: Path, reports: Sequence[Mapping[str, Any]], line: Mapping[str, Any]
) -> None:
    """A running bake certified a frame."""
    report = next((report for report in reversed(reports) if report["frame"] == line["frame"]), line)
    before = known(scene).get(folder, MISSING)
    kept = tuple(entry for entry in before.certificates if entry.frame != line["frame"])
    put(scene, folder, replace(before, certificates=(*kept, certificate.certificate(report, line))))

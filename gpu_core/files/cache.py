# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake's folder is worth: what its cache.json says, and whether its frames can be trusted."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from . import json_lines, point_cache
from .disk import DiskError
from .errors import CacheError
from .folder import BAKE_LOG, CERTIFICATES, CHECKPOINTS, CONTENTS, LOG, REPORTS, TAG, frames_path, is_ours
from .lock import is_held
from .point_cache import read_frames

FORMAT = "taffeta cache"
VERSION = 2
CHECKSUM = "crc32"
STATES = ("running", "done", "cancelled", "failed")


class CacheState(Enum):
    READY = "ready"  #: every frame is there and belongs to this scene
    PARTIAL = "partial"  #: the frames so far are good; the bake runs, or can be resumed
    STALE = "stale"  #: whole or partial, but of another scene or other settings
    CORRUPT = "corrupt"  #: damaged, or not ours
    MISSING = "missing"  #: nothing baked here
    HIDDEN = "hidden"  #: ready or partial, but Blender does not show it


@dataclass(frozen=True)
class Contents:
    """What cache.json says."""

    digest: str
    frame_start: int
    frame_end: int
    points: Mapping[str, int]  #: cache key of each cloth → vertices
    backend: str
    state: str = "running"
    program: str = ""  #: which solver baked it (`program.program`)
    scene: Mapping[str, Any] = field(default_factory=dict)  #: `job.describe` of the scene
    kept: int = 0  #: first frames that an earlier bake made; this one began after them

    @property
    def frames(self) -> int:
        return self.frame_end - self.frame_start + 1


def read_contents(folder: Path) -> Contents:
    """cache.json, checked. Raises CacheError (missing, damaged, foreign, newer)."""
    path = Path(folder) / CONTENTS
    if not path.is_file():
        raise CacheError(f"There is no cache in {folder}", "Bake first")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        checksum = values.pop(CHECKSUM, None)
        whole = checksum == checksum_of(values)
        is_cache, version = values.pop("format") == FORMAT, int(values.pop("version"))
        if is_cache and whole and version <= VERSION:
            return _checked(Contents(**values))
    except Exception as error:  # any bytes may stand there
        raise CacheError(f"{path} is damaged", "Bake from the start") from error
    if not is_cache:
        raise CacheError(f"{path} was not written by Taffeta", "Choose another cache folder")
    if not whole:
        raise CacheError(f"{path} is damaged", "Bake from the start")
    raise CacheError(f"{path} has format {version}, this Taffeta reads up to {VERSION}", "Update Taffeta")


def packed(contents: Contents) -> bytes:
    """As cache.json has it."""
    values = {"format": FORMAT, "version": VERSION, **asdict(contents)}
    return json.dumps({**values, CHECKSUM: checksum_of(values)}, indent=1).encode()


def checksum_of(values: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())


def _checked(contents: Contents) -> Contents:
    counts = [contents.frame_start, contents.frame_end, contents.kept, *contents.points.values()]
    texts = [contents.digest, contents.backend, contents.program, *contents.points]
    if not all(type(count) is int for count in counts) or not all(isinstance(text, str) for text in texts):
        raise TypeError("a value of the wrong type")
    if contents.state not in STATES or contents.frames < 1 or min(contents.points.values()) < 1:
        raise ValueError("a value out of range")
    return contents


def inspect(folder: Path, digest: str | None = None, solver: str | None = None) -> tuple[CacheState, str, int]:
    """What a cache folder is worth: (state, reason in words, frames that play).

    Reads headers and sizes only, and tries the lock of a bake that has not ended, so it is cheap enough for every
    click; `verify` reads the frames too. With `digest` (of the scene as it is now, `job.digest`) a cache of another
    scene is STALE, with `solver` (`program.program`) one of another solver.
    """
    folder = Path(folder)
    if not (folder / CONTENTS).exists():
        orphans = sorted(folder.glob("*.pc2"))
        if orphans and is_ours(folder):
            return CacheState.CORRUPT, f"{folder / CONTENTS} is missing", 0
        if orphans:
            return CacheState.CORRUPT, f"{orphans[0]} was not written by Taffeta: {CONTENTS} is missing beside it", 0
        return CacheState.MISSING, f"There is no cache in {folder}", 0
    try:
        contents = read_contents(folder)
        frames = [_frames_in(folder, key, contents) for key in contents.points]
    except (CacheError, DiskError) as error:
        return CacheState.CORRUPT, error.problem, 0
    except OSError as error:
        return CacheState.CORRUPT, str(error), 0
    done = min(frames)
    if contents.state == "done" and frames != [contents.frames] * len(frames):
        return CacheState.CORRUPT, f"{folder} says done, but holds {done} of {contents.frames} frames", done
    if digest is not None and digest != contents.digest:
        return CacheState.STALE, "The scene has changed since this bake", done
    if solver is not None and solver != contents.program:
        return CacheState.STALE, "Another version of Taffeta's solver baked it", done
    if contents.state == "done":
        older = f", the first {contents.kept} of an earlier bake" if contents.kept else ""
        return CacheState.READY, f"{done} frames{older}", done
    state = "broken off" if contents.state == "running" and not is_held(folder) else contents.state
    return CacheState.PARTIAL, f"{state}: {done} of {contents.frames} frames", done


def _frames_in(folder: Path, key: str, contents: Contents) -> int:
    path = frames_path(folder, key)
    if not path.exists():
        if contents.state == "running":  # between cache.json and the first frame
            return 0
        raise CacheError(f"{path} is missing", "Resume the bake")
    header = point_cache.read_header(path)
    if header.points != contents.points[key] or header.start != contents.frame_start:
        raise CacheError(f"{path} does not belong to this cache", "Bake again")
    if header.frames > contents.frames or (contents.state == "done" and path.stat().st_size != header.file_bytes):
        raise CacheError(f"{path} has more in it than the bake wrote", "Bake again")
    return header.frames


def sound(folder: Path) -> tuple[int, str]:
    """(how many first frames are as they were written, what is wrong with the one after them, or nothing).

    Compares every frame with the checksum that was written with it, so it reads all of the cache. Raises CacheError
    (cache.json is damaged), DiskError.
    """
    contents = read_contents(folder)
    lines, wrong = json_lines.read_whole(Path(folder) / REPORTS)
    frames = len(lines)
    for key in contents.points:
        whole, trouble = _sound_frames(frames_path(folder, key), key, lines[:frames], contents)
        if trouble:
            frames, wrong = whole, trouble
    if not wrong and contents.state == "done" and frames < contents.frames:
        wrong = f"{Path(folder) / REPORTS} has {frames} of {contents.frames} frames"
    return frames, wrong


def _sound_frames(path: Path, key: str, lines: list[dict[str, Any]], contents: Contents) -> tuple[int, str]:
    """Of one cloth: (first frames that agree with these reports, what is wrong with the next)."""
    try:
        _frames_in(path.parent, key, contents)
        blocks = read_frames(path)
    except (CacheError, DiskError) as error:
        problem: str = error.problem
        return 0, problem if lines else ""
    for index, (line, block) in enumerate(zip(lines, blocks, strict=False)):
        if line["checksums"].get(key) != zlib.crc32(np.ascontiguousarray(block).data):
            return index, f"{path} is damaged at frame {line['frame']}"
    if len(blocks) < len(lines):
        return len(blocks), f"{path} has {len(blocks)} of {len(lines)} frames"
    return len(lines), ""


def verify(folder: Path, frames: int | None = None) -> None:
    """Compare every frame, or the first `frames`, with the checksums that were written with it.

    Raises CacheError (names the file and the first frame that is damaged), DiskError. Reads all of it.
    """
    whole, wrong = sound(folder)
    if wrong and (frames is None or whole < frames):
        raise CacheError(wrong, "Resume the bake, which goes on from the last good frame")


def files(folder: Path) -> list[Path]:
    """What of a cache is there and belongs to it. Raises CacheError (damaged, foreign)."""
    names = [frames_path(folder, key).name for key in read_contents(folder).points]
    known = [TAG, CONTENTS, REPORTS, CERTIFICATES, BAKE_LOG, LOG, *names]
    return [*(path for path in (Path(folder) / name for name in known) if path.is_file()), *folder.glob(CHECKPOINTS)]


__all__ = [
    "CONTENTS",
    "REPORTS",
    "CacheError",
    "CacheState",
    "Contents",
    "files",
    "frames_path",
    "inspect",
    "packed",
    "read_contents",
    "read_frames",
    "sound",
    "verify",
]

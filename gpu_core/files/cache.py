# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder of a bake: what is in it, whether it can be trusted, and how frames come into it.

cache.json           the scene in numbers, its digest, that of the solver, running | done | cancelled | failed
<key>.pc2            one per cloth: object space, float32; block i is scene frame frame_start + i
frames.jsonl         one line a frame: what the solver reported, and a checksum of each cloth's block
certificates.jsonl   one line a frame: what the exact check found in it (`certificate`)
checkpoint.npz       the solver's state after the last frame, while there is something to resume
cancel, pause        appear when somebody wants the bake to stop or to wait
bake.log             the bake as a story for people (`bake_log`)
worker.log           what the worker process said besides
lock                 held by the one who writes
"""

from __future__ import annotations

import errno
import json
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..scene.arrays import Array
from ..scene.scene import Cloth, Scene
from . import json_lines, point_cache
from .disk import DiskError, disk_errors, make_folder, write_whole
from .job import describe, digest_of
from .point_cache import CacheError, read_frames
from .program import program

FORMAT = "taffeta cache"
VERSION = 2
STATES = ("running", "done", "cancelled", "failed")
CONTENTS = "cache.json"
REPORTS = "frames.jsonl"
CHECKPOINT = "checkpoint.npz"
CERTIFICATES = "certificates.jsonl"
CANCEL = "cancel"
PAUSE = "pause"
BAKE_LOG = "bake.log"
LOG = "worker.log"
LOCK = "lock"
HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # what systems answer when another process has the lock


class CacheState(Enum):
    READY = "ready"  #: every frame is there and belongs to this scene
    PARTIAL = "partial"  #: the frames so far are good; the bake runs, or can be resumed
    STALE = "stale"  #: whole or partial, but of another scene or other settings
    CORRUPT = "corrupt"  #: damaged, or not ours
    MISSING = "missing"  #: nothing baked here


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


def frames_path(folder: Path, key: str) -> Path:
    """The PC2 file of the cloth with this cache key; characters that no file name can have are escaped."""
    stem = re.sub(r'[\x00-\x1f%/\\:*?"<>|]', lambda match: f"%{ord(match[0]):02X}", key)
    return Path(folder) / f"{stem}.pc2"


def read_contents(folder: Path) -> Contents:
    """cache.json, checked. Raises CacheError (missing, damaged, foreign, newer)."""
    path = Path(folder) / CONTENTS
    if not path.is_file():
        raise CacheError(f"There is no cache in {folder}", "Bake first")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        is_cache, version = values.pop("format") == FORMAT, int(values.pop("version"))
        if is_cache and version <= VERSION:
            return _checked(Contents(**values))
    except Exception as error:  # any bytes may stand there
        raise CacheError(f"{path} is damaged", "Delete the cache folder and bake again") from error
    if not is_cache:
        raise CacheError(f"{path} was not written by Taffeta", "Choose another cache folder")
    raise CacheError(f"{path} has format {version}, this Taffeta reads up to {VERSION}", "Update Taffeta")


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

    Reads headers and sizes only, so it is cheap enough for every click; `verify` reads the frames too. With `digest`
    (of the scene as it is now, `job.digest`) a cache of another scene is STALE, with `solver` (`program.program`) one
    of another solver.
    """
    folder = Path(folder)
    if not (folder / CONTENTS).exists():
        foreign = sorted(folder.glob("*.pc2"))
        if foreign:
            return CacheState.CORRUPT, f"{foreign[0]} was not written by Taffeta: {CONTENTS} is missing beside it", 0
        return CacheState.MISSING, f"There is no cache in {folder}", 0
    try:
        contents = read_contents(folder)
        frames = [_frames_in(folder, key, contents) for key in contents.points]
    except (CacheError, DiskError, OSError) as error:
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
    return CacheState.PARTIAL, f"{contents.state}: {done} of {contents.frames} frames", done


def _frames_in(folder: Path, key: str, contents: Contents) -> int:
    path = frames_path(folder, key)
    if not path.exists():
        if contents.state == "running":  # between cache.json and the first frame
            return 0
        raise CacheError(f"{path} is missing", "Bake again")
    header = point_cache.read_header(path)
    if header.points != contents.points[key] or header.start != contents.frame_start:
        raise CacheError(f"{path} does not belong to this cache", "Bake again")
    if header.frames > contents.frames or (contents.state == "done" and path.stat().st_size != header.file_bytes):
        raise CacheError(f"{path} has more in it than the bake wrote", "Bake again")
    return header.frames


def verify(folder: Path, frames: int | None = None) -> None:
    """Compare every frame, or the first `frames`, with the checksums that were written with it.

    Raises CacheError (names the file and the first frame that is damaged), DiskError. Reads all of it.
    """
    contents = read_contents(folder)
    lines = json_lines.read(Path(folder) / REPORTS)
    for key in contents.points:
        blocks = read_frames(frames_path(folder, key))
        counted = len(blocks) if frames is None else min(frames, len(blocks))
        if counted > len(lines) and contents.state == "done":
            raise CacheError(f"{Path(folder) / REPORTS} has {len(lines)} of {counted} frames", "Bake again")
        for line, block in zip(lines, blocks[:counted], strict=False):
            if line["checksums"].get(key) != zlib.crc32(np.ascontiguousarray(block).data):
                raise CacheError(f"{frames_path(folder, key)} is damaged at frame {line['frame']}", "Bake again")


def size(folder: Path) -> int:
    """Bytes that the files of this cache take. Raises DiskError."""
    with disk_errors(folder):
        return sum(path.stat().st_size for path in files(folder))


def files(folder: Path) -> list[Path]:
    """What of a cache is there and belongs to it. Raises CacheError (damaged, foreign)."""
    names = [frames_path(folder, key).name for key in read_contents(folder).points]
    known = [CONTENTS, REPORTS, CERTIFICATES, CHECKPOINT, BAKE_LOG, LOG, *names]
    return [Path(folder) / name for name in known if (Path(folder) / name).is_file()]


def free(folder: Path) -> None:
    """Delete the cache, and nothing else that may lie in the folder. Raises CacheError (in use, foreign), DiskError."""
    folder = Path(folder)
    if not (folder / CONTENTS).exists():
        return
    with locked(folder):
        _clear(folder, read_contents(folder))
        _remove(folder, LOG, BAKE_LOG, CANCEL, PAUSE, CONTENTS)
    _remove(folder, LOCK)
    if not any(folder.iterdir()):
        folder.rmdir()


def _clear(folder: Path, contents: Contents) -> None:
    """Delete the frames; cache.json stays until the last, so that no orphan is ever taken for foreign."""
    _remove(folder, CHECKPOINT, REPORTS, CERTIFICATES, *(frames_path(folder, key).name for key in contents.points))


def _remove(folder: Path, *names: str) -> None:
    for name in names:
        with disk_errors(folder / name):
            (folder / name).unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one writer; the system lets go when the process dies. Raises CacheError, DiskError."""
    path = Path(folder) / LOCK
    with disk_errors(path):
        file = open(path, "ab")  # noqa: SIM115 - closed below, outside of disk_errors
    with file:
        try:
            _lock(file)
        except OSError as error:
            if error.errno in HELD:  # anything else: a network folder that knows no locks
                raise CacheError(f"Another bake writes into {folder}", "Wait for it or cancel it") from error
        yield


def _lock(file: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


class CacheWriter:
    """Brings the frames of one scene into a cache folder, each whole before it counts. Use inside `locked`."""

    def __init__(self, folder: Path, scene: Scene, backend: str, kept: int = 0) -> None:
        """kept: how many frames of the cache that lies there stay, see `Contents`."""
        self.folder = Path(folder)
        self.scene = scene
        settings, content = scene.settings, describe(scene)
        points = {cloth.cache_key: len(cloth.positions) for cloth in scene.cloths}
        self.contents = Contents(
            digest_of(content), settings.frame_start, settings.frame_end, points, backend,
            program=program(), scene=content, kept=kept,
        )  # fmt: skip

    def begin(self) -> None:
        """Empty the cache and mark it as running. Raises CacheError where files of others are in the way."""
        make_folder(self.folder)
        if (self.folder / CONTENTS).exists():
            _clear(self.folder, read_contents(self.folder))
        for key in self.contents.points:
            if frames_path(self.folder, key).exists():
                raise CacheError(
                    f"{frames_path(self.folder, key)} was not written by Taffeta",
                    "Move it away or choose another cache folder",
                )
        self.mark("running")
        for key, points in self.contents.points.items():
            point_cache.create(frames_path(self.folder, key), points, self.contents.frame_start)
        with disk_errors(self.folder / REPORTS):
            (self.folder / REPORTS).write_bytes(b"")

    def rewind(self, frames: int) -> None:
        """Keep the first `frames` frames and mark the cache as running. Raises CacheError where fewer are there."""
        for key in self.contents.points:
            point_cache.truncate(frames_path(self.folder, key), frames)
        for name in (REPORTS, CERTIFICATES):
            json_lines.truncate(self.folder / name, frames)
        self.mark("running")

    def append(self, frame: int, positions: Sequence[Array], report: Mapping[str, Any]) -> None:
        """Add a frame: one (N, 3) world array per cloth, m, and what the solver reports of it.

        Raises:
            FloatingPointError: a position is not a finite float32 number.
            DiskError, CacheError: it cannot be written; the frames before stay good.
        """
        index = frame - self.contents.frame_start
        cloths = self.scene.cloths
        with np.errstate(over="ignore"):  # an overflow is a position that is no number: told below
            frames = [to_object(cloth, world, index) for cloth, world in zip(cloths, positions, strict=True)]
        for cloth, cached in zip(cloths, frames, strict=True):
            if not np.isfinite(cached).all():
                raise FloatingPointError(f"{cloth.name} has a position that is not a number at frame {frame}")
        for cloth, cached in zip(cloths, frames, strict=True):
            point_cache.append(frames_path(self.folder, cloth.cache_key), cached)
        checksums = {cloth.cache_key: zlib.crc32(frame.data) for cloth, frame in zip(cloths, frames, strict=True)}
        json_lines.append(self.folder / REPORTS, {**report, "checksums": checksums})

    def mark(self, state: str) -> None:
        """Write cache.json with this state (one of STATES). Raises DiskError."""
        self.contents = replace(self.contents, state=state)
        values = {"format": FORMAT, "version": VERSION, **asdict(self.contents)}
        write_whole(self.folder / CONTENTS, lambda file: file.write(json.dumps(values, indent=1).encode()))


def to_object(cloth: Cloth, world: Array, frame_index: int) -> npt.NDArray[np.float32]:
    """World positions (N, 3), m, in the space that the cloth's cache is written in at this frame of the range."""
    if cloth.world_to_object is None:
        return np.asarray(world, np.float32)
    matrices = cloth.world_to_object
    matrix = np.asarray(matrices[frame_index if len(matrices) > 1 else 0], np.float64)
    return np.ascontiguousarray(np.asarray(world, np.float64) @ matrix[:3, :3].T + matrix[:3, 3], np.float32)


__all__ = [
    "CacheError",
    "CacheState",
    "CacheWriter",
    "Contents",
    "files",
    "frames_path",
    "free",
    "inspect",
    "locked",
    "read_contents",
    "read_frames",
    "size",
    "to_object",
    "verify",
]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of ours: a tag in it says so, and only what is named here is ever written over or deleted in it.

taffeta.txt          the tag
cache.json           the scene in numbers, its digest, that of the solver, running | done | cancelled | failed
<key>.pc2            one per cloth: object space, float32; block i is scene frame frame_start + i
frames.jsonl         one line a frame: what the solver reported, and a checksum of each cloth's block
certificates.jsonl   one line a frame: what the exact check found in it (`certificate`)
checkpoint_*.npz     the solver's state after the last frame and after a few before (`checkpoint`)
subspace_*.npz       what a solver found out about the meshes
job/                 the scene as it was handed to the solver (`job`), and owner.json: whose it is
incoming/            such scenes on their way into job/
velocity/            one .pc2 per cloth, where it has been finalised so
parts/               folders of ours, each with a bake of some of the cloth
lock, holder.json    held by the one who writes, and who that is (`lock`)
cancel               appears when somebody wants that one to stop
bake.log             the bake as a story for people (`log`)
worker.log           what the worker process said besides
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .disk import disk_errors, make_folder, remove, write_whole
from .errors import CacheError
from .lock import CANCEL, HOLDER, LOCK, locked

TAG = "taffeta.txt"
CONTENTS = "cache.json"
REPORTS = "frames.jsonl"
CERTIFICATES = "certificates.jsonl"
CHECKPOINTS = "checkpoint*.npz"
SUBSPACES = "subspace_*.npz"
BAKE_LOG = "bake.log"
LOG = "worker.log"
JOB = "job"
JOB_FILES = (
    "job.json",
    "cloth_*.npz",
    "collider_*_triangles.npy",
    "collider_*_whole.npy",
    "collider_*_positions.npy",
    "field_*.npz",
    "threads.npy",
)
OWNER = "owner.json"  #: within the job
INCOMING = "incoming"
VELOCITIES = "velocity"
PARTS = "parts"
WITHIN = "taffeta"  #: the folder of ours within one that the user chose

FRAMES = (CONTENTS, REPORTS, CERTIFICATES, CHECKPOINTS)  #: of a bake, besides the frames themselves
LOGS = (BAKE_LOG, LOG)
NEW = ".new"  #: the end of what was not yet written whole when a process died (`disk.write_whole`)

DEVICES = re.compile(r"(CON|PRN|AUX|NUL|COM\d|LPT\d)(\.|$)", re.IGNORECASE)  # names that Windows keeps for itself
FORBIDDEN = re.compile(r'[\x00-\x1f%/\\:*?"<>|\ud800-\udfff]')
LONGEST = 200  #: bytes of a file's name, which most file systems end at 255

TEXT = (
    "This folder belongs to Taffeta, a cloth solver for Blender: it holds the frames of a bake.\n"
    "Free Cache in Blender deletes them. What Taffeta did not write stays.\n"
)


def of_user(chosen: Path) -> Path:
    """Where in a folder that the user chose a bake lies: in one of ours, so that nothing of his is in our way."""
    return chosen if is_ours(chosen) else chosen / WITHIN


def is_ours(folder: Path) -> bool:
    """Has Taffeta baked there? One of the two files that say so may be lost."""
    return (folder / TAG).is_file() or _said_by_contents(folder)


def _said_by_contents(folder: Path) -> bool:
    try:
        return b'"taffeta cache"' in (folder / CONTENTS).read_bytes()
    except OSError:
        return False


def prepare(folder: Path) -> None:
    """Make the folder, and make it ours. Raises CacheError where it holds what Taffeta did not write; DiskError."""
    make_folder(folder)
    refuse_links(folder)
    if not is_ours(folder):
        with disk_errors(folder):
            names = {path.name for path in folder.iterdir()} - {TAG + NEW, PARTS, INCOMING, LOCK, HOLDER, CANCEL}
        if names:
            raise CacheError(
                f"{folder} holds files that Taffeta did not write, such as {min(names)}",
                "Move them away, or choose another cache folder",
            )
    if not (folder / TAG).is_file():
        write_whole(folder / TAG, lambda file: file.write(TEXT.encode()))


def refuse_links(folder: Path) -> None:
    """Raises CacheError where something in the folder lies elsewhere in truth: it would be written over there."""
    is_junction = getattr(os.path, "isjunction", lambda path: False)  # Windows, from Python 3.12 on
    for place in (folder, *(folder / name for name in (JOB, INCOMING, VELOCITIES))):
        for path in place.iterdir() if place.is_dir() else ():
            if path.is_symlink() or is_junction(path):
                raise CacheError(
                    f"{path} is a link to another place", "Delete the link, or choose another cache folder"
                )


def frames_path(folder: Path, key: str) -> Path:
    """The PC2 file of the cloth with this cache key: within the folder, and with a name that every system accepts."""
    stem = FORBIDDEN.sub(_escaped, key)
    if DEVICES.match(stem):
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    if len(stem.encode()) > LONGEST:
        raise CacheError(f"The cache key {key[:20]}… is too long for a file's name", "Give the cloth a shorter name")
    return Path(folder) / f"{stem}.pc2"


def _escaped(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def frames_files(folder: Path) -> list[Path]:
    """The PC2 files there that Taffeta wrote, as far as anything that is left of the bake still names them."""
    found = []
    for key in sorted(_keys(folder)):
        with suppress(CacheError):  # a name that no file can have
            found.append(frames_path(folder, key))
    return [path for path in found if path.is_file()]


def _keys(folder: Path) -> set[str]:
    """The cache keys that cache.json, the job or a report name; each of them may be lost or damaged."""
    found: set[str] = set()
    for values in (_json(folder / CONTENTS), *_lines(folder / REPORTS)):
        for name in ("points", "checksums"):
            found.update(_texts(values.get(name)))
    for cloth in _list(_json(folder / JOB / "job.json").get("cloths")):
        found.update(_texts([cloth.get("key") or cloth.get("name")] if isinstance(cloth, dict) else None))
    return found


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The first lines: all of them name the same cloths."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:2]
    except OSError:
        return
    for line in lines:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict):
            yield values


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> set[str]:
    return {text for text in value if isinstance(text, str)} if isinstance(value, dict | list) else set()


def clear(folder: Path) -> None:
    """Delete the frames and what belongs to them; cache.json goes last, so that a file never has nobody to name it.

    Raises DiskError.
    """
    frames = frames_files(folder)
    _delete([*frames, *_named(folder, REPORTS, CERTIFICATES, CHECKPOINTS)])
    _delete(_named(folder, CONTENTS))


def holds_bake(folder: Path) -> bool:
    """Is there anything of a bake to free, whole or not?"""
    return is_ours(folder) and bool(frames_files(folder) or _named(folder, *FRAMES))


def size(folder: Path) -> int:
    """Bytes that the bake's files take, whole or not. Raises DiskError."""
    with disk_errors(folder):
        return sum(path.stat().st_size for path in (*frames_files(folder), *_named(folder, *FRAMES, *LOGS, TAG)))


def free(folder: Path) -> None:
    """Delete the bake in a folder of ours, and nothing else that may lie there.

    Raises BusyError, CacheError (a link leads out of it), DiskError.

    The tag and the lock stay: see `lock`.
    """
    if not is_ours(folder):
        return
    refuse_links(folder)
    with locked(folder):
        clear(folder)
        job = [path for pattern in (*JOB_FILES, OWNER) for path in (folder / JOB).glob(pattern)]
        _delete([*job, *(folder / VELOCITIES).glob("*.pc2"), *_named(folder, SUBSPACES, *LOGS)])
        with disk_errors(folder):
            for empty in (folder / JOB, folder / VELOCITIES, folder / INCOMING, folder / PARTS):
                if empty.is_dir() and not any(empty.iterdir()):
                    empty.rmdir()


def _named(folder: Path, *patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in (*folder.glob(pattern), *folder.glob(pattern + NEW))]


def _delete(paths: list[Path]) -> None:
    for path in paths:
        with disk_errors(path):
            remove(path)

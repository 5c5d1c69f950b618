# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bake begins: at the start, after the last good frame of the one that lies there, or in the midst of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ..files import checkpoint, json_lines
from ..files.cache import CacheState, inspect, read_contents, sound
from ..files.errors import CacheError, CompleteError, StaleError
from ..files.folder import CERTIFICATES, CONTENTS
from ..files.program import program

ANEW = "Bake from the start instead of resuming"


@dataclass(frozen=True)
class Beginning:
    """What of a cache stays."""

    done: int = 0  #: first frames that stay
    kept: int = 0  #: of them, those of an earlier bake that this one continues (`continuation`)
    state: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)  #: the solver's, after them; none at the start
    backend: str = ""  #: that baked the frames so far, where a resumed bake adds to them
    complete: bool = False  #: all that is left to do is to check frames
    warnings: tuple[str, ...] = ()


def beginning(
    cache: Path, digest: str, resume: bool, keep: int, earlier: str = "", most: int | None = None
) -> Beginning:
    """For a bake of the scene with this digest. Use inside `locked`.

    earlier: digest of a scene with the same beginning (`extension`), which the cache may be of as well. most: frames
    that may stay where it is of that one.

    Raises:
        StaleError: it resumes, and the cache is of another scene or solver.
        CompleteError: it resumes, and nothing is left to do.
        CacheError: it resumes, and what is there cannot be relied on. DiskError.
    """
    if resume:
        return _resumed(cache, digest, earlier, most)
    frames, wrong = sound(cache) if keep else (0, "")
    if frames < keep and wrong:
        raise CacheError(wrong, "Bake from the start")
    return Beginning(done=keep, kept=keep)


def _resumed(cache: Path, asked: str, earlier: str, most: int | None) -> Beginning:
    digest = _digest_of(cache, asked, earlier, most)
    state, reason, _ = inspect(cache, digest, program())
    if state is CacheState.MISSING:
        return Beginning()
    if not (cache / CONTENTS).exists():
        raise CacheError(reason, ANEW)
    contents = read_contents(cache)
    if digest != contents.digest or contents.program != program():
        raise StaleError(reason, ANEW)
    frames, wrong = sound(cache)
    if state is CacheState.READY and not wrong and digest == asked:
        return _complete(cache, frames, reason)
    if frames < contents.kept:
        raise CacheError(f"{wrong}, which an earlier bake made", ANEW)
    done, saved = checkpoint.load(cache, digest, min(frames, most or frames), contents.kept)
    warnings = []
    if wrong:
        where = f"frame {contents.frame_start + done - 1}" if done else "the start"
        warnings.append(f"{wrong}: the bake goes on from {where}")
    return Beginning(done or contents.kept, contents.kept, saved, contents.backend, warnings=tuple(warnings))


def _digest_of(cache: Path, asked: str, earlier: str, most: int | None) -> str:
    """The one of both that the cache is of, where it is of one whose frames may stay."""
    try:
        contents = read_contents(cache)
        same = contents.digest == earlier and (most is None or most >= contents.kept)
        return earlier if earlier and same else asked
    except CacheError:  # which is told by whoever looks at it
        return asked


def _complete(cache: Path, frames: int, reason: str) -> Beginning:
    """Every frame is good; so may be every certificate."""
    if len(json_lines.read_whole(cache / CERTIFICATES)[0]) == frames:
        raise CompleteError(f"The cache is complete: {reason}", "Bake without resuming to begin anew")
    json_lines.truncate(cache / CERTIFICATES, frames)
    return Beginning(frames, complete=True)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver's state on disk, so that a bake resumes to the same bytes as if it had never stopped.

The state after the last frame is there, and a few of earlier frames, spread over the range: where a frame turns out to
be damaged later, the bake goes on from the one before it. Until there is a frame, that after no frame is the last one
within a pre-roll.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .disk import disk_errors, remove, write_arrays, write_whole
from .folder import CHECKPOINTS
from .program import program

STATE = "state_"  # prefix of the state's own names in the file
SPREAD = 8  #: how many states of earlier frames stay, at most

State = dict[str, npt.NDArray[Any]]


def save(folder: Path, done: int, frames: int, digest: str, state: Mapping[str, npt.NDArray[Any]]) -> None:
    """Put the state after `done` frames of `frames` into the cache folder. Raises DiskError."""
    arrays: dict[str, Any] = {f"{STATE}{name}": np.asarray(array) for name, array in state.items()}
    if any(array.dtype.hasobject for array in arrays.values()):
        raise TypeError("a checkpoint holds plain arrays only")
    arrays.update(program=np.asarray(program()), done=np.asarray(done), digest=np.asarray(digest))
    write_whole(path_of(folder, done), lambda file: write_arrays(file, arrays))
    for path in _superseded(folder, done, frames):
        with disk_errors(path):
            remove(path)


def load(folder: Path, digest: str, sound: int, kept: int = 0) -> tuple[int, State]:
    """(frames done, state) of the latest that can be used for this scene; (0, {}) where none can.

    sound: so many first frames of the cache are good; a later state is of no use. kept: so many of them are of an
    earlier bake; nor is one of that.
    """
    for path in sorted(Path(folder).glob(CHECKPOINTS), reverse=True):
        found = _read(path, digest)
        if found is None or found[0] > sound or path != path_of(folder, found[0]):
            continue
        if not kept or kept < found[0]:
            return found
    return 0, {}


def path_of(folder: Path, done: int) -> Path:
    return Path(folder) / CHECKPOINTS.replace("*", f"_{done:07}")


def stride(frames: int) -> int:
    """The states of every so many frames stay: a power of two, so that a longer range keeps some of a shorter's."""
    return int(2 ** np.ceil(np.log2(max(frames / SPREAD, 1.0))))


def _superseded(folder: Path, done: int, frames: int) -> list[Path]:
    """What is not among those that stay, and what is of later frames: they will be others."""
    every, kept = stride(frames), {path_of(folder, done)}
    kept.update(path_of(folder, number) for number in range(every, done, every))
    return [path for path in Path(folder).glob(CHECKPOINTS) if path not in kept]


def _read(path: Path, digest: str) -> tuple[int, State] | None:
    """(frames done, state), or None where it is damaged, or of another scene or solver."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if str(arrays["program"]) != program() or str(arrays["digest"]) != digest:
            return None
        state = {name.removeprefix(STATE): array for name, array in arrays.items() if name.startswith(STATE)}
        return int(arrays["done"]), state
    except Exception:  # decoders of foreign bytes raise nearly everything
        return None

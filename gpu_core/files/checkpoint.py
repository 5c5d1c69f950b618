# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver's state on disk, so that a bake resumes to the same bytes as if it had never stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .cache import CHECKPOINT
from .disk import disk_errors, write_whole
from .point_cache import CacheError
from .program import program

STATE = "state_"  # prefix of the state's own names in the file


def save(folder: Path, frame: int, digest: str, state: Mapping[str, npt.NDArray[Any]]) -> None:
    """Put the state after `frame` into the cache folder, in place of the one before. Raises DiskError."""
    arrays: dict[str, Any] = {f"{STATE}{name}": np.asarray(array) for name, array in state.items()}
    if any(array.dtype.hasobject for array in arrays.values()):
        raise TypeError("a checkpoint holds plain arrays only")
    arrays.update(program=np.asarray(program()), frame=np.asarray(frame), digest=np.asarray(digest))
    write_whole(Path(folder) / CHECKPOINT, lambda file: np.savez(file, **arrays))


def load(folder: Path, digest: str) -> tuple[int, dict[str, npt.NDArray[Any]]] | None:
    """(frame, state) as saved, or None where there is no checkpoint.

    Raises CacheError where it is damaged, of another scene than the one with this digest, or of another Taffeta.
    """
    path = Path(folder) / CHECKPOINT
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        made_by, frame, saved_digest = str(arrays["program"]), int(arrays["frame"]), str(arrays["digest"])
        state = {name.removeprefix(STATE): array for name, array in arrays.items() if name.startswith(STATE)}
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise CacheError(f"{path} is damaged", "Bake from the start") from error
    if made_by != program():
        raise CacheError(f"{path} was made by another version of Taffeta", "Bake from the start")
    if saved_digest != digest:
        raise CacheError(f"{path} belongs to another scene", "Bake from the start")
    return frame, state


def remove(folder: Path) -> None:
    """Delete the checkpoint of a bake that is done."""
    path = Path(folder) / CHECKPOINT
    with disk_errors(path):
        path.unlink(missing_ok=True)

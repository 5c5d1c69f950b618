# SPDX-License-Identifier: GPL-3.0-or-later
"""The same scene over another range of frames, or with other keys in later ones: a bake goes on from what is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..files import job
from ..files.job import JobError
from ..files.job_values import field_arrays, pin_arrays
from ..scene.air import Field
from ..scene.differences import KINDS, alike, differences
from ..scene.scene import Cloth, Collider, Scene, SceneError

SAMPLED = frozenset({"pin_targets", "targets"})  #: arrays of a cloth, or its pins, by frame and sample
MOVING = SAMPLED | {"world_to_object"}
RANGE = frozenset({"frame_end"})


def extended(before: Path, after: Path) -> tuple[str, int]:
    """(the digest of the job in folder `before`, how many first frames of `after` bake alike), or ("", 0)."""
    try:
        old, new = job.load(before), job.load(after)
    except (JobError, SceneError, OSError):
        return "", 0
    frames = same_beginning(old, new)
    return (job.digest(before), frames) if frames else ("", 0)


def same_beginning(old: Scene, new: Scene) -> int:
    """For how many first frames of the range everything agrees that changes the result, and over all of the pre-roll:
    at most as many as the shorter range has."""
    found, preroll = differences(numbers(job.describe(old)), numbers(job.describe(new))), old.settings.preroll
    frames = alike(found, min(old.settings.frames, new.settings.frames))
    if not frames:
        return 0
    if not _same(old.threads, new.threads):
        return 0
    frames += preroll  # those that arrays have
    samples = old.settings.samples_per_frame
    same = min(
        *(_same_cloth(*pair, frames, samples) for pair in zip(old.cloths, new.cloths, strict=True)),
        *(_same_body(*pair, frames, samples) for pair in zip(old.colliders, new.colliders, strict=True)),
        *(_same_field(*pair, frames) for pair in zip(old.fields, new.fields, strict=True)),
        frames,
    )
    return max(same - preroll, 0)


def numbers(content: Mapping[str, Any]) -> dict[str, Any]:
    """Of what `job.describe` says: without the last frame, and without the arrays, as long as the range."""
    settings = {name: value for name, value in content["settings"].items() if name not in RANGE}
    content = {"keys": {}, **content}
    objects = {kind: [_without_arrays(entry) for entry in content.get(kind, [])] for kind in KINDS}
    return {"settings": settings, "keys": content["keys"], **objects}


def _without_arrays(entry: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in entry.items() if name != "arrays"}
    return {**own, "pins": [_without_arrays(group) for group in own["pins"]]} if "pins" in own else own


def _same(old: npt.NDArray[Any] | None, new: npt.NDArray[Any] | None) -> bool:
    return old is new or (old is not None and new is not None and np.array_equal(old, new))


def _same_cloth(old: Cloth, new: Cloth, frames: int, samples: int) -> int:
    groups = zip(old.pin_groups, new.pin_groups, strict=True)
    pairs = [(job.cloth_arrays(old), job.cloth_arrays(new))]
    pairs += [(pin_arrays(before.pins), pin_arrays(after.pins)) for before, after in groups]
    return min(_same_arrays(before, after, frames, samples) for before, after in pairs)


def _same_arrays(
    before: Mapping[str, npt.NDArray[Any]], after: Mapping[str, npt.NDArray[Any]], frames: int, samples: int
) -> int:
    if before.keys() != after.keys() or not all(
        np.array_equal(before[name], after[name]) for name in before if name not in MOVING
    ):
        return 0
    moving = MOVING & before.keys()
    same = (_same_motion(before[name], after[name], frames, samples if name in SAMPLED else 1) for name in moving)
    return min([frames, *same])


def _same_body(old: Collider, new: Collider, frames: int, samples: int) -> int:
    """Later frames may show other cuts that Blender makes of a body's faces."""
    if not (np.array_equal(old.shell, new.shell) and np.array_equal(old.stopping, new.stopping)):
        return 0
    return _same_motion(old.positions, new.positions, frames, samples)


def _same_field(old: Field, new: Field, frames: int) -> int:
    before, after = field_arrays(old), field_arrays(new)
    return min(_same_motion(before[name], after[name], frames) for name in before)


def _same_motion(old: npt.NDArray[Any], new: npt.NDArray[Any], frames: int, samples: int = 1) -> int:
    """For so many frames of at most `frames`. One entry stands for all. samples: entries from each to the next."""
    places = (frames - 1) * samples + 1
    first, second = (np.asarray(array)[: places if len(array) > 1 else 1] for array in (old, new))
    if first.shape[1:] != second.shape[1:]:
        return 0
    other = np.flatnonzero((first != second).reshape(max(len(first), len(second)), -1).any(axis=1))
    return (int(other[0]) + samples - 1) // samples if len(other) else frames

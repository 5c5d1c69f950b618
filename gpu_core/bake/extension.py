# SPDX-License-Identifier: GPL-3.0-or-later
"""The same scene over another range of frames: then a bake goes on from the frames that are there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..files import job
from ..files.job import JobError
from ..scene.differences import differences
from ..scene.scene import Cloth, Collider, Scene, SceneError

MOVING = frozenset({"world_to_object", "pin_targets"})  #: arrays of a cloth with one entry a frame
RANGE = frozenset({"frame_end"})


def extended(before: Path, after: Path) -> str:
    """The digest of the job in folder `before`, where `after` is the same in all frames that both have; or nothing."""
    try:
        old, new = job.load(before), job.load(after)
    except (JobError, SceneError, OSError):
        return ""
    return job.digest(before) if same_beginning(old, new) else ""


def same_beginning(old: Scene, new: Scene) -> bool:
    """Does everything that changes the result agree, in the frames that both have?"""
    if differences(numbers(job.describe(old)), numbers(job.describe(new))):
        return False
    frames = min(old.settings.frames, new.settings.frames)
    return all(_same_cloth(*pair, frames) for pair in zip(old.cloths, new.cloths, strict=True)) and all(
        _same_body(*pair, frames) for pair in zip(old.colliders, new.colliders, strict=True)
    )


def numbers(content: Mapping[str, Any]) -> dict[str, Any]:
    """Of what `job.describe` says: without the last frame, and without the arrays, as long as the range."""
    settings = {name: value for name, value in content["settings"].items() if name not in RANGE}
    objects = {
        kind: [{name: value for name, value in entry.items() if name != "arrays"} for entry in content[kind]]
        for kind in ("cloths", "colliders")
    }
    return {"settings": settings, **objects}


def _same_cloth(old: Cloth, new: Cloth, frames: int) -> bool:
    before, after = job.cloth_arrays(old), job.cloth_arrays(new)
    return before.keys() == after.keys() and all(
        _same_motion(before[name], after[name], frames) if name in MOVING else np.array_equal(before[name], after[name])
        for name in before
    )


def _same_body(old: Collider, new: Collider, frames: int) -> bool:
    """A longer range may show more of the cuts that Blender makes of a body's faces."""
    few, many = sorted((np.asarray(old.triangles), np.asarray(new.triangles)), key=len)
    return np.array_equal(few, many[: len(few)]) and _same_motion(old.positions, new.positions, frames)


def _same_motion(old: npt.NDArray[Any], new: npt.NDArray[Any], frames: int) -> bool:
    """One entry stands for all frames."""
    first, second = (np.asarray(array)[: frames if len(array) > 1 else 1] for array in (old, new))
    return first.shape[1:] == second.shape[1:] and bool((first == second).all())

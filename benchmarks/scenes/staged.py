# SPDX-License-Identifier: GPL-3.0-or-later
"""A sample as plain arrays: built in Blender by `taffeta sample`, handed over by `taffeta job`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...gpu_core.files.job import load
from ...gpu_core.scene.scene import Scene
from ...sample_blends.demo import taffeta


class StageError(RuntimeError):
    """A command has failed; the text says how."""


@dataclass(frozen=True)
class Staged:
    """A sample at a size."""

    name: str
    asked: int  #: vertices
    blend: Path
    scene: Scene  #: its cloth is where the world has it, not in the space of a cache

    @property
    def seconds(self) -> float:
        """That its frames after the first last, s."""
        return (self.scene.settings.frames - 1) / self.scene.settings.fps


def staged(name: str, vertices: int, frames: str, folder: Path) -> Staged:
    """frames: A:B, or nothing for all. Raises StageError."""
    blend, job = folder / f"{name}.blend", folder / name
    answer("sample", name, "--vertices", str(vertices), "--out", str(blend))
    answer("job", str(blend), "--out", str(job), *(("--frames", frames) if frames else ()))
    scene = load(job)
    cloths = tuple(replace(cloth, world_to_object=None) for cloth in scene.cloths)
    return Staged(name, vertices, blend, replace(scene, cloths=cloths))


def answer(*arguments: str) -> dict[str, Any]:
    """The JSON object of a command. Raises StageError with what it says is wrong; crossings are no error."""
    try:
        found = taffeta(*arguments, may_fail=True)
    except SystemExit as error:
        raise StageError(f"taffeta {arguments[0]} ended with {error.code}") from error
    if "error" in found:
        raise StageError(found["error"]["text"])
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""How frames come into a cache folder."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..scene.arrays import Array
from ..scene.scene import Cloth, Scene
from . import folder as own_folder
from . import json_lines, point_cache
from .cache import Contents, packed, read_contents
from .disk import disk_errors, write_whole
from .errors import CacheError
from .folder import CERTIFICATES, CONTENTS, REPORTS, frames_path
from .job import describe, digest_of
from .program import program


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
        own_folder.prepare(self.folder)
        own_folder.clear(self.folder)
        for key in self.contents.points:
            if frames_path(self.folder, key).exists():
                raise CacheError(
                    f"{frames_path(self.folder, key)} was not written by Taffeta",
                    "Move it away, or choose another cache folder",
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
        index = frame - self.scene.settings.begins
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
        _write(self.folder, self.contents)


def mark_cancelled(folder: Path) -> None:
    """What the writer of a bake would say, which is in the midst of a step and will not come to it. Raises CacheError,
    DiskError."""
    contents = read_contents(folder)
    if contents.state == "running":
        _write(folder, replace(contents, state="cancelled"))


def _write(folder: Path, contents: Contents) -> None:
    write_whole(folder / CONTENTS, lambda file: file.write(packed(contents)))


def to_object(cloth: Cloth, world: Array, frame_index: int) -> npt.NDArray[np.float32]:
    """World positions (N, 3), m, in the space that the cloth's cache is written in so many frames after the
    first that is simulated."""
    if cloth.world_to_object is None:
        return np.asarray(world, np.float32)
    matrices = cloth.world_to_object
    matrix = np.asarray(matrices[frame_index if len(matrices) > 1 else 0], np.float64)
    return np.ascontiguousarray(np.asarray(world, np.float64) @ matrix[:3, :3].T + matrix[:3, 3], np.float32)

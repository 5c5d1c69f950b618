# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2, the point cache that Blender's Mesh Cache modifier plays: a header and one block of float32 positions per frame.

Little-endian header of 32 bytes: "POINTCACHE2\\0", version 1, points, start frame, sampling, frames. While a bake runs
the payload of a frame is on disk before the header counts it, so a reader never sees half a frame.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from .disk import disk_errors, remove
from .errors import CacheError

HEADER = struct.Struct("<12siiffi")
MAGIC = b"POINTCACHE2\0"
VERSION = 1
COUNT_OFFSET = 28  # of the frame count, the last field of the header
POINT_BYTES = 12


@dataclass(frozen=True)
class PointCacheHeader:
    points: int
    start: float  #: scene frame of the first block
    frames: int

    @property
    def frame_bytes(self) -> int:
        return self.points * POINT_BYTES

    @property
    def file_bytes(self) -> int:
        return HEADER.size + self.frames * self.frame_bytes

    def pack(self) -> bytes:
        return HEADER.pack(MAGIC, VERSION, self.points, self.start, 1.0, self.frames)


def read_header(path: Path) -> PointCacheHeader:
    """The header of a PC2 file whose counted frames are all there.

    Raises:
        CacheError: not a PC2 file, or shorter than its header says.
        DiskError: it cannot be opened.
    """
    with disk_errors(path), open(path, "rb") as file:
        head = file.read(HEADER.size)
        size = os.fstat(file.fileno()).st_size
    if len(head) < HEADER.size:
        raise CacheError(f"{path} is cut off in its header", "Resume the bake")
    magic, version, points, start, sampling, frames = HEADER.unpack(head)
    if magic != MAGIC or version != VERSION or points <= 0 or frames < 0 or not np.isfinite(start) or sampling != 1.0:
        raise CacheError(f"{path} is not a point cache of Taffeta", "Move it away and bake again")
    header = PointCacheHeader(points, start, frames)
    if size < header.file_bytes:
        raise CacheError(
            f"{path} is cut off: {size} bytes of {header.file_bytes} for {frames} frames",
            "Resume the bake",
        )
    return header


def read_frames(path: Path) -> npt.NDArray[np.float32]:
    """All counted frames as a read-only memory map (F, N, 3), float32, object space. Raises like `read_header`."""
    header = read_header(path)
    shape = (header.frames, header.points, 3)
    if header.frames == 0:  # an empty file region cannot be mapped
        return np.empty(shape, np.float32)
    with disk_errors(path):
        return np.memmap(path, "<f4", "r", HEADER.size, shape)


def create(path: Path, points: int, start: int) -> None:
    """Begin an empty PC2 file, replacing what is there. Raises DiskError."""
    with disk_errors(path):
        remove(path)  # whoever still plays the old file keeps it whole
        with open(path, "xb") as file:
            file.write(PointCacheHeader(points, float(start), 0).pack())
            _sync(file)


def append(path: Path, positions: npt.NDArray[np.float32]) -> None:
    """Add one frame (N, 3), float32: payload, sync, and only then the count. Raises CacheError, DiskError."""
    header = read_header(path)
    if positions.shape != (header.points, 3) or positions.dtype != np.float32:
        raise CacheError(f"{path} holds {header.points} points a frame, not {positions.shape}", "Bake from the start")
    with disk_errors(path), open(path, "r+b") as file:
        file.seek(header.file_bytes)
        file.write(np.ascontiguousarray(positions, "<f4").tobytes())
        _sync(file)
        _write_count(file, header.frames + 1)


def truncate(path: Path, frames: int) -> None:
    """Forget the frames from index `frames` on. Raises CacheError (fewer are there), DiskError."""
    header = read_header(path)
    if header.frames < frames:
        raise CacheError(f"{path} has {header.frames} frames, not {frames}", "Bake from the start")
    with disk_errors(path), open(path, "r+b") as file:
        _write_count(file, frames)
        file.truncate(HEADER.size + frames * header.frame_bytes)
        _sync(file)


def _write_count(file: BinaryIO, frames: int) -> None:
    file.seek(COUNT_OFFSET)
    file.write(struct.pack("<i", frames))
    _sync(file)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())

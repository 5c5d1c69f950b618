# SPDX-License-Identifier: GPL-3.0-or-later
"""Files from strangers: a header's promise is believed where the bytes are there, and nowhere else.

Every function raises some Exception where a file is not what it should be: callers say which file is damaged. Links are
refused, for they may lead anywhere, and so is all that NumPy writes only of arrays that we never store: compressed
members, objects, Fortran order.
"""

from __future__ import annotations

import io
import math
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

MOST_TEXT = 16 * 2**20  #: bytes of a text file
MOST_DIRECTORY = 2**17  #: bytes of an archive's table of contents; ours have ten entries


def read_small(path: Path) -> str:
    """The text of a file."""
    if plain_size(path) > MOST_TEXT:
        raise ValueError("too long for a text file of ours")
    return path.read_text(encoding="utf-8")


def read_array(path: Path, kind: type, mapped: bool = False) -> npt.NDArray[Any]:
    """The array in a .npy file. kind: of its elements. mapped: leave it on disk, read-only."""
    size = plain_size(path)
    with open(path, "rb") as file:
        shape = _shape(file, size, kind)
        if mapped:
            return np.memmap(path, kind, "r", file.tell(), shape)
        return np.fromfile(file, kind).reshape(shape)


def read_arrays(path: Path, kinds: Mapping[str, type]) -> dict[str, npt.NDArray[Any]]:
    """The arrays in a .npz file; kinds: their possible names, and the kind of each one's elements."""
    size = plain_size(path)
    arrays: dict[str, npt.NDArray[Any]] = {}
    with _Archive(io.FileIO(path)) as file, zipfile.ZipFile(file) as archive:
        file.most = size
        members = archive.infolist()
        if sum(member.file_size for member in members) > size:
            raise ValueError("it promises more than it has")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in arrays or member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
                raise ValueError(f"{member.filename} is twice there, or compressed")
            with archive.open(member) as stream:
                _shape(stream, member.file_size, kinds[name])
            with archive.open(member) as stream:
                arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
    return arrays


def plain_size(path: Path) -> int:
    """Bytes of a file that is no link, folder, pipe or device."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is no plain file")
    return found.st_size


class _Archive(io.BufferedReader):
    """Refuses to read a table of contents that would fill the memory."""

    most = MOST_DIRECTORY

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self.most:
            raise ValueError("it promises more than it has")
        return super().read(size)


def _shape(file: IO[bytes], size: int, kind: type) -> tuple[int, ...]:
    """Of the array whose values come next in the file, which has so many bytes in all."""
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("not the version that we write")
    shape, fortran_order, found = np.lib.format.read_array_header_1_0(file)
    if found != np.dtype(kind) or fortran_order or min(shape, default=0) < 0:
        raise ValueError(f"{shape} of {found}, expected {np.dtype(kind)}")
    if file.tell() + math.prod(shape) * found.itemsize != size:
        raise ValueError(f"{shape} of {found} is not what the file has in it")
    return tuple(shape)

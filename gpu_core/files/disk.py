# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are whole or not there, and disk troubles said plainly."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..messages import Told

NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
NO_FOLDER = {errno.ENOENT, errno.ENOTDIR, errno.EEXIST}
RETRIES, RETRY_WAIT = 20, 0.05  #: together a second: so long a virus scanner may hold a file on Windows
MIB = 2**20


class DiskError(Told, RuntimeError):
    """A file or folder that cannot be read or written. `problem` and `remedy` are for the user."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns any OSError inside into a DiskError that names the path and the remedy."""
    try:
        yield
    except OSError as error:
        raise _disk_error(error, path) from error


def _disk_error(error: OSError, path: Path) -> DiskError:
    if error.errno in NO_SPACE:
        problem = f"The disk is full: {path} could not be written{'' if error.errno == errno.EFBIG else _room(path)}"
        return DiskError(problem, "Free some space, or choose another folder")
    if error.errno in NOT_ALLOWED:
        return DiskError(f"{path} is read-only or not yours", "Choose a folder you may write to")
    if error.errno in NO_FOLDER:
        return DiskError(f"{path} cannot be made or opened: {error.strerror}", "Choose a folder that can exist")
    return DiskError(f"{path}: {error.strerror or error}", "Check the disk, or choose another folder")


def _room(path: Path) -> str:
    """How much is left where the path lies, in words."""
    with suppress(OSError):
        place = next(folder for folder in (path, *path.parents) if folder.is_dir())
        return f", {shutil.disk_usage(place).free // MIB} MiB are left there"
    return ""


def make_folder(folder: Path) -> None:
    """Make the folder and its parents. Raises DiskError."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)


def require_writable(folder: Path) -> None:
    """Make the folder and try to write in it. Raises DiskError."""
    make_folder(folder)
    with disk_errors(folder), tempfile.TemporaryFile(dir=folder, prefix="taffeta_") as file:
        file.write(b"Taffeta can write here.")


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Replace a file in one step: whatever happens, readers see the old file or the new one. Raises DiskError.

    `write` gets the open temporary file, which is synced to disk before it takes the place of `path`.
    """
    temporary = path.with_name(path.name + ".new")
    with disk_errors(path):
        try:
            temporary.unlink(missing_ok=True)
            with open(temporary, "xb") as file:  # not through a link that somebody put there
                write(file)
                file.flush()
                os.fsync(file.fileno())
            replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def write_arrays(file: BinaryIO, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """What `numpy.savez` writes; but on a full disk that leaves an archive behind that complains when it is collected.

    Raises OSError.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def replace(source: Path, path: Path) -> None:
    """Give a file the name of another, which is gone then. Raises OSError where it is held for more than a second."""
    _insist(lambda: os.replace(source, path))


def remove(path: Path) -> None:
    """Delete a file, if it is there. Raises OSError where it is held for more than a second."""
    _insist(lambda: path.unlink(missing_ok=True))


def _insist(action: Callable[[], None]) -> None:
    """Windows neither replaces nor deletes a file that is open, by a scanner or a synchronised folder, for moments."""
    for _ in range(RETRIES):
        with suppress(PermissionError):
            return action()
        time.sleep(RETRY_WAIT)
    return action()


def sync_folder(folder: Path) -> None:
    """Make names that were created or replaced in a folder survive a power cut, where the system offers it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network folders refuse, and keep names safe themselves
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

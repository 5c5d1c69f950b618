# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are whole or not there, and disk troubles said plainly."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
NO_FOLDER = {errno.ENOENT, errno.ENOTDIR, errno.EEXIST}


class DiskError(RuntimeError):
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
        return DiskError(f"The disk is full: {path} could not be written", "Free some space or choose another folder")
    if error.errno in NOT_ALLOWED:
        return DiskError(f"{path} is read-only or not yours", "Choose a folder you may write to")
    if error.errno in NO_FOLDER:
        return DiskError(f"{path} cannot be made or opened: {error.strerror}", "Choose a folder that can exist")
    return DiskError(f"{path}: {error.strerror or error}", "Check the disk, or choose another folder")


def make_folder(folder: Path) -> None:
    """Make the folder and its parents. Raises DiskError."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Replace a file in one step: whatever happens, readers see the old file or the new one. Raises DiskError.

    `write` gets the open temporary file, which is synced to disk before it takes the place of `path`.
    """
    temporary = path.with_name(path.name + ".new")
    with disk_errors(path):
        try:
            with open(temporary, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


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

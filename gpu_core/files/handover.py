# SPDX-License-Identifier: GPL-3.0-or-later
"""How a job gets into a cache folder: written aside by whoever asks for a bake, taken in by the one who has the lock.

So a bake that is refused changes nothing of the one that runs.
"""

from __future__ import annotations

import itertools
import os
import platform
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from .disk import disk_errors, make_folder, remove, replace
from .folder import INCOMING, JOB, JOB_FILES, OWNER

_counter = itertools.count(1)


def incoming(folder: Path) -> Path:
    """A new place for a job on its way into a cache folder, named after this process."""
    return folder / INCOMING / f"{platform.node() or 'host'}-{os.getpid()}-{next(_counter)}"


def is_incoming(job: Path, folder: Path) -> bool:
    return job.resolve().parent == (folder / INCOMING).resolve()


def adopt(job: Path, folder: Path) -> Path:
    """Take a job in, in place of the one before; where it lies then. For the holder of the lock. Raises DiskError."""
    place = folder / JOB
    make_folder(place)
    with disk_errors(place):
        for pattern in (*JOB_FILES, OWNER):
            for path in place.glob(pattern):
                remove(path)
        found = [path for pattern in (*JOB_FILES, OWNER) for path in job.glob(pattern)]
        for path in sorted(found, key=lambda path: path.name == "job.json"):  # which makes it one, so last
            replace(path, place / path.name)
    discard(job)
    clear(folder)
    return place


def discard(job: Path) -> None:
    """Delete a job that nobody took in."""
    shutil.rmtree(job, ignore_errors=True)
    with suppress(OSError):
        job.parent.rmdir()


def clear(folder: Path) -> None:
    """Delete what processes of this machine that are gone have left on its way."""
    for left in (folder / INCOMING).glob(f"{platform.node() or 'host'}-*-*"):
        process = left.name.rsplit("-", 2)[1]
        if process.isdigit() and not is_alive(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    with suppress(OSError):
        (folder / INCOMING).rmdir()


def is_alive(process: int) -> bool:
    """Is there a process with this number on this machine?"""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.OpenProcess.restype = ctypes.c_void_p
        found = kernel.OpenProcess(0x1000, False, process)  # PROCESS_QUERY_LIMITED_INFORMATION
        if found:
            kernel.CloseHandle(ctypes.c_void_p(found))
        return bool(found)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True

# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer a folder: a lock of the system's, which is let go of when its process dies, and beside it who holds it.

The lock file is never deleted: whoever had it open and whoever made a new one would both hold "the" lock.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from .disk import disk_errors
from .errors import BusyError

LOCK = "lock"
HOLDER = "holder.json"
CANCEL = "cancel"  #: appears when somebody wants the holder to stop
GLANCE = 0.5  #: s to wait for one who only looks, or deletes; a bake holds the lock much longer


@dataclass(frozen=True)
class Holder:
    """Who writes into a folder."""

    process: int
    host: str
    since: str  #: date and time there

    @property
    def is_here(self) -> bool:
        """Is it a process of this machine?"""
        return self.host == platform.node()

    def __str__(self) -> str:
        return f"process {self.process} on {'this machine' if self.is_here else self.host} since {self.since}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one writer. What was asked of an earlier one counts no more. Raises BusyError, DiskError."""
    from filelock import FileLock, Timeout  # Blender registers the add-on without

    lock = FileLock(folder / LOCK, timeout=GLANCE)
    with disk_errors(folder / LOCK):
        try:
            lock.acquire()
        except Timeout as error:
            raise busy(folder) from error
    try:
        _forget(folder)
        with suppress(OSError):  # on a full disk nobody is told who it is
            (folder / HOLDER).write_text(json.dumps(asdict(_myself())), encoding="utf-8")
        yield
    finally:
        _forget(folder)
        lock.release()


def require_free(folder: Path) -> None:
    """Raises BusyError where somebody holds the folder now; DiskError."""
    if (folder / LOCK).exists():
        with locked(folder):
            pass


def is_held(folder: Path) -> bool:
    """Does somebody hold the folder now? Yes also where that cannot be tried, as on a disk that is read-only."""
    from filelock import FileLock, Timeout

    if not (folder / LOCK).exists():
        return False
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0.0)
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def holder(folder: Path) -> Holder | None:
    """Who says to hold the folder; None where nobody does, or it cannot be read."""
    try:
        return Holder(**json.loads((folder / HOLDER).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def busy(folder: Path) -> BusyError:
    who = holder(folder)
    return BusyError(
        f"Another bake writes into {folder}" + (f": {who}" if who else ""),
        "Wait for it, or end it with the command cancel",
    )


def _myself() -> Holder:
    return Holder(os.getpid(), platform.node(), f"{datetime.now():%Y-%m-%d %H:%M:%S}")


def _forget(folder: Path) -> None:
    for name in (HOLDER, CANCEL):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)

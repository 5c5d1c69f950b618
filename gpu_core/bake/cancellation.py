# SPDX-License-Identifier: GPL-3.0-or-later
"""Ending a bake from outside: by whoever finds a folder held, and knows neither the process nor its parent."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from ..files.disk import disk_errors
from ..files.errors import BusyError
from ..files.lock import CANCEL, Holder, busy, holder, require_free

PATIENCE = 3.0  #: s that a worker of this machine may take to hear; then it is killed
FAR_PATIENCE = 15.0  #: s that one of another machine may take: it hears by a shared folder
LOOK = 0.1


def end_bake(folder: Path) -> Holder | None:
    """End the bake that writes into a folder; who it was, or None where nobody does. Its frames so far stay.

    Raises BusyError where it cannot be ended from here; DiskError.
    """
    who = holder(folder)
    if _is_free(folder):
        return None
    with disk_errors(folder / CANCEL):
        (folder / CANCEL).touch()
    here = who is not None and who.is_here
    if _ends(folder, PATIENCE if here else FAR_PATIENCE):
        return who
    if who is not None and here:
        with suppress(OSError):
            os.kill(who.process, getattr(signal, "SIGKILL", signal.SIGTERM))
        if _ends(folder, PATIENCE):
            return who
    raise busy(folder)


def _ends(folder: Path, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if _is_free(folder):
            return True
        time.sleep(LOOK)
    return False


def _is_free(folder: Path) -> bool:
    try:
        require_free(folder)
    except BusyError:
        return False
    return True

# SPDX-License-Identifier: GPL-3.0-or-later
"""How this process stands among the others on the machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

NICENESS = (
    5  #: a third of what a process at 0 gets where both want one processor; of 10 beside a render hardly any was left
)
BELOW_NORMAL = 0x4000  # BELOW_NORMAL_PRIORITY_CLASS of the Windows API


def give_way() -> None:
    """Let processes that do not call this come first, from the threads on that are started after it.

    Linux shares processors between sessions first (autogroup) and between the processes of one only then, so a worker
    in a session of its own has to lower that too. A system that forbids it changes nothing.
    """
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetPriorityClass(ctypes.c_void_p(kernel.GetCurrentProcess()), BELOW_NORMAL)
        return
    with suppress(OSError):
        os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS))

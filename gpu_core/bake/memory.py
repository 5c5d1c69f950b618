# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory this process has taken at most."""

from __future__ import annotations

import re
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_memory() -> int | None:
    """Bytes of the largest resident set so far, or None where the system does not tell (Windows).

    Linux counts in `ru_maxrss` what the process was before exec, which is Blender; VmHWM begins with the program.
    """
    if sys.platform == "win32":
        return None
    if sys.platform == "linux":
        try:
            found = re.search(r"^VmHWM:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
        except OSError:
            found = None
        return int(found[1]) * 1024 if found else None
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS

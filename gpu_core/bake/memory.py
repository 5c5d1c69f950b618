# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory this process has taken at most."""

from __future__ import annotations

import sys


def peak_memory() -> int | None:
    """Bytes of the largest resident set so far, or None where the system does not tell (Windows)."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

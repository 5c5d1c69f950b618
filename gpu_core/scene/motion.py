# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation of vertices: one shape a frame, linear between frames."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arrays import Array


def between(frames: npt.NDArray[np.floating], at: float) -> Array:
    """(n, 3) of a (F or 1, n, 3) animation `at` frames after its first, linear between frames."""
    if len(frames) == 1:
        return np.asarray(frames[0], np.float64)
    before = min(int(np.floor(at)), len(frames) - 1)
    after, share = min(before + 1, len(frames) - 1), at - before
    return np.asarray(
        (1.0 - share) * np.asarray(frames[before], np.float64) + share * np.asarray(frames[after], np.float64)
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation of vertices: one shape a frame, or some; linear from each to the next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arrays import Array


def between(frames: npt.NDArray[np.floating], at: float, samples: int = 1) -> Array:
    """(n, 3) of a (K or 1, n, 3) animation `at` frames after its first. samples: entries a frame."""
    if len(frames) == 1:
        return np.asarray(frames[0], np.float64)
    at *= samples
    before = min(int(np.floor(at)), len(frames) - 1)
    after, share = min(before + 1, len(frames) - 1), at - before
    return np.asarray(
        (1.0 - share) * np.asarray(frames[before], np.float64) + share * np.asarray(frames[after], np.float64)
    )

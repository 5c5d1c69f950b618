# SPDX-License-Identifier: GPL-3.0-or-later
"""What a launch has to add up, number by number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taffeta.gpu_core.backend.signatures import CHUNK


def chunk_sums(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(⌈N / CHUNK⌉,) sums of a·b over N vertices (N, 4), in float32, from the first vertex of a chunk to its last."""
    x, y, z = (a * b)[:, :3].T
    products = x + y + z
    return np.array([np.cumsum(products[k : k + CHUNK], dtype=np.float32)[-1] for k in range(0, len(a), CHUNK)])

# SPDX-License-Identifier: GPL-3.0-or-later
from typing import Any

import numpy as np
from cupy._array import Pinned
from cupy._card import count, refuse_in_capture


def empty_pinned(shape: Any, dtype: Any = float) -> np.ndarray:
    refuse_in_capture("an allocation")
    count("pinned allocation")
    return np.empty(shape, dtype).view(Pinned)

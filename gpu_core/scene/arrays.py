# SPDX-License-Identifier: GPL-3.0-or-later
"""The array types of a scene, by what their elements are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]

# SPDX-License-Identifier: GPL-3.0-or-later
"""‖Δx‖ of an iteration: how near it is to its end. Summed on the device, read by the host."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend, launch
from ..backend.signatures import CHUNK
from .parameters import ConvergenceCriteria
from .solver import DivergenceError

FAR = 1e6  #: m; an increment this large, or not a number, means that the step has diverged


class Change:
    """Reads the increment of an iteration, and what the displacement gained on a step without forces."""

    def __init__(
        self, backend: Backend, criteria: ConvergenceCriteria, step: float, tolerance: float, cloths: Sequence[int],
        increment: Any, displacement: Any, coast: Any,
    ) -> None:  # fmt: skip
        """step: h, s. tolerance: ‖Δx‖ that counts as converged, m. cloths: first vertex of each, and N. The arrays
        are (N, 4), m."""
        self.criteria = criteria
        self.pace(step, tolerance)
        chunks = [np.arange(a, b, CHUNK) for a, b in pairwise(cloths)]
        first = np.append(np.concatenate(chunks), cloths[-1])
        start = np.cumsum([0, *(len(of) for of in chunks)])
        partial = backend.array(np.zeros((len(first) - 1, 4)))
        self.sizes = backend.array(np.zeros((len(chunks), 4)))  #: (cloths, 4), see `change_total`
        self.launches = [
            launch(
                "change_partial", len(partial), first=backend.array(first, np.int32), increment=increment,
                displacement=displacement, coast=coast, partial=partial,
            ),
            launch(
                "change_total", len(self.sizes), start=backend.array(start, np.int32),
                vertices=backend.array(np.diff(cloths), np.int32), partial=partial, size=self.sizes,
            ),
        ]  # fmt: skip

    def pace(self, step: float, tolerance: float) -> None:
        """The next steps are of another length. step: h, s. tolerance: m."""
        self.step, self.tolerance = step, tolerance

    def size(self, sizes: npt.NDArray[np.float32]) -> float:
        """‖Δx‖ in m, of what is in `sizes`: the largest of a vertex, or the mean square root of a cloth over
        `mean_share` if that is more.

        Where a cloth's velocity changes by less than the tolerance in this step, Δx counts as many times more: a slide
        that begins must not look converged while it stands, nor may rest be made of what the iterations leave.
        Raises DivergenceError.
        """
        criteria = self.criteria
        largest, mean, gain = sizes.astype(np.float64).T[:3]
        wanted = np.maximum(
            criteria.acceleration_share * gain / criteria.mean_share, criteria.finest_tolerance * self.step
        )
        factor: npt.NDArray[np.float64] = np.maximum(self.tolerance / wanted, 1.0)
        change = float(np.max(factor * np.maximum(largest, mean / criteria.mean_share)))
        if not change < FAR:
            raise DivergenceError
        return change

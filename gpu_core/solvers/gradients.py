# SPDX-License-Identifier: GPL-3.0-or-later
"""How a solve by conjugate gradients is run: in batches, of which the device says when the accuracy is reached.

The host of a card does not wait between them. It gives the device as many batches as the solve of the same number in
the last loop needed, and what is to follow, on trust: iterations beyond the accuracy change nothing, and the increment
is taken only where `accepted`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend, Launch, launch
from .elastic import Take

BATCH = 4  #: iterations between two checks of what is left
MOST_AT_ONCE = 8  #: batches that are one graph


class GradientSolve:
    """One solve, bound to its arrays. scalar: (9,) of the device, see `conjugate_gradient.h`."""

    def __init__(
        self,
        backend: Backend,
        start: Mapping[bool, Sequence[Launch]],
        iteration: Sequence[Launch],
        scalar: Any,
        accepted: Any,
        most: int,
    ) -> None:
        """start: what sets the matrix up, by whether the solve is `unlimited`. accepted: (1,) int32. most: batches."""
        self._backend, self._most = backend, most
        self._prepare = {unlimited: backend.sequence(launches) for unlimited, launches in start.items()}
        batch = [*list(iteration) * BATCH, launch("gradient_check", 1, accepted=accepted, scalar=scalar)]
        self._batches = [backend.sequence(batch * 2**power) for power in range(MOST_AT_ONCE.bit_length())]
        self._accept = backend.sequence([launch("fill_number", 1, value=1, to=accepted)])
        self._look = backend.look(scalar)
        self._wanted: list[int] = []  #: batches that were needed, by the number of the solve in its loop
        self._number = 0
        self.batches = 0  #: that this one has begun
        self._done = self._taken = False

    @property
    def iterations(self) -> int:
        """That this solve needed."""
        return BATCH * (self._wanted[self._number] if self._done else self.batches)

    def begin(self, take: Take, number: int, unlimited: bool) -> float:
        self._number = number
        self._wanted += [1] * (1 + number - len(self._wanted))
        self.batches, self._done, self._taken = 0, False, False
        self._prepare[unlimited]()
        if not self._backend.asynchronous:
            (scalar,) = self._look()()
            return float(scalar[5])
        self._go_on(min(self._wanted[number], self._most))
        return float(self._see(take())[5])

    def finish(self, take: Take) -> None:
        """Go on to the accuracy, or to the most, and take the increment whatever it is."""
        if self._backend.asynchronous:
            while not self._taken and self.batches < self._most:
                self._go_on(min(max(1, self.batches // 4), self._most - self.batches))
                self._see(take())
            if self._taken:
                return
        while not self._done and self.batches < self._most:
            self._go_on(1)
            self._see(self._look()()[0])
        if not self._taken:
            self._accept()
        take()

    def _go_on(self, count: int) -> None:
        self.batches += count
        for power in reversed(range(len(self._batches))):
            while count >= 2**power:
                self._batches[power]()
                count -= 2**power

    def _see(self, scalar: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        self._done, self._taken = bool(scalar[4]), bool(scalar[4] and scalar[5] <= scalar[7])
        self._wanted[self._number] = max(1, int(scalar[6]))
        return scalar

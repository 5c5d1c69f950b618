# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps long H is not tried: twice as many each time that it did not find a step's end (`Ndb.step`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LONGEST = 32  #: steps: what is tried in vain costs a thirtieth of that at most


class Pause(NamedTuple):
    """Handed from step to step."""

    left: int = 0  #: steps until H is tried again
    length: int = 0  #: of the last pause, steps; 0 = the last attempt found an end

    def after(self, *, tried: bool) -> Pause:
        """After a step that was not H's, though H was tried or because it was not."""
        if not tried:
            return Pause(self.left - 1, self.length)
        length = min(max(1, 2 * self.length), LONGEST)
        return Pause(length, length)

    def to_host(self) -> npt.NDArray[np.int32]:
        return np.array(self, np.int32)

    @staticmethod
    def from_host(array: npt.NDArray[np.integer]) -> Pause:
        return Pause(*array.tolist())

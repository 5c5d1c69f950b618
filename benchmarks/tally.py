# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernels of a step launch, move and are waited for, counted on the CPU backend while it computes as ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ..gpu_core.backend import Answer, Launch
from ..gpu_core.backend.cpu import CpuBackend
from .speed.traffic import bytes_moved


@dataclass
class Tally:
    """So far."""

    launches: int = 0  #: of kernels; on a card many of them are one graph
    bytes: int = 0  #: that these must move at least (`speed.traffic`)
    waits: int = 0  #: of the host for a number or an array, on a card

    def since(self, before: Tally) -> Tally:
        return Tally(self.launches - before.launches, self.bytes - before.bytes, self.waits - before.waits)


class TallyingBackend(CpuBackend):
    """What NumPy does between the kernels is not counted."""

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        self.tally = Tally()

    def sequence(self, launches: Sequence[Launch]) -> Callable[[], None]:
        run, real = super().sequence(launches), [item for item in launches if item.elements > 0]
        count, moved = len(real), sum(map(bytes_moved, real))

        def counted() -> None:
            self.tally.launches += count
            self.tally.bytes += moved
            run()

        return counted

    def host(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self.tally.waits += 1
        return super().host(array)

    def look(self, *arrays: npt.NDArray[Any]) -> Callable[[], Answer]:
        take = super().look(*arrays)

        def counted() -> Answer:
            self.tally.waits += 1
            return take()

        return counted

# SPDX-License-Identifier: GPL-3.0-or-later
"""The time of each kernel in a frame of the drape, one after the other: no graph, a clock or two events around each.

On a card an event before and one after a kernel of nothing are some 4 µs apart; within a graph that is not there.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...gpu_core.backend import Backend, Launch
from ...gpu_core.simulator import Simulator
from .scenes import built

COLUMNS = ("kernel", "vertices", "ms a step", "launches a step", "µs each", "elements each")
SHOWN = 16  #: of a size, on the page


@dataclass(frozen=True)
class Kernel:
    """Means over the steps of one frame."""

    kernel: str
    vertices: int
    milliseconds: float  #: a step
    launches: float  #: a step
    elements: float  #: a launch


class Stopwatch:
    """In the place of a backend's `sequence` and `run` while it is open: takes the time of each launch."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._sequence = backend, backend.sequence
        self._taken: list[tuple[str, int, Callable[[], float]]] = []  #: kernel, elements; no array lives on in it
        self.runs = False

    def __enter__(self) -> Stopwatch:
        vars(self._backend).update(sequence=self.sequence, run=lambda launches: self.sequence(launches)())
        return self

    def __exit__(self, *_: object) -> None:
        for name in ("sequence", "run"):
            del vars(self._backend)[name]

    def sequence(self, launches: Sequence[Launch]) -> Callable[[], None]:
        """The same launches, one by one."""
        bound = [(item, self._sequence([item])) for item in launches]

        def run() -> None:
            for item, once in bound:
                if self.runs:
                    self._taken.append((item.kernel, item.elements, self._timed(once)))
                else:
                    once()

        return run

    def _timed(self, once: Callable[[], None]) -> Callable[[], float]:
        """Run it; the answer is asked for when all is done: the milliseconds that it took."""
        if not self._backend.asynchronous:
            began = time.perf_counter()
            once()
            took = 1e3 * (time.perf_counter() - began)
            return lambda: took
        cuda = self._backend.xp.cuda
        before, after = cuda.Event(), cuda.Event()
        before.record()
        once()
        after.record()

        def answer() -> float:
            after.synchronize()
            return float(cuda.get_elapsed_time(before, after))

        return answer

    def kernels(self) -> dict[str, tuple[int, float, int]]:
        """By name: launches, milliseconds and elements in all."""
        total: defaultdict[str, tuple[int, float, int]] = defaultdict(lambda: (0, 0.0, 0))
        for kernel, some, answer in self._taken:
            launches, milliseconds, elements = total[kernel]
            total[kernel] = launches + 1, milliseconds + answer(), elements + some
        return dict(total)


def kernels(backend: Backend, vertices: int, frame: int) -> list[Kernel]:
    """Of the drape's frame, the dearest first."""
    with Stopwatch(backend) as watch:
        simulator = Simulator(built("drape", vertices, frame), backend)
        while simulator.frame < frame:
            watch.runs = simulator.frame + 1 == frame
            report = simulator.advance_frame()
        found = [
            Kernel(name, simulator.space.cloth_vertices, milliseconds / report.steps, launches / report.steps,
                   elements / launches)
            for name, (launches, milliseconds, elements) in watch.kernels().items()
        ]  # fmt: skip
    return sorted(found, key=lambda kernel: -kernel.milliseconds)


def cells(row: dict[str, Any]) -> list[str]:
    """A row as the texts of COLUMNS."""
    each = 1e3 * row["milliseconds"] / row["launches"]
    numbers = f"{row['milliseconds']:.2f}", f"{row['launches']:.1f}", f"{each:.1f}", f"{row['elements']:.0f}"
    return [row["kernel"], f"{row['vertices']}", *numbers]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The time of a conjugate-gradient iteration as the solver runs it, and of each of its kernels alone.

Many of them are one sequence, so one graph on a card: what a launch from Python costs is in none of the numbers. A
kernel that is run again and again finds its arrays in the cache, so those of a large mesh add up to less than the
iteration.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...gpu_core.backend import Backend, Launch
from ...gpu_core.simulator import Simulator
from ...gpu_core.solvers.ndb import Ndb
from ...gpu_core.solvers.newton import NewtonStep
from .scenes import built
from .table1 import synchronize

WHOLE = "an iteration"
TOGETHER, RUNS = 32, 7  #: launches in a sequence, and how often it is timed


@dataclass(frozen=True)
class Part:
    """The iteration, or one of its kernels."""

    kernel: str
    vertices: int
    launches: int  #: an iteration
    microseconds: float  #: of them all; medians of RUNS


def iteration(backend: Backend, vertices: int, frame: int) -> list[Part]:
    """In the state of the drape's frame: first the iteration, then its kernels, the dearest first."""
    simulator = Simulator(built("drape", vertices, frame), backend)
    while simulator.frame < frame:
        simulator.advance_frame()
    solver = simulator.solver
    assert isinstance(solver, Ndb)
    assert isinstance(solver.system, NewtonStep)
    launches = solver.system._launches(solver.contacts)[1]
    wait = synchronize(backend)
    count, alone = simulator.space.cloth_vertices, defaultdict(list)
    for item in launches:
        alone[item.kernel].append(_microseconds(backend, [item], wait))
    parts = [Part(kernel, count, len(taken), sum(taken)) for kernel, taken in alone.items()]
    whole = Part(WHOLE, count, len(launches), _microseconds(backend, launches, wait))
    return [whole, *sorted(parts, key=lambda part: -part.microseconds)]


def _microseconds(backend: Backend, launches: Sequence[Launch], wait: Callable[[], None]) -> float:
    run = backend.sequence(list(launches) * TOGETHER)
    run(), run()  # the first loads kernels, the second makes the graph
    taken = []
    for _ in range(RUNS):
        wait()
        began = time.perf_counter()
        run()
        wait()
        taken.append(time.perf_counter() - began)
    return 1e6 * statistics.median(taken) / TOGETHER


def cells(row: dict[str, Any]) -> list[str]:
    """A row as it is printed."""
    return [row["kernel"], f"{row['vertices']} vertices", f"{row['launches']} ×", f"{row['microseconds']:.1f} µs"]

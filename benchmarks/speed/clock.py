# SPDX-License-Identifier: GPL-3.0-or-later
"""Wall time by stage of Table 1, taken from outside: the solver has no timers and pays nothing when nobody looks.

`watched` puts a stage around the solver's methods while it is open. A stage's time is exclusive: what a stage inside
it takes is that one's. On CUDA the borders of the stages wait for the device, so stages add up there too, and a frame
takes somewhat longer than unwatched.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

from ...gpu_core.contact.broad_phase import BroadPhase
from ...gpu_core.contact.filter import Filter
from ...gpu_core.contact.pairs import Proximity
from ...gpu_core.solvers.elastic import Solve, Take
from ...gpu_core.solvers.iterations import Bound, Iterations
from ...gpu_core.solvers.ndb import Ndb
from ...gpu_core.solvers.newton import NewtonStep

#: Which method belongs to which stage. "residual" is an iteration without its linear solve: elastic and contact forces,
#: the membrane's blocks, norms. With a constant H it holds the whole local–global iteration.
STAGES: tuple[tuple[type, str, str], ...] = (
    (BroadPhase, "detect", "broad"),
    (BroadPhase, "renew", "broad"),
    (BroadPhase, "stray", "broad"),
    (Proximity, "pairs", "narrow"),
    (Proximity, "near", "narrow"),
    (Ndb, "_contacts", "narrow"),
    (Filter, "per_vertex", "full"),
    (Filter, "whole", "full"),
    (Iterations, "warm_start", "misc"),
    (Iterations, "run", "residual"),
)
NAMES = ("broad", "narrow", "partial", "full", "residual", "matrix", "gradients", "misc")


class Clock:
    """Seconds by stage, and what was counted on the way. What no stage claims is `misc`."""

    def __init__(self, synchronize: Callable[[], None] = lambda: None) -> None:
        self._synchronize = synchronize
        self._open, self._since = ["misc"], time.perf_counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.counts: Counter[str] = Counter()  #: detections, pairs, filters, tested pairs, gradients

    @property
    def stage(self) -> str:
        return self._open[-1]

    @contextmanager
    def inside(self, stage: str) -> Iterator[None]:
        self._charge()
        self._open.append(stage)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    def restart(self) -> None:
        """Forget what was measured so far."""
        self._charge()
        self.seconds.clear()
        self.counts.clear()

    def stop(self) -> None:
        """Charge what has passed to the stage that is open."""
        self._charge()

    def _charge(self) -> None:
        self._synchronize()
        now = time.perf_counter()
        self.seconds[self.stage] += now - self._since
        self._since = now


@contextmanager
def watched(clock: Clock) -> Iterator[Clock]:
    """The clock runs for every solver that is built and stepped inside."""
    with ExitStack() as stack:
        for owner, method, stage in STAGES:
            stack.enter_context(_patched(owner, method, _timed(clock, getattr(owner, method), stage)))
        detect, filter_ = BroadPhase.detect, Filter.per_vertex
        stack.enter_context(_patched(BroadPhase, "detect", _counting_pairs(clock, detect)))
        stack.enter_context(_patched(Filter, "per_vertex", _counting_tests(clock, filter_)))
        stack.enter_context(_patched(Iterations, "_made", _timed_weights(clock, Iterations._made)))
        stack.enter_context(_patched(NewtonStep, "bind", _timed_solve(clock, NewtonStep.bind)))
        yield clock


def _patched(owner: type, method: str, replacement: Callable[..., Any]) -> Any:
    return patch.object(owner, method, replacement)


def _timed(clock: Clock, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
    @wraps(function)
    def timed(*arguments: Any, **options: Any) -> Any:
        with clock.inside(stage):
            return function(*arguments, **options)

    return timed


def _timed_weights(clock: Clock, made: Callable[..., Bound]) -> Callable[..., Bound]:
    """The function binds kernels; two of what it returns are partial CCD."""

    @wraps(made)
    def binds(*arguments: Any) -> Bound:
        bound = made(*arguments)
        first, age = (_timed(clock, run, "partial") for run in (bound.first, bound.age))
        return bound._replace(first=first, age=age)

    return binds


def _timed_solve(clock: Clock, bind: Callable[..., Solve]) -> Callable[..., Solve]:
    # On a card the solve begins before the host knows what the matrix has cost.
    @wraps(bind)
    def binds(system: NewtonStep, *arguments: Any) -> Solve:
        solve = bind(system, *arguments)

        def begin(take: Take, number: int, unlimited: bool) -> float:
            with clock.inside("gradients" if system.backend.asynchronous else "matrix"):
                return solve.begin(_timed(clock, take, "residual"), number, unlimited)

        def finish(take: Take) -> None:
            before = system.iterations
            with clock.inside("gradients"):
                solve.finish(_timed(clock, take, "residual"))
            clock.counts["gradients"] += system.iterations - before

        return Solve(begin, finish)

    return binds


def _counting_pairs(clock: Clock, detect: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(detect)
    def counting(*arguments: Any) -> Any:
        found = detect(*arguments)
        clock.counts["detections"] += 1
        clock.counts["pairs"] += found.count
        return found

    return counting


def _counting_tests(clock: Clock, filter_: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(filter_)
    def counting(taken: Filter, pairs: Any, *arguments: Any) -> Any:
        clock.counts["filters"] += 1
        clock.counts["tested"] += pairs.count
        return filter_(taken, pairs, *arguments)

    return counting

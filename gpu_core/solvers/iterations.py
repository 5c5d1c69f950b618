# SPDX-License-Identifier: GPL-3.0-or-later
"""The iterations between two full CCDs: residual, linear solve, increment, and the weights' partial CCD.

With `system="newton"` these are Newton's iterations on the incremental potential, with a constant matrix the paper's
local–global ones; the loop is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..contact.barrier import Contacts
from .change import Change
from .cord_search import CordSearch
from .elastic import Elastic
from .global_step import GlobalStep
from .iterate import Iterate
from .momentum import Momentum
from .newton import NewtonStep
from .parameters import NdbParameters
from .rate import Rate
from .solver import StepReport


class Bound(NamedTuple):
    """What an iteration launches besides the elastic forces and the solve."""

    first: Callable[[], None]  #: sets the contacts' weights up
    residual: Callable[[], None]  #: adds the contacts to the elastic residual
    take: Callable[[], None]  #: the increment: x, and its change
    age: Callable[[], None]  #: the contacts' weights, by partial CCD; nothing where `take` has that in it


class Iterations:
    """Moves the iterate towards the minimum of the incremental potential, with the contacts that it is given."""

    def __init__(
        self,
        backend: Backend,
        parameters: NdbParameters,
        elastic: Elastic,
        system: GlobalStep | NewtonStep,
        iterate: Iterate,
        change: Change,
        momentum: Momentum | None,
        rest: Any,
        rate: Rate | None = None,
    ) -> None:
        """rest: (N, 4) rest positions, m. change: reads `system.increment`. rate: by which the iterations are judged,
        where others go on if it does not do; None = by ‖Δx‖."""
        self.backend, self.elastic, self.system, self.iterate = backend, elastic, system, iterate
        self.limits, self.newton, self.damping = parameters.limits, parameters.newton, parameters.oscillation
        self.warm_iterations = parameters.subspace.warm_iterations
        self.change, self.momentum, self.rest, self.rate = change, momentum, rest, rate
        self._last = backend.xp.zeros_like(iterate.displacement)  #: (N, 4) what the last iteration added, m
        self._elastic: dict[tuple[bool, ...], Callable[[], None]] = {}  #: by `elastic.acting`
        cords = elastic.cord if isinstance(system, NewtonStep) else None
        self._search = CordSearch(backend, cords, iterate.x, system.increment, system.scalar)
        self._look = backend.look(system.scalar, change.sizes)
        self._bound: dict[tuple[Contacts | None, int, int], Bound] = {}

    def _elastic_residual(self) -> None:
        acting = self.elastic.acting
        if acting not in self._elastic:
            launches = self.elastic.residual_launches(self.iterate.x, self.iterate.z, self.system)
            self._elastic[acting] = self.backend.sequence(launches)
        self._elastic[acting]()

    def warm_start(self) -> None:
        """Elasticity and inertia alone, in the large subspace: a few cheap local–global iterations (eq. 16)."""
        if not isinstance(self.system, GlobalStep):
            return
        self.elastic.bending.turn(self.iterate.start)
        add = self.backend.sequence([self.iterate.add(self.system.increment)])
        for _ in range(self.warm_iterations):
            self._elastic_residual()
            self.system.modal(self.iterate.x, self.rest)
            add()

    def run(self, contacts: Contacts | None, report: StepReport) -> float:
        """Iterate until ‖Δx‖, or the error that the rate tells, falls below the tolerance; returns the last of it, m.
        Raises DivergenceError."""
        iterate, limits, newton = self.iterate, self.limits, self.newton
        solve, bound = self.system.bind(iterate.x, self.rest, contacts), self._bind(contacts)
        least = limits.min_iterations if contacts and report.outer == 0 else 1
        most_left, retreats = np.float32(np.inf), 0  # r·M⁻¹r from which on an increment has made things worse; J
        residual_is_known = False
        change, sizes, most = 0.0, np.zeros((0, 4), np.float32), self._most(report)
        tolerance = self.rate.tolerance if self.rate else self.change.tolerance
        if self.rate:
            self.rate.begin()

        def take() -> npt.NDArray[np.float32]:
            nonlocal residual_is_known, sizes
            bound.take()
            bound.age()
            answer = self._look()
            if self.backend.asynchronous:  # the device has something to do while the host waits
                self._elastic_residual()
                residual_is_known = True
            scalar, sizes = answer()
            return scalar

        for k in range(most):
            if not residual_is_known:
                self._elastic_residual()
            bound.residual()
            may_retreat = retreats < newton.max_retreats
            left = np.float32(solve.begin(take, k, k == 0 or not may_retreat))
            if not left <= most_left and may_retreat:
                self._retreat()
                residual_is_known = False
                retreats += 1
                continue
            most_left, retreats = np.float32(newton.growth) * left, 0
            solve.finish(take)
            report.iterations += 1
            change = self.change.size(sizes)
            if self.rate:
                change = self.rate.see(change, most * (limits.reused_iterations - report.outer) - (k + 1))
                if self.rate.hopeless:
                    break
            if change <= tolerance and k + 1 >= least:
                break
        if self.momentum:
            self.momentum.look(contacts)
            lacking = self.momentum.lacking(iterate.inertial, iterate.x, iterate.displacement)
            if lacking is not None:
                iterate.move(lacking)
        return change

    def hopeless(self, report: StepReport) -> bool:
        """Whether to leave the step to others: never, without a rate."""
        if self.rate is None:
            return False
        return self.rate.hopeless or report.outer >= self.limits.reused_iterations

    def solve_once(self, contacts: Contacts | None) -> Any:
        """(N, 4) the increment of one global step at the iterate, without taking it, m."""
        self._elastic_residual()
        self._bind(contacts).residual()
        solve = self.system.bind(self.iterate.x, self.rest, contacts)
        only_look = lambda: self._look()()[0]  # noqa: E731
        solve.begin(only_look, 0, True)
        solve.finish(only_look)
        return self.system.increment

    def _most(self, report: StepReport) -> int:
        late = self.damping.damped_iterations if report.outer >= self.damping.damped_after else 0
        return max(self.limits.inner_iterations, late)

    def _retreat(self) -> None:
        """Take half of the last increment back: what it left is worse than what it found."""
        self._last *= 0.5
        self.iterate.take_back(self._last)

    def touch(self, contacts: Contacts) -> None:
        """Set up the weights of contacts that have just been found."""
        self._bind(contacts).first()

    def _bind(self, contacts: Contacts | None) -> Bound:
        """The launches of an iteration with these contacts, bound once for as long as their arrays stay."""
        key = (contacts, contacts.generation, contacts.law.forget) if contacts else (None, 0, 0)
        if key not in self._bound:
            old = {known for known in self._bound if known[0] is contacts and known[1] != key[1]}
            self._bound = {known: bound for known, bound in self._bound.items() if known not in old}
            self._bound[key] = self._made(contacts)
        return self._bound[key]

    def _made(self, contacts: Contacts | None) -> Bound:
        system, iterate, sequence = self.system, self.iterate, self.backend.sequence
        take = [
            *self._search.launches,
            iterate.take(system.accepted, self._search.share, system.increment, self._last),
            *self.change.launches,
        ]
        if contacts is None:
            nothing = sequence([])
            return Bound(nothing, nothing, sequence(take), nothing)
        residual = contacts.residual_launches(
            iterate.x, iterate.start, system.residual, system.added, system.total_diagonal
        )
        first = contacts.partial_ccd(iterate.x, first=True)
        age = [contacts.partial_ccd(iterate.x, accepted=system.accepted)]
        if self.backend.asynchronous:  # one graph
            take, age = [*take, *age], []
        return Bound(sequence([first]), sequence(residual), sequence(take), sequence(age))

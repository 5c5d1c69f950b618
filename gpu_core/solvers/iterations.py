# SPDX-License-Identifier: GPL-3.0-or-later
"""The iterations between two full CCDs: residual, linear solve, increment, and the weights' partial CCD.

With `system="newton"` these are Newton's iterations on the incremental potential, with a constant matrix the paper's
local–global ones; the loop is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..backend import Answer, Backend, launch
from ..contact.barrier import Contacts
from .change import Change
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
    age: Callable[[], None]  #: the contacts' weights, by partial CCD


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
        self._elastic_residual = backend.sequence(elastic.residual_launches(iterate.x, iterate.z, system))
        self._add = iterate.add(system.increment)
        self._bound: dict[tuple[Contacts | None, int, int], Bound] = {}

    def warm_start(self) -> None:
        """Elasticity and inertia alone, in the large subspace: a few cheap local–global iterations (eq. 16)."""
        if not isinstance(self.system, GlobalStep):
            return
        self.elastic.bending.turn(self.iterate.start)
        add = self.backend.sequence([self._add])
        for _ in range(self.warm_iterations):
            self._elastic_residual()
            self.system.modal(self.iterate.x, self.rest)
            add()

    def run(self, contacts: Contacts | None, report: StepReport) -> float:
        """Iterate until ‖Δx‖, or the error that the rate tells, falls below the tolerance; returns the last of it, m.
        Raises DivergenceError."""
        backend, system, iterate = self.backend, self.system, self.iterate
        solve, bound = system.bind(iterate.x, self.rest, contacts), self._bind(contacts)
        change, least = 0.0, self.limits.min_iterations if contacts and report.outer == 0 else 1
        unread: list[Answer] = []  # what the last iteration changed, until the host has to know
        energy, retreats, done, most = float("inf"), 0, 0, self._most(report)
        if self.rate:
            self.rate.begin()

        def settled() -> bool:
            nonlocal change
            change = self.change.size(unread.pop())
            if self.rate is None:
                return change <= self.change.tolerance and done >= least
            change = self.rate.see(change, most * (self.limits.reused_iterations - report.outer) - done)
            return self.rate.hopeless or (change <= self.rate.tolerance and done >= least)

        for k in range(most):
            self._elastic_residual()
            if unread and settled():
                break
            bound.residual()
            left = solve.begin()
            if not left <= self.newton.growth * energy and retreats < self.newton.max_retreats:
                self._retreat()
                retreats += 1
                continue
            energy, retreats = left, 0
            solve.finish()
            bound.take()
            bound.age()
            report.iterations += 1
            done, unread = k + 1, [self.change.look()]
            if not backend.ahead and settled():
                break
        if unread:
            settled()
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
        solve.begin()
        solve.finish()
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
        keep = launch("copy_vector", len(self._last), source=system.increment, to=self._last)
        take = [keep, self._add, *self.change.launches]
        if contacts is None:
            nothing = sequence([])
            return Bound(nothing, nothing, sequence(take), nothing)
        residual = contacts.residual_launches(
            iterate.x, iterate.start, system.residual, system.added, system.total_diagonal
        )
        first, again = (contacts.partial_ccd(iterate.x, first=first) for first in (True, False))
        return Bound(sequence([first]), sequence(residual), sequence(take), sequence([again]))

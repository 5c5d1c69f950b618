# SPDX-License-Identifier: GPL-3.0-or-later
"""When a step has found its end, and which state is handed out where it has not."""

from __future__ import annotations

from typing import Any

from ..contact.barrier import Contacts
from .elastic import Elastic
from .iterate import Iterate
from .parameters import NdbParameters
from .progress import Seen
from .solver import StepReport
from .stall import EXCESS_GAIN, Stall

UNKNOWN = float("inf"), float("inf")  #: strain of a state that need not be known
BALANCED = 2  #: settled full CCDs in a row without a gain, after which cloth beyond its limit stays so


class Convergence:
    """Judges the state after each full CCD of a step."""

    def __init__(self, parameters: NdbParameters, elastic: Elastic, iterate: Iterate, inner_tolerance: float) -> None:
        """inner_tolerance: of ‖Δx‖, m; what the filter cuts off and what contact moved may be twice that."""
        self.limits, self.allowed_excess = parameters.limits, parameters.convergence.strain_excess
        self.elastic, self.iterate = elastic, iterate
        self.stall = Stall()
        self.budget: int | None = None  #: linear solves, after which a step in which nothing is late ends
        self.halves = False  #: a step in which something stays late is taken once more, in halves
        self.allow(inner_tolerance)
        self._balanced, self._settled_excess, self._guarded = 0, float("inf"), True
        #: stretch beyond a strain limit, and between states alike in that the energy of cords, which have none, J
        self._least_strain = UNKNOWN
        self._least_strained: Any = None  #: (V, 4) of the states whose strain is known, the one of the least

    def allow(self, inner_tolerance: float) -> None:
        """Of ‖Δx‖, m."""
        self.inner_tolerance, self.outer_tolerance = inner_tolerance, 2.0 * inner_tolerance

    def begin(self, after_unsolved: bool, guarded: bool) -> None:
        """after_unsolved: the step before ended without being solved. guarded: no pair is let go. Else cloth beyond its
        limit is not in balance, but on its way out of what it crosses, and the step goes on."""
        self.stall.begin(after_unsolved, self.halves)
        self._least_strain, self._least_strained = UNKNOWN, self.iterate.feasible.copy()
        self._balanced, self._settled_excess, self._guarded = 0, float("inf"), guarded

    def finished(self, report: StepReport) -> bool:
        if report.outer == 0:
            return False
        limit = self.limits.outer_iterations if report.arrived else self.limits.late_iterations
        return report.converged or report.stalled or report.given_up or report.outer >= limit

    def judge(self, report: StepReport, change: float, seen: Seen, contacts: Contacts | None) -> None:
        """Converged: the iterations have settled, nothing was cut off, contact was set up where the step ends, and no
        triangle there is far beyond its strain limit: a small cut may be a long stretch of a short edge. Or it stays
        beyond that however often they settle, where a body or pins ask for more than the cloth's length.

        change: the last ‖Δx‖, m.
        """
        report.outer += 1
        moved = seen.moved if contacts else 0.0
        report.arrived = not seen.late  # exactly: a frame shows colliders in their pose
        report.converged = (
            report.arrived
            and change <= self.inner_tolerance
            and seen.cut <= self.outer_tolerance
            and moved <= self.outer_tolerance
        )
        spent = self.budget is not None and report.iterations >= self.budget
        excess = self._excess(report, spent)
        report.stalled = self.stall.seen(change, seen, moved, excess) and not report.converged
        report.given_up = spent and report.arrived and not report.converged
        strain = (excess, self.elastic.cord.stored(self.iterate.reached)) if excess < float("inf") else UNKNOWN
        if report.arrived and strain <= self._least_strain:
            self._least_strain = strain
            if not report.converged:
                self._least_strained = self.iterate.reached.copy()
        report.strained = report.arrived and self._least_strain[0] > self.allowed_excess

    def end(self, target: Any, report: StepReport) -> Any:
        """(V, 4) where the step ends. Where no room is left a collider arrives all the same, and the caller releases
        what it crosses."""
        xp, iterate = self.iterate.backend.xp, self.iterate
        if report.arrived:
            return iterate.feasible.copy() if report.converged else self._least_strained
        stopped = (iterate.feasible != iterate.x).any(axis=1)
        report.late, report.stopped = (xp.flatnonzero(stopped & (iterate.held == held)) for held in (1, 0))
        return xp.where(iterate.free, iterate.feasible, target)

    def _excess(self, report: StepReport, spent: bool) -> float:
        """By how much a triangle is stretched beyond its limit; infinity in iterations that need not know it.

        spent: the step may be about to end.
        """
        early = not report.converged and report.outer <= self.limits.outer_iterations // 2
        if (early and not self.stall.watching and not spent) or self.allowed_excess == float("inf"):
            return float("inf")
        excess = self.elastic.membrane.strain_excess(self.iterate.reached)
        if report.converged and excess > self.allowed_excess:
            gained = excess < EXCESS_GAIN * self._settled_excess
            self._balanced = 0 if gained else self._balanced + 1
            self._settled_excess = min(excess, self._settled_excess)
            report.converged = self._guarded and self._balanced >= BALANCED
        return excess

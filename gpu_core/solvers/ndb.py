"""NDB with subspace reuse: Lan et al. 2024, Alg. 1, with the choices of `NdbParameters`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Answer, Backend
from ..contact.barrier import Ages, BarrierLaw, Contacts, VertexData, no_ages
from ..contact.filter import Filter
from ..contact.pairs import Pairs, Proximity
from .change import Change
from .elastic import Elastic
from .global_step import GlobalStep
from .momentum import Momentum
from .newton import NewtonStep
from .parameters import NdbParameters


@dataclass
class NdbState:
    """All that one step hands to the next, on the device. V vertices, the first N of them cloth."""

    x: Any  #: (V, 4) positions, m
    velocity: Any  #: (N, 4) m/s
    gravity_share: Any  #: (N,) how much of gravity each vertex followed in the last step, air apart, in [0, 1]
    forwarded: Any  #: (N, 4) displacement of residual forwarding, m
    ages: Ages  #: exponents of the barriers
    hardness: Any  #: (T,) of the triangles' strain limits, 1 or more
    slid: Any  #: (R, 4) of the bending rows, where yarns that rub have slid to; (0, 4) where none do


@dataclass
class StepReport:
    """What one step did."""

    iterations: int = 0  #: local–global iterations
    outer: int = 0  #: full CCDs after the first
    contacts: int = 0  #: active pairs at the end
    swings: int = 0  #: full CCDs that took back what the one before had done
    converged: bool = False
    arrived: bool = True  #: colliders and hard pins reached their pose
    strained: bool = False  #: some triangle is far beyond its strain limit
    heated: bool = False  #: cloth that nothing holds has more energy than before
    late: Any = None  #: indices of the vertices of bodies and pins that had no room to arrive; None where all had


class Ndb:
    """Steps the state of one scene."""

    def __init__(
        self,
        backend: Backend,
        parameters: NdbParameters,
        elastic: Elastic,
        system: GlobalStep | NewtonStep,
        proximity: Proximity,
        filter_: Filter,
        vertices: VertexData,
        rest: Any,
        step: float,
        tolerance: float,
        cloths: Sequence[int],
    ) -> None:
        """rest: (N, 4) rest positions. step: h, s. tolerance: velocity at which a step counts as converged, m/s.
        cloths: first vertex of each cloth, and N."""
        xp = backend.xp
        self.backend, self.parameters, self.elastic, self.system = backend, parameters, elastic, system
        self.proximity, self.vertices, self.rest, self.h = proximity, vertices, rest, step
        self.cloths = cloths
        self._taken = filter_
        self.filter = filter_.whole if parameters.filter == "global" else filter_.per_vertex
        self.inner_tolerance = (parameters.inner_tolerance or tolerance) * step
        self.outer_tolerance = 2.0 * self.inner_tolerance
        self.x, self.start, self._went = (xp.zeros((filter_.vertices, 4), xp.float32) for _ in range(3))
        self.z, self.displacement, self.inertial, self._advance, self._coast = (
            xp.zeros((vertices.cloth, 4), xp.float32) for _ in range(5)
        )
        self._change = Change(
            backend, parameters, step, self.inner_tolerance, cloths, system.increment, self.displacement, self._coast
        )
        self.momentum = Momentum(backend, vertices, elastic.pin_stiffness, cloths) if parameters.momentum else None
        self.free = xp.zeros((filter_.vertices, 1), bool)
        self.free[: vertices.cloth, 0] = vertices.free != 0
        self._half = xp.where(self.free, 0.5, 1.0).astype(xp.float32)
        self._elastic_residual = backend.sequence(elastic.residual_launches(self.x, self.z, system))
        self._add_increment = ("add_increment", vertices.cloth, (system.increment, self.x, self.displacement))

    def pull(self, stiffness: npt.NDArray[np.float64]) -> None:
        """Springs (N,) to the pins' targets besides those of the soft pins, N/m, in place of the last call's: a hand in
        the cloth."""
        assert isinstance(self.system, NewtonStep)
        self.elastic.pull(stiffness)
        self.system.pull(stiffness)
        if self.momentum:
            self.momentum = Momentum(self.backend, self.vertices, self.elastic.pin_stiffness, self.cloths)

    def step(self, state: NdbState, target: Any) -> tuple[NdbState, StepReport]:
        """One step of length h. target: (V, 4) where hard pins and colliders go; free vertices' rows are not read."""
        report = StepReport()
        self.start[:] = state.x
        self.elastic.hardness[:] = state.hardness
        self.elastic.slid[:] = state.slid
        self._coast[:] = self.h * state.velocity  # the displacement of a step without forces
        self._inertia(state, target)  # z ← x* + h v + h²(g + M⁻¹δf)
        self._warm_start()  # x ← ModalLG(I + Ψ) in span(U)

        feasible = self._filtered(self.start)  # (B, t) ← FullCCD; x⁻ ← x* + αt(x − x*)
        predicted = self.x.copy()
        if self.parameters.start == "feasible":
            self._start_from(feasible)
        ages, contacts, tautest = state.ages, None, float("inf")
        bearable = feasible  # of the second half of the iterations' states, the one that strains the cloth least
        while not self._finished(report):
            if report.outer < self.parameters.halved_from:  # late in a step nothing may go to and fro
                self.elastic.turn(feasible)  # what yarns hold on to
            law = self._law(report)
            contacts = self._contacts(law, self.proximity.found, feasible, predicted, ages, state.ages)
            change = self._local_global(contacts, report)  # repeat LG with reuse, weights ← PartialCCD
            ages = contacts.ages() if contacts else no_ages(self.backend)
            way = self._halve(feasible, report) if contacts else 1.0
            reached = self._filtered(feasible)  # (B, t) ← FullCCD(x⁻, x⁺); x⁻ ← x⁻ + αt(x⁺ − x⁻)
            report.swings += self._swung(feasible, reached, report)
            excess = self._judge(report, change, reached, feasible, way, contacts)
            feasible, predicted = reached, self.x.copy()
            if report.arrived and excess <= tautest:
                tautest, bearable = excess, reached
            report.strained = report.arrived and tautest > self.parameters.strain_excess

        if report.arrived and not report.converged:
            feasible = bearable
        if not report.arrived:  # no room is left: the body arrives all the same, the caller frees what it crosses
            report.late = self.backend.xp.flatnonzero((feasible != self.x).any(axis=1) & ~self.free[:, 0])
            feasible = self.backend.xp.where(self.free, feasible, target)
        velocity, share = self._velocity(state, feasible, contacts)
        report.heated = self._heated(state, feasible, velocity, contacts)
        forwarded = self._forward_residual(feasible, contacts)
        report.contacts = contacts.active if contacts else 0
        hardness = self._hardness(feasible, report.converged)
        slid = self.elastic.slide(feasible)
        return NdbState(feasible, velocity, share, forwarded, ages, hardness, slid), report

    def _inertia(self, state: NdbState, target: Any) -> None:
        """z, and the first guess of x; hard pins and colliders go to their target at once."""
        xp, cloth = self.backend.xp, self.vertices.cloth
        self.elastic.inertia_target(
            self.start, state.velocity, state.forwarded, state.gravity_share, self.parameters.guess == "adaptive",
            self.displacement, self.inertial, self.x, self.z,
        )  # fmt: skip
        self.x[:] = xp.where(self.free, self.x, target)
        pinned = self.x[:cloth] - self.start[:cloth]
        self.displacement[:] = xp.where(self.free[:cloth], self.displacement, pinned)

    def _velocity(self, state: NdbState, reached: Any, contacts: Contacts | None) -> tuple[Any, Any]:
        """(N, 4) of the way to `reached`, m/s, and the shares of gravity in it.

        A filter stops cloth but bears no force, so what it took of the momentum of cloth that nothing holds is given
        back; the place stays as it was filtered.
        """
        velocity, share = (self.backend.xp.empty_like(a) for a in (state.velocity, state.gravity_share))
        self.backend.launch(
            "step_velocity", self.vertices.cloth, self.start, self.x, reached, self.displacement, self.inertial,
            self.h, self.elastic.gravity, velocity, share,
        )  # fmt: skip
        if self.momentum:
            velocity += self.momentum.lacking(contacts, self.inertial / self.h, reached, velocity)
        return velocity, share

    def _heated(self, state: NdbState, reached: Any, velocity: Any, contacts: Contacts | None) -> bool:
        """Whether a group of cloths that nothing holds has gained energy, gravity's work and rounding apart.

        Backward Euler takes energy while all energies are convex on a step's way, and an iteration has no residual.
        """
        xp, parameters = self.backend.xp, self.parameters
        for rows in self.momentum.loose(contacts) if self.momentum else ():
            mass = self.vertices.mass[rows].astype(xp.float64)
            before, after = (v[rows].astype(xp.float64) for v in (state.velocity, velocity))
            kinetic = 0.5 * (mass * (after * after).sum(axis=1)).sum()
            gained = kinetic - 0.5 * (mass * (before * before).sum(axis=1)).sum()
            work = self.h * (mass * (after * self.elastic.gravity).sum(axis=1)).sum()
            of = xp.zeros(self.vertices.cloth, bool)
            of[rows] = True
            stored = self.elastic.gain(self.start, reached, of)
            rounding = parameters.heat * kinetic + 0.5 * mass.sum() * parameters.heat_speed**2
            if float(gained - work - rounding) + stored > 0.0:
                return True
        return False

    def _warm_start(self) -> None:
        """Elasticity and inertia alone, in the large subspace: three to five cheap LG iterations (eq. 16)."""
        if not isinstance(self.system, GlobalStep):
            return
        self.elastic.turn(self.start)
        add = self.backend.sequence([self._add_increment])
        for _ in range(self.parameters.warm_iterations):
            self._elastic_residual()
            self.system.modal(self.x, self.rest)
            add()

    def _start_from(self, feasible: Any) -> None:
        """The free vertices go back to where the filter let them; those it did not stop stay as they are."""
        xp, cloth = self.backend.xp, self.vertices.cloth
        stopped = (self.x != feasible).any(axis=1, keepdims=True) & self.free
        self.displacement[:] = xp.where(stopped[:cloth], feasible[:cloth] - self.start[:cloth], self.displacement)
        self.x[:] = xp.where(stopped, feasible, self.x)

    def _filtered(self, feasible: Any) -> Any:
        """How far the filter lets all go from `feasible` (V, 4) to x; `proximity.found` are that motion's pairs."""
        pairs = self.proximity.pairs(feasible, self.x)
        return self.filter(pairs, feasible, self.x, self.proximity.released)

    def _law(self, report: StepReport) -> BarrierLaw:
        """Where cloth swings to and fro however short its way is, its weights do: from then on none is forgotten."""
        parameters = self.parameters
        late = report.outer >= parameters.halved_from
        calm = not late or report.swings < parameters.halved_again * parameters.most_halvings
        return parameters.law if calm else replace(parameters.law, forget=0)

    def _contacts(
        self, law: BarrierLaw, pairs: Pairs, feasible: Any, predicted: Any, ages: Ages, anchors: Ages
    ) -> Contacts | None:
        near = self.proximity.near(pairs, feasible, predicted, self.parameters.near_slack)
        if near.count == 0:
            return None
        contacts = Contacts(self.backend, law, near, feasible, self.start, self.vertices, ages, anchors)
        contacts.partial_ccd(self.x, first=True)()
        return contacts

    def _local_global(self, contacts: Contacts | None, report: StepReport) -> float:
        """LG iterations until ‖Δx‖ falls below the inner tolerance; returns the last ‖Δx‖."""
        system, backend = self.system, self.backend
        contact = backend.sequence(self._contact_residual(contacts))
        solve = system.bind(self.x, self.rest, contacts)
        after: list[Callable[[], None]] = [backend.sequence([self._add_increment, *self._change.launches])]
        if contacts:
            after.append(contacts.partial_ccd(self.x))
        change, least = 0.0, self.parameters.least_iterations if contacts and report.outer == 0 else 1
        unread: list[Answer] = []  # what the last iteration changed, until the host has to know
        energy, retreats, done = float("inf"), 0, 0

        def settled() -> bool:
            nonlocal change
            change = self._change.size(unread.pop())
            return change <= self.inner_tolerance and done >= least

        for k in range(self._most_iterations(report)):
            self._elastic_residual()
            if unread and settled():
                break
            contact()
            left = solve.begin()
            if not left <= self.parameters.growth * energy and retreats < self.parameters.retreats:
                self._retreat()
                retreats += 1
                continue
            energy, retreats = left, 0
            solve.finish()
            self._advance[:] = system.increment
            for run in after:
                run()
            report.iterations += 1
            done, unread = k + 1, [self._change.look()]
            if not backend.ahead and settled():
                break
        if unread:
            settled()
        if self.momentum:
            lacking = self.momentum.lacking(contacts, self.inertial, self.x, self.displacement)
            self.displacement += lacking
            self.x[: self.vertices.cloth] += lacking
        return change

    def _most_iterations(self, report: StepReport) -> int:
        parameters = self.parameters
        late = parameters.halved_iterations if report.outer >= parameters.halved_from else 0
        return max(parameters.inner_iterations, late)

    def _halve(self, feasible: Any, report: StepReport) -> Any:
        """Late in a step in contact free vertices go half the way from `feasible` to x; returns the share (V, 1) or 1.

        Contact set up at one of two states can lead to the other for ever, as at the tip of a fold. Where half the way
        is still too far and cloth swings to and fro, it is halved again.
        """
        parameters = self.parameters
        if report.outer < parameters.halved_from:
            return 1.0
        share = self._half ** (1 + min(report.swings // parameters.halved_again, parameters.most_halvings))
        back = (1.0 - share) * (self.x - feasible)
        self.x -= back
        self.displacement -= back[: self.vertices.cloth]
        return share

    def _swung(self, feasible: Any, reached: Any, report: StepReport) -> bool:
        """Whether what is free went back from `feasible` to `reached` (V, 4), against its way at the full CCD before.

        On the whole: by the sum over all free vertices of the two ways' products.
        """
        went = self.backend.xp.where(self.free, reached - feasible, 0.0)
        swung = report.outer > 0 and float((went * self._went).sum()) < 0.0
        self._went[:] = went
        return swung

    def _retreat(self) -> None:
        """Take half of the last increment back: what it left is worse than what it found."""
        self._advance *= 0.5
        self.x[: self.vertices.cloth] -= self._advance
        self.displacement -= self._advance

    def _contact_residual(self, contacts: Contacts | None) -> list[Any]:
        """Kernels that add the contacts to the elastic residual."""
        system = self.system
        if contacts is None:
            return []
        return contacts.residual_launches(self.x, self.start, system.residual, system.added, system.total_diagonal)

    def _judge(
        self, report: StepReport, change: float, reached: Any, before: Any, way: Any, contacts: Contacts | None
    ) -> float:
        """Converged: LG has settled, nothing was cut off, contact was set up where the step ends, and there no triangle
        is far beyond its strain limit: a small cut may be a long stretch of a short edge.

        Returns by how much one is (`Elastic.strain_excess`); infinity in iterations that need not know it.
        """
        cut = abs(self.x - reached)
        moved = float((abs(reached - before) / way).max()) if contacts else 0.0
        report.outer += 1
        report.arrived = not bool(
            (cut[~self.free[:, 0]] > 0.0).any()
        )  # exactly: a frame shows bodies in their own pose
        report.converged = (
            report.arrived
            and change <= self.inner_tolerance
            and float(cut.max()) <= self.outer_tolerance
            and moved <= self.outer_tolerance
        )
        early = not report.converged and report.outer <= self.parameters.outer_iterations // 2
        if early or self.parameters.strain_excess == float("inf"):
            return float("inf")
        excess = self.elastic.strain_excess(reached)
        allowed = self.parameters.strain_excess
        report.converged = report.converged and excess <= allowed
        return excess

    def _hardness(self, reached: Any, converged: bool) -> Any:
        """Strain limits that bear much get harder. All give way where a step found no end: contact comes first."""
        never = float("inf")
        most = self.parameters.hardening * self.parameters.strain_excess
        return self.elastic.harden(reached, *((0.0, most) if converged else (never, never)))

    def _finished(self, report: StepReport) -> bool:
        if report.outer == 0:
            return False
        limit = self.parameters.outer_iterations if report.arrived else self.parameters.late_iterations
        return report.converged or report.outer >= limit

    def _forward_residual(self, feasible: Any, contacts: Contacts | None) -> Any:
        """δf of eq. 20–24 as the displacement 2 δx of the next z: a global solve with all weights at their start."""
        xp, parameters, system = self.backend.xp, self.parameters, self.system
        nothing = xp.zeros((self.vertices.cloth, 4), xp.float32)
        if not parameters.forwarding or self._taken.smallest >= parameters.forwarding_time:
            return nothing
        self.x[:] = feasible
        if contacts:
            contacts.age[:] = xp.minimum(contacts.age, 0)
        self._elastic_residual()
        self.backend.sequence(self._contact_residual(contacts))()
        solve = system.bind(self.x, self.rest, contacts)
        solve.begin()
        solve.finish()
        forwarded = 2.0 * system.increment
        if parameters.forwarding_cap is not None:
            size = xp.sqrt((forwarded * forwarded).sum(axis=1, keepdims=True))
            forwarded *= xp.minimum(1.0, 2.0 * parameters.forwarding_cap / xp.maximum(size, 1e-12))
        return forwarded.astype(xp.float32)

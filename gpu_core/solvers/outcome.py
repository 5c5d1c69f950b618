# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step gives back once its positions are decided: velocity, energy, forwarded residual, what yarns remember."""

from __future__ import annotations

from typing import Any

from ..backend import Backend
from ..contact.barrier import Ages, Contacts, VertexData
from ..contact.filter import Filter
from .elastic import Elastic
from .iterate import Iterate
from .iterations import Iterations
from .momentum import Momentum
from .parameters import NdbParameters
from .solver import StepReport
from .state import NdbState


class Outcome:
    """Makes the next state of a step's end."""

    def __init__(
        self,
        backend: Backend,
        parameters: NdbParameters,
        elastic: Elastic,
        vertices: VertexData,
        iterate: Iterate,
        iterations: Iterations,
        taken: Filter,
        momentum: Momentum | None,
    ) -> None:
        """taken: the filter that cut the step's motions."""
        self.backend, self.elastic, self.vertices = backend, elastic, vertices
        self.iterate, self.iterations, self.taken, self.momentum = iterate, iterations, taken, momentum
        self._nothing = backend.xp.zeros((vertices.cloth, 4), backend.xp.float32)
        self.energy, self.forwarding = parameters.free_cloth, parameters.residual

    def state(self, before: NdbState, x: Any, contacts: Contacts | None, ages: Ages, report: StepReport) -> NdbState:
        """The state at x (V, 4), m, where the step ends. Reports contacts and whether free cloth gained energy."""
        velocity, share = self._velocity(before, x)
        report.heated = self._heated(before, x, velocity)
        forwarded = self._forwarded(x, contacts)
        report.touching = contacts
        memory = self.elastic.remember(x, report.converged)
        unsolved = 0 if report.converged else before.unsolved + 1
        return NdbState(x, velocity, share, forwarded, ages, memory, unsolved, not report.arrived)

    def _velocity(self, before: NdbState, x: Any) -> tuple[Any, Any]:
        """(N, 4) of the way to x, m/s, and the shares of gravity in it.

        A filter stops cloth but bears no force, so what it took of the momentum of cloth that nothing holds is given
        back; the position stays as it was filtered.
        """
        iterate, h = self.iterate, self.iterate.h
        velocity, share = (self.backend.xp.empty_like(a) for a in (before.velocity, before.gravity_share))
        self.backend.launch(
            "step_velocity", self.vertices.cloth, start=iterate.start, solved=iterate.x, reached=x,
            displacement=iterate.displacement, inertial=iterate.inertial, h=h, gravity=self.elastic.gravity,
            velocity=velocity, gravity_share=share,
        )  # fmt: skip
        if self.momentum and self.momentum.loose:
            velocity += self.momentum.lacking(iterate.inertial / h, x, velocity)
        return velocity, share

    def _heated(self, before: NdbState, x: Any, velocity: Any) -> bool:
        """Whether a group of cloths that nothing holds has gained energy, gravity's work and rounding apart.

        Backward Euler takes energy while all energies are convex on a step's way, and an iteration has no residual.
        """
        xp, allowed, acceleration = self.backend.xp, self.energy, self.elastic.acceleration
        for rows in self.momentum.loose if self.momentum else ():
            mass = self.vertices.mass[rows].astype(xp.float64)
            v0, v1 = (v[rows].astype(xp.float64) for v in (before.velocity, velocity))
            kinetic = 0.5 * (mass * (v1 * v1).sum(axis=1)).sum()
            gained = kinetic - 0.5 * (mass * (v0 * v0).sum(axis=1)).sum()
            pull = acceleration[rows] if self.elastic.air else acceleration
            work = self.iterate.h * (mass * (v1 * pull).sum(axis=1)).sum()
            of = xp.zeros(self.vertices.cloth, bool)
            of[rows] = True
            stored = self.elastic.gain(self.iterate.start, x, of)
            rounding = allowed.energy_share * kinetic + 0.5 * mass.sum() * allowed.energy_speed**2
            if float(gained - work - rounding) + stored > 0.0:
                return True
        return False

    def _forwarded(self, x: Any, contacts: Contacts | None) -> Any:
        """δf of eq. 20–24 as the displacement 2 δx of the next z: a global solve with all weights at their start."""
        xp, choices = self.backend.xp, self.forwarding
        if not choices.forwarding or self.taken.smallest >= choices.forwarding_time:
            return self._nothing
        self.iterate.x[:] = x
        if contacts:
            contacts.age[:] = xp.minimum(contacts.age, 0)
        forwarded = 2.0 * self.iterations.solve_once(contacts)
        if choices.forwarding_cap is not None:
            size = xp.sqrt((forwarded * forwarded).sum(axis=1, keepdims=True))
            forwarded *= xp.minimum(1.0, 2.0 * choices.forwarding_cap / xp.maximum(size, 1e-12))
        return forwarded.astype(xp.float32)

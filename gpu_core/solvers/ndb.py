# SPDX-License-Identifier: GPL-3.0-or-later
"""NDB: Lan et al. 2024, Alg. 1, with the choices of `NdbParameters` (docs/theory/method.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..contact.barrier import Ages, Contacts, VertexData, no_ages
from ..contact.broad_phase import TooManyPairsError
from ..contact.filter import Filter
from ..contact.pairs import Proximity
from ..elasticity.assembly import SOFT_PIN_SHARE, Assembly, assemble, vectors
from ..elasticity.pressure import PressureEnergy
from ..scene.mesh import vertex_ring
from ..scene.scene import SceneError
from ..scene_space import Moment, SceneSpace
from ..subspace.subspace import subspace
from .air import Air, may_blow
from .change import Change
from .convergence import Convergence
from .elastic import Elastic
from .global_step import GlobalStep
from .iterate import Iterate
from .iterations import Iterations
from .momentum import Momentum
from .newton import NewtonStep
from .oscillation import Oscillation
from .outcome import Outcome
from .parameters import NdbParameters
from .progress import Progress
from .rate import Rate
from .solver import Arrays, DivergenceError, StepReport
from .state import NdbState

EDGE_SHARE = 0.3  #: d̂, at most, in mean edges at rest
SLACK_SHARE = 0.15  #: the reserve of contacts, at most, in the same: with more, each triangle next to a vertex is one

ALONG = 0.5  #: share of a body's way, by which cloth that goes along may miss it


class Ndb:
    """Steps the state of one scene. Its parts own what they decide:

    `iterate` the unknowns; `iterations` what moves them between two full CCDs; `oscillation` what ends it where contact
    leads to and fro; `convergence` when a step has found its end; `outcome` what it hands to the next.
    """

    def __init__(
        self,
        space: SceneSpace,
        backend: Backend,
        parameters: NdbParameters,
        step: float,
        *,
        proximity: Proximity | None = None,
        known: Assembly | None = None,
        cache: Path | None = None,
    ) -> None:
        """step: h at time scale 1, s. proximity: of another solver of this scene, to be shared. known: what another one
        assembled. cache: folder that keeps subspaces. Raises SceneError."""
        settings, contact, elasticity = space.scene.settings, parameters.contact, parameters.elasticity
        self.space, self.backend, self.parameters, self._cache = space, backend, parameters, cache
        self.moment = self._first = moment = space.moment(space.begins)
        _require_matrix(space, parameters)
        self._step, step = step, step * moment.time_scale
        self.assembly = assembly = assemble(moment.cloths, step, elasticity, known)
        self.soft = _soft_pin(assembly, step)
        self.elastic = Elastic(
            backend, assembly, step, moment.gravity, elasticity, strain_excess=parameters.convergence.strain_excess,
            air=Air(backend, space) if may_blow(space.scene) else None,
        )  # fmt: skip
        self.elastic.surround(moment)
        self.system = _system(backend, assembly, parameters, cache, self.elastic.pressure)
        self.vertices = _vertex_data(space, backend, assembly, moment, self.system)
        self.proximity = proximity or _proximity(space, backend, moment, contact.activation)
        self.near_slack = min(contact.near_slack, SLACK_SHARE * space.edge)
        self.taken = _filter(space, backend, self.system.free)
        self.filter = self.taken.whole if contact.filter == "global" else self.taken.per_vertex

        cloths = space.offsets.tolist()
        self._tolerance = parameters.convergence.inner_tolerance or settings.tolerance  # m/s
        tolerance = self._tolerance * step
        self.iterate = iterate = Iterate(
            backend, self.elastic, self.vertices, space.surface.vertices, adaptive=parameters.guess == "adaptive"
        )
        self.momentum = (
            Momentum(backend, self.vertices, self.elastic.pin_stiffness, cloths, self.elastic.pressure.balanced)
            if parameters.free_cloth.momentum and not self.elastic.external
            else None
        )
        rest = backend.array(vectors(assembly.rest))

        def iterations(system: GlobalStep | NewtonStep, rate: Rate | None = None) -> Iterations:
            change = Change(
                backend, parameters.convergence, step, tolerance, cloths, system.increment, iterate.displacement,
                iterate.coast,
            )  # fmt: skip
            return Iterations(backend, parameters, self.elastic, system, iterate, change, self.momentum, rest, rate)

        self.iterations = iterations(self.system)
        #: what is tried before these, where there is such
        self.reuse = (
            iterations(
                _constant(backend, assembly, parameters, cache), Rate(parameters.convergence.reuse_share * tolerance)
            )
            if parameters.system == "mixed"
            else None
        )
        self._pulled = self._outdated = False  # the second: the subspace is of another matrix than that of now
        self.contacts = Contacts(backend, contact.law, self.vertices, iterate.feasible, iterate.start)
        self.progress = Progress(iterate)
        self.oscillation = Oscillation(parameters.oscillation, iterate)
        self.convergence = Convergence(parameters, self.elastic, iterate, tolerance)
        self.outcome = Outcome(
            backend, parameters, self.elastic, self.vertices, iterate, self.iterations, self.taken, self.momentum
        )

    def step(self, state: NdbState, target: Any) -> tuple[NdbState, StepReport]:
        """One step of length h. target: (V, 4) where hard pins and colliders go; free vertices' rows are not read.

        With `mixed` a step is H's if it finds the step's end, and Newton's from the start if it does not: what led
        nowhere is no place to begin from.
        """
        report, pause = StepReport(), state.pause
        if self.reuse and not (self._pulled or self._outdated):
            if not pause.left and (end := self._tried(self.reuse, state, target, report)):
                return end, report
            report, pause = StepReport(report.iterations), pause.after(tried=not pause.left)
        end = self._solve(self.iterations, state, target, report)
        assert end, "Newton does not give up"
        return replace(end, pause=pause), report

    def _tried(self, iterations: Iterations, state: NdbState, target: Any, report: StepReport) -> NdbState | None:
        """None where these iterations find no end, or one that may not stay."""
        try:
            end = self._solve(iterations, state, target, report)
        except (DivergenceError, TooManyPairsError, np.linalg.LinAlgError):
            return None
        return end if report.converged and not report.heated else None

    def _solve(self, iterations: Iterations, state: NdbState, target: Any, report: StepReport) -> NdbState | None:
        """Alg. 1; None where the iterations give up."""
        iterate = self.iterate
        self.elastic.resume(state.memory, state.x)
        iterate.begin(state, target)  # z ← x* + h v + h²(g + M⁻¹δf)
        iterations.warm_start()  # x ← ModalLG(I + Ψ) in span(U)

        self.proximity.begin_step()
        self._full_ccd()  # (B, t) ← FullCCD; x⁻ ← x* + αt(x − x*)
        waits = self.taken.delays and self._goes_along()
        if waits:  # a body, for cloth that goes with it: x⁻ is x*, and contact takes the cloth along
            iterate.reached[:] = iterate.start
        self.progress.advance()
        if self.parameters.start == "feasible" and not waits:
            iterate.return_to_feasible()
        ages, contacts = state.ages, None
        self.oscillation.begin()
        crossed = len(self.proximity.freed) > 0
        self.convergence.begin(after_unsolved=state.unsolved > 0 and crossed, guarded=not crossed)
        while not self.convergence.finished(report):
            if not self.oscillation.damped(report):
                self.elastic.bending.turn(iterate.feasible)  # what yarns hold on to
            contacts = self._contacts(iterations, ages, state.ages, report)
            change = iterations.run(contacts, report)  # repeat LG with reuse, weights ← PartialCCD
            if iterations.hopeless(report):
                return None
            ages = contacts.ages() if contacts else no_ages(self.backend)
            share = self.oscillation.shorten(report) if contacts else None
            self._full_ccd()  # (B, t) ← FullCCD(x⁻, x⁺); x⁻ ← x⁻ + αt(x⁺ − x⁻)
            seen = self.progress.seen(share)
            self.oscillation.observe(seen, report)
            self.convergence.judge(report, change, seen, contacts)

        end = self.convergence.end(target, report)
        return self.outcome.state(state, end, contacts, ages, report)

    def _full_ccd(self) -> None:
        """How far the filter lets all go from the feasible state to x; `proximity.found` are that motion's pairs."""
        iterate = self.iterate
        pairs = self.proximity.pairs(iterate.feasible, iterate.x)
        iterate.reached[:] = self.filter(pairs, iterate.feasible, iterate.x, self.proximity.released)

    def _goes_along(self) -> bool:
        """Whether cloth that the filter stopped at a body went the body's way, by and large: then contacts at x* are
        those of x, and the body need not have waited. Where it slides under the cloth they are of places it has left.
        """
        xp, corner, iterate = self.backend.xp, self.proximity.found.corner, self.iterate
        cloth, stopped = corner < self.space.cloth_vertices, self.taken.stopped
        mixed = cloth.any(axis=1) & ~cloth.all(axis=1) & (stopped[corner] & cloth).any(axis=1)
        corner, of_edges = corner[mixed], (self.proximity.found.feature[mixed, 0] < 0)[:, None]
        ways = (iterate.x - iterate.start)[corner, :3]
        first = xp.where(of_edges, 0.5 * (ways[:, 0] + ways[:, 1]), ways[:, 0])
        second = xp.where(of_edges, 0.5 * (ways[:, 2] + ways[:, 3]), ways[:, 1:].mean(axis=1))
        body = xp.where(cloth[mixed, :1], second, first)
        return bool(((first - second) ** 2).sum() < ALONG**2 * (body * body).sum())

    def _contacts(self, iterations: Iterations, ages: Ages, anchors: Ages, report: StepReport) -> Contacts | None:
        """Set up at the feasible state, of the pairs that may touch on the way to where x was predicted."""
        found, iterate = self.proximity.found, self.iterate
        near = self.proximity.near(found, iterate.feasible, iterate.predicted, self.near_slack)
        if len(near) == 0:
            return None
        self.contacts.law = self.oscillation.law(self.parameters.contact.law, report)
        self.contacts.set_up(found, near, ages, anchors)
        iterations.touch(self.contacts)
        return self.contacts

    # What else a `Simulator` asks of a solver.

    def allow(self, solves: int | None, halves: bool = False) -> None:
        self.convergence.budget, self.convergence.halves = solves, halves

    def renew(self, moment: Moment) -> None:
        before, self.moment = self.moment, moment
        if moment is before:
            return
        array = self.backend.array
        if moment.of_matrix != before.of_matrix:
            self._reassemble(moment)
        self.elastic.surround(moment)
        if self.momentum:
            self.momentum.push(self.elastic.pressure.balanced)
        self.vertices.friction[:] = array(moment.friction)
        if self.vertices.parties:
            self.vertices.party_friction[:] = array(moment.party_friction.ravel())
        self.proximity.part(self.space.not_colliding(moment))
        self.proximity.thicken(moment.thickness)

    def _reassemble(self, moment: Moment) -> None:
        step = self._step * moment.time_scale
        self.assembly = assembly = assemble(moment.cloths, step, self.parameters.elasticity, self.assembly)
        self.soft, self._outdated = _soft_pin(assembly, step), moment.of_matrix != self._first.of_matrix
        self.elastic.renew(assembly, step)
        self.vertices.mass[:] = self.backend.array(assembly.mass)
        if self.momentum:
            self.momentum.weigh(self.vertices.mass)
            self.momentum.pin(self.elastic.pin_stiffness)
        tolerance = self._tolerance * step
        self.convergence.allow(tolerance)
        for iterations in filter(None, (self.iterations, self.reuse)):
            iterations.change.pace(step, tolerance)
            if iterations.rate:
                iterations.rate.tolerance = self.parameters.convergence.reuse_share * tolerance
            if isinstance(iterations.system, NewtonStep):
                iterations.system.renew(assembly)
        self.system.rest_diagonal[:] = self.backend.array(assembly.hessian.diagonal())

    @property
    def can_halve(self) -> bool:
        return self.parameters.system != "constant"  # which needs a subspace for each length of the step

    @property
    def last_x(self) -> Any:
        return self.iterate.x

    def halved(self) -> Ndb:
        """By Newton's matrix: where a step fails, nothing is to be saved by reuse."""
        parameters = replace(self.parameters, system="newton")
        return Ndb(
            self.space, self.backend, parameters, 0.5 * self._step, proximity=self.proximity, known=self.assembly
        )

    def holding(self, space: SceneSpace) -> Ndb:
        return Ndb(space, self.backend, self.parameters, self._step, known=self.assembly, cache=self._cache)

    def initial_state(self, x: Any, velocity: Any) -> NdbState:
        xp, cloth = self.backend.xp, self.vertices.cloth
        return NdbState(
            x,
            velocity,
            xp.ones(cloth, xp.float32),
            xp.zeros((cloth, 4), xp.float32),
            no_ages(self.backend),
            self.elastic.memory(x),
        )

    def to_host(self, state: NdbState) -> dict[str, npt.NDArray[Any]]:
        return state.to_host(self.backend)

    def from_host(self, arrays: Arrays, like: NdbState) -> NdbState:
        return like.from_host(self.backend, arrays)

    def hold(self, vertices: npt.NDArray[Any], targets: npt.NDArray[Any]) -> None:
        if len(vertices):
            held = self.backend.host(self.elastic.pin_target).copy()
            held[vertices, :3] = targets
            self.elastic.pin_target[:] = self.backend.array(held)

    def sew(self, seconds: float) -> None:
        self.elastic.seam.shorten(seconds)

    def pull(self, stiffness: npt.NDArray[Any]) -> None:
        system = self.iterations.system
        assert isinstance(system, NewtonStep)
        self.elastic.pull(stiffness)
        system.pull(stiffness)
        self._pulled = bool(stiffness.any())
        if self.momentum:
            self.momentum.pin(self.elastic.pin_stiffness)


def _require_matrix(space: SceneSpace, parameters: NdbParameters) -> None:
    """Raises SceneError where the matrix is constant and keys would change it."""
    keyed = sorted({name for name, _ in space.moment(space.begins).of_matrix})
    if parameters.system == "constant" and keyed:
        problem = f"the method As Published has one matrix for the whole bake, but {', '.join(keyed)} has keys"
        raise SceneError("Scene", problem, "Choose the method Newton, or remove these keys")


def _soft_pin(assembly: Assembly, step: float) -> npt.NDArray[np.float64]:
    """(N,) stiffness of a pull of weight one half where no pin holds, N/m."""
    unpinned = (assembly.free > 0) & (assembly.pin_stiffness == 0)
    elastic = assembly.hessian.diagonal() - assembly.mass / step**2
    return SOFT_PIN_SHARE * np.where(unpinned, elastic, 0.0)


def _system(
    backend: Backend, assembly: Assembly, parameters: NdbParameters, cache: Path | None, pressure: PressureEnergy
) -> GlobalStep | NewtonStep:
    if parameters.system == "constant":
        return _constant(backend, assembly, parameters, cache)
    return _newton(backend, assembly, parameters, pressure)


def _constant(backend: Backend, assembly: Assembly, parameters: NdbParameters, cache: Path | None) -> GlobalStep:
    modes = subspace(assembly.hessian, assembly.free, parameters.subspace.large_rank, cache)
    return GlobalStep(backend, assembly, modes, parameters.subspace, watched=parameters.system == "mixed")


def _newton(backend: Backend, assembly: Assembly, parameters: NdbParameters, pressure: PressureEnergy) -> NewtonStep:
    newton = parameters.newton
    return NewtonStep(
        backend, assembly, newton.accuracy, newton.max_gradients, newton.multilevel, growth=newton.growth,
        pressure=pressure,
    )  # fmt: skip


def _vertex_data(
    space: SceneSpace, backend: Backend, assembly: Assembly, moment: Moment, system: GlobalStep | NewtonStep
) -> VertexData:
    ring = vertex_ring(space.surface.triangles, space.surface.vertices)
    parties = len(moment.party_friction) if space.meetings.any_friction else 0
    return VertexData(
        assembly.vertices, system.free, backend.array(assembly.mass), backend.array(moment.friction),
        backend.array(space.party, np.int32), parties, backend.array(moment.party_friction.ravel()),
        system.rest_diagonal, (backend.array(ring.start, np.int32), backend.array(ring.entries, np.int32)),
    )  # fmt: skip


def _proximity(space: SceneSpace, backend: Backend, moment: Moment, activation: float) -> Proximity:
    start = space.start()
    rest = np.zeros_like(start)
    rest[: space.cloth_vertices, :3] = space.rest
    return Proximity(
        backend, space.surface, start[:, :3], backend.array(rest), moment.thickness,
        min(activation, EDGE_SHARE * space.edge), space.edge, space.party, space.not_colliding(moment), space.seams,
    )  # fmt: skip


def _filter(space: SceneSpace, backend: Backend, free: Any) -> Filter:
    """free: (N,) 0 = hard pin."""
    xp, cloths = backend.xp, len(space.scene.cloths)
    collider = xp.maximum(backend.array(space.surface.object, np.int32) - cloths, -1)
    held = xp.ones(space.surface.vertices, xp.int32)
    held[: space.cloth_vertices] = free == 0
    return Filter(backend, held, collider, len(space.scene.colliders))

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
from ..contact.filter import Filter
from ..contact.pairs import Proximity
from ..elasticity.assembly import SOFT_PIN_SHARE, Assembly, assemble, vectors
from ..scene.mesh import vertex_ring
from ..scene_space import SceneSpace
from ..subspace.subspace import subspace
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
from .solver import Arrays, StepReport
from .state import NdbState

EDGE_SHARE = 0.3  #: d̂, at most, in mean edges at rest
SLACK_SHARE = 0.15  #: the reserve of contacts, at most, in the same: with more, each triangle next to a vertex is one


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
        cache: Path | None = None,
    ) -> None:
        """step: h, s. proximity: of another solver of this scene, to be shared. cache: folder that keeps subspaces."""
        settings, contact, elasticity = space.scene.settings, parameters.contact, parameters.elasticity
        self.space, self.backend, self.parameters, self.h = space, backend, parameters, step
        assembly = assemble(space.scene.cloths, step, elasticity)
        self.soft = _soft_pin(assembly, step)
        self.elastic = Elastic(
            backend, assembly, step, settings.gravity, elasticity, strain_excess=parameters.convergence.strain_excess
        )
        self.system = _system(backend, assembly, parameters, cache)
        self.vertices = _vertex_data(space, backend, assembly, self.system)
        self.proximity = proximity or _proximity(space, backend, contact.activation)
        self.near_slack = min(contact.near_slack, SLACK_SHARE * space.edge)
        self.taken = _filter(space, backend, self.system.free)
        self.filter = self.taken.whole if contact.filter == "global" else self.taken.per_vertex

        cloths = space.offsets.tolist()
        tolerance = (parameters.convergence.inner_tolerance or settings.tolerance) * step
        self.iterate = iterate = Iterate(
            backend, self.elastic, self.vertices, space.surface.vertices, adaptive=parameters.guess == "adaptive"
        )
        self.momentum = (
            Momentum(backend, self.vertices, self.elastic.pin_stiffness, cloths)
            if parameters.free_cloth.momentum and not self.elastic.external
            else None
        )
        rest = backend.array(vectors(assembly.rest))

        def iterations(system: GlobalStep | NewtonStep) -> Iterations:
            change = Change(
                backend, parameters.convergence, step, tolerance, cloths, system.increment, iterate.displacement,
                iterate.coast,
            )  # fmt: skip
            return Iterations(backend, parameters, self.elastic, system, iterate, change, self.momentum, rest)

        self.iterations = iterations(self.system)
        #: what goes on where these find no end soon, where there is such
        self.later = iterations(_newton(backend, assembly, parameters)) if parameters.system == "mixed" else None
        self._pulled = False
        self.contacts = Contacts(backend, contact.law, self.vertices, iterate.feasible, iterate.start)
        self.progress = Progress(iterate)
        self.oscillation = Oscillation(parameters.oscillation, iterate)
        self.convergence = Convergence(parameters, self.elastic, iterate, tolerance)
        self.outcome = Outcome(
            backend, parameters, self.elastic, self.vertices, iterate, self.iterations, self.taken, self.momentum
        )

    def step(self, state: NdbState, target: Any) -> tuple[NdbState, StepReport]:
        """One step of length h. target: (V, 4) where hard pins and colliders go; free vertices' rows are not read."""
        report, iterate = StepReport(), self.iterate
        self.elastic.resume(state.memory)
        iterate.begin(state, target)  # z ← x* + h v + h²(g + M⁻¹δf)
        self.iterations.warm_start()  # x ← ModalLG(I + Ψ) in span(U)

        self._full_ccd()  # (B, t) ← FullCCD; x⁻ ← x* + αt(x − x*)
        self.progress.advance()
        if self.parameters.start == "feasible":
            iterate.return_to_feasible()
        ages, contacts, iterations = state.ages, None, self._iterations(report)
        self.oscillation.begin()
        self.convergence.begin()
        while not self.convergence.finished(report):
            if not self.oscillation.damped(report):
                self.elastic.bending.turn(iterate.feasible)  # what yarns hold on to
            iterations, before = self._iterations(report), iterations
            if iterations is not before:
                iterate.return_to_feasible()  # what did not lead to the end is no place to begin from
                ages = state.ages
            contacts = self._contacts(iterations, ages, state.ages, report)
            change = iterations.run(contacts, report)  # repeat LG with reuse, weights ← PartialCCD
            ages = contacts.ages() if contacts else no_ages(self.backend)
            share = self.oscillation.shorten(report) if contacts else None
            self._full_ccd()  # (B, t) ← FullCCD(x⁻, x⁺); x⁻ ← x⁻ + αt(x⁺ − x⁻)
            seen = self.progress.seen(share)
            self.oscillation.observe(seen, report)
            self.convergence.judge(report, change, seen, contacts)

        end = self.convergence.end(target, report)
        return self.outcome.state(state, end, contacts, ages, report), report

    def _full_ccd(self) -> None:
        """How far the filter lets all go from the feasible state to x; `proximity.found` are that motion's pairs."""
        iterate = self.iterate
        pairs = self.proximity.pairs(iterate.feasible, iterate.x)
        iterate.reached[:] = self.filter(pairs, iterate.feasible, iterate.x, self.proximity.released)

    def _iterations(self, report: StepReport) -> Iterations:
        """What moves the iterate until the next full CCD."""
        late = self._pulled or report.outer >= self.parameters.limits.reused_iterations
        return self.later if self.later and late else self.iterations

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

    @property
    def can_halve(self) -> bool:
        return self.parameters.system != "constant"  # which needs a subspace for each length of the step

    @property
    def last_x(self) -> Any:
        return self.iterate.x

    def halved(self) -> Ndb:
        """By Newton's matrix: where a step fails, nothing is to be saved by reuse."""
        parameters = replace(self.parameters, system="newton")
        return Ndb(self.space, self.backend, parameters, 0.5 * self.h, proximity=self.proximity)

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
        system = (self.later or self.iterations).system
        assert isinstance(system, NewtonStep)
        self.elastic.pull(stiffness)
        system.pull(stiffness)
        self._pulled = bool(stiffness.any())
        if self.momentum:
            self.momentum.pin(self.elastic.pin_stiffness)


def _soft_pin(assembly: Assembly, step: float) -> npt.NDArray[np.float64]:
    """(N,) stiffness of a pull of weight one half where no pin holds, N/m."""
    unpinned = (assembly.free > 0) & (assembly.pin_stiffness == 0)
    elastic = assembly.hessian.diagonal() - assembly.mass / step**2
    return SOFT_PIN_SHARE * np.where(unpinned, elastic, 0.0)


def _system(
    backend: Backend, assembly: Assembly, parameters: NdbParameters, cache: Path | None
) -> GlobalStep | NewtonStep:
    if parameters.system == "newton":
        return _newton(backend, assembly, parameters)
    modes = subspace(assembly.hessian, assembly.free, parameters.subspace.large_rank, cache)
    return GlobalStep(backend, assembly, modes, parameters.subspace, watched=parameters.system == "mixed")


def _newton(backend: Backend, assembly: Assembly, parameters: NdbParameters) -> NewtonStep:
    newton = parameters.newton
    return NewtonStep(backend, assembly, newton.accuracy, newton.max_gradients, newton.multilevel, growth=newton.growth)


def _vertex_data(
    space: SceneSpace, backend: Backend, assembly: Assembly, system: GlobalStep | NewtonStep
) -> VertexData:
    ring = vertex_ring(space.surface.triangles, space.surface.vertices)
    return VertexData(
        assembly.vertices, system.free, backend.array(assembly.mass), backend.array(space.friction),
        system.rest_diagonal, (backend.array(ring.start, np.int32), backend.array(ring.entries, np.int32)),
    )  # fmt: skip


def _proximity(space: SceneSpace, backend: Backend, activation: float) -> Proximity:
    start = space.start()
    rest = np.zeros_like(start)
    rest[: space.cloth_vertices, :3] = space.rest
    return Proximity(
        backend, space.surface, start[:, :3], backend.array(rest), space.thickness,
        min(activation, EDGE_SHARE * space.edge), space.edge, space.self_collision, space.seams,
    )  # fmt: skip


def _filter(space: SceneSpace, backend: Backend, free: Any) -> Filter:
    """free: (N,) 0 = hard pin."""
    xp, cloths = backend.xp, len(space.scene.cloths)
    collider = xp.maximum(backend.array(space.surface.object, np.int32) - cloths, -1)
    held = xp.ones(space.surface.vertices, xp.int32)
    held[: space.cloth_vertices] = free == 0
    return Filter(backend, held, collider, len(space.scene.colliders))

"""A scene in motion: frames from steps. The only door from the scene's data to a solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .backend import Backend
from .contact.barrier import Ages, VertexData, no_ages
from .contact.broad_phase import TooManyPairsError
from .contact.filter import Filter
from .contact.pairs import Proximity, thickness_within_edges
from .contact.tangles import Meeting, meetings, tangles, unexplained
from .elasticity.assembly import SOFT_PIN_SHARE, Assembly, assemble, vectors
from .scene.mesh import edge_lengths, unique_edges, vertex_ring
from .scene.scene import Scene, SceneError
from .scene_space import between, centre, start_positions, surface_of
from .solvers.change import DivergenceError
from .solvers.elastic import Elastic
from .solvers.global_step import GlobalStep
from .solvers.ndb import Ndb, NdbState, StepReport
from .solvers.newton import NewtonStep
from .solvers.parameters import NdbParameters, preset
from .solvers.pd_ipc import pd_ipc
from .subspace.subspace import subspace

HALVINGS = 3  #: how often a step may be halved for a body to arrive, or for free cloth to gain no energy
EDGE_SHARE = 0.3  #: d̂, at most, in mean edges at rest
SLACK_SHARE = 0.15  #: the reserve of contacts, at most, in the same: with more, each triangle next to a vertex is one


class SolverError(RuntimeError):
    """The simulation cannot go on; the text names the frame and the object."""


class InterruptionError(RuntimeError):
    """Somebody asked to stop within a frame; what was computed of it is lost."""


def _never() -> bool:
    return False


@dataclass
class FrameReport:
    """What happened between two frames."""

    frame: int
    steps: int = 0
    iterations: int = 0  #: local–global iterations of all steps
    detections: int = 0  #: broad phases
    contacts: int = 0  #: active pairs at the end
    unfinished_steps: int = 0  #: steps that ran out of iterations
    halved_steps: int = 0  #: steps taken in two halves: for a body to arrive, a limit to hold, energy not to rise
    late_steps: int = 0  #: steps at whose end a collider or hard pin had not reached its pose
    strained_steps: int = 0  #: steps that end with cloth stretched beyond its strain limit
    heated_steps: int = 0  #: steps that give cloth which nothing holds more energy than it had
    tangled: int = 0  #: pairs that are left alone because they intersect since the start
    largest_stretch: float = 1.0  #: longest edge relative to its rest length
    smallest_gap: float = 0.0  #: of any pair, m; the reach of contact where nothing is nearer
    rms_speed: float = 0.0  #: m/s
    seconds: float = 0.0
    released: list[str] = field(
        default_factory=list
    )  #: bodies that had no room to arrive, and objects that cross since
    faults: list[str] = field(default_factory=list)  #: objects that cross although no release explains it, and where


class Simulator:
    """Owns the state; positions are float32 relative to the scene's centre, so a scene far off keeps its digits."""

    def __init__(
        self,
        scene: Scene,
        backend: Backend,
        parameters: NdbParameters | None = None,
        cache: Path | None = None,
    ) -> None:
        """parameters: None = the scene's preset. cache: folder that keeps subspaces, or None. Raises SceneError."""
        self.scene, self.backend = scene.validate(), backend
        settings = scene.settings
        self.parameters = parameters or preset(settings.preset)
        if parameters is None and settings.solver == "pd_ipc":
            self.parameters = pd_ipc(self.parameters)
        self.frame = settings.frame_start
        self.warnings: list[str] = []
        self._names = [cloth.name for cloth in scene.cloths] + [body.name for body in scene.colliders]
        self._centre = centre(scene)
        assembly = self._assemble(settings.step)
        self._offsets, self.cloth_vertices = assembly.offsets, assembly.vertices
        self._edges = unique_edges(assembly.triangles)
        self._rest_length = edge_lengths(assembly.rest, self._edges)
        self._static = all(not c.animated for c in scene.colliders) and all(
            c.pins is None or len(c.pins.targets) == 1 for c in scene.cloths
        )
        # a constant matrix needs a subspace of its own for each length of the step
        self._most_halvings = HALVINGS if self.parameters.system == "newton" else 0
        self._edge = float(self._rest_length.mean())  #: m
        self._solver = self._build(assembly, settings.step, self._proximity(assembly), cache)
        self._halved: list[Ndb] = []  #: solvers of h/2, h/4, … once they were needed
        unpinned = (assembly.free > 0) & (assembly.pin_stiffness == 0)
        elastic = assembly.hessian.diagonal() - assembly.mass / settings.step**2
        self._soft = SOFT_PIN_SHARE * np.where(unpinned, elastic, 0.0)  #: (N,) a pull of weight one half, N/m
        self._pulled: tuple[Any, Any, Any] | None = None  #: stiffness (N,), vertices (G,), targets (G, 3)
        self._state = self._initial_state()
        self._report_start()

    def positions(self) -> list[npt.NDArray[np.float64]]:
        """World positions (N, 3) of each cloth at `frame`, m."""
        world = self.backend.host(self._state.x)[: self.cloth_vertices, :3].astype(np.float64) + self._centre
        return [world[a:b] for a, b in zip(self._offsets[:-1], self._offsets[1:], strict=True)]

    def pull(self, vertices: npt.ArrayLike, weights: npt.ArrayLike, targets: npt.ArrayLike) -> None:
        """From the next frame on, springs from vertices (G,), counted over all cloths, to world targets (G, 3), m.

        They replace those of the last call; none: let go. weights: (G,) in [0, 1), as of soft pins. Pinned vertices
        stay with their pins. No part of `state()`; for Newton's matrix only.
        """
        at, weight = np.asarray(vertices, np.int64), np.asarray(weights, np.float64)
        stiffness = np.zeros(self.cloth_vertices)
        stiffness[at] = self._soft[at] * weight / (1.0 - weight)
        self._pulled = stiffness, at, np.asarray(targets, np.float64)
        for solver in (self._solver, *self._halved):
            solver.pull(stiffness)

    def advance_frame(self, interrupted: Callable[[], bool] = _never) -> FrameReport:
        """Step to the next frame. `interrupted` is asked between two steps.

        Raises SolverError when the state is no longer finite, InterruptionError when `interrupted`; this simulator
        is then between two frames and of no more use.
        """
        began, settings = time.perf_counter(), self.scene.settings
        self._solver.proximity.begin_frame()
        detections = self._solver.proximity.detections
        report = FrameReport(self.frame + 1)
        target = None
        for step in range(1, settings.steps_per_frame + 1):
            if step > 1 and interrupted():
                raise InterruptionError
            if target is None or not self._static:
                target = self._target(self.frame + step / settings.steps_per_frame, self._solver)
            self._advance(report, self.frame + step / settings.steps_per_frame, target)
        self.frame += 1
        if len(self._solver.proximity.freed):
            self._free_tangles(report)
        report.tangled = len(self._solver.proximity.freed)
        report.detections = self._solver.proximity.detections - detections
        self._measure(report)
        report.seconds = time.perf_counter() - began
        return report

    def _advance(self, report: FrameReport, frame: float, target: Any, halvings: int = 0) -> None:
        """One step of h / 2^halvings to `frame`, where bodies and pins are at `target`.

        Where it diverges, or fails in what halves may help, two of half the length instead: each asks less of the
        cloth, and its inertia counts four times as much.
        """
        solver, halvable = self._solver_of(halvings), halvings < self._most_halvings
        done: StepReport | None = None
        try:
            state, done = solver.step(self._state, target)
        except (DivergenceError, np.linalg.LinAlgError) as error:
            if not halvable:
                raise self._diverged(solver) from error
        except TooManyPairsError as error:
            raise SolverError(f"Scene: {error}") from error
        report.iterations += done.iterations if done else 0
        if done is None or (halvable and _halves_may_help(done, report, halvings)):
            report.halved_steps += 1
            half = 0.5 ** (halvings + 1) / self.scene.settings.steps_per_frame
            for end in (frame - half, frame):
                self._advance(report, end, self._target(end, self._solver_of(halvings + 1)), halvings + 1)
            return
        self._state = state
        report.steps += 1
        report.contacts = done.contacts
        report.unfinished_steps += not done.converged
        report.strained_steps += done.strained
        report.heated_steps += done.heated
        if not done.arrived:
            report.late_steps += 1
            self._release(report, self.backend.host(done.late))

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that is needed to go on from here with the same bits."""
        host, state = self.backend.host, self._state
        return {
            "frame": np.array(self.frame),
            "x": host(state.x).copy(),
            "velocity": host(state.velocity).copy(),
            "gravity_share": host(state.gravity_share).copy(),
            "forwarded": host(state.forwarded).copy(),
            "age_keys": host(state.ages.keys).copy(),
            "ages": host(state.ages.ages).copy(),
            "holds": host(state.ages.holds).copy(),
            "hardness": host(state.hardness).copy(),
            "slid": host(state.slid).copy(),
            "freed": host(self._solver.proximity.freed).copy(),
        }

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take up a `state()`. Raises SolverError where it belongs to another scene."""
        if state["x"].shape != self._state.x.shape:
            raise SolverError("Scene: the checkpoint belongs to another mesh. Bake from the start")
        array = self.backend.array
        self.frame = int(state["frame"])
        self._state = NdbState(
            array(state["x"]),
            array(state["velocity"]),
            array(state["gravity_share"]),
            array(state["forwarded"]),
            Ages(array(state["age_keys"], np.int64), array(state["ages"], np.int32), array(state["holds"])),
            array(state["hardness"]),
            array(state["slid"]),
        )
        self._solver.proximity.freed = array(state["freed"], np.int64)

    def _assemble(self, step: float) -> Assembly:
        parameters = self.parameters
        return assemble(
            self.scene.cloths, step, parameters.bending, limit_in_hessian=parameters.limit == "constant",
            limit_ratio=parameters.limit_ratio,
        )  # fmt: skip

    def _solver_of(self, halvings: int) -> Ndb:
        """The solver for steps of h / 2^halvings. All share the candidates and what is left alone."""
        while len(self._halved) < halvings:
            step = self.scene.settings.step * 0.5 ** (len(self._halved) + 1)
            self._halved.append(self._build(self._assemble(step), step, self._solver.proximity, None))
            if self._pulled is not None:
                self._halved[-1].pull(self._pulled[0])
        return self._halved[halvings - 1] if halvings else self._solver

    def _build(self, assembly: Assembly, step: float, proximity: Proximity, cache: Path | None) -> Ndb:
        scene, backend, parameters, surface = self.scene, self.backend, self.parameters, self._surface
        parameters = replace(parameters, near_slack=min(parameters.near_slack, SLACK_SHARE * self._edge))
        elastic = Elastic(backend, assembly, step, scene.settings.gravity, float(parameters.limit == "added"))
        system: GlobalStep | NewtonStep
        if parameters.system == "newton":
            system = NewtonStep(backend, assembly, parameters.accuracy, parameters.gradients, parameters.multilevel)
        else:
            modes = subspace(assembly.hessian, assembly.free, parameters.large_rank, cache)
            system = GlobalStep(backend, assembly, modes, parameters)
        ring = vertex_ring(surface.triangles, surface.vertices)
        vertices = VertexData(
            assembly.vertices, system.free, backend.array(assembly.mass), backend.array(self._friction),
            system.rest_diagonal, (backend.array(ring.start, np.int32), backend.array(ring.entries, np.int32)),
        )  # fmt: skip
        return Ndb(
            backend, parameters, elastic, system, proximity, self._filter(system.free), vertices,
            backend.array(vectors(assembly.rest)), step, scene.settings.tolerance, assembly.offsets.tolist(),
        )  # fmt: skip

    def _proximity(self, assembly: Assembly) -> Proximity:
        scene, backend = self.scene, self.backend
        self._surface, wanted, self._friction = surface_of(scene)
        start = vectors(self._local(start_positions(self.scene)))
        rest = np.zeros_like(start)
        rest[: assembly.vertices, :3] = assembly.rest
        self_collision = np.full(len(scene.cloths) + len(scene.colliders), scene.settings.self_collision)
        return Proximity(
            backend, self._surface, start[:, :3], backend.array(rest), self._thickness(wanted, assembly),
            min(self.parameters.activation, EDGE_SHARE * self._edge), self._edge, self_collision,
        )  # fmt: skip

    def _filter(self, free: Any) -> Filter:
        """free: (N,) 0 = hard pin."""
        xp, cloths = self.backend.xp, len(self.scene.cloths)
        body = xp.maximum(self.backend.array(self._surface.object, np.int32) - cloths, -1)
        held = xp.ones(self._surface.vertices, xp.int32)
        held[: self.cloth_vertices] = free == 0
        return Filter(self.backend, held, body, len(self.scene.colliders))

    def _thickness(self, wanted: npt.NDArray[np.float64], assembly: Assembly) -> npt.NDArray[np.float64]:
        """(V,) the thickness that the mesh can resolve, m; says where that is less than what was asked for."""
        thickness = thickness_within_edges(wanted, assembly.rest, self._edges)
        for cloth, (a, b) in zip(self.scene.cloths, pairwise(self._offsets), strict=True):
            thinner = int((thickness[a:b] < wanted[a:b]).sum())
            if thinner:
                self.warnings.append(
                    f"{cloth.name}: the thickness {cloth.thickness:g} m is larger than the edges at {thinner} of "
                    f"{b - a} vertices; there it is lowered to their length"
                )
        return thickness

    def _initial_state(self) -> NdbState:
        xp, count = self.backend.xp, self.cloth_vertices
        velocity = np.concatenate(
            [np.zeros_like(c.positions) if c.velocities is None else c.velocities for c in self.scene.cloths]
        )
        start = self.backend.array(vectors(self._local(start_positions(self.scene))))
        return NdbState(
            start,
            self.backend.array(vectors(velocity)),
            xp.ones(count, xp.float32),
            xp.zeros((count, 4), xp.float32),
            no_ages(self.backend),
            xp.ones(self._surface.cloth_triangles, xp.float32),
            self._solver.elastic.lie(start),
        )

    def _target(self, frame: float, solver: Ndb) -> Any:
        """(V, 4) where hard pins and colliders are at `frame`, linear between frames; sets soft pins' targets too."""
        first = self.scene.settings.frame_start
        goal = start_positions(self.scene)
        pinned = self.backend.host(solver.elastic.pin_target).copy()
        if self._pulled is not None:
            _, vertices, targets = self._pulled
            pinned[vertices, :3] = self._local(targets)
        for cloth, offset in zip(self.scene.cloths, self._offsets, strict=False):
            if cloth.pins is not None:
                at = cloth.pins.vertices + offset
                goal[at] = between(cloth.pins.targets, frame - first)
                pinned[at, :3] = self._local(goal[at])
        row = self.cloth_vertices
        for collider in self.scene.colliders:
            goal[row : row + collider.positions.shape[1]] = between(collider.positions, frame - first)
            row += collider.positions.shape[1]
        solver.elastic.pin_target[:] = self.backend.array(pinned)
        return self.backend.array(vectors(self._local(goal)))

    def _local(self, world: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(world - self._centre)

    def _free_tangles(self, report: FrameReport | None = None, late: npt.ArrayLike = ()) -> list[Meeting]:
        """Leave alone the pairs that intersect now, and only those; returns which objects they join.

        Crossings that neither the pairs left alone so far nor the vertices `late` explain go to the report's faults.
        """
        x = self.backend.host(self._state.x)[:, :3].astype(np.float64)
        found, proximity = tangles(x, self._surface), self._solver.proximity
        if report is not None:
            new = unexplained(found, self.backend.host(proximity.freed), np.asarray(late, np.int64))
            if not self.scene.settings.self_collision:
                new = new.subset(new.objects[:, 0] != new.objects[:, 1])
            report.faults += [
                f"{a} and {b}, in {where}" for a, b, where in meetings(new, self._names, x + self._centre)
            ]
        proximity.freed = self.backend.array(np.unique(found.keys), np.int64)
        return meetings(found, self._names, x + self._centre)

    def _report_start(self) -> None:
        for first, second, where in self._free_tangles():
            problem = f"it intersects {second} at the start, in {where}"
            if self.scene.settings.strict_start:
                raise SceneError(first, problem, "Move them apart, or switch Strict Start off")
            self.warnings.append(f"{first}: {problem}. These pairs are left alone until they separate")

    def _release(self, report: FrameReport, late: npt.NDArray[np.integer]) -> None:
        """Bodies or pins (vertices `late`) had no room to arrive: free what they now cross, and say so."""
        bodies = [self._names[k] for k in np.unique(self._surface.object[late])]
        crossed = [f"{first} and {second}" for first, second, _ in self._free_tangles(report, late)]
        report.released += [text for text in bodies + crossed if text not in report.released]

    def _diverged(self, solver: Ndb) -> SolverError:
        """The error that names the cloth whose vertex went farthest."""
        x = self.backend.host(solver.x)[: self.cloth_vertices, :3]
        worst = int(np.argmax(np.nan_to_num(np.abs(x), nan=np.inf).max(axis=1)))
        name = self.scene.cloths[int(np.searchsorted(self._offsets, worst, side="right")) - 1].name
        return SolverError(f"{name}: the simulation diverged before frame {self.frame + 1}. Raise the step rate")

    def _measure(self, report: FrameReport) -> None:
        x = self.backend.host(self._state.x)[: self.cloth_vertices, :3]
        if not np.isfinite(x).all():
            raise self._diverged(self._solver)
        report.largest_stretch = float((edge_lengths(x.astype(np.float64), self._edges) / self._rest_length).max())
        report.smallest_gap = self._solver.proximity.smallest_gap(self._state.x)
        velocity = self.backend.host(self._state.velocity)[:, :3].astype(np.float64)
        report.rms_speed = float(np.sqrt((velocity**2).sum(axis=1).mean()))


def _halves_may_help(done: StepReport, report: FrameReport, halvings: int) -> bool:
    """Whether to take a step that was `done` in two halves: a body is late, cloth too long or too fast.

    Not in a frame in which that has not helped before: there is no room. But a body that is late gets its halves even
    where only strain or energy was left: if it stays late, what is in its way is released.
    """
    if report.late_steps:
        return False
    if not done.arrived:
        return True
    if report.strained_steps or report.heated_steps:
        return False
    return done.heated or (done.strained and not halvings)

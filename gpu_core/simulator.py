# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene in motion: frames from steps. The only door from the scene's data to a solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .backend import Backend
from .closed_in import closed_in, in_a_fold
from .contact.broad_phase import TooManyPairsError
from .contact.crossings import Crossings
from .elasticity.assembly import vectors
from .engulfed import Engulfed
from .messages import Told
from .relief import Patience, relieved
from .report import FrameReport
from .scene.arrays import Array
from .scene.garments import garments
from .scene.meetings import Meetings
from .scene.mesh import edge_lengths
from .scene.scene import Scene, SceneError
from .scene_space import SceneSpace
from .sewing import Sewing
from .solvers.parameters import NdbParameters
from .solvers.registry import solver_of
from .solvers.solver import DivergenceError, Solver, StepReport
from .untangle import resolved

JAMMED = 4  #: steps in a row that found no end, after which halves are not tried: there is no room
DRAWN = 4.0  #: times the stiffness of a pin of weight one half, of the springs that draw cloth out of bodies
LONGEST = 1.5  #: lengths at rest of an edge that untangling may leave
HALVINGS = 3  #: how often a step may be halved for a collider to arrive, or for free cloth to gain no energy


class SolverError(Told, RuntimeError):
    """The simulation cannot go on; the text names the frame and the object."""


class InterruptionError(RuntimeError):
    """Somebody asked to stop within a frame; what was computed of it is lost."""


def _never() -> bool:
    return False


class Simulator:
    """Owns the state, and steps it frame by frame."""

    def __init__(
        self,
        scene: Scene,
        backend: Backend,
        parameters: NdbParameters | None = None,
        cache: Path | None = None,
        relieves: bool = True,
    ) -> None:
        """parameters: None = the scene's preset. cache: folder that keeps subspaces, or None. relieves: what crosses
        for long is untangled, which takes seconds. Raises SceneError."""
        self.scene, self.backend = scene.validate(), backend
        self.frame = scene.settings.begins
        self._parameters, self._cache = parameters, cache
        brought: list[str] = []
        if scene.settings.start == "resolve":
            scene, brought = resolved(scene)
        self._meetings = Meetings(scene)
        self._garments = garments(self._meetings.marked(scene))
        self._sewing = Sewing(self._garments.scene)
        self._pulled: tuple[Array, npt.NDArray[np.int64], Array] | None = None  #: stiffness (N,), vertices, targets
        self._build(None)
        self._engulfed = Engulfed(self.space)
        self._relieves = relieves and scene.settings.start == "resolve" and self.solver.can_halve
        self._patience = Patience()
        self.warnings = [*brought, *self.space.warnings]
        self._done = StepReport()  #: of the last step that was taken
        start = self.space.start(), self.space.start_velocity()
        self._state = self.solver.initial_state(*(backend.array(values) for values in start))
        self._report_start()

    def _build(self, origin: Array | None, frame: float | None = None, before: Solver | None = None) -> None:
        """Space, solver and crossings of the scene, its seams as now, its hard pins at a frame. before: with others."""
        self.space = space = SceneSpace(self._sewing.scene, origin, frame, self._meetings)
        self._held = space.moment(space.begins).held
        self.solver = before.holding(space) if before else solver_of(space, self.backend, self._parameters, self._cache)
        self._halved: list[Solver] = []  #: of h/2, h/4, … once they were needed
        self._goal: Any = None  #: the last, on the host
        self._goal_there: Any = None  #: and on the device
        self.crossings = Crossings(
            self.backend, self.solver.proximity, space.surface, space.names, space.centre, space.self_collision,
            space.party, self._meetings.apart(self.frame),
        )  # fmt: skip

    def positions(self) -> list[Array]:
        """World positions (N, 3) of each cloth at `frame`, m."""
        return self._garments.apart(self._sewing.apart(self.space.cloths(self.space.world(self._cloth()))))

    def pull(self, vertices: npt.ArrayLike, weights: npt.ArrayLike, targets: npt.ArrayLike) -> None:
        """From the next frame on, springs from vertices (G,), counted over all cloths, to world targets (G, 3), m.

        They replace those of the last call; none: let go. weights: (G,) in [0, 1), as of soft pins. Pinned vertices
        stay with their pins. No part of `state()`; for Newton's matrix only.
        """
        at = self._sewing.number(self._garments.number(np.asarray(vertices, np.int64)))
        weight = np.asarray(weights, np.float64)
        stiffness = np.zeros(self.space.cloth_vertices)
        stiffness[at] = self.solver.soft[at] * weight / (1.0 - weight)
        self._pulled = stiffness, at.astype(np.int64), np.asarray(targets, np.float64)
        self._pull()

    def advance_frame(self, interrupted: Callable[[], bool] = _never) -> FrameReport:
        """Step to the next frame. `interrupted` is asked between two steps.

        Raises SolverError when the state is no longer finite, InterruptionError when `interrupted`; this simulator
        is then between two frames and of no more use.
        """
        began, steps, proximity = time.perf_counter(), self.scene.settings.steps_per_frame, self.solver.proximity
        proximity.begin_frame()
        detections = proximity.detections
        report = FrameReport(self.frame + 1)
        for step in range(1, steps + 1):
            if step > 1 and interrupted():
                raise InterruptionError
            self._advance(report, self.frame + step / steps)
        self.frame += 1
        report.faults += self._sew()
        report.faults += self._draw_out(report)
        if self._relieves and self._patience.over(self.crossings.count, late=report.late_steps > 0):
            report.untangled = self._relieve()
        report.tangled = self.crossings.count
        report.contacts = self._done.contacts
        report.detections = proximity.detections - detections
        self._measure(report)
        self.backend.tidy()
        report.seconds = time.perf_counter() - began
        return report

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that is needed to go on from here with the same bits."""
        freed = self.backend.host(self.solver.proximity.freed).copy()
        numbers = {"frame": np.array(self.frame), "begins": np.array(self.space.begins, float)}
        sewn = {"freed": freed, "sewn": self._sewing.done, "patience": self._patience.state}
        return {**numbers, **self.solver.to_host(self._state), **sewn}

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take up a `state()`. Raises SolverError where it belongs to another scene."""
        x, velocity = (self.backend.array(state[name]) for name in ("x", "velocity"))
        if len(state["sewn"]) == len(self._sewing.done):
            begins, done = float(state["begins"]), np.asarray(state["sewn"], bool)
            if begins != self.space.begins or (done != self._sewing.done).any():
                self._sewing.weld(done)
                self._build(self.space.centre, begins)
                self._engulfed = Engulfed(self.space)
        if (len(x), len(velocity)) != (self.space.surface.vertices, self.space.cloth_vertices):
            raise SolverError("Scene: the checkpoint belongs to another mesh. Bake from the start")
        self.frame = int(state["frame"])
        self.crossings.apart = self._meetings.apart(self.frame)
        self._state = self.solver.from_host(state, self.solver.initial_state(x, velocity))
        self.solver.proximity.freed = self.backend.array(state["freed"], np.int64)
        self._patience.resume(state["patience"])
        self._draw_out()

    def _advance(self, report: FrameReport, frame: float, halvings: int = 0) -> None:
        """One step of h / 2^halvings to `frame`, a fraction of one frame after another.

        Where it diverges, or fails in what halves may help, two of half the length instead: each asks less of the
        cloth, and its inertia counts four times as much.
        """
        self._hold(frame)
        self._part(frame, report)
        solver = self._solver_of(halvings)
        solver.renew(self.space.moment(frame))
        divisible = solver.can_halve and halvings < HALVINGS
        halvable = divisible and self._has_room()
        solver.allow(self._allowed(report), halves=halvable and not report.late_steps)
        done: StepReport | None = None
        try:
            state, done = solver.step(self._state, self._target(frame, solver))
        except (DivergenceError, np.linalg.LinAlgError) as error:
            if not divisible:
                raise self._diverged(solver.last_x) from error
        except TooManyPairsError as error:
            raise SolverError(f"Scene: {error}") from error
        report.iterations += done.iterations if done else 0
        if done is None or (halvable and report.halves_may_help(done, halvings) and not self._closed_in(done, frame)):
            report.halved_steps += 1
            half = 0.5 ** (halvings + 1) / self.scene.settings.steps_per_frame
            self._advance(report, frame - half, halvings + 1)
            self._advance(report, frame, halvings + 1)
            return
        before, self._state = self._state.x, state
        self._count(report, done, before)

    def _allowed(self, report: FrameReport) -> int | None:
        """Linear solves for the next step of a frame: an even share of what is left of its budget. What crosses is
        brought apart whatever it takes: less leaves it crossing for longer."""
        settings = self.scene.settings
        if not settings.frame_budget or self.crossings.count:
            return None
        left = max(settings.frame_budget - report.iterations, 0)
        return left // max(settings.steps_per_frame - report.steps, 1)

    def _has_room(self) -> bool:
        """Whether it may be for the length of a step that it fails: not once something has been released and steps of
        any length still fail."""
        return not self._state.late and (self._state.unsolved < JAMMED or not self.crossings.count)

    def _closed_in(self, done: StepReport, frame: float) -> bool:
        """Whether a body is late because cloth is where bodies are about to pass through themselves."""
        if done.arrived:
            return False
        before, after = self.backend.host(self._state.x)[:, :3], self.space.goal(frame)[:, :3]
        return closed_in(before, after, self.space.surface, self.backend.host(done.stopped))

    def _draw_out(self, report: FrameReport | None = None) -> list[str]:
        """Look which cloth is inside of bodies, and draw it out from now on. Returns the faults; says in the report
        which objects have come to cross because what is inside is not touched."""
        engulfed, before, faults = self._engulfed, self.crossings.crossed, list[str]()
        if self.crossings.count or len(engulfed.drawn):
            faults = self.crossings.renew(self._state.x, engulfed.vertices)[1]
            if report is not None:
                report.say(report.released, sorted(self.crossings.crossed - before))
            x = np.asarray(self.backend.host(self._state.x)[:, :3], np.float64)
            if self.scene.settings.start == "resolve" and self.solver.can_halve:
                crossings, thickness = self.crossings, self.space.moment(self.frame).thickness
                engulfed.renew(x, crossings.found, thickness, crossings.party, crossings.apart)
                self._let()
        return faults

    def _relieve(self) -> list[str]:
        """Untangle, if nothing crosses then and nothing is torn. Returns what crossed; what is moved stands still."""
        proximity, crossings, crossed = self.solver.proximity, self.crossings, self.crossings.crossed
        freed, state = proximity.freed, self.solver.to_host(self._state)
        x, velocity = state["x"], state["velocity"]
        if in_a_fold(x[:, :3].astype(np.float64), self.space.surface, crossings.found):
            return []
        bodies = np.cumsum([0, *(body.positions.shape[1] for body in self.scene.colliders)]) + self.space.cloth_vertices
        world, before = self.space.world(x[:, :3]), self.positions()
        after = relieved(self.scene, self.frame, before, [world[a:b] for a, b in pairwise(bodies)])
        old, new = (np.concatenate(self._sewing.joined(self._garments.joined(places))) for places in (before, after))
        moved = np.flatnonzero((new != old).any(axis=1))
        x[moved, :3], velocity[moved] = self.space.local(new)[moved], 0.0
        there = self.backend.array(x)
        crossings.renew(there)
        if crossings.count or not len(moved) or self._longest(x) > max(LONGEST, self.longest()):
            proximity.freed, crossings.crossed = freed, crossed
            return []
        like = self.solver.initial_state(there, self.backend.array(velocity))
        self._state = self.solver.from_host({**state, "unsolved": np.array(0)}, like)
        self._draw_out()
        return sorted(crossed)

    def _let(self) -> None:
        """Bodies do not touch what is inside of them; springs draw it out. A constant matrix has no room for those."""
        if self.solver.can_halve:
            self.solver.proximity.let(self._engulfed.vertices)
            self._pull()

    def _pull(self) -> None:
        """The springs of the hand and of cloth that is drawn out of bodies, for steps of every length."""
        stiffness = np.zeros(self.space.cloth_vertices)
        stiffness[self._engulfed.drawn] = DRAWN * self.solver.soft[self._engulfed.drawn]
        if self._pulled is not None:
            stiffness[self._pulled[1]] = self._pulled[0][self._pulled[1]]
        for solver in (self.solver, *self._halved):
            solver.pull(stiffness)

    def _part(self, frame: float, report: FrameReport) -> None:
        """What begins to collide in the step to this frame, and crosses now, is left alone until it has separated."""
        begun, faults = self.crossings.part(self._meetings.apart(frame), self._state.x)
        report.say(report.begun, begun)
        report.faults += faults

    def _hold(self, frame: float) -> None:
        """Go on with the hard pins of this moment, where they are others: what is let go keeps its velocity."""
        if self.space.moment(frame).held == self._held:
            return
        state, freed, before = self.solver.to_host(self._state), self.solver.proximity.freed, self.crossings
        self._build(self.space.centre, frame, self.solver)
        self.crossings.apart, self.crossings.crossed = before.apart, before.crossed
        self._state = self.solver.from_host(
            state, self.solver.initial_state(*(self.backend.array(state[name]) for name in ("x", "velocity")))
        )
        self.solver.proximity.freed = freed
        self._let()

    def open_seams(self) -> list[str]:
        """Threads that should have closed by now, in words."""
        settings, forces = self.scene.settings, [cloth.sewing_force for cloth in self.space.moment(self.frame).cloths]
        positions = self._sewing.apart(self.space.cloths(self._cloth().astype(np.float64)))
        return self._sewing.open(positions, (self.frame - settings.begins) / settings.fps, forces)

    def _sew(self) -> list[str]:
        """One vertex of each two that a thread has brought together, and two where it lets go. Returns the faults."""
        forces = [cloth.sewing_force for cloth in self.space.moment(self.frame).cloths]
        sewing, held = self._sewing, self._sewing.holding(forces)
        sewing.excepted = self.crossings.apart
        if sewing.done.all() and held.all():
            return []
        settings = self.scene.settings
        positions = sewing.apart(self.space.cloths(self._cloth().astype(np.float64)))
        if (held == sewing.done).all():
            done = sewing.closing(positions, (self.frame - settings.begins) / settings.fps, forces)
            done = sewing.clear(positions, done)
        else:
            done = sewing.parted(positions, held)
        if (done == sewing.done).all():
            return []
        self._weld(done)
        return self.crossings.renew(self._state.x, self._engulfed.vertices)[1] + self._draw_out()

    def _weld(self, done: npt.NDArray[np.bool_]) -> None:
        """Go on with the scene in which these threads are closed: the same places and velocities, nothing else. The
        two sides of a seam that opens are a hair apart."""
        sewing, count, host = self._sewing, self.space.cloth_vertices, self.backend.host
        x, velocity = host(self._state.x)[:, :3], host(self._state.velocity)[:, :3]
        x, velocity = x.astype(np.float64), velocity.astype(np.float64)
        before = [sewing.apart(self.space.cloths(values)) for values in (x[:count], velocity)]
        before[0] = sewing.eased(before[0], done)
        inside, crossed = sewing.one_of_each()[self._engulfed.vertices], self.crossings.crossed
        sewing.weld(done)
        self._build(self.space.centre, self.frame)
        self.crossings.crossed = crossed
        self._engulfed = Engulfed(self.space)
        self._engulfed.vertices = sewing.number(inside)
        places, speeds = (np.concatenate(sewing.joined(values)) for values in before)
        self._state = self.solver.initial_state(
            self.backend.array(vectors(np.concatenate([places, x[count:]]))), self.backend.array(vectors(speeds))
        )

    def _count(self, report: FrameReport, done: StepReport, before: Any) -> None:
        """Add a step that was taken to its frame, from `before` (V, 4); release what is in the way of what is late."""
        report.add(done)
        self._done = done
        if not done.arrived:
            late = np.union1d(self.backend.host(done.late), self._engulfed.vertices)
            released, faults = self.crossings.release(before, self._state.x, late)
            report.say(report.released, released)
            report.faults += faults

    def _solver_of(self, halvings: int) -> Solver:
        """The solver for steps of h / 2^halvings."""
        while len(self._halved) < halvings:
            self._halved.append((self._halved[-1] if self._halved else self.solver).halved())
            if self._pulled is not None or len(self._engulfed.drawn):
                self._pull()
        return self._halved[halvings - 1] if halvings else self.solver

    def _target(self, frame: float, solver: Solver) -> Any:
        """(V, 4) where hard pins and colliders are at `frame`; tells the solver of soft pins, pulls and seams."""
        goal, pinned = self.space.goal(frame), self.space.pinned()
        solver.hold(self._engulfed.drawn, self._engulfed.outside(np.asarray(goal[:, :3], np.float64)))
        if self._pulled is not None:
            solver.hold(self._pulled[1], self.space.local(self._pulled[2]))
        solver.hold(pinned, goal[pinned, :3])
        settings = self.scene.settings
        solver.sew((frame - settings.begins) / settings.fps)
        if goal is not self._goal:  # where nothing moves it is the same, and nothing is uploaded
            self._goal, self._goal_there = goal, self.backend.array(goal)
        return self._goal_there

    def _report_start(self) -> None:
        """Raises SceneError where the scene begins with crossings and must not."""
        for meeting in self.crossings.renew(self._state.x)[0]:
            problem = f"it intersects {meeting.second} at the start, in {meeting.where}"
            if self.scene.settings.start == "refuse":
                raise SceneError(meeting.first, problem, "Move them apart, or set Tangled Start to Untangle")
            self.warnings.append(f"{meeting.first}: {problem}. These pairs are left alone until they separate")

    def _diverged(self, x: Any) -> SolverError:
        """The error that names the cloth whose vertex went farthest."""
        away = np.abs(self.backend.host(x)[: self.space.cloth_vertices, :3])
        worst = int(np.argmax(np.nan_to_num(away, nan=np.inf).max(axis=1)))
        return SolverError(
            f"{self.space.cloth_of(worst)}: the simulation diverged before frame {self.frame + 1}. Raise the step rate"
        )

    def _cloth(self) -> npt.NDArray[np.floating]:
        """(N, 3) of the cloths, relative to the scene's centre, m."""
        return np.asarray(self.backend.host(self._state.x)[: self.space.cloth_vertices, :3])

    def longest(self) -> float:
        """The longest edge at `frame`, over its length at rest."""
        return self._longest(self._cloth())

    def _longest(self, x: npt.NDArray[np.floating]) -> float:
        """The longest edge over its length at rest. x: (V or N, 3 or 4) m."""
        lengths = edge_lengths(x[:, :3], self.space.edges)
        return float((lengths / self.space.moment(self.frame).rest_length).max(initial=0.0))

    def _measure(self, report: FrameReport) -> None:
        x = self._cloth()
        if not np.isfinite(x).all():
            raise self._diverged(self.solver.last_x)
        report.largest_stretch = self._longest(x)
        report.smallest_gap = self.solver.proximity.smallest_gap(self._state.x)
        velocity = self.backend.host(self._state.velocity)[:, :3].astype(np.float64)
        report.rms_speed = float(np.sqrt((velocity**2).sum(axis=1).mean()))

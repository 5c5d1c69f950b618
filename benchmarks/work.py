# SPDX-License-Identifier: GPL-3.0-or-later
"""Error against work: one step of a scene, and how far each way to solve it is from the step's minimiser.

    python -m taffeta.benchmarks.work [SCENE ...] [--vertices N] [--seconds S] [--save]

The step is taken from a state that Newton's method has reached, with the contacts of its first full CCD and weights
that do not grow, so that all ways look for one minimiser: that of 60 Newton iterations with conjugate gradients to
1e-3. A row is what has been done after so many iterations, without the retreat: milliseconds on this CPU, and for a
card kernels, waits of the host and MB that the kernels must move (`tally`). --save writes results/work.json and a table
of docs/theory/subspace.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..gpu_core.backend import Backend, select
from ..gpu_core.backend.cpu import cores
from ..gpu_core.scene.scene import Scene
from ..gpu_core.simulator import Simulator
from ..gpu_core.solvers.iterations import Iterations
from ..gpu_core.solvers.ndb import Ndb
from ..gpu_core.solvers.parameters import NdbParameters
from ..gpu_core.solvers.solver import DivergenceError, StepReport
from ..gpu_core.solvers.state import NdbState
from . import marked
from .speed import scenes as speed
from .stress.__main__ import commit, processor
from .stress.scenes import SCENES as STRESS
from .tally import TallyingBackend

RESULTS = Path(__file__).resolve().parent / "results" / "work.json"
State = dict[str, npt.NDArray[Any]]


class Moment(NamedTuple):
    """A scene by its size, and the frame whose next step is solved."""

    build: Callable[[int], Scene]
    frame: int


MOMENTS = {
    "drape": Moment(lambda vertices: speed.built("drape", vertices, 9), 8),
    "twist": Moment(lambda vertices: STRESS["twist"].build(vertices, 96), 40),
    "stack": Moment(lambda vertices: STRESS["forty_layers"].build(vertices, 24), 8),
    "jaws": Moment(lambda vertices: STRESS["jaws"].build(vertices, 36), 20),
}

FIXED = NdbParameters(system="mixed").replaced(momentum=False, inner_tolerance=1e-12, max_retreats=0)
FIXED = FIXED.replaced(law=replace(FIXED.contact.law, most=0, start=0.3))
REFERENCE = FIXED.replaced(accuracy=1e-3, max_gradients=1000)


class Way(NamedTuple):
    """So many iterations with H, then Newton's."""

    parameters: NdbParameters
    reused: int
    most: int


WAYS = {
    "Newton": Way(FIXED, 0, 16),
    "subspace": Way(FIXED, 64, 64),
    "2 × subspace, then Newton": Way(FIXED, 2, 16),
    "as published": Way(FIXED.replaced(base="rest", relaxation="a_jacobi", jacobi_weight=1.0), 64, 8),
}
EXACT = 60  #: iterations of the reference
SHOWN = (1, 2, 4, 8, 16, 64)


@dataclass
class Reached:
    """After so many iterations of one way, all that it took since the first."""

    scene: str
    vertices: int
    contacts: int
    way: str
    iterations: int
    error: float  #: rms over the vertices, m
    share: float  #: of the error at the start
    milliseconds: float
    launches: int
    waits: int
    megabytes: float


class Step:
    """One step from a state, iteration by iteration."""

    def __init__(self, scene: Scene, state: State, backend: Backend) -> None:
        self.scene, self.state, self.backend = scene, state, backend

    def begin(self, parameters: NdbParameters) -> tuple[Ndb, Callable[[Iterations], None], int]:
        """The solver at the start of the step, what one iteration of its is, and how many contacts there are."""
        simulator = Simulator(self.scene, self.backend, parameters)
        simulator.restore(self.state)
        solver, state = simulator.solver, simulator._state
        assert isinstance(solver, Ndb)
        assert isinstance(state, NdbState)
        target = simulator._target(simulator.frame + 1 / self.scene.settings.steps_per_frame, solver)
        iterate = solver.iterate
        solver.elastic.resume(state.memory, state.x)
        iterate.begin(state, target)
        solver._full_ccd()
        solver.progress.advance()
        iterate.return_to_feasible()
        solver.elastic.bending.turn(iterate.feasible)
        report = StepReport(outer=1)
        contacts = solver._contacts(solver.iterations, state.ages, state.ages, report)

        def once(iterations: Iterations) -> None:
            iterations.limits = replace(iterations.limits, inner_iterations=1)
            iterations.run(contacts, report)

        return solver, once, contacts.count if contacts else 0

    def places(self, solver: Ndb) -> npt.NDArray[np.float64]:
        """(N, 3) of the cloth, m."""
        return np.asarray(solver.iterate.x[: solver.vertices.cloth, :3], np.float64)

    def exact(self) -> npt.NDArray[np.float64]:
        solver, once, _ = self.begin(REFERENCE)
        for _ in range(EXACT):
            once(solver.iterations)
        return self.places(solver)


def moment(name: str, vertices: int) -> tuple[Scene, State]:
    """A scene, and the state that Newton's method has reached in it."""
    build, frame = MOMENTS[name]
    scene = build(vertices)
    simulator = Simulator(scene, select("cpu"))
    while simulator.frame < frame:
        simulator.advance_frame()
    return scene, simulator.state()


def measure(name: str, vertices: int, most: int = 64, *, seconds: float = 60.0) -> Iterator[Reached]:
    """All ways through one step, `most` iterations or what of them fits in `seconds`."""
    scene, state = moment(name, vertices)
    exact = Step(scene, state, select("cpu")).exact()
    backend = TallyingBackend()
    step = Step(scene, state, backend)
    for name_of_way, way in WAYS.items():
        solver, once, _ = step.begin(way.parameters)
        assert solver.reuse
        once(solver.reuse if way.reused else solver.iterations)  # so that none pays for what is bound once
        solver, once, contacts = step.begin(way.parameters)
        assert solver.reuse
        start = _rms(step.places(solver) - exact)
        spent, before = 0.0, replace(backend.tally)
        for k in range(1, 1 + min(most, way.most)):
            began = time.perf_counter()
            try:
                once(solver.reuse if k <= way.reused else solver.iterations)
            except (DivergenceError, np.linalg.LinAlgError):
                break
            spent += time.perf_counter() - began
            error, done = _rms(step.places(solver) - exact), backend.tally.since(before)
            yield Reached(
                name, solver.vertices.cloth, contacts, name_of_way, k, error, error / start, 1e3 * spent, done.launches,
                done.waits, 1e-6 * done.bytes,
            )  # fmt: skip
            if spent > seconds:
                break


def _rms(difference: npt.NDArray[np.float64]) -> float:
    return float(np.sqrt((difference**2).sum(axis=1).mean()))


HEAD = "| scene | way | iterations | error left, % | ms | kernels | waits | MB |\n|---|---|---|---|---|---|---|---|\n"


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Of each way in each scene what is left after 1, 2, 4, … iterations."""
    where = ", ".join(
        sorted({f"{row['processor']}, {row['threads']} thread(s), commit {row['commit']}" for row in rows})
    )
    lines, named = [], ""
    for row in rows:
        if row["iterations"] in SHOWN:
            scene = f"{row['scene']}, {row['vertices']} vertices, {row['contacts']} contacts"
            cells = (
                "" if scene == named else scene, row["way"], row["iterations"], f"{100 * row['share']:.3g}",
                f"{row['milliseconds']:.0f}", row["launches"], row["waits"], f"{row['megabytes']:.0f}",
            )  # fmt: skip
            lines.append(f"| {' | '.join(map(str, cells))} |\n")
            named = scene
    return f"{where}.\n\n{HEAD}{''.join(lines)}"


def keep(rows: Sequence[Reached]) -> None:
    """What the table shows, in place of older rows of the same scene and size."""
    entries = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    new = [
        {"processor": processor(), "threads": cores(), "commit": commit(), **asdict(row)}
        for row in rows
        if row.iterations in SHOWN
    ]
    seen = {(row["scene"], row["vertices"]) for row in new}
    entries = [old for old in entries if (old["scene"], old["vertices"]) not in seen] + new
    entries.sort(key=lambda row: (list(MOMENTS).index(row["scene"]), row["vertices"]))
    RESULTS.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    marked.put(marked.SUBSPACE, "work", table(entries))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*MOMENTS, []], metavar="SCENE", help=f"{', '.join(MOMENTS)}; all")
    parser.add_argument("--vertices", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="that one way may take in one scene")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    commit()
    for name in options.names or MOMENTS:
        rows = []
        for row in measure(name, options.vertices, seconds=options.seconds):
            rows.append(row)
            print(
                f"{row.scene:8}{row.way:28}{row.iterations:4} {100 * row.share:9.3f} % {1e6 * row.error:9.2f} µm "
                f"{row.milliseconds:9.1f} ms {row.launches:7} kernels {row.waits:5} waits {row.megabytes:9.1f} MB",
                flush=True,
            )
        if options.save:
            keep(rows)


if __name__ == "__main__":
    main()

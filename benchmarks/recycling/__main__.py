# SPDX-License-Identifier: GPL-3.0-or-later
"""Reuse for Newton: iterations of conjugate gradients with what the modes of H and the last solves know.

    python -m taffeta.benchmarks.recycling [SCENE ...] [--vertices N] [--solves S] [--save]

Each of the first S Newton iterations of a step is solved in all ways, with the same matrix and preconditioner (the
product's kernels); the step itself goes on by the product's own solve. Counted is what leaves so much of the error, in
K's norm, and what a way needs besides: a product with K for each vector of a space, or none where the last K serves.
"tablecloth, H" is the paper's system H + ΔH on the scene of claims.md's Fig. 5. --save writes a table of
docs/theory/performance.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...gpu_core.backend import select
from ...gpu_core.contact.barrier import Contacts
from ...gpu_core.elasticity.assembly import assemble
from ...gpu_core.simulator import Simulator
from ...gpu_core.solvers.elastic import Solve, Take
from ...gpu_core.solvers.ndb import Ndb
from ...gpu_core.solvers.newton import NewtonStep
from ...gpu_core.subspace.subspace import subspace
from .. import marked
from ..claims.moment import global_solves, state_after
from ..claims.scenes import tablecloth
from ..stress.__main__ import commit, processor
from ..work import MOMENTS, Moment
from .krylov import Array, Operator, Recycled, Space, System, gradients, modal, ritz
from .systems import of_constant, of_newton

PAGE = Path(__file__).resolve().parents[2] / "docs" / "theory" / "performance.md"
PAPER = "tablecloth, H"
MOMENT = {**MOMENTS, "tablecloth": Moment(lambda vertices: tablecloth(vertices, 12), 12)}
LEFT = (0.2, 0.05)  #: shares of the error
EXACT, ENOUGH, MOST = 1e-5, 2e-3, 600
MODES, RITZ = 30, (8, 16)
PRODUCT = 0.05  #: the residual that the product leaves, whose directions are what a solve can hand on


class Count(NamedTuple):
    """One way to solve one system."""

    scene: str
    way: str
    products: int  #: with K, before the first iteration
    iterations: tuple[int, ...]  #: to each of `LEFT`


def measure(scene: str, system: System, modes: Array, known: dict[int, tuple[Recycled, Array]]) -> Iterator[Count]:
    """known: by how many, the Ritz vectors of the last solve and K times these, as K was then."""
    reference = gradients(system, system.aggregates, MOST, exact=EXACT).solutions[-1]
    scale, v = system.energy(reference), modal(system, modes)
    ways: dict[str, tuple[int, Operator, Space | None]] = {
        "blocks": (0, system.blocks, None),
        f"blocks, V{MODES}": (3 * MODES, v.beside(system.blocks), None),
        "aggregates": (0, system.aggregates, None),
        f"aggregates, V{MODES}": (3 * MODES, v.beside(system.aggregates), None),
    }
    for count, (last, images) in known.items():
        now, then = Space(last.vectors, system.images(last.vectors)), Space(last.vectors, images)
        ways[f"aggregates, deflated by {count} Ritz vectors"] = (count, system.aggregates, now)
        ways[f"aggregates, {count} Ritz vectors beside, K of the last solve"] = (
            0,
            then.beside(system.aggregates),
            None,
        )
    for way, (products, precondition, deflated) in ways.items():
        run = gradients(system, precondition, MOST, exact=ENOUGH, deflated=deflated)
        errors = [system.energy(x - reference) / scale for x in run.solutions]
        found = tuple(next((k for k, error in enumerate(errors) if error <= left), MOST) for left in LEFT)
        yield Count(scene, way, products, found)


def of_scene(name: str, vertices: int, solves: int) -> list[Count]:
    """Newton iterations of the step after the scene's moment."""
    build, frame = MOMENT[name]
    scene = build(vertices)
    simulator = Simulator(scene, select("cpu"))
    solver = simulator.solver
    assert isinstance(solver, Ndb)
    assembly = assemble(scene.cloths, scene.settings.step, solver.parameters.elasticity)
    modes = subspace(assembly.hessian, assembly.free, MODES, None).modes.astype(np.float64)
    while simulator.frame < frame - 1:
        simulator.advance_frame()
    newton = solver.system
    counts: list[Count] = []
    assert isinstance(newton, NewtonStep)
    bind, done = newton.bind, 0
    known: dict[int, tuple[Recycled, Array]] = {}

    def tried(x: Any, rest: Any, contacts: Contacts | None) -> Solve:
        solve = bind(x, rest, contacts)

        def begin(take: Take, number: int, unlimited: bool) -> float:
            nonlocal done
            left = solve.begin(take, number, unlimited)
            if done < solves:
                system, done = of_newton(newton, contacts), done + 1
                counts.extend(measure(name, system, modes, known))
                own = gradients(system, system.aggregates, MOST, exact=PRODUCT)
                for count in RITZ:
                    last = ritz(system, own, known[count][0] if count in known else None, count)
                    known[count] = last, system.images(last.vectors)
                left = solve.begin(take, number, unlimited)
            return left

        return Solve(begin, solve.finish)

    newton.bind = tried  # type: ignore[method-assign]
    simulator.advance_frame()
    return counts


def of_paper(vertices: int) -> list[Count]:
    """The first global solve of the paper's table cloth."""
    scene = tablecloth(vertices, 11)
    problem = global_solves(scene, state_after(scene, 11), 1)[0]
    system = of_constant(problem, np.asarray(scene.cloths[0].rest_positions, np.float64))
    modes = problem.subspace.modes[:MODES].astype(np.float64)
    return list(measure(PAPER, system, modes, {}))


HEAD = (
    "| scene | way | systems | products before | iterations to 20 % of the error | to 5 % | all products to 5 %, over "
    "those of the aggregates alone |\n|---|---|---|---|---|---|---|\n"
)


def table(counts: Sequence[Count], vertices: int) -> str:
    """Means over the systems that all ways of a scene have met: a first has no last solve, and is left out."""
    lines = []
    for scene in dict.fromkeys(count.scene for count in counts):
        ways = dict.fromkeys(count.way for count in counts if count.scene == scene)
        met = min(sum(count.way == way and count.scene == scene for count in counts) for way in ways)
        rows = {way: [c for c in counts if (c.scene, c.way) == (scene, way)][-met:] for way in ways}
        total = {way: np.mean([c.products + c.iterations[1] for c in row]) for way, row in rows.items()}
        for way, row in rows.items():
            to = [f"{np.mean([c.iterations[k] for c in row]):.1f}" for k in range(len(LEFT))]
            cells = (scene, way, len(row), row[0].products, *to, f"{total[way] / total['aggregates']:.2f}")
            lines.append(f"| {' | '.join(map(str, cells))} |\n")
    return f"{processor()}, commit {commit()}; {vertices} vertices or so.\n\n{HEAD}{''.join(lines)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*MOMENT, PAPER]
    parser.add_argument("names", nargs="*", choices=[*names, []], metavar="SCENE", help=f"{', '.join(names)}; all")
    parser.add_argument("--vertices", type=int, default=10_000)
    parser.add_argument("--solves", type=int, default=8)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    commit()
    counts: list[Count] = []
    for name in options.names or names:
        counts += (
            of_paper(options.vertices) if name == PAPER else of_scene(name, options.vertices, options.solves)
        )  # fmt: skip
        print(table([count for count in counts if count.scene == name], options.vertices), flush=True)
    if options.save:
        marked.put(PAGE, "recycling", table(counts, options.vertices))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The constant H with subspace reuse against Newton's matrix: error of one step over time spent, contacts held "
"fixed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ...gpu_core.scene.scene import Material, Scene
from ...gpu_core.solvers.parameters import NdbParameters
from ..stress.piled import zigzag
from .claim import Claim, Curve, Measured, Panel, Table, Verdict, word
from .moment import State, ndb_of, one_step, state_after
from .scenes import drape

#: One set of contacts with weights that do not grow, so that every choice looks for the same minimiser.
FIXED = NdbParameters().replaced(
    outer_iterations=1, min_iterations=1, momentum=False, inner_tolerance=1e-9, max_retreats=0
)
FIXED = FIXED.replaced(law=replace(FIXED.contact.law, most=0, start=0.3))
CONSTANT_H = FIXED.replaced(system="constant", large_rank=120)
REFERENCE = FIXED.replaced(accuracy=1e-3, max_gradients=1000, inner_iterations=40)
CHOICES = {
    "Newton, to 10 % of the residual": (FIXED, (1, 2, 4, 8, 16)),
    "Newton, to 1 %": (FIXED.replaced(accuracy=0.01, max_gradients=400), (1, 2, 4, 8)),
    "constant H, V30 + Chebyshev 20": (CONSTANT_H, (1, 4, 16, 64, 256)),
    "constant H, V30 + Chebyshev 60": (CONSTANT_H.replaced(sweeps=60), (1, 4, 16, 64)),
    "constant H, V30 + A-Jacobi 20": (CONSTANT_H.replaced(relaxation="jacobi", sweeps=40), (1, 4, 16, 64)),
}


@dataclass
class Reached:
    """After k iterations."""

    iterations: int
    seconds: float  #: more than the step without an iteration
    error: float  #: rms over the vertices, m


def scenes(quick: bool) -> dict[str, tuple[Scene, int]]:
    if quick:
        return {"drape": (_cotton(drape(300, 4)), 3)}
    return {"drape": (_cotton(drape(1600, 13)), 12), "folding": (_cotton(zigzag(1200, 30)), 9)}


def _cotton(scene: Scene) -> Scene:
    """Without a strain limit: the hard one of the default makes steps in a constant H diverge."""
    material = Material(strain_limit=0.0)
    return replace(scene, cloths=tuple(replace(cloth, material=material) for cloth in scene.cloths))


class Step:
    """One step of a scene from a state with one choice, to be made again with any number of iterations."""

    def __init__(self, scene: Scene, state: State, parameters: NdbParameters) -> None:
        self.simulator = one_step(scene, state, parameters)
        self.start = self.simulator.state()

    def after(self, iterations: int) -> tuple[np.ndarray, float]:
        """((N, 3) positions before the last filter, s)."""
        simulator, solver = self.simulator, ndb_of(self.simulator)
        solver.iterations.limits = replace(solver.iterations.limits, inner_iterations=iterations)
        simulator.restore(self.start)
        target = simulator._target(1.0, solver)
        began = time.perf_counter()
        simulator.solver.step(simulator._state, target)
        seconds = time.perf_counter() - began
        return solver.iterate.x[: simulator.space.cloth_vertices, :3].astype(np.float64), seconds


def measure(quick: bool) -> Measured:
    rows, panels = [], []
    numbers: dict[str, float] = {}
    for name, (scene, frames) in scenes(quick).items():
        state = state_after(scene, frames)
        exact, _ = Step(scene, state, REFERENCE).after(10 if quick else REFERENCE.limits.inner_iterations)
        begun = Step(scene, state, FIXED)
        (start, _), idle = begun.after(0), min(begun.after(0)[1] for _ in range(3))
        begin = _rms(start - exact)
        found: dict[str, list[Reached]] = {}
        for label, (parameters, counts) in CHOICES.items():
            found[label], step = [], Step(scene, state, parameters)
            for k in counts[:2] if quick else counts:
                x, seconds = step.after(k)
                found[label].append(Reached(k, max(seconds - idle, 1e-5), _rms(x - exact)))
                last = found[label][-1]
                rows.append([name, label, k, 1e3 * last.seconds, 1e3 * last.error, last.error / begin])
        newton = found["Newton, to 10 % of the residual"]
        budget = newton[min(2, len(newton) - 1)]
        others = [r for label, made in found.items() if label.startswith("constant") for r in made]
        paid = [r for r in others if r.seconds >= budget.seconds]
        numbers |= {
            f"{name} newton": budget.error / begin, f"{name} seconds": budget.seconds,
            f"{name} constant": min([r.error for r in others if r.seconds <= budget.seconds] or [begin]) / begin,
            f"{name} best constant": min(r.error for r in others) / begin,
            f"{name} time of it": min(others, key=lambda r: r.error).seconds / budget.seconds,
            f"{name} paid": float(len(paid)),
        }  # fmt: skip
        panels.append(
            Panel(f"{name}: error of a step", "ms", "mm, rms", [
                Curve(label, [1e3 * r.seconds for r in made], [1e3 * r.error for r in made])
                for label, made in found.items()], "xy")
        )  # fmt: skip
    ran = (
        ", ".join(f"{name} of {sum(len(c.positions) for c in s.cloths)} vertices, step after {k / s.settings.fps:.2g} s"
                  for name, (s, k) in scenes(quick).items())
        + "; cotton without a strain limit, contacts of the step's first full CCD with weights 0.3 H̄ that do not "
          "grow; reference: 40 Newton iterations to 0.1 % each. Times are less a step without iterations."
    )  # fmt: skip
    head = ("scene", "choice", "iterations", "ms", "error, mm", "share of the error at the start")
    return Measured(ran, numbers, [Table(head, rows)], panels)


def _rms(difference: np.ndarray) -> float:
    return float(np.sqrt((difference**2).sum(axis=1).mean()))


def judge(n: dict[str, float]) -> Verdict:
    names = [key.removesuffix(" newton") for key in n if key.endswith(" newton")]
    each = "; ".join(
        f"{name}: Newton leaves {100 * n[f'{name} newton']:.2g} % of the error in {1e3 * n[f'{name} seconds']:.0f} "
        f"ms, the best constant H in no more time {100 * n[f'{name} constant']:.0f} %, and "
        f"{100 * n[f'{name} best constant']:.0f} % in {n[f'{name} time of it']:.3g} × the time"
        for name in names
    )
    return Verdict(
        word([n[f"{name} newton"] < n[f"{name} constant"] for name in names]),
        f"{each}. So the default stays Newton's matrix, and the paper's way the preset `paper`.",
    )


CLAIM = Claim(
    "matrix",
    "Ours: Newton's matrix instead of the constant H",
    "None: the paper keeps projective dynamics' constant H. The claim is this project's (docs/theory/ndb.md), that a "
    "step gets nearer to its minimiser in the same time with Newton's matrix.",
    measure,
    judge,
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What better choices buy within the paper's global solve, one at a time: base, size, relaxation, rank, order, step."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...gpu_core.backend import select
from ...gpu_core.elasticity.assembly import Assembly, assemble
from ...gpu_core.elasticity.choices import ElasticityChoices
from ...gpu_core.scene.scene import Scene
from ...gpu_core.solvers.global_step import GlobalStep
from ...gpu_core.solvers.parameters import SubspaceChoices
from ...gpu_core.subspace.subspace import Subspace
from .claim import Claim, Curve, Measured, Panel, Table, Verdict, word
from .linear import GlobalSolve, bounds, chebyshev, gradients, jacobi
from .moment import CONSTANT, State, global_solves, state_after
from .projection import seconds
from .scenes import drape

SWEEPS = 20  #: as many products with H for each choice
RANKS = (0, 10, 30, 60, 120)
RATES = (50.0, 100.0, 150.0, 300.0, 600.0)  #: steps a second
NO_MODES = Subspace(np.zeros(0), np.zeros((0, 0), np.float32), 2.2)


def left(problem: GlobalSolve, rank: int, relaxation: str, weight: float, *, rest: bool = False) -> float:
    """‖Δx − Δx*‖/‖Δx*‖ after `SWEEPS` products with H from the solve in `rank` modes."""
    exact, largest = problem.exact(), problem.largest()
    start = problem.within_from_rest(rank) if rest else problem.within(rank)
    made = {
        "jacobi": lambda: jacobi(problem, start, weight / largest if weight > 1.0 else weight),
        "chebyshev": lambda: chebyshev(problem, start, *bounds(problem, rank, largest), SWEEPS),
        "gradients": lambda: gradients(problem, rank),
    }[relaxation]()
    found = next(islice(made, SWEEPS, None))
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def measure(quick: bool) -> Measured:
    count, frames = (400, 4) if quick else (2500, 12)
    scene = drape(count, frames)
    state = state_after(scene, frames)
    problem = global_solves(scene, state, 1)[0]
    stable = 1.33
    choices = {
        "V30, rest shape as base, Jacobi": left(problem, 30, "jacobi", stable, rest=True),
        "V30, iterate as base, Jacobi": left(problem, 30, "jacobi", stable),
        "V30, Jacobi, ω = 1 (paper)": left(problem, 30, "jacobi", 1.0),
        "V30, Chebyshev": left(problem, 30, "chebyshev", stable),
        "no subspace, gradients": left(problem, 0, "gradients", stable),
        "V30 in the preconditioner, gradients": left(problem, 30, "gradients", stable),
    }
    sizes = {rank: {r: left(problem, rank, r, stable) for r in ("jacobi", "chebyshev")} for rank in RANKS}
    steps = {rate: _at_rate(scene, state, rate) for rate in RATES}
    passes, orders = _sweep_times(900 if quick else 40_000)
    numbers = {
        "vertices": len(problem.added), "touched": problem.touched,
        "rest": choices["V30, rest shape as base, Jacobi"], "iterate": choices["V30, iterate as base, Jacobi"],
        "chebyshev": choices["V30, Chebyshev"], "undamped": choices["V30, Jacobi, ω = 1 (paper)"],
        "gradients": choices["no subspace, gradients"], "both": choices["V30 in the preconditioner, gradients"],
        "small": sizes[30]["chebyshev"], "large": sizes[120]["chebyshev"], "pass": passes["a_jacobi"] / passes["two"],
        "random": orders["random"] / orders["rows"], "cuthill": orders["reverse Cuthill–McKee"] / orders["rows"],
    }  # fmt: skip
    tables = [
        Table((f"choice, {SWEEPS} products with H", "error left"), [[k, v] for k, v in choices.items()]),
        Table(("modes", "error left, Jacobi", "error left, Chebyshev"), [[r, *sizes[r].values()] for r in RANKS]),
        Table(
            ("steps a second", "λ_max(D⁻¹(H + ΔH))", "V30 alone", "V30 + Jacobi", "V30 + Chebyshev"),
            [[int(rate), *steps[rate]] for rate in RATES],
        ),
        Table(
            ("sweep kernels, 40K vertices, random right side" if not quick else "sweep kernels", "ms"),
            [["two Jacobi sweeps", 1e3 * passes["two"]], ["one rank-2 A-Jacobi pass", 1e3 * passes["a_jacobi"]],
             *[[f"one sweep, vertices in order: {k}", 1e3 * v] for k, v in orders.items()]],
        ),
    ]  # fmt: skip
    panels = [
        Panel(f"error after {SWEEPS} sweeps", "modes r", "error", [
            Curve(k, list(RANKS), [sizes[r][k] for r in RANKS]) for k in ("jacobi", "chebyshev")], "y"),
        Panel("error by step rate", "steps a second", "error", [
            Curve(k, list(RATES), [steps[rate][i] for rate in RATES])
            for i, k in ((1, "V30 alone"), (2, "V30 + Jacobi"), (3, "V30 + Chebyshev"))], "xy"),
    ]  # fmt: skip
    ran = (
        f"Drape of {numbers['vertices']:.0f} vertices after {frames / 25:g} s, {100 * problem.touched:.0f} % in "
        f"contact, Table 1's material: the first global solve of a step, float64, {SWEEPS} products with H for each "
        "choice. Sweep kernels: the product's, float32, one thread."
    )
    return Measured(ran, numbers, tables, panels)


def _at_rate(scene: Scene, state: State, rate: float) -> list[float]:
    """(λ_max, error of V30 alone, with Jacobi, with Chebyshev) at a step rate, from the same state."""
    other = replace(scene, settings=replace(scene.settings, step_rate=rate))
    problem = global_solves(other, state, 1, CONSTANT.replaced(warm_iterations=0))[0]
    exact, start = problem.exact(), problem.within(30)
    alone = float(np.linalg.norm(start - exact) / np.linalg.norm(exact))
    return [problem.largest(), alone, *(left(problem, 30, kind, 1.33) for kind in ("jacobi", "chebyshev"))]


def _sweep_times(count: int) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of (two sweeps, one A-Jacobi pass), and of one sweep by the order of the vertices."""
    scene = drape(count, 1)
    whole = assemble(scene.cloths, scene.settings.step, ElasticityChoices(bending="hinge"))
    random = np.random.default_rng(0).permutation(whole.vertices)
    shuffled = whole.hessian[random][:, random].tocsr()
    found = reverse_cuthill_mckee(shuffled, symmetric_mode=True)
    matrices = {"rows": whole.hessian, "random": shuffled, "reverse Cuthill–McKee": shuffled[found][:, found].tocsr()}
    orders = {name: seconds(_relaxation(whole, matrix, "jacobi")) / 2.0 for name, matrix in matrices.items()}
    two = seconds(_relaxation(whole, whole.hessian, "jacobi"))
    return {"two": two, "a_jacobi": seconds(_relaxation(whole, whole.hessian, "a_jacobi")) / 2.0}, orders


def _relaxation(assembly: Assembly, hessian: sparse.csr_array, kind: str):
    """Two launches of a relaxation kernel on a matrix."""
    choices = SubspaceChoices(relaxation=kind, sweeps=2 if kind == "jacobi" else 4, small_rank=0)  # type: ignore[arg-type]
    step = GlobalStep(select("cpu"), replace(assembly, hessian=sparse.csr_array(hessian)), NO_MODES, choices)
    step.residual[:, :3] = np.random.default_rng(1).standard_normal((assembly.vertices, 3))
    return step._relax


def judge(n: dict[str, float]) -> Verdict:
    return Verdict(
        word([n["iterate"] <= n["rest"], n["undamped"] < 1.0, n["pass"] <= 0.5]),
        f"Base: the current iterate leaves {100 * n['iterate']:.3g} %, the rest shape {100 * n['rest']:.3g} %. "
        f"Relaxation: Chebyshev {100 * n['chebyshev']:.3g} %, undamped Jacobi {100 * n['undamped']:.3g} %. Size: "
        f"Chebyshev after 120 modes {100 * n['large']:.3g} %, after 30 {100 * n['small']:.3g} %. Conjugate gradients "
        f"without any subspace leave {100 * n['gradients']:.3g} %, with V30 as additive preconditioner "
        f"{100 * n['both']:.3g} %. A rank-2 A-Jacobi pass takes {n['pass']:.2g} × the time of the two sweeps it "
        "stands for on a CPU core (the paper: half), since each vertex sweeps its neighbours again. Order: random "
        f"costs {n['random']:.2g} × the rows of a grid, reverse Cuthill–McKee {n['cuthill']:.2g} ×.",
    )


CLAIM = Claim(
    "choices",
    "Better choices within the global solve",
    "Eq. 16: the rest pose as base; r = 30 with contact; rank-2 A-Jacobi, “two regular Jacobi iterations with one "
    "step but using the same computation time”, no weight ω.",
    measure,
    judge,
)

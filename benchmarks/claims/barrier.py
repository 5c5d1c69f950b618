# SPDX-License-Identifier: GPL-3.0-or-later
"""Fig. 9: the non-distance barrier against the distance-based one (`pd_ipc`), and 1, 3, 6 samples of partial CCD."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...gpu_core.backend import select
from ...gpu_core.scene.scene import Scene
from ...gpu_core.simulator import Simulator, SolverError
from ...gpu_core.solvers.parameters import IterationLimits, NdbParameters
from ...gpu_core.solvers.pd_ipc import pd_ipc
from ..stress.forced import twist
from ..stress.piled import zigzag
from .claim import Claim, Curve, Measured, Panel, Table, Verdict, word
from .moment import State, ndb_of

PAPER_FEWER = (0.25, 0.30)
KAPPAS = (0.1, 1.0, 10.0)
SAMPLES = (1, 3, 6)
MOST = 60  #: iterations a step


@dataclass
class Run:
    """Sums over a motion."""

    iterations: list[int]  #: iterations of a step, by frame
    steps: int = 0
    unfinished: int = 0
    full_ccds: int = 0
    seconds: float = 0.0
    stretch: float = 1.0
    cut_off: str = ""

    @property
    def mean(self) -> float:
        return float(np.mean(self.iterations))


def run(scene: Scene, state: State, parameters: NdbParameters) -> Run:
    """The motion from `state` on with one choice of barrier."""
    simulator, result = Simulator(scene, select("cpu"), parameters), Run([])
    simulator.restore(state)
    solver = ndb_of(simulator)
    filter_ = solver.filter

    def counted(*motion: Any) -> Any:
        result.full_ccds += 1
        return filter_(*motion)

    solver.filter = counted  # type: ignore[assignment]
    while simulator.frame < scene.settings.frame_end:
        try:
            report = simulator.advance_frame()
        except SolverError as error:
            result.cut_off = str(error)
            break
        result.iterations.append(report.iterations // report.steps)
        result.steps += report.steps
        result.unfinished += report.unfinished_steps
        result.seconds += report.seconds
        result.stretch = max(result.stretch, report.largest_stretch)
    return result


def variants(system: Any) -> dict[str, NdbParameters]:
    """Both barriers, with everything else the default, on one of the two matrices; at most `MOST` iterations a step."""
    inner = IterationLimits.inner_iterations
    ndb = NdbParameters().replaced(system=system, outer_iterations=MOST // inner, damped_iterations=inner)
    if system == "constant":  # which the default's hard strain limit makes diverge
        ndb = ndb.replaced(limit="constant", limit_ratio=2.0)
    result = {
        f"NDB, {s} sample{'s' if s > 1 else ''}": ndb.replaced(law=replace(ndb.contact.law, samples=s)) for s in SAMPLES
    }
    return result | {f"distance, κ = {kappa:g}": pd_ipc(ndb, kappa) for kappa in KAPPAS}


def scenes(quick: bool) -> dict[str, tuple[Scene, int]]:
    """(scene, frame from which the barriers are compared): there cloth touches itself."""
    if quick:
        return {"twist": (replace_end(twist(150, 96), 5), 2)}
    return {"twist": (replace_end(twist(300, 96), 38), 34), "folding": (replace_end(zigzag(400, 30), 10), 8)}


def state_at(scene: Scene, frame: int) -> State:
    """As the default solver makes it."""
    simulator = Simulator(scene, select("cpu"))
    for _ in range(frame):
        simulator.advance_frame()
    return simulator.state()


def replace_end(scene: Scene, frames: int) -> Scene:
    """The first frames of a motion that was made for more."""
    cloths = tuple(
        replace(cloth, pins=replace(cloth.pins, targets=cloth.pins.targets[: frames + 1])) if cloth.pins else cloth
        for cloth in scene.cloths
    )
    settings = replace(scene.settings, frame_end=1 + frames, tolerance=0.2)
    return replace(scene, cloths=cloths, settings=settings)


def measure(quick: bool) -> Measured:
    rows, panels, fewer, spread = [], [], {}, {}
    unfinished_share = []  #: of the steps of the best distance barrier
    for name, (scene, frame) in scenes(quick).items():
        state = state_at(scene, frame)
        for system in ("newton",) if quick else ("newton", "constant"):
            runs = {label: run(scene, state, parameters) for label, parameters in variants(system).items()}
            for label, found in runs.items():
                mean, full = (found.mean, found.full_ccds / found.steps) if found.steps else (None, None)
                unfinished = f"{found.unfinished} of {found.steps}"
                cut_off = found.cut_off[:40] or "–"
                rows.append([name, system, label, mean, full, unfinished, found.stretch, found.seconds, cut_off])
            ndb = [found.mean for label, found in runs.items() if label.startswith("NDB")]
            distance = [found for label, found in runs.items() if label.startswith("distance") and not found.cut_off]
            fewer[name, system] = 1.0 - ndb[0] / min((found.mean for found in distance), default=float(MOST))
            unfinished_share.append(min((found.unfinished / found.steps for found in distance), default=1.0))
            spread[name, system] = max(ndb) / min(ndb) - 1.0
            panels.append(
                Panel(f"{name}, {system}: iterations a step", "frame", "iterations", [
                    Curve(label, list(range(1, 1 + len(found.iterations))), [float(k) for k in found.iterations])
                    for label, found in runs.items() if "3" not in label])
            )  # fmt: skip
    numbers = {f"fewer {name}, {system}": value for (name, system), value in fewer.items()}
    numbers |= {"least_fewer": min(fewer.values()), "most_fewer": max(fewer.values()), "spread": max(spread.values())}
    numbers["unfinished"] = float(np.mean(unfinished_share))
    head = (
        "scene",
        "matrix",
        "barrier",
        "iterations a step",
        "full CCDs a step",
        "unfinished steps",
        "largest stretch",
        "s",
        "cut off",
    )
    ran = (
        ", ".join(
            f"{name} of {sum(len(c.positions) for c in s.cloths)} vertices, frames {frame + 1} to "
            f"{s.settings.frames - 1}"
            for name, (s, frame) in scenes(quick).items()
        )
        + f", h = 1/192 s, all from the same state in contact; filter by vertex, tolerance 0.2 m/s, at most {MOST} "
        "iterations a step. `pd_ipc` differs in the weight and the full CCD of each iteration only; the best of "
        "three κ counts."
    )
    return Measured(ran, numbers, [Table(head, rows)], panels)


def judge(n: dict[str, float]) -> Verdict:
    low = PAPER_FEWER[0]
    each = ", ".join(
        f"{key.removeprefix('fewer ')}: {100 * v:.0f} %" for key, v in n.items() if key.startswith("fewer ")
    )
    return Verdict(
        word([n["least_fewer"] >= low, n["unfinished"] < 0.5, n["spread"] <= 0.1]),
        f"NDB with one sample takes fewer iterations than the best distance barrier by ({each}; negative: more). "
        f"Between 1, 3 and 6 samples the iterations differ by at most {100 * n['spread']:.0f} %. But the best "
        f"distance barrier leaves {100 * n['unfinished']:.0f} % of its steps unfinished at the cap, so the numbers "
        "say that it does not converge here; the paper's 25 % to 30 % between two methods that do is neither "
        "reproduced nor refuted.",
    )


CLAIM = Claim(
    "barrier",
    "Fig. 9: non-distance against distance barrier",
    "Twist, 120 K DOF: “our NDB formulation uses 25 % to 30 % fewer iterations on average than DBB”, and it is “not "
    "sensitive to the sample density” of 1, 3 or 6.",
    measure,
    judge,
    "Why the distance barrier as a weight hardly converges: under a load f the lagged weight makes the iteration s ← "
    "f/w(s), with s the share of d̂ that is used up and w = −s² ln(1 − s). Its slope at the fixed point is −(2 + "
    "s/((1 − s)(−ln(1 − s)))), never above −3 whatever κ is, so the contact chatters unless something else brakes "
    "it, inertia or a damped step. A true gradient of the barrier (C-IPC) is another method, and not tested here. "
    "Runs that diverge are cut off and say so in the table; their mean is that of the steps before.",
)

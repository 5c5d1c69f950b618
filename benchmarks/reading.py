# SPDX-License-Identifier: GPL-3.0-or-later
"""*As Published* sentence by sentence: the preset `paper`, and the same with one sentence read otherwise.

    python -m taffeta.benchmarks.reading [NAME ...] [--vertices N] [--frames F] [--seconds S] [--save]

The drape of the speed benchmarks. Each run is cut off after S seconds, and says so. --save writes a table of
docs/theory/subspace.md.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..gpu_core.backend import select
from ..gpu_core.check.scene_check import check_frame
from ..gpu_core.simulator import Simulator, SolverError
from ..gpu_core.solvers.parameters import NdbParameters, paper
from . import marked
from .speed.scenes import built
from .stress.__main__ import commit, processor


class Reading(NamedTuple):
    """One sentence."""

    sentence: str  #: of the paper, and where
    ours: str  #: what `paper()` makes of it
    other: str  #: what else it may say
    choices: dict[str, Any]  #: that make it so


PAPER = paper()
READINGS = {
    "base": Reading(
        "eq. 16 and 18: “X is rest-pose vertex positions”, x̃ = X + Uq", "the current x as base: Uq is an "
        "increment", "what x has outside span(U) is dropped in each iteration", {"base": "rest"},
    ),
    "weight": Reading(
        "§8.1: “weighted SOR is never needed even for stiff simulations (e.g., Fig. 2)”; Fig. 2: “we need to assign a "
        "big SOR-like weight (ω = 0.9)”", "ω = 1", "ω = 0.9", {"jacobi_weight": 0.9},
    ),
    "start": Reading(
        "Alg. 1, lines 8 and 9: x ← x + t_TOI Δx, x⁻ ← x, before the outer loop", "the loop begins at the filtered x",
        "it begins at the x that was predicted; contacts are those of x⁻", {"start": "warm"},
    ),
    "tolerance": Reading(
        "§7: “if we uniformly scale the cloth meshes to a unit size, ‖Δx‖ ≤ 1E−3” (outer), “5E−2” (inner)",
        "0.015 m/s · h = 8e-5 m for both", "1e-3 m, as 0.2 m/s · h", {"inner_tolerance": 0.2},
    ),
    "forwarding": Reading(
        "Alg. 1, line 17: if t_TOI < ε_TOI; §7: “if the exiting t_TOI is too small”", "ε_TOI = 1: whenever something "
        "is cut", "ε_TOI = 0.1", {"forwarding_time": 0.1},
    ),
    "filter": Reading(
        "§6: “truncate the position update by the global TOI”", "one t for all", "none in the paper: t by vertex",
        {"filter": "vertex"},
    ),
    "active": Reading(
        "§4: a “represents how many consecutive LG iterations has the constraint been active”", "an age is lost at "
        "once, and with the step", "lost one by one, and kept", {"law": replace(PAPER.contact.law, forget=1,
        persistent=True)},
    ),
    "limit": Reading(
        "none: a strain limit is one more projection", "in H, twice the stretch", "in ΔH, where it acts",
        {"limit": NdbParameters().elasticity.limit, "limit_ratio": 2.0},
    ),
}  # fmt: skip
LETTER = ("base", "start")  #: what both say to the letter


class Seen(NamedTuple):
    """What became of a drape."""

    frames: int
    seconds: float  #: a frame
    stretch: float
    height: float  #: mean at the end, m
    unfinished: float  #: share of the steps
    crossing: int  #: frames that cross, by the exact check
    unnamed: int  #: of these, frames that no report explains
    ended: str  #: why early


def measure(parameters: NdbParameters, vertices: int, frames: int, seconds: float) -> Seen:
    """The drape by these choices; cut off after `seconds`."""
    scene = built("drape", vertices, frames, "paper")
    simulator = Simulator(scene, select("cpu"), parameters)
    reports, crossing, unnamed, ended, released = [], 0, 0, "", set[str]()
    height, began = float("nan"), time.perf_counter()
    for _ in range(1, frames):
        try:
            report = simulator.advance_frame()
        except SolverError as error:
            ended = str(error)
            break
        reports.append(report)
        released |= set(report.released)
        positions = simulator.positions()
        found = check_frame(scene, report.frame, [shape.astype(np.float32) for shape in positions])
        pairs = {f"{f.edge_object} and {f.triangle_object}" for f in found}
        pairs |= {f"{f.triangle_object} and {f.edge_object}" for f in found}
        crossing += bool(found)
        unnamed += bool(report.faults) or (bool(found) and not pairs & released)
        height = float(np.concatenate(positions)[:, 2].mean())
        if time.perf_counter() - began > seconds:
            ended = f"after {seconds:.0f} s" if len(reports) < frames - 1 else ""
            break
    steps = max(1, sum(report.steps for report in reports))
    return Seen(
        len(reports), float(np.mean([r.seconds for r in reports])) if reports else float("nan"),
        max((r.largest_stretch for r in reports), default=float("nan")), height,
        sum(r.unfinished_steps for r in reports) / steps, crossing, unnamed, ended,
    )  # fmt: skip


def runs() -> dict[str, tuple[NdbParameters, Reading | None]]:
    """By name: Newton's default, the preset, one other reading each, and the letter."""
    letter = {name: value for key in LETTER for name, value in READINGS[key].choices.items()}
    return {
        "Newton": (NdbParameters(), None),
        "as published": (PAPER, None),
        **{name: (PAPER.replaced(**reading.choices), reading) for name, reading in READINGS.items()},
        ", ".join(LETTER): (PAPER.replaced(**letter), None),
    }


HEAD = (
    "| | the paper | our reading | the other | s a frame | longest edge | mean height, mm | steps unfinished "
    "| frames that cross (unexplained) | |\n" + "|---" * 10 + "|\n"
)


def line(name: str, reading: Reading | None, seen: Seen) -> str:
    text = (reading.sentence, reading.ours, reading.other) if reading else ("", "", "")
    cells = (
        name, *text, f"{seen.seconds:.2f}", f"{seen.stretch:.3f}", f"{1e3 * seen.height:.0f}",
        f"{100 * seen.unfinished:.0f} %", f"{seen.crossing} of {seen.frames} ({seen.unnamed})", seen.ended,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    every = runs()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*every, []], metavar="NAME", help=f"{'; '.join(every)}. None: all")
    parser.add_argument("--vertices", type=int, default=900)
    parser.add_argument("--frames", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    commit()
    lines = []
    for name in options.names or every:
        parameters, reading = every[name]
        lines.append(line(name, reading, measure(parameters, options.vertices, options.frames, options.seconds)))
        print(lines[-1], end="", flush=True)
    if options.save:
        where = f"{processor()}, commit {commit()}; {options.vertices} vertices or so, {options.frames} frames"
        marked.put(marked.SUBSPACE, "reading", f"{where}.\n\n{HEAD}{''.join(lines)}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample drape by Newton and by *Subspace Reuse*, frame by frame in turns, so that both meet the same machine.

python -m taffeta.benchmarks.drape [--vertices N] [--frames F] [--save]

--save writes the table of docs/theory/subspace.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..gpu_core.backend import select
from ..gpu_core.backend.cpu import cores
from ..gpu_core.check.scene_check import check_frame
from ..gpu_core.report import FrameReport
from ..gpu_core.scene.settings import SolverPreset
from ..gpu_core.simulator import Simulator
from ..gpu_core.solvers.ndb import Ndb
from . import marked
from .speed.scenes import built
from .stress.__main__ import commit, processor

METHODS: dict[SolverPreset, str] = {"default": "Newton", "subspace": "Subspace Reuse"}


@dataclass
class Drape:
    """What one method has made of it."""

    method: str
    vertices: int
    reports: list[FrameReport] = field(default_factory=list)
    reused: int = 0  #: steps that H has ended
    crossings: int = 0  #: frames that cross, by the exact check
    height: float = 0.0  #: mean over the vertices at the end, m

    @property
    def seconds(self) -> list[float]:
        """Of each frame."""
        return [report.seconds for report in self.reports]


def measure(vertices: int, frames: int) -> list[Drape]:
    """Newton's first."""
    scenes = [built("drape", vertices, frames, preset) for preset in METHODS]
    simulators = [Simulator(scene, select("cpu")) for scene in scenes]
    drapes = [Drape(name, s.space.cloth_vertices) for name, s in zip(METHODS.values(), simulators, strict=True)]
    for drape, simulator in zip(drapes, simulators, strict=True):
        _count_reuse(drape, simulator)
    for _ in range(1, frames):
        for drape, scene, simulator in zip(drapes, scenes, simulators, strict=True):
            report = simulator.advance_frame()
            drape.reports.append(report)
            positions = simulator.positions()
            drape.crossings += bool(check_frame(scene, report.frame, [shape.astype(np.float32) for shape in positions]))
            drape.height = float(np.concatenate(positions)[:, 2].mean())
    return drapes


def _count_reuse(drape: Drape, simulator: Simulator) -> None:
    solver = simulator.solver
    assert isinstance(solver, Ndb)
    tried = solver._tried

    def counted(*arguments: Any) -> Any:
        end = tried(*arguments)
        drape.reused += end is not None
        return end

    solver._tried = counted  # type: ignore[method-assign, assignment]


def table(drapes: Sequence[Drape]) -> str:
    """Markdown; times as ratios to Newton's of the same frames."""
    newton, frames = drapes[0], len(drapes[0].reports)
    where = f"{processor()}, {cores()} thread(s), commit {commit()}"
    head = (
        "| | s a frame | over Newton's | slowest ÷ median frame | iterations | steps by H | unfinished | longest edge "
    )
    rows = [f"{where}; {newton.vertices} vertices, frames 2 to {frames + 1}.\n\n", head]
    rows.append("| mean height at the end, mm | frames that cross |\n" + "|---" * 10 + "|\n")
    for drape in drapes:
        cells = (
            drape.method, f"{np.mean(drape.seconds):.2f}", f"{sum(drape.seconds) / sum(newton.seconds):.2f}",
            f"{max(drape.seconds) / np.median(drape.seconds):.1f}",
            sum(report.iterations for report in drape.reports), drape.reused,
            f"{sum(r.unfinished_steps for r in drape.reports)} of {sum(r.steps for r in drape.reports)}",
            f"{max(report.largest_stretch for report in drape.reports):.3f}", f"{1e3 * drape.height:.1f}",
            drape.crossings,
        )  # fmt: skip
        rows.append(f"| {' | '.join(map(str, cells))} |\n")
    return "".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=10_000)
    parser.add_argument("--frames", type=int, default=36)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    commit()
    found = table(measure(options.vertices, options.frames))
    print(found)
    if options.save:
        marked.put(marked.SUBSPACE, "drape", found)


if __name__ == "__main__":
    main()

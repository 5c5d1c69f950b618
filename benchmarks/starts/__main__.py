# SPDX-License-Identifier: GPL-3.0-or-later
"""Thirty tangled starts: crossings at the start, after it was untangled, and after a second.

    python -m taffeta.benchmarks.starts [--kind KIND] [--frames 24]

Every count is of the exact check, with vertices of a closed seam as one. Writes benchmarks/results/starts.json, where
rows of other kinds stay, and prints the table of docs/theory/starts.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...gpu_core.backend import select
from ...gpu_core.check.scene_check import SceneCheck
from ...gpu_core.scene.scene import Scene
from ...gpu_core.simulator import Simulator
from .scenes import KINDS, SEEDS, scene_of

HEADING = """\
| start | seed | crossings | untangled | at the end | s to untangle | s a frame |
|---|---|---|---|---|---|---|"""
RESULTS = Path(__file__).resolve().parents[1] / "results" / "starts.json"


@dataclass
class Row:
    """What became of a start."""

    kind: str
    seed: int
    vertices: int
    crossings: int  #: at the start
    inside: int  #: vertices that begin inside a body
    resolved: int  #: crossings before the first step
    left: int  #: crossings after the last frame
    resolve_seconds: float
    frame_seconds: float  #: the median
    first_frame_seconds: float
    stretch: float  #: the longest edge over its length, in the last frame
    faults: int
    said: list[str]


def measured(kind: str, seed: int, frames: int) -> Row:
    scene = scene_of(kind, seed)
    began = time.perf_counter()
    simulator = Simulator(scene, select("cpu"))
    resolve = time.perf_counter() - began
    check = SceneCheck(scene)
    resolved = _crossings(check, scene, simulator)
    reports = [simulator.advance_frame() for _ in range(frames)]
    seconds = [report.seconds for report in reports]
    inside = [int(text.split(": ")[1].split()[0]) for text in simulator.warnings if "begin inside" in text]
    return Row(
        kind, seed, sum(len(cloth.positions) for cloth in scene.cloths), _at_start(scene), sum(inside),
        resolved, _crossings(check, scene, simulator), round(resolve, 2), round(float(np.median(seconds)), 2),
        round(seconds[0], 2), round(reports[-1].largest_stretch, 3), sum(len(report.faults) for report in reports),
        simulator.warnings,
    )  # fmt: skip


def _at_start(scene: Scene) -> int:
    """Seams that are to be welded do not count as closed yet."""
    check = SceneCheck(replace(scene, cloths=tuple(replace(cloth, seams=None) for cloth in scene.cloths)))
    bodies = [body.positions[0].astype(np.float64) for body in scene.colliders]
    return len(check.findings(1, np.concatenate([*(cloth.positions for cloth in scene.cloths), *bodies])))


def _crossings(check: SceneCheck, scene: Scene, simulator: Simulator) -> int:
    bodies = [body.positions[0].astype(np.float64) for body in scene.colliders]
    return len(check.findings(simulator.frame, np.concatenate([*simulator.positions(), *bodies])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=list(KINDS))
    parser.add_argument("--frames", type=int, default=24)
    chosen = parser.parse_args()
    kinds = [chosen.kind] if chosen.kind else list(KINDS)
    rows = [row for row in _kept(chosen.frames) if row.kind not in kinds]
    print(HEADING)
    for kind in kinds:
        for seed in SEEDS:
            rows.append(measured(kind, seed, chosen.frames))
            print(_line(rows[-1]), flush=True)
        rows.sort(key=lambda row: (list(KINDS).index(row.kind), row.seed))
        content = {"machine": platform.processor() or platform.machine(), "frames": chosen.frames}
        RESULTS.write_text(json.dumps({**content, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    print(f"\n{sum(row.left == 0 for row in rows)} of {len(rows)} end without a crossing")


def _kept(frames: int) -> list[Row]:
    """What was measured before over as many frames."""
    content: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"frames": 0}
    return [Row(**row) for row in content["rows"]] if content["frames"] == frames else []


def _line(row: Row) -> str:
    seconds = f"{row.resolve_seconds:.1f} | {row.frame_seconds:.1f}"
    return f"| {row.kind} | {row.seed} | {row.crossings} | {row.resolved} | {row.left} | {seconds} |"


if __name__ == "__main__":
    main()

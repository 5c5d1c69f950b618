# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples at a size: Table 1's columns of Lan 2024, and what each frame is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...gpu_core.backend import Backend
from ...gpu_core.report import FrameReport
from ...gpu_core.scene.scene import SceneError
from ...gpu_core.simulator import Simulator, SolverError
from ..speed import table1
from ..speed.paper import PROCESSOR, TABLE
from .judge import Judge
from .staged import StageError, staged

Row = dict[str, Any]

COLUMNS = (
    "scene", "vertices", "DOF", "elements", "pairs in CCD / after broad phase", "Δt, ms", "B", "N", "P", "F",
    "LG (#, CG)", "misc", "FPS", "frames", "s/frame", "slowest frame, s", "largest stretch", "crossing frames",
    "released", "MiB",
)  # fmt: skip


class _Seen:
    """What the reports of all frames say together."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.slowest = 0.0
        self.stretch = 1.0
        self.released: list[int] = []
        self.unfinished = 0

    def look(self, report: FrameReport, simulator: Simulator) -> None:
        """Of a frame of the scene: what a pre-roll does before the first is in no cache."""
        if report.frame < simulator.scene.settings.frame_start:
            return
        self.judge.look(report.frame, simulator.positions())
        self.slowest = max(self.slowest, report.seconds)
        self.stretch = max(self.stretch, report.largest_stretch)
        self.unfinished += report.unfinished_steps
        if report.released:
            self.released.append(report.frame)


def measured(name: str, vertices: int, frames: str, backend: Backend) -> Row:
    """A row for every frame after the first; one that only says `failed` where there is no more to say."""
    head = {"scene": name, "asked": vertices, "of": frames or "all"}
    table1.forget_peak(backend)
    before = table1.peak_memory(backend)  # Blender's module, if nothing else
    with TemporaryDirectory() as folder:
        try:
            stage = staged(name, vertices, frames, Path(folder))
            seen = _Seen(Judge(stage.scene))
            first = stage.scene.settings.frame_start + 1
            row = table1.measure(name, stage.scene, backend, first, seen.look)
        except (StageError, SceneError, SolverError) as error:
            return {**head, "failed": str(error)}
    return {
        **asdict(row), **head, "failed": "", "memory": row.memory - before, "step": stage.scene.settings.step,
        "elements": sum(len(cloth.triangles) for cloth in stage.scene.cloths), "frames": seen.judge.frames,
        "slowest_frame": seen.slowest, "largest_stretch": seen.stretch, "released": seen.released,
        "crossing_frames": seen.judge.crossing_frames, "unfinished_steps": seen.unfinished,
    }  # fmt: skip


def suite(names: Sequence[str], sizes: Sequence[int], frames: str, backend: Backend) -> Iterator[Row]:
    for name in names:
        for vertices in sizes:
            yield measured(name, vertices, frames, backend)


def cells(row: Row) -> list[str]:
    """A row as the texts of COLUMNS; a step is a frame of the paper, so that FPS are steps a second."""
    if row["failed"]:
        return [row["scene"], f"{row['asked']}", f"not done: {row['failed']}", *[""] * (len(COLUMNS) - 3)]
    *collision, solve, misc = table1.stages(row)
    step = sum(row["milliseconds"].values())
    return [
        row["scene"], f"{row['vertices']}", table1.thousands(3 * row["vertices"]), table1.thousands(row["elements"]),
        f"{table1.thousands(row['tested'])} / {table1.thousands(row['pairs'])}", f"{1e3 * row['step']:.2f}",
        *(f"{part:.1f}" for part in collision), f"{solve:.1f} ({row['iterations']:.1f}, {row['gradients']:.0f})",
        f"{misc:.1f}", f"{1e3 / step:.3g}", f"{row['frames']}", f"{row['seconds_per_frame']:.2f}",
        f"{row['slowest_frame']:.2f}", f"{row['largest_stretch']:.3f}", f"{row['crossing_frames']}",
        f"{len(row['released'])}", f"{row['memory']:.0f}",
    ]  # fmt: skip


def paper_cells(scene: str) -> list[str] | None:
    """The paper's row of the same scene."""
    row = TABLE.get(scene)
    if row is None:
        return None
    return [
        f"{scene}: {PROCESSOR}, Fig. {row.figure}", f"{row.vertices}", table1.thousands(row.dof),
        table1.thousands(row.elements), f"{table1.thousands(row.contacts)} / {table1.thousands(row.pairs)}",
        f"{1e3 * row.step:.2f}", *(f"{part:g}" for part in (row.broad, row.narrow, row.partial, row.full)),
        f"{row.solve:g} ({row.iterations})", f"{row.misc:g}", f"{row.fps:g}", *[""] * 7,
    ]  # fmt: skip


def lines(row: Row) -> list[list[str]]:
    """A row, and below it the paper's of the same scene."""
    paper = paper_cells(row["scene"])
    return [cells(row)] if paper is None else [cells(row), paper]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Table 1 of Lan 2024 for our scenes: milliseconds a step by stage, counts, frames a second, memory."""

from __future__ import annotations

import platform
import re
import resource
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...gpu_core.backend import Backend
from ...gpu_core.report import FrameReport
from ...gpu_core.scene.scene import Scene
from ...gpu_core.simulator import Simulator
from .clock import NAMES, Clock, watched
from .paper import PROCESSOR
from .scenes import SCENES

MEBIBYTE = 1 << 20
WATCHING = "watching"  #: a stage that is no part of a step


@dataclass(frozen=True)
class Row:
    """Means over the steps of the frames first … last. Milliseconds a step unless said otherwise."""

    scene: str
    preset: str
    vertices: int
    first: int  #: first and last frame that were timed
    last: int
    steps: int
    milliseconds: dict[str, float]  #: by stage (clock.py)
    iterations: float  #: Newton or local–global iterations a step
    gradients: float  #: conjugate-gradient iterations a step
    pairs: float  #: after a broad phase
    tested: float  #: in a full CCD
    contacts: float  #: active at the end of a frame
    seconds_per_frame: float
    fps: float
    memory: float  #: largest of the process or on the device, MiB

    @property
    def step(self) -> float:
        return sum(self.milliseconds.values())


Watch = Callable[[FrameReport, Simulator], None]


def measure(name: str, scene: Scene, backend: Backend, first: int, watch: Watch | None = None) -> Row:
    """Run the scene; time its frames from `first` (at least 2) on. watch: called after each; its time is not counted.

    Raises SolverError.
    """
    forget_peak(backend)
    clock = Clock(synchronize(backend))
    settings = scene.settings
    reports: list[FrameReport] = []
    with watched(clock):
        simulator = Simulator(scene, backend)
        while simulator.frame < settings.frame_end:
            if simulator.frame + 1 == first:
                clock.restart()
                reports.clear()
            reports.append(simulator.advance_frame())
            if watch is not None:
                with clock.inside(WATCHING):
                    watch(reports[-1], simulator)
        clock.stop()
    steps = sum(report.steps for report in reports)
    seconds, counts = sum(clock.seconds[stage] for stage in NAMES) / len(reports), clock.counts
    return Row(
        name, settings.preset, simulator.space.cloth_vertices, first, settings.frame_end, steps,
        {stage: 1e3 * clock.seconds[stage] / steps for stage in NAMES},
        sum(report.iterations for report in reports) / steps,
        counts["gradients"] / steps,
        counts["pairs"] / max(1, counts["detections"]),
        counts["tested"] / max(1, counts["filters"]),
        sum(report.contacts for report in reports) / len(reports),
        seconds, 1.0 / seconds, peak_memory(backend),
    )  # fmt: skip


def synchronize(backend: Backend) -> Callable[[], None]:
    """Waits until the device has done what it was given."""
    if backend.name == "cuda":
        return lambda: backend.xp.cuda.get_current_stream().synchronize()
    return lambda: None


def forget_peak(backend: Backend) -> None:
    """So that a row's memory is its own, not that of a larger scene before it; Linux and CUDA only."""
    if backend.name == "cuda":
        backend.xp.get_default_memory_pool().free_all_blocks()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory(backend: Backend) -> float:
    """MiB that the process, or on CUDA the memory pool, has taken at most."""
    if backend.name == "cuda":
        return float(backend.xp.get_default_memory_pool().total_bytes()) / MEBIBYTE
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        if found:
            return int(found[1]) / 1024
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(largest) / (MEBIBYTE if platform.system() == "Darwin" else 1024)


COLUMNS = (
    "scene",
    "vertices",
    "B",
    "N",
    "P",
    "F",
    "solve (#, CG)",
    "misc",
    "step",
    "FPS",
    "MiB",
    "pairs",
    "tested",
    "contacts",
)


def stages(row: dict[str, Any]) -> tuple[float, ...]:
    """B, N, P, F, solve and misc of a row, ms a step. As in the paper, the narrow phase N includes P and F."""
    part = row["milliseconds"]
    narrow = part["narrow"] + part["partial"] + part["full"]
    solve = part["residual"] + part["matrix"] + part["gradients"]
    return part["broad"], narrow, part["partial"], part["full"], solve, part["misc"]


def cells(row: dict[str, Any]) -> list[str]:
    """One row as the texts of COLUMNS."""
    *collision, solve, misc = stages(row)
    name = row["scene"] + (" (paper's preset)" if row["preset"] == "paper" else "")
    return [
        name, f"{row['vertices']}", *(f"{x:.1f}" for x in collision),
        f"{solve:.1f} ({row['iterations']:.1f}, {row['gradients']:.0f})", f"{misc:.1f}",
        f"{sum(row['milliseconds'].values()):.1f}", f"{row['fps']:.3g}", f"{row['memory']:.0f}",
        *(thousands(row[key]) for key in ("pairs", "tested", "contacts")),
    ]  # fmt: skip


def paper_cells(scene: str) -> list[str] | None:
    """The paper's row for a scene that it has; its narrow phase includes P and F."""
    row = SCENES[scene].paper
    if row is None:
        return None
    total = row.broad + row.narrow + row.solve + row.misc
    return [
        f"{scene}: {PROCESSOR}", f"{row.vertices}",
        *(f"{part:g}" for part in (row.broad, row.narrow, row.partial, row.full)),
        f"{row.solve:g} ({row.iterations})", f"{row.misc:g}", f"{total:.1f}", f"{row.fps:g}", "",
        thousands(row.pairs), thousands(row.contacts), "",
    ]  # fmt: skip


def thousands(number: float) -> str:
    return f"{number / 1e6:.2f}M" if number >= 1e6 else f"{number / 1e3:.1f}K" if number >= 1e3 else f"{number:.0f}"


def as_json(row: Row) -> dict[str, Any]:
    return asdict(row)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a stress scene frame by frame and measures it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ...gpu_core.backend import select
from ...gpu_core.check.scene_check import Finding
from ...gpu_core.report import FrameReport
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.scene import Scene
from ...gpu_core.scene.settings import SolverPreset
from ...gpu_core.simulator import Simulator, SolverError
from ...gpu_core.solvers.parameters import NdbParameters
from .check import Verdict, verdict
from .stress import Stress, limited, rubbing

ARRIVAL = 1e-6  #: of the scene's size; a collider nearer than this to its pose has arrived


@dataclass
class Result:
    """What became of one scene. Gaps in m, speeds in m/s."""

    scene: str
    vertices: int
    frames: int  #: of the motion, without the start
    limit: float | None = None  #: of strain, where it is not the scene's own
    rubs: bool = False  #: yarns rub when cloth bends
    method: str = "default"  #: preset of the solver
    frames_done: int = 0
    cut_off: str = ""  #: why not all frames were done
    intersecting_exact: list[int] = field(
        default_factory=list
    )  #: frames with a crossing that no report has named: must be empty
    intersecting_ipctk: list[int] = field(default_factory=list)
    first_finding: str = ""
    released_frames: int = 0  #: frames in which colliders had no room, or what they then crossed still crosses
    released: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  #: crossings that no release explains: must be empty
    tangled_at_end: int = 0
    steps: int = 0
    unfinished_steps: int = 0
    late_steps: int = 0
    halved_steps: int = 0
    heated_steps: int = 0  #: that gave free cloth energy, however often halved
    bodies_arrived: bool = True
    largest_stretch: float = 1.0
    smallest_gap: float = float("inf")
    iterations_per_step: float = 0.0
    detections_per_step: float = 0.0
    seconds_per_frame: float = 0.0
    slowest_frame: float = 0.0  #: s
    median_frame: float = 0.0  #: s
    rms_speed_at_end: float = 0.0

    @property
    def free(self) -> bool:
        """Every frame was free of intersections, but for those that were reported."""
        return not self.intersecting_exact and not self.intersecting_ipctk and not self.faults


def run(
    stress: Stress,
    vertices: int,
    frames: int | None = None,
    *,
    limit: float | None = None,
    rubs: bool = False,
    method: SolverPreset = "default",
    seconds: float = float("inf"),
    parameters: NdbParameters | None = None,
    watch: Callable[[FrameReport, Verdict], None] = lambda report, found: None,
) -> Result:
    """The whole motion, or what of it fits in `seconds`. frames, limit (of strain): None = as the scene asks for.
    rubs: yarns rub when cloth bends. method: what the panel calls so."""
    scene = stress.build(vertices, frames or stress.frames)
    scene = replace(scene, settings=replace(scene.settings, preset=method))
    if limit is not None:
        scene = limited(scene, limit)
    if rubs:
        scene = rubbing(scene)
    began, simulator = time.perf_counter(), Simulator(scene, select("cpu"), parameters)
    count = sum(len(cloth.positions) for cloth in scene.cloths)
    result = Result(stress.name, count, scene.settings.frames - 1, limit, rubs, scene.settings.preset)
    before = _colliders(scene, simulator) - _posed(scene, 0)  # the simulator's own centre
    iterations = detections = 0
    times: list[float] = []
    for index in range(1, scene.settings.frames):
        try:
            report = simulator.advance_frame()
        except SolverError as error:
            result.cut_off = str(error)
            break
        found = verdict(scene, report.frame, simulator.positions())
        watch(report, found)
        _add(result, report, found)
        times.append(report.seconds)
        iterations, detections = iterations + report.iterations, detections + report.detections
        lag = np.abs(_colliders(scene, simulator) - _posed(scene, index) - before).max(initial=0.0)
        size = max(float(np.ptp(cloth.positions, axis=0).max()) for cloth in scene.cloths)
        result.bodies_arrived &= bool(lag <= ARRIVAL * size + np.spacing(np.float32(np.abs(before).max(initial=0.0))))
        if time.perf_counter() - began > seconds and index + 1 < scene.settings.frames:
            result.cut_off = f"after {seconds:.0f} s"
            break
    result.iterations_per_step = iterations / max(1, result.steps)
    result.detections_per_step = detections / max(1, result.steps)
    result.seconds_per_frame /= max(1, result.frames_done)
    result.median_frame = float(np.median(times)) if times else 0.0
    return result


def _add(result: Result, report: FrameReport, found: Verdict) -> None:
    result.frames_done += 1
    result.released += [text for text in report.released if text not in result.released]
    excused = bool(found.findings) and all(_named(finding, result.released) for finding in found.findings)
    if found.findings and not excused:
        result.intersecting_exact.append(report.frame)
        result.first_finding = result.first_finding or str(found.findings[0])
    if found.ipctk and not excused:
        result.intersecting_ipctk.append(report.frame)
    result.released_frames += bool(report.released or report.tangled)
    result.tangled_at_end = report.tangled
    result.steps += report.steps
    result.unfinished_steps += report.unfinished_steps
    result.late_steps += report.late_steps
    result.halved_steps += report.halved_steps
    result.heated_steps += report.heated_steps
    result.faults += [f"frame {report.frame}: {text}" for text in report.faults]
    result.largest_stretch = max(result.largest_stretch, report.largest_stretch)
    result.smallest_gap = min(result.smallest_gap, report.smallest_gap)
    result.seconds_per_frame += report.seconds
    result.slowest_frame = max(result.slowest_frame, report.seconds)
    result.rms_speed_at_end = report.rms_speed


def _named(finding: Finding, released: list[str]) -> bool:
    """Some frame's report has said that these two objects cross: "A and B", or "A and itself"."""
    one, other = finding.edge_object, finding.triangle_object
    if one == other:
        return f"{one} and itself" in released
    return f"{one} and {other}" in released or f"{other} and {one}" in released


def _colliders(scene: Scene, simulator: Simulator) -> Array:
    """(M, 3) where the solver has the colliders' vertices, m, relative to its centre."""
    first = sum(len(cloth.positions) for cloth in scene.cloths)
    return np.asarray(simulator.state()["x"][first:, :3], np.float64)


def _posed(scene: Scene, index: int) -> Array:
    """(M, 3) where they belong."""
    poses = [collider.positions[index if collider.animated else 0] for collider in scene.colliders]
    return np.concatenate([np.zeros((0, 3)), *(np.asarray(pose, np.float64) for pose in poses)])

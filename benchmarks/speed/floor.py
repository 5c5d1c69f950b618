# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor: what one iteration and one contact pass must move and compute, and what they take.

One step of the drape in contact is taken twice from the same state: by the plain backend against the clock, and by
the counting one. The floor of a part is its bytes over the bandwidth that a triad reaches on as many bytes as the part
works on, or its operations over the peak of a matrix product, whichever is longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...gpu_core.backend import Backend
from ...gpu_core.scene.scene import Scene
from ...gpu_core.simulator import Simulator
from ...gpu_core.solvers.parameters import NdbParameters
from . import machine
from .clock import Clock, watched
from .scenes import built
from .table1 import synchronize
from .traffic import CountingBackend, Traffic, Work

FRAME = 6  #: of the drape, well in contact
#: 30 modes are what an iteration in contact uses (a warm start would want 120). With the strain limit that Newton's
#: matrix bears, 500 times the stretch below it, the step at 40 000 vertices diverged.
CONSTANT_H = NdbParameters().replaced(system="constant", large_rank=30, limit_ratio=2.0)
SMALLEST = 1 << 22  #: bytes of a triad that a clock can time


@dataclass(frozen=True)
class Floor:
    """One part of a step, once."""

    part: str
    vertices: int
    contacts: int
    megabytes: float  #: that its kernels move at least
    operations: float  #: millions
    working_set: float  #: MB of all arrays that it touches
    bandwidth: float  #: of a triad of that size, GB/s
    peak: float  #: GFLOP/s of a matrix product
    floor: float  #: ms
    reached: float  #: ms, host included


class Part(NamedTuple):
    """What is added up and divided by how often it happened."""

    name: str
    stages: tuple[str, ...]
    times: str  #: iterations, or a count of the clock


NEWTON = (
    Part("Newton iteration, residual and K", ("residual", "matrix"), "iterations"),
    Part("conjugate-gradient iteration", ("gradients",), "gradients"),
    Part("broad phase", ("broad",), "detections"),
    Part("contact pass: near pairs, CCD, filter", ("narrow", "full"), "filters"),
    Part("whole step", ("broad", "narrow", "partial", "full", "residual", "matrix", "gradients", "misc"), ""),
)
CONSTANT = (Part("local–global iteration, constant H", ("residual",), "iterations"),)


def floors(backend: Backend, vertices: int, frame: int = FRAME) -> Iterator[Floor]:
    """Those of Newton's matrix and of the constant H, from the state that the default has reached at `frame`."""
    scene = built("drape", vertices, frame)
    simulator = Simulator(scene, backend)
    while simulator.frame < frame:
        simulator.advance_frame()
    state, count = simulator.state(), simulator.space.cloth_vertices
    del simulator
    peak = machine.peak_operations(backend)
    single = _single_step(scene)
    for parts, parameters in (
        (NEWTON, NdbParameters()),
        (CONSTANT, CONSTANT_H),
    ):
        timed, contacts = _timed(single, backend, parameters, state)
        counts, traffic = _counted(single, parameters, state)
        for part in parts:
            work = _total(traffic, part.stages)
            times = counts[part.times] if part.times else 1
            bandwidth = machine.bandwidth(backend, max(SMALLEST, work.working_set))
            least = max(work.bytes / bandwidth, work.operations / peak) / max(1, times)
            seconds = sum(timed.seconds[stage] for stage in part.stages)
            yield Floor(
                part.name, count, contacts, 1e-6 * work.bytes / max(1, times),
                1e-6 * work.operations / max(1, times), 1e-6 * work.working_set, 1e-9 * bandwidth, 1e-9 * peak,
                1e3 * least, 1e3 * seconds / max(1, timed.counts[part.times] if part.times else 1),
            )  # fmt: skip


def _single_step(scene: Scene) -> Scene:
    """The same scene with frames of one step. Colliders and pins must not move."""
    settings = scene.settings
    return replace(scene, settings=replace(settings, fps=1.0 / settings.step, step_rate=1.0 / settings.step))


def _timed(scene: Scene, backend: Backend, parameters: NdbParameters, state: dict[str, Any]) -> tuple[Clock, int]:
    with watched(Clock(synchronize(backend))) as clock:
        simulator = Simulator(scene, backend, parameters)
        simulator.restore(state)
        clock.restart()
        report = simulator.advance_frame()
        clock.stop()
    clock.counts["iterations"] = report.iterations
    return clock, report.contacts


def _counted(scene: Scene, parameters: NdbParameters, state: dict[str, Any]) -> tuple[dict[str, int], Traffic]:
    with watched(Clock()) as clock:
        backend = CountingBackend(clock)
        simulator = Simulator(scene, backend, parameters)
        simulator.restore(state)
        clock.restart()
        backend.counting = True
        report = simulator.advance_frame()
    return {**clock.counts, "iterations": report.iterations}, backend.traffic


def _total(traffic: Traffic, stages: tuple[str, ...]) -> Work:
    work = Work()
    for stage in stages:
        work.add(traffic.stages[stage])
    return work

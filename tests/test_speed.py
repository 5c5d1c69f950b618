# SPDX-License-Identifier: GPL-3.0-or-later
"""The speed benchmarks: what they count, and that the page says what was measured."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from taffeta.benchmarks.speed import floor, iteration, kernels, page, results, scaling, table1
from taffeta.benchmarks.speed.clock import NAMES, STAGES, Clock, watched
from taffeta.benchmarks.speed.scenes import SCENES, built
from taffeta.benchmarks.speed.traffic import CountingBackend
from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.simulator import Simulator

VERTICES = 300


@pytest.fixture(scope="module")
def counting():
    return CountingBackend(Clock())


@pytest.mark.parametrize("name", list(SCENES))
def test_a_row_of_the_table_holds_every_stage_and_nothing_twice(name):
    row = table1.measure(name, built(name, VERTICES, 4), CpuBackend(threads=1), first=3)
    assert set(row.milliseconds) == set(NAMES)
    assert all(value >= 0.0 for value in row.milliseconds.values())
    assert row.step * row.steps == pytest.approx(1e3 * row.seconds_per_frame * 2)  # of frames 3 and 4
    assert min(row.iterations, row.gradients, row.pairs, row.milliseconds["broad"], row.memory) > 0
    assert len(table1.cells(vars(row))) == len(table1.COLUMNS)


def test_the_stages_take_the_time_of_the_frames_they_watch():
    clock = Clock()
    with watched(clock):
        simulator = Simulator(built("drape", VERTICES, 3), CpuBackend(threads=1))
        clock.restart()
        seconds = sum(simulator.advance_frame().seconds for _ in range(2))
        clock.stop()
    assert sum(clock.seconds.values()) == pytest.approx(seconds, rel=0.05)
    assert sum(clock.seconds[stage] for stage in NAMES if stage != "misc") > 0.5 * seconds


def test_the_solver_is_itself_again_after_it_was_watched():
    before = [getattr(owner, method) for owner, method, _ in STAGES]
    with watched(Clock()):
        assert all(getattr(o, m) is not f for (o, m, _), f in zip(STAGES, before, strict=True))
    assert [getattr(owner, method) for owner, method, _ in STAGES] == before


def test_operations_and_bytes_of_a_kernel_are_counted(counting):
    """p ← z + s p with four components: a product and a sum each. z and s are read, p is read and written."""
    count = 100
    scalar, z, p = (counting.array(np.ones(shape)) for shape in (3, (count, 4), (count, 4)))
    counting.counting = True
    counting.launch("next_direction", count, scalar=scalar, preconditioned=z, p=p)
    counting.counting = False
    work = counting.traffic.kernels["next_direction"]
    assert work.operations == 8 * count
    assert work.bytes == 4 * 3 + 16 * count + 2 * 16 * count
    assert work.working_set == 4 * 3 + 2 * 16 * count
    assert np.array_equal(p, np.full((count, 4), 2.0))


def test_the_counting_kernels_compute_the_same_motion(counting):
    scene = built("drape", VERTICES, 3)
    found = []
    for backend in (CpuBackend(threads=1), counting):
        simulator = Simulator(scene, backend)
        for _ in range(2):
            simulator.advance_frame()
        found.append(simulator.positions()[0])
    assert np.abs(found[0] - found[1]).max() < 1e-4  # m; the compiler joins products and sums in one of them


def test_every_kernel_of_a_frame_is_timed_and_the_backend_is_itself_again():
    backend = CpuBackend(threads=1)
    found = kernels.kernels(backend, VERTICES, 4)
    assert found == sorted(found, key=lambda kernel: -kernel.milliseconds)
    assert min(kernel.milliseconds for kernel in found) > 0.0
    times, turn = ({k.kernel: k for k in found}[name] for name in ("curvature_times", "next_direction"))
    assert times.elements == turn.elements == len(built("drape", VERTICES, 4).cloths[0].positions)
    assert turn.launches > times.launches > 0.0  # once more, at the start of a solve
    assert not {"sequence", "run"} & set(vars(backend))


def test_an_iteration_and_each_of_its_kernels_is_timed():
    whole, *parts = iteration.iteration(CpuBackend(threads=1), VERTICES, 4)
    assert whole.kernel == iteration.WHOLE
    assert whole.launches == sum(part.launches for part in parts)
    assert {"curvature_times", "precondition", "step_length"} <= {part.kernel for part in parts}
    assert 0.0 < parts[-1].microseconds <= parts[0].microseconds
    assert whole.microseconds > 0.0


def test_the_floor_of_a_step_is_that_of_its_parts():
    rows = {row.part: row for row in floor.floors(CpuBackend(threads=1), VERTICES, frame=4)}
    parts = [part.name for part in (*floor.NEWTON, *floor.CONSTANT)]
    assert list(rows) == parts
    assert all(row.megabytes > 0 and row.operations > 0 and row.floor > 0 for row in rows.values())
    assert rows["whole step"].megabytes > sum(rows[part].megabytes for part in parts[:4])


def test_a_power_law_has_its_exponent():
    sizes = [1e4, 2e4, 8e4]
    assert scaling.exponent(sizes, [3e-7 * size**1.25 for size in sizes]) == pytest.approx(1.25)


def test_tables_are_written_between_their_markers_and_nothing_else_is_touched():
    text = "By hand.\n<!-- table modes -->\nold\n<!-- end -->\nBy hand too.\n"
    rows = [{"vertices": 7, "modes": 3, "computed": 1.0, "read": 0.5,
             "measured": {"command": "c", "commit": "abc", "note": "shared machine"}}]  # fmt: skip
    written = page.filled(text, [{"machine": "M", "parts": {"modes": rows}}])
    assert written.startswith("By hand.\n<!-- table modes -->\n")
    assert written.endswith("<!-- end -->\nBy hand too.\n")
    assert "| 7 | 3 | 1.00 | 0.50 |" in written
    assert "old" not in written
    assert "shared machine" in written


def test_a_table_that_another_command_writes_is_left_alone():
    text = "<!-- table recycling -->\nas it was\n<!-- end -->\n"
    assert page.filled(text, []) == text


def test_the_page_shows_what_the_results_say():
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text, results.every()) == text


def test_without_newton_the_comparison_says_how_to_get_it():
    command = [sys.executable, "-m", "taffeta.benchmarks.newton_cloth", "--python", sys.executable]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "pip install newton==" in run.stderr

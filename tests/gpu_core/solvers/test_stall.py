# SPDX-License-Identifier: GPL-3.0-or-later
"""A step ends early only after one that was not solved, once nothing gets better, and where nothing crosses only in a
gentle motion."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import NdbParameters
from taffeta.gpu_core.solvers.progress import Seen
from taffeta.gpu_core.solvers.stall import BEARABLE, ENOUGH, PATIENCE, Stall
from taffeta.tests.gpu_core.small_scene import sheet


def seen(cut, late=False):
    return Seen(cut=cut, moved=0.0, late=late, back=False)


def ended(stall, cuts, excess=0.05):
    """After how many full CCDs a step ends that leaves these cuts; None if it does not."""
    ends = [stall.seen(0.0, seen(cut), 0.0, excess) for cut in cuts]
    return ends.index(True) + 1 if any(ends) else None


def test_a_step_after_one_that_was_solved_has_all_its_full_ccds():
    assert ended(Stall(), [1.0] * 40) is None


def test_a_step_after_one_that_was_not_ends_when_nothing_gets_better():
    stall = Stall()
    stall.begin(watching=True, guarded=False)
    assert ended(stall, [1.0] * 40) == 1 + PATIENCE


def test_where_nothing_crosses_it_ends_only_with_cloth_that_is_hardly_beyond_its_limit():
    stall = Stall()
    for excess, end in ((1.5 * BEARABLE, None), (0.5 * BEARABLE, 1 + PATIENCE), (float("inf"), None)):
        stall.begin(watching=True)
        assert ended(stall, [1.0] * 30, excess) == end
    stall.begin(watching=True)
    assert ended(stall, [0.75**k for k in range(30)], 0.5 * BEARABLE) == ENOUGH
    stall.begin(watching=True)
    assert ended(stall, [0.75**k for k in range(30)], 1.5 * BEARABLE) is None


@pytest.mark.parametrize("halves", [False, True])
def test_where_nothing_crosses_a_body_that_is_on_its_way_has_its_full_ccds(halves):
    stall = Stall()
    stall.begin(watching=True, halves=halves)
    assert not any(stall.seen(0.0, seen(0.75**k, late=True), 0.0, 0.0) for k in range(40))


def test_it_goes_on_for_as_long_as_something_does():
    stall = Stall()
    stall.begin(watching=True, guarded=False)
    assert ended(stall, [0.75**k for k in range(40)]) is None
    stall.begin(watching=True, guarded=False)
    excess = iter(0.85**k for k in range(40))
    assert not any(stall.seen(1.0, seen(1.0), 0.0, next(excess)) for _ in range(40))


def test_a_body_that_gains_little_of_its_way_is_no_reason_to_go_on():
    stall = Stall()
    stall.begin(watching=True, guarded=False)
    assert any(stall.seen(0.0, seen(0.98**k, late=True), 0.0, float("inf")) for k in range(20))


def test_a_step_that_would_be_halved_ends_when_a_body_comes_no_farther():
    stall = Stall()
    stall.begin(watching=False, halves=True)
    assert ended(stall, [1.0] * 40) is None  # nothing is late
    assert [stall.seen(0.0, seen(1.0, late=True), 0.0, float("inf")) for _ in range(1 + PATIENCE)] == [False] * 6 + [
        True
    ]
    stall.begin(watching=False, halves=True)
    assert not any(stall.seen(1.0, seen(0.75**k, late=True), 1.0, float("inf")) for k in range(40))
    stall.begin(watching=False)
    assert not any(stall.seen(0.0, seen(1.0, late=True), 0.0, float("inf")) for k in range(40))


def full_ccds(way=(0.0, 0.0, 0.0), speed=(0.0, 0.0, 0.0), plate=False):
    """Of two steps that cannot be solved, with what holds a sheet, or a plate far off, on this way, m, in each."""
    points, triangles = sheet(8, 0.2)
    frames = points + 2 * np.arange(2)[:, None, None] * np.array(way)
    pins = None if plate else Pins(np.array([0, 8], np.int32), frames[:, [0, 8]], np.ones(2, np.float32))
    speeds = np.tile(speed, (len(points), 1))
    cloth = Cloth("Sheet", triangles, points, points, Material(), pins=pins, velocities=speeds)
    bodies = (Collider("Plate", triangles, frames + np.array([0.0, 0.0, -9.0])),) if plate else ()
    settings = Settings(1, 2, step_rate=48.0, gravity=(0.0, 0.0, 0.0), backend="cpu")
    never = NdbParameters().replaced(inner_tolerance=1e-30, energy_share=float("inf"))
    simulator, counts = Simulator(Scene((cloth,), bodies, settings), select("cpu"), never), []
    step = simulator.solver.step

    def counted(state, target):
        end, report = step(state, target)
        counts.append(report.outer)
        return end, report

    simulator.solver.step = counted
    simulator.advance_frame()
    return counts


def test_a_gentle_step_after_one_that_was_not_solved_leaves_the_rest_to_the_next():
    first, second = full_ccds(way=(0.0, 0.0, 0.001))
    assert second < ENOUGH + 1 < first


@pytest.mark.parametrize(
    "blow", [{"way": (0.0, 0.0, 0.02)}, {"way": (0.0, 0.0, 0.02), "plate": True}, {"speed": (0.0, 0.0, 1.5)}]
)
def test_a_step_of_a_blow_has_all_its_full_ccds(blow):
    first, second = full_ccds(**blow)
    assert second == first > ENOUGH

# SPDX-License-Identifier: GPL-3.0-or-later
"""A budget of a frame ends steps early and says so; it lets nothing through, and one that is enough changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.benchmarks.stress.folded import wrung_and_pressed
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.bake.certificate import Certificate, summary
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.gpu_core.scene.settings import MOST_BUDGET
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import small_scene

cpu = select("cpu")
ROUND = 10  #: linear solves from one full CCD to the next, at most


def simulated(scene, budget, frames):
    """(reports, the simulator at their end)"""
    simulator = Simulator(replace(scene, settings=replace(scene.settings, frame_budget=budget)), cpu)
    return [simulator.advance_frame() for _ in range(frames)], simulator


@pytest.fixture(scope="module")
def wrung():
    return wrung_and_pressed(100, 24)


def test_a_frame_that_cannot_be_solved_ends_with_its_budget(wrung):
    budget, frames = 40, 12
    reports, simulator = simulated(wrung, budget, frames)
    spent = [report for report in reports if report.given_up_steps]
    assert spent
    for report in spent:
        assert report.iterations <= budget + ROUND * report.steps
        assert report.unfinished_steps >= report.given_up_steps
        assert (report.released, report.faults) == ([], [])
    (places,) = simulator.positions()
    assert not len(intersections(places, wrung.cloths[0].triangles))
    assert max(report.iterations for report in simulated(wrung, 0, frames)[0]) > 2 * budget


def test_a_budget_that_is_not_spent_changes_no_bit():
    places = [simulated(small_scene(), budget, 4)[1].positions()[0] for budget in (0, 100_000)]
    np.testing.assert_array_equal(*places)


def test_it_has_to_be_a_number_of_iterations():
    scene = small_scene()
    for budget in (-1, MOST_BUDGET + 1):
        with pytest.raises(SceneError, match="budget of a frame"):
            replace(scene, settings=replace(scene.settings, frame_budget=budget)).validate()


def test_the_certificate_says_what_was_given_up():
    entry = Certificate(3, 0, steps=8, unfinished_steps=5, given_up_steps=4)
    assert entry.troubles == [
        "1 of 8 steps not solved to the tolerance",
        "4 of 8 steps ended early by the frame's budget",
    ]
    assert "1 with steps that the budget ended" in summary([entry])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth where bodies are about to pass through themselves gets no shorter steps: they would not let it away either."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.closed_in import closed_in
from taffeta.gpu_core.scene.scene import Cloth, Collider, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")


def between_balls(last: float) -> Scene:
    """A sheet hangs between two balls that come together in one frame, until their surfaces are `last` apart, m."""
    points, faces = sheet(9, 0.3)
    points = points[:, [2, 0, 1]] - [0.0, 0.15, 0.15]
    positions, triangles = ball(0.1)
    bodies = [
        Collider(
            name, triangles, np.stack([positions + [side * (0.1 + 0.5 * gap), 0, 0] for gap in (0.02, last, last)])
        )
        for name, side in (("Left", -1.0), ("Right", 1.0))
    ]
    settings = Settings(frame_end=3, gravity=(0.0, 0.0, 0.0), backend="cpu", start="resolve")
    return Scene((Cloth("Sheet", faces, points, points),), tuple(bodies), settings)


@pytest.mark.parametrize(("apart", "closed"), [(0.004, False), (-0.004, True)])
def test_a_place_is_closed_in_where_bodies_cross(apart, closed):
    simulator = Simulator(between_balls(apart), cpu)
    goal, surface = simulator.space.goal(2.0)[:, :3].astype(float), simulator.space.surface
    before = simulator.space.start()[:, :3].astype(float)
    middle, corner, none = np.array([40]), np.array([0]), np.zeros(0, int)
    assert closed_in(before, goal, surface, middle) is closed
    assert not closed_in(before, goal, surface, corner)
    assert not closed_in(before, goal, surface, none)
    assert not closed_in(goal, goal, surface, middle), "they have crossed before"


def test_cloth_that_is_closed_in_is_let_go_at_once_and_other_cloth_gets_away():
    simulator = Simulator(between_balls(-0.004), cpu)
    report = simulator.advance_frame()
    assert report.released
    assert (report.faults, report.halved_steps) == ([], 0)
    simulator = Simulator(between_balls(0.004), cpu)
    report = simulator.advance_frame()
    assert report.released == report.faults == []

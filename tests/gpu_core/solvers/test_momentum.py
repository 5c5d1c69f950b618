# SPDX-License-Identifier: GPL-3.0-or-later
"""What the filter stops of cloth that nothing holds: its place waits, its momentum does not."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import NdbParameters
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
#: What stops some only deforms the sheet, and that step would be halved.
AS_IT_IS = NdbParameters().replaced(energy_share=float("inf"))
SETTINGS = Settings(1, 2, gravity=(0.0, 0.0, 0.0), backend="cpu")
THROWN = np.array([0.5, 0.0, 1.0])  #: m/s
STOPPED = np.arange(0, 62, 3)


class Thrown:
    """A frame of a sheet in vacuum whose filter lets some vertices go nine tenths of their way, whatever they meet."""

    def __init__(self, pinned=()):
        points, triangles = sheet(8, 0.2)
        held = np.array(pinned, np.int32)
        pins = Pins(held, points[held][None], np.ones(len(held), np.float32)) if pinned else None
        speeds = np.tile(THROWN, (len(points), 1))
        cloth = Cloth("Sheet", triangles, points, points, Material(air_drag=0.0), pins=pins, velocities=speeds)
        simulator = Simulator(Scene((cloth,), (), SETTINGS), cpu, AS_IT_IS)
        solver = simulator.solver
        whole = solver.filter

        def filter_(pairs, x, x1, released):
            taken = whole(pairs, x, x1, released)
            taken[STOPPED] = x[STOPPED] + np.float32(0.9) * (taken[STOPPED] - x[STOPPED])
            self.handed_out = taken[:, :3].copy()
            return taken

        solver.filter = filter_
        self.report, state = simulator.advance_frame(), simulator.state()
        self.mass = solver.vertices.mass.astype(float)
        self.place, self.velocity = state["x"][:, :3], state["velocity"][:, :3].astype(float)
        #: m/s, of the last step's places
        self.by_place = (self.place - solver.iterate.start[:, :3]) / SETTINGS.step


def test_what_the_filter_stops_costs_loose_cloth_no_momentum():
    thrown = Thrown()
    assert thrown.report.unfinished_steps == 0
    assert np.linalg.norm(THROWN - thrown.mass @ thrown.by_place / thrown.mass.sum()) > 1e-3  # it did stop some
    assert thrown.mass @ thrown.velocity / thrown.mass.sum() == pytest.approx(THROWN, abs=1e-6)


def test_no_position_moves_after_the_last_filter():
    thrown = Thrown()
    np.testing.assert_array_equal(thrown.place, thrown.handed_out)


def test_cloth_that_a_pin_holds_loses_what_the_filter_stops():
    thrown = Thrown(pinned=[63])
    assert thrown.report.unfinished_steps == 0
    np.testing.assert_allclose(thrown.velocity[STOPPED], thrown.by_place[STOPPED], atol=1e-5)


def test_loose_is_cloth_that_no_pin_holds():
    points, triangles = sheet(4, 0.2)
    held = np.array([0], np.int32)
    loose = Cloth("Loose", triangles, points, points)
    pinned = Cloth("Pinned", triangles, points + [0.0, 0.0, 1.0], points, pins=Pins(held, points[held][None]))
    simulator = Simulator(Scene((loose, pinned), (), SETTINGS), cpu)
    simulator.solver.momentum.look(None)
    (rows,) = simulator.solver.momentum.loose
    np.testing.assert_array_equal(rows, np.arange(len(points)))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand in the cloth: springs that come and go between two frames."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
SIDE = 8
CORNER, MIDDLE = 0, SIDE * SIDE // 2 + SIDE // 2


def hanging(pins=None, tolerance=1e-3):
    """A sheet in the air, in vacuum."""
    vertices, triangles = sheet(SIDE, 0.2)
    cloth = Cloth("Sheet", triangles, vertices, vertices, Material(air_drag=0.0), pins=pins)
    return Scene((cloth,), (), Settings(1, 7, tolerance=tolerance, backend="cpu"))


def frames(simulator, count=6):
    for _ in range(count):
        simulator.advance_frame()
    return simulator.positions()[0]


def speed(simulator):
    """Of the centre of mass, upwards, m/s."""
    mass = simulator.solver.vertices.mass.astype(float)
    return (mass * simulator.state()["velocity"][:, 2]).sum() / mass.sum()


def test_a_pull_is_a_soft_pin_of_the_same_weight():
    vertices = hanging().cloths[0].positions
    held = np.array([CORNER, SIDE - 1], np.int32)
    target = vertices[held] + [0.0, 0.0, 0.02]
    pinned = Simulator(hanging(Pins(held, target[None], np.float32([0.5, 0.8]))), cpu)
    pulled = Simulator(hanging(), cpu)
    pulled.pull(held, [0.5, 0.8], target)
    expected, found = frames(pinned), frames(pulled)
    assert np.abs(expected[held] - target).max() < 0.01
    np.testing.assert_allclose(found, expected, atol=2e-4)  # aggregates differ, so the iterations stop elsewhere


def test_cloth_that_is_let_go_falls_with_gravity():
    simulator = Simulator(hanging(), cpu)
    held = np.arange(SIDE)
    simulator.pull(held, np.full(SIDE, 0.9), simulator.positions()[0][held])
    frames(simulator, 3)
    simulator.pull([], [], np.zeros((0, 3)))
    before = speed(simulator)
    frames(simulator, 1)
    gained = speed(simulator) - before
    assert gained == pytest.approx(-9.81 / 24, rel=1e-4)


def test_a_new_pull_takes_the_place_of_the_last():
    simulator, once = Simulator(hanging(), cpu), Simulator(hanging(), cpu)
    place = simulator.positions()[0]
    simulator.pull([MIDDLE], [0.9], place[[MIDDLE]] + 1.0)
    for one in (simulator, once):
        one.pull([CORNER], [0.5], place[[CORNER]])
    np.testing.assert_array_equal(frames(simulator), frames(once))


def test_pinned_vertices_stay_with_their_pins():
    vertices = hanging().cloths[0].positions
    held = np.array([CORNER, MIDDLE], np.int32)
    scene = hanging(Pins(held, vertices[held][None], np.float32([1.0, 0.5])))
    pulled, alone = Simulator(scene, cpu), Simulator(scene, cpu)
    pulled.pull(held, [0.9, 0.9], vertices[held] + 1.0)
    np.testing.assert_array_equal(frames(pulled, 2), frames(alone, 2))


def test_halved_steps_are_pulled_as_whole_ones():
    simulator = Simulator(hanging(), cpu)
    simulator._solver_of(1)
    simulator.pull([CORNER], [0.9], [[0.0, 0.0, 1.0]])
    for halvings in (1, 2):  # one that was there before, one that was not
        solver = simulator._solver_of(halvings)
        np.testing.assert_array_equal(solver.elastic.pin_stiffness, simulator.solver.elastic.pin_stiffness)
        simulator._target(1.0, solver)
        np.testing.assert_allclose(solver.elastic.pin_target[CORNER, :3], [0.0, 0.0, 1.0] - simulator.space.centre)


def test_a_pull_of_weight_zero_is_none():
    simulator, alone = Simulator(hanging(), cpu), Simulator(hanging(), cpu)
    simulator.pull([CORNER], [0.0], [[5.0, 5.0, 5.0]])
    np.testing.assert_allclose(frames(simulator, 2), frames(alone, 2), atol=1e-6)

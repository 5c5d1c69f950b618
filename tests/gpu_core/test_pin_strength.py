# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins whose strength has keys: they let go, and hold again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import check_frame
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
FRAMES, RELEASE = 14, 6  #: the range begins at 1; the frame of the key
GRAVITY = 9.81


def cape(strength: list[float], moving: float = 0.0, **choices) -> Scene:
    """A sheet of 20 cm in vacuum that hangs by two hard pins, which move along y at a speed, m/s."""
    flat, triangles = sheet(7, 0.2)
    upright = flat[:, [0, 2, 1]]
    held = np.int32([6, 48])
    way = np.arange(FRAMES)[:, None, None] / 24.0 * moving * np.array([0.0, 1.0, 0.0])
    cloth = Cloth(
        "Cape", triangles, upright, upright, Material(air_drag=0.0), pins=Pins(held, upright[held] + way),
        keys={"pin_strength": np.array(strength)}, **choices,
    )  # fmt: skip
    return Scene((cloth,), (), Settings(1, FRAMES))


def frames_of(scene: Scene, simulator: Simulator | None = None) -> np.ndarray:
    simulator = simulator or Simulator(scene, cpu)
    found = [simulator.positions()[0]]
    while simulator.frame < FRAMES:
        simulator.advance_frame()
        found.append(simulator.positions()[0])
        assert check_frame(scene, simulator.frame, [found[-1].astype(np.float32)]) == []
    return np.array(found)


LET_GO = [1.0] * (RELEASE - 1) + [0.0]


def test_what_is_let_go_falls_as_it_must_and_not_before_its_frame():
    held, found = frames_of(cape([1.0])), frames_of(cape(LET_GO))
    assert np.array_equal(found[: RELEASE - 1], held[: RELEASE - 1])
    height = found[:, :, 2].mean(axis=1)
    rate = np.diff(height[RELEASE:], 2) * 24.0**2  # m/s², with nothing to hold it
    assert rate == pytest.approx(-GRAVITY, rel=0.02)


def test_what_is_let_go_keeps_its_velocity():
    found = frames_of(cape(LET_GO, moving=0.5))
    (cloth,) = cape(LET_GO).cloths
    weight = np.bincount(cloth.triangles.ravel())  # the triangles are of one size
    speed = np.diff(found[RELEASE:, :, 1] @ weight / weight.sum()) * 24.0
    assert (speed > 0.25).all()
    assert speed == pytest.approx(speed[0], rel=1e-3)  # in vacuum it stays


def test_a_pin_that_holds_again_goes_to_its_place():
    again = RELEASE + 3
    found = frames_of(cape([*LET_GO, *[0.0] * (again - RELEASE - 1), 1.0]))
    (cloth,) = cape([1.0]).cloths
    assert np.abs(found[again - 2][cloth.pins.vertices] - cloth.pins.targets[0]).max() > 0.02
    assert np.float32(found[-1][cloth.pins.vertices]) == pytest.approx(np.float32(cloth.pins.targets[0]), abs=1e-6)


def test_a_simulation_resumed_between_two_keys_goes_on_with_the_same_bits():
    scene = cape([*LET_GO, 0.0, 0.4, 0.4, 1.0])
    expected = frames_of(scene)
    for stop in (RELEASE - 1, RELEASE, RELEASE + 2, RELEASE + 4):
        first = Simulator(scene, cpu)
        while first.frame < stop:
            first.advance_frame()
        resumed = Simulator(scene, cpu)
        resumed.restore(first.state())
        assert np.array_equal(frames_of(scene, resumed), expected[stop - 1 :])


def test_a_strength_that_does_not_change_is_the_weight_of_soft_pins():
    whole = cape([1.0])
    (cloth,) = whole.cloths
    soft = replace(cloth, keys={}, pins=replace(cloth.pins, weights=np.float32([0.25, 0.25])))
    weak = replace(cloth, keys={}, pin_strength=0.25)
    one, other = (frames_of(replace(whole, cloths=(item,))) for item in (soft, weak))
    assert np.array_equal(one, other)


def test_where_pins_held_whole_faces_what_the_cloth_has_taken_on_stays_with_its_rows():
    """Rows of bending that three pins hold are no others when they let go: creases and yarns are of these rows."""
    scene = cape(LET_GO)
    (cloth,) = scene.cloths
    held = np.flatnonzero(cloth.positions[:, 2] > 0.12).astype(np.int32)
    fabric = replace(cloth.material, bend_yield=5.0, bend_friction=5e-4, stretch_yield=1e-3)
    waves = 0.5 * np.sin(80.0 * cloth.positions[:, 2:]) * [0.0, 1.0, 0.0]  # m/s
    cloth = replace(cloth, material=fabric, pins=Pins(held, cloth.positions[held][None]), velocities=waves)
    simulator = Simulator(replace(scene, cloths=(cloth,)), cpu)
    states = []
    for _ in range(FRAMES - 1):
        simulator.advance_frame()
        states.append(simulator.state())
    before, after = (states[frame - 2]["creases"] for frame in (RELEASE - 1, RELEASE))
    assert before.shape == after.shape
    creased = np.linalg.norm(before, axis=1) > 0.1 * np.linalg.norm(before, axis=1).max()
    assert np.linalg.norm(before, axis=1).max() > 0.0
    assert np.linalg.norm(after[creased] - before[creased]) < 0.5 * np.linalg.norm(before[creased])

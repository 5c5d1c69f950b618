# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping in physical units against closed forms: power, damping ratio of a mode, decay of a velocity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.scene.shape import Shape
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.gpu_core.solvers.parameters import preset
from taffeta.tests.gpu_core.small_scene import globe, sheet

cpu = select("cpu")
STEP = 1e-3
YOUNG, SHEAR = 100.0, 20.0
PLAIN = Material(
    stretch_warp=YOUNG, stretch_weft=YOUNG, shear=SHEAR, softening=1.0, bend=1e-3, strain_limit=0.0, air_drag=0.0
)


def damping_force(cloth: Cloth, before, now) -> np.ndarray:
    """(N, 3) at `now` of a step that began at `before`, what damping adds; N."""
    found = []
    for material in (cloth.material, replace(cloth.material, stretch_damping=0.0, shear_damping=0.0, bend_damping=0.0)):
        assembly = assemble((replace(cloth, material=material),), STEP)
        elastic = Elastic(cpu, assembly, STEP, (0, 0, 0), ElasticityChoices())
        system = NewtonStep(cpu, assembly, 1e-5, 10, multilevel=False, growth=2.0)
        start, at, nothing = vectors(before), vectors(now), np.zeros((len(now), 4), np.float32)
        others = {name: nothing.copy() for name in ("displacement", "inertial", "guess", "z")}
        elastic.inertia_target(start, nothing, nothing, np.ones(len(now), np.float32), False, **others)
        elastic.bending.turn(at)
        cpu.sequence(elastic.residual_launches(at, at, system))()
        found.append(system.residual[:, :3].astype(np.float64))
    return found[0] - found[1]


@pytest.mark.parametrize(
    ("times", "motion", "modulus"),
    [
        ({"stretch_damping": 0.1}, [[1e-3, 0], [0, 0]], 0.1 * YOUNG),
        ({"stretch_damping": 0.1}, [[0, 0], [0, 1e-3]], 0.1 * YOUNG),
        ({"stretch_damping": 0.1}, [[0, 1e-3], [0, 0]], 0.0),
        ({"shear_damping": 0.1}, [[0, 1e-3], [0, 0]], 0.1 * SHEAR),
        ({"shear_damping": 0.1}, [[1e-3, 0], [0, 0]], 0.0),
        ({"shear_damping": 0.2, "stretch_damping": 0.1}, [[0, 1e-3], [0, 0]], 0.2 * SHEAR),
    ],
)
def test_the_power_is_time_constant_times_modulus_times_the_rate_squared(times, motion, modulus):
    points, triangles = sheet(5, 0.2)
    cloth = Cloth("Sheet", triangles, points, points, replace(PLAIN, **times))
    way = np.zeros_like(points)
    way[:, :2] = points[:, :2] @ np.transpose(motion)
    power = (damping_force(cloth, points, points + way) * way).sum() / STEP
    rate = 1e-3 / STEP
    scale = 0.1 * (YOUNG + SHEAR) * rate**2 * 0.2**2
    assert power == pytest.approx(-modulus * rate**2 * 0.2**2, rel=0.01, abs=5e-3 * scale)


def test_bending_loses_its_time_constant_times_rigidity_times_the_rate_squared():
    points, triangles = sheet(21, 0.2)
    cloth = Cloth("Sheet", triangles, points, points, replace(PLAIN, bend_damping=0.1))
    way = np.zeros_like(points)
    way[:, 2] = 0.5 * 0.02 * points[:, 0] ** 2
    power = (damping_force(cloth, points, points + way) * way).sum() / STEP
    assert power == pytest.approx(-0.1 * 1e-3 * (0.02 / STEP) ** 2 * 0.2**2, rel=0.06)


def test_what_only_turns_is_not_damped():
    points, triangles = globe(0.1, 2)
    strained = points * [1.1, 0.95, 1.0]
    times = {"stretch_damping": 0.1, "shear_damping": 0.1, "bend_damping": 0.1}
    cloth = Cloth("Globe", triangles, points, points, replace(PLAIN, **times))
    angle = 0.3
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    stretched = np.abs(damping_force(cloth, strained, 1.01 * strained)).max()
    assert np.abs(damping_force(cloth, strained, strained @ turn.T + [0.0, 0.1, 0.0])).max() < 1e-3 * stretched


def swings(cloth: Cloth, coordinate, steps: int, rate: float, method: str = "default") -> np.ndarray:
    """(steps + 1,) what the coordinate says of the positions after each step."""
    settings = Settings(1, steps + 1, fps=rate, step_rate=rate, gravity=(0.0, 0.0, 0.0), tolerance=2e-3, backend="cpu")
    simulator = Simulator(Scene((cloth,), (), settings), cpu, preset(method))
    found = [coordinate(cloth.positions)]
    for _ in range(steps):
        simulator.advance_frame()
        found.append(coordinate(simulator.positions()[0]))
    return np.array(found)


def damped_swing(swing: np.ndarray, h: float) -> tuple[float, float]:
    """(ω h, loss of amplitude a step as a logarithm) of q₂ = 2c q₁ − r² q₀, by least squares."""
    (two_c, minus_r2), *_ = np.linalg.lstsq(np.column_stack([swing[1:-1], swing[:-2]]), swing[2:], rcond=None)
    r = np.sqrt(-minus_r2)
    return float(np.arccos(two_c / (2.0 * r))), -float(np.log(r))


def ratio_of_damping(cloth: Cloth, name: str, time: float, coordinate, steps: int, rate: float) -> tuple[float, float]:
    """(the mode's damping ratio beyond what the steps themselves damp, τω/2)"""
    h = 1.0 / rate
    turn, lost = damped_swing(swings(cloth, coordinate, steps, rate), h)
    # Of implicit Euler (1 + a) λ² − 2λ + 1 = 0 with a = h²ω²: turn = atan √a.
    omega = np.tan(turn) / h
    damped = replace(cloth, material=replace(cloth.material, **{name: time}))
    _, more = damped_swing(swings(damped, coordinate, steps, rate), h)
    # With damping (1 + a + b) λ² − (2 + b) λ + 1 = 0, b = hτω²: the loss is ½ ln(1 + a + b).
    extra = np.exp(2.0 * more) - np.exp(2.0 * lost)
    return extra / (2.0 * h * omega), 0.5 * time * omega


@pytest.mark.parametrize("time", [2e-3, 5e-3])
def test_a_mode_of_stretch_has_the_damping_ratio_of_its_time_constant(time):
    """A globe that breathes: its sheet is stretched alike in every direction."""
    points, triangles = globe(0.1, 2)
    law = replace(PLAIN, shear=0.5 * YOUNG, density=0.2, bend=1e-7)
    cloth = Cloth("Globe", triangles, points, 1.01 * points, law)
    found, expected = ratio_of_damping(
        cloth, "stretch_damping", time, lambda x: np.linalg.norm(x, axis=1).mean() - 0.1, 60, 2000.0
    )
    assert found == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("time", [1e-2, 3e-2])
def test_a_mode_of_bending_has_the_damping_ratio_of_its_time_constant(time):
    """A strip held at one end, in its first mode."""
    points, triangles = sheet(11, 0.2)
    held = np.flatnonzero(points[:, 0] < 0.021).astype(np.int32)
    s = np.clip((points[:, 0] - 0.02) / 0.18, 0.0, 1.0)
    start = points + np.outer(1e-3 * (s**2 * (6 - 4 * s + s**2) / 3.0), [0, 0, 1.0])
    law = replace(PLAIN, shear=0.5 * YOUNG, density=0.2, bend=1e-3)
    cloth = Cloth("Strip", triangles, points, start, law, pins=Pins(held, points[held][None]))
    tip = points[:, 0] > 0.199
    found, expected = ratio_of_damping(cloth, "bend_damping", time, lambda x: x[tip, 2].mean(), 90, 100.0)
    assert found == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("method", ["default", "subspace"])
def test_velocity_damping_is_an_exponential_whatever_the_step(method):
    points, triangles = sheet(5, 0.2)
    speed = np.tile([0.4, 0.1, -0.2], (len(points), 1))
    for rate in (24.0, 96.0):
        cloth = Cloth("Sheet", triangles, points, points, replace(PLAIN, velocity_damping=2.0), velocities=speed)
        settings = Settings(1, 25, step_rate=rate, gravity=(0.0, 0.0, 0.0), backend="cpu")
        simulator = Simulator(Scene((cloth,), (), settings), cpu, preset(method))
        for _ in range(24):
            simulator.advance_frame()
        velocity = simulator.state()["velocity"][:, :3]
        assert velocity == pytest.approx(np.exp(-2.0) * speed, rel=1e-4)


def test_internal_damping_leaves_a_free_cloths_momentum_alone():
    points, triangles = sheet(7, 0.2)
    speed = np.random.default_rng(2).normal(size=points.shape) * 0.1 + [0.3, 0.0, 0.1]
    times = {"stretch_damping": 0.02, "shear_damping": 0.02, "bend_damping": 0.02}
    cloth = Cloth("Sheet", triangles, points, points, replace(PLAIN, **times), velocities=speed)
    scene = Scene((cloth,), (), Settings(1, 7, gravity=(0.0, 0.0, 0.0), backend="cpu"))
    simulator = Simulator(scene, cpu)
    mass = simulator.solver.assembly.mass[:, None]
    for _ in range(6):
        assert simulator.advance_frame().heated_steps == 0
    momentum = (mass * simulator.state()["velocity"][:, :3]).sum(axis=0)
    assert momentum == pytest.approx((mass * speed).sum(axis=0), rel=1e-4, abs=1e-6)


def test_a_damped_cloth_hangs_as_one_that_is_not():
    """Damping is of rates: it moves no state of rest."""
    points, triangles = sheet(6, 0.2)
    held = np.flatnonzero(points[:, 0] < 1e-9).astype(np.int32)
    found = []
    for times in ({}, {"stretch_damping": 0.01, "shear_damping": 0.01, "bend_damping": 0.01}):
        cloth = Cloth("Sheet", triangles, points, points, replace(PLAIN, **times, velocity_damping=3.0))
        cloth = replace(cloth, pins=Pins(held, points[held][None]), shape=Shape())
        simulator = Simulator(Scene((cloth,), (), Settings(1, 121, step_rate=48.0, backend="cpu")), cpu)
        for _ in range(120):
            simulator.advance_frame()
        found.append(simulator.positions()[0])
    assert found[0] == pytest.approx(found[1], abs=1.5e-3)


def test_a_time_constant_below_zero_is_refused():
    with pytest.raises(SceneError, match="Set stretch_damping to 0 or more"):
        replace(PLAIN, stretch_damping=-1.0).validate("Shirt")

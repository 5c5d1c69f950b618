# SPDX-License-Identifier: GPL-3.0-or-later
"""Yarns that rub when cloth bends: the loop that Kawabata's tester draws, and what it does to a cloth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.benchmarks.physics import yarns
from taffeta.benchmarks.physics.result import DEFAULT
from taffeta.benchmarks.strips import strip
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.bending import RUBBING
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.fabrics import FABRICS, RESIDUAL_CURVATURE
from taffeta.gpu_core.scene.scene import Cloth, Material, Scene, SceneError, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.elastic import Elastic

cpu = select("cpu")
D, FRICTION = 2.0e-5, 8.0e-4  #: N·m, N: a denim
LAW = Material(bend=D, bend_friction=FRICTION, strain_limit=0.0)


class Sample:
    """A sheet that is bent to cylinders, and the moment it resists with."""

    def __init__(self, pattern, degrees, material=LAW):
        self.flat, triangles, _ = strip(pattern, 0.0 if pattern == "delaunay" else degrees, 0.1, 0.1, 0.005)
        self.across = np.radians(degrees)
        cloth = Cloth("Sample", triangles, self.flat, self.flat, material)
        assembly = assemble((cloth,), 0.01)
        self.bending = Elastic(cpu, assembly, 0.01, (0.0, 0.0, 0.0), ElasticityChoices()).bending
        self.start, self.triangles = assembly.bending.plate_start, triangles
        self.bending.resume(self.bending.memory(vectors(self.flat)), vectors(self.flat))
        middle = self.flat[triangles].mean(axis=1)[:, :2] - [0.05, 0.05]
        self.inner = np.flatnonzero(np.abs(middle).max(axis=1) < 0.03)

    def bent(self, curvature):
        """(N, 3): a parabola, small enough to be a cylinder."""
        away = (self.flat[:, :2] - 0.05) @ [np.cos(self.across), np.sin(self.across)]
        return np.column_stack([self.flat[:, :2], 0.5 * curvature * away**2])

    def moment(self, x):
        """(T,) per width at positions x (N, 3), of each triangle, N."""
        self.bending.turn(vectors(x))
        cpu.sequence(self.bending.force_launches(vectors(x)))()
        square = (self.bending.force**2).sum(axis=1)
        return np.sqrt(np.add.reduceat(square, self.start[:-1]))

    def bend(self, curvatures):
        for curvature in curvatures:
            memory = self.bending.remember(vectors(self.bent(curvature)), True)
            self.bending.resume(memory, vectors(self.bent(curvature)))
            self.slid = memory["slid"]
        return self.moment(self.bent(curvatures[-1]))[self.inner]


DIRECTIONS = [("one diagonal", 0.0), ("one diagonal", 30.0), ("one diagonal", 45.0), ("delaunay", 20.0)]
FAR, STEPS = 0.5, 40  #: 1/m: flat enough; the friction of these tests is as much smaller
SMALL = replace(LAW, bend_friction=0.1 * FAR * D)  # slides from a fortieth of the way on


@pytest.mark.parametrize(("pattern", "degrees"), DIRECTIONS)
def test_the_loop_is_as_high_as_the_friction_and_as_steep_as_d(pattern, degrees):
    """Bent and bent back: Dκ + M on the way there, Dκ − M on the way back, M where it lies flat again (2HB of KES)."""
    sample, most = Sample(pattern, degrees, SMALL), SMALL.bend_friction
    assert sample.bend(np.linspace(0.0, 0.5 * FAR, STEPS)) == pytest.approx(0.5 * FAR * D + most, rel=0.02)
    assert sample.bend(np.linspace(0.5 * FAR, FAR, STEPS)) == pytest.approx(FAR * D + most, rel=0.02)
    assert sample.bend(np.linspace(FAR, 0.5 * FAR, STEPS)) == pytest.approx(0.5 * FAR * D - most, rel=0.02)
    assert sample.bend(np.linspace(0.5 * FAR, 0.0, STEPS)) == pytest.approx(most, rel=0.05)


def test_yarns_hold_before_they_slide():
    sample, little = Sample("one diagonal", 30.0, SMALL), 0.9 * SMALL.bend_friction / (RUBBING * D)
    assert sample.bend([0.0, little]) == pytest.approx((1.0 + RUBBING) * D * little, rel=0.02)
    assert sample.bend([little, 0.0]).max() < 0.03 * SMALL.bend_friction, "and forget it, but for rounding"


def test_what_slid_turns_with_the_cloth():
    sample = Sample("delaunay", 20.0, SMALL)
    before = sample.bend(np.linspace(0.0, FAR, STEPS))
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    turned = sample.bent(FAR) @ (turn * np.sign(np.linalg.det(turn))).T
    assert sample.moment(turned)[sample.inner] == pytest.approx(before, rel=0.02)
    slid = sample.slid
    after = sample.bending.remember(vectors(turned), True)["slid"]
    assert np.abs(after - slid).max() < 1e-3 * slid.max()


def test_cloth_starts_without_a_moment_of_its_yarns():
    sample = Sample("one diagonal", 0.0)
    sample.bending.resume(sample.bending.memory(vectors(sample.bent(FAR))), vectors(sample.bent(FAR)))
    assert sample.moment(sample.bent(FAR))[sample.inner] == pytest.approx(D * FAR, rel=0.02)


def rolled(friction, seconds=1.0):
    """An arc that is let go, without gravity."""
    return Scene((yarns.strip(friction),), (), Settings(1, 1 + round(24 * seconds), gravity=(0.0, 0.0, 0.0)))


def ended(scene):
    simulator = Simulator(scene, cpu)
    reports = [simulator.advance_frame() for _ in range(scene.settings.frames - 1)]
    return simulator.positions()[0], reports


def test_a_strip_let_go_keeps_the_bend_that_its_friction_bears():
    found = list(yarns.let_go(DEFAULT))
    assert len(found) == 8
    assert [result for result in found if not result.holds] == []


def test_yarns_that_rub_give_free_cloth_no_energy():
    _, reports = ended(rolled(FRICTION))
    assert sum(report.heated_steps + report.unfinished_steps for report in reports) == 0


def test_a_state_carries_what_slid():
    scene = rolled(FRICTION, 0.5)
    whole, _ = ended(scene)
    first = Simulator(scene, cpu)
    for _ in range(5):
        first.advance_frame()
    state = first.state()
    assert np.abs(state["slid"]).max() > 0.0
    second = Simulator(scene, cpu)
    second.restore(state)
    for _ in range(scene.settings.frames - 6):
        second.advance_frame()
    assert np.array_equal(second.positions()[0], whole)


def test_without_friction_there_is_nothing_to_carry():
    assert Simulator(rolled(0.0), cpu).state()["slid"].shape == (0, 4)


def test_cloths_that_rub_and_cloths_that_do_not_share_a_scene():
    """The one that does not moves as it does alone."""
    one, other = rolled(0.0, 0.25), rolled(FRICTION, 0.25)
    far = replace(other.cloths[0], name="Other", positions=other.cloths[0].positions + [0.0, 0.5, 0.0])
    both = Simulator(replace(one, cloths=(one.cloths[0], far)), cpu)
    alone = Simulator(one, cpu)
    for _ in range(6):
        both.advance_frame(), alone.advance_frame()
    assert np.abs(both.positions()[0] - alone.positions()[0]).max() < 5e-4
    assert not np.allclose(both.positions()[1] - both.positions()[0], [0.0, 0.5, 0.0], atol=1e-3)


def test_a_friction_below_zero_is_refused():
    with pytest.raises(SceneError, match="bend_friction is -1"):
        Material(bend_friction=-1.0).validate("Shirt")


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric.identifier)
def test_presets_of_yarns_keep_the_curvature_that_denim_was_measured_to_keep(fabric):
    wanted = 0.0 if fabric.identifier in ("LEATHER", "LATEX", "FELT") else RESIDUAL_CURVATURE
    assert fabric.material.bend_friction == pytest.approx(wanted * fabric.material.bend)
    if fabric.identifier == "DENIM":
        assert 0.5e-3 <= fabric.bend_friction <= 1.05e-3, "HB of six denims"

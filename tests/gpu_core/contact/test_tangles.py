# SPDX-License-Identifier: GPL-3.0-or-later
"""What is released is told apart from what the contact let slip; and lengths that are built in do not show in a small
scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import NdbParameters
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")


def free_sheet(name, side, size, at):
    vertices, triangles = sheet(side, size)
    return Cloth(name, triangles, vertices, vertices - [size / 2, size / 2, 0] + at, Material(air_drag=0.0))


def squeezed(*more, self_collision=True):
    """A sheet between two plates that close until they overlap; two more sheets a metre off, one above the other."""
    plate, faces = sheet(7, 0.3)
    plate[:, 2] = np.random.default_rng(3).uniform(-0.003, 0.003, len(plate))  # so that plates and sheet cross in lines
    gap = np.linspace(0.016, -0.004, 9)

    def plate_of(name, side):
        path = plate[None, :, :] * [1, side, 1] - [0.15, side * 0.15, 0] + side * gap[:, None, None] * [[[0, 0, 1.0]]]
        return Collider(name, faces, path.astype(np.float32))

    cloths = (free_sheet("Veil", 6, 0.2, [0, 0, 0]), *more)
    settings = Settings(1, 9, gravity=(0, 0, 0))
    cloths = tuple(replace(cloth, self_collision=self_collision) for cloth in cloths)
    return Scene(cloths, (plate_of("Upper", 1), plate_of("Lower", -1)), settings)


def carry_through(simulator, part):
    """What no solver may do: cloth vertices `part` go 2 cm down, through whatever is there."""
    simulator._state.x[part, 2] -= 0.02


def slip_with_the_release(simulator, part):
    """In the step whose release leaves alone all that crosses then."""
    release = simulator.crossings.release

    def slipping(before, x, late):
        carry_through(simulator, part)
        simulator.crossings.release = release
        return release(before, x, late)

    simulator.crossings.release = slipping


def slip_in_a_later_frame(simulator, part):
    """In a frame at whose end what still crosses is left alone."""
    step, released = simulator._advance, []

    def slipping(report, frame, *arguments):
        step(report, frame, *arguments)
        if simulator.frame == 8 and not released:
            carry_through(simulator, part)
            released.append(frame)

    simulator._advance = slipping


@pytest.mark.parametrize(("slip", "frame"), [(slip_with_the_release, 7), (slip_in_a_later_frame, 9)])
def test_a_crossing_that_no_release_explains_is_a_fault_that_names_its_objects(slip, frame):
    """Pairs that cross after a release are left alone: no other crossing may hide among them."""
    above, below = (free_sheet(name, 4, 0.1, [1, 0.003, z]) for name, z in (("Above", 0.02), ("Below", 0.0)))
    above.positions[:, 2] += 0.3 * (above.positions[:, 0] - 1.0)
    simulator = Simulator(squeezed(above, below), cpu)
    slip(simulator, slice(36, 52))
    reports = [simulator.advance_frame() for _ in range(8)]
    assert simulator.space.surface.object[36:52].tolist() == [1] * 16
    assert min(report.frame for report in reports if report.late_steps) == 7
    faults = [(report.frame, text) for report in reports for text in report.faults]
    assert [at for at, _ in faults] == [frame]
    assert faults[0][1].startswith("Above and Below, in ")


@pytest.mark.parametrize("self_collision", [True, False])
def test_what_a_release_lets_cross_is_no_fault(self_collision):
    simulator = Simulator(squeezed(self_collision=self_collision), cpu)
    reports = [simulator.advance_frame() for _ in range(8)]
    assert sum(report.tangled for report in reports) > 0
    assert [text for report in reports for text in report.faults] == []


def scaled_drape(scale):
    """A sheet falls on a ball. Every length goes with `scale`, g, speeds, tolerance, stiffnesses as they must."""
    vertices, triangles = sheet(12, 0.024 * scale)
    base = Material(air_drag=0.0)
    material = replace(
        base, stretch_warp=base.stretch_warp * scale**2, stretch_weft=base.stretch_weft * scale**2,
        shear=base.shear * scale**2, bend=1e-2 * base.bend * scale**4,
    )  # fmt: skip
    start = vertices + scale * np.array([-0.012, -0.0115, 0.0085])
    cloth = Cloth("Sheet", triangles, vertices, start, material, thickness=2e-4 * scale)
    surface, faces = ball(0.0078125 * scale)
    body = Collider("Ball", faces, surface[None].astype(np.float32), thickness=2e-4 * scale)
    tolerance = NdbParameters().convergence.finest_tolerance * scale  # below it nothing is judged in m/s
    settings = Settings(1, 9, gravity=(0, 0, -0.5 * scale), tolerance=tolerance)
    return Scene((cloth,), (body,), settings)


def test_a_tiny_scene_moves_as_a_large_one():
    """By a power of two, so that float32 rounds alike. With d̂ in metres the small one would hover."""
    large, small = (Simulator(scaled_drape(scale), cpu) for scale in (1.0, 1.0 / 16.0))
    for _ in range(8):
        one, other = large.advance_frame(), small.advance_frame()
    assert one.contacts == other.contacts > 0
    assert other.smallest_gap == pytest.approx(one.smallest_gap / 16.0, rel=1e-3)
    assert 16.0 * small.positions()[0] == pytest.approx(large.positions()[0], abs=1e-5)

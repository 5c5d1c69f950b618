# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth between bodies that leave it less room than it is thick gives way in its thickness, not in its length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.scene.scene import Cloth, Scene, Settings
from taffeta.gpu_core.scene_space import SceneSpace
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import NdbParameters
from taffeta.gpu_core.solvers.registry import solver_of
from taffeta.tests.gpu_core.small_scene import sheet
from taffeta.tests.gpu_core.test_enclosed import body, box
from taffeta.tests.gpu_core.test_start import closed

cpu = select("cpu")
SETTINGS = Settings(frame_end=8, start="resolve")


def set_table(room, cells=20):
    """A tablecloth half way between a table and a plate that leave it so much room, m."""
    points, faces = sheet(cells, 1.2)
    points = points - [0.6, 0.6, -0.5 * room - 1.0]
    table, quads = box(0.5, cells=1)
    plate, around = closed(0.1, 1.0 + room, 1.02 + room, around=32, along=3)
    bodies = body(table, quads, "Table"), body(plate + [0.1 - 1.2 / 38, 0.0, 0.0], around, "Plate")
    return Scene((Cloth("Cloth", faces, points, points),), bodies, SETTINGS)


@pytest.mark.parametrize("room", [3e-3, 1e-3, 3e-4])
def test_a_plate_on_a_tablecloth_neither_stretches_it_nor_stalls(room):
    scene = set_table(room)
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    still = np.concatenate([item.positions[0].astype(float) for item in scene.colliders])
    for _ in range(6):
        report = simulator.advance_frame()
        assert (report.unfinished_steps, report.tangled, report.released) == (0, 0, [])
        assert report.largest_stretch < 1.03
        assert check.findings(simulator.frame, np.concatenate([*simulator.positions(), still])) == []
    under = np.linalg.norm(simulator.positions()[0][:, :2] - [0.07, 0.0], axis=1) < 0.06
    height = simulator.positions()[0][under, 2] - 1.0
    assert ((height > 0.0) & (height < room)).all(), "it is still between the two"


@pytest.mark.parametrize("room", [1e-3, 5e-4])
def test_what_bodies_pinch_they_hold(room):
    """A strip hangs out of a clip that leaves it a quarter of its thickness: friction bears its weight. By how much it
    slips at first is chance: the mean of four that begin a micrometre apart."""
    points, faces = sheet(21, 1.0)
    points = points * [0.4, 0.1, 1.0] - [0.0, 0.05, 0.0]
    jaw, quads = box(0.5, cells=2)
    jaw = (jaw - [0.0, 0.0, 0.5]) * [0.15, 0.3, 0.02] + [0.025, 0.0, 0.0]
    jaws = body(jaw - [0, 0, 0.01], quads, "Lower jaw"), body(jaw + [0, 0, 0.01 + room], quads, "Upper jaw")
    held, slips = points[:, 0] < 0.05, []
    for seed in range(4):
        start = points + [0, 0, 0.5 * room] + 1e-6 * np.random.default_rng(seed).normal(size=points.shape)
        scene = Scene((Cloth("Strip", faces, points, start),), jaws, replace(SETTINGS, frame_end=24))
        simulator = Simulator(scene, cpu)
        for _ in range(20):
            report = simulator.advance_frame()
            assert (report.unfinished_steps, report.tangled) == (0, 0)
        slips.append(np.abs((simulator.positions()[0] - start)[held, :2]).max())
        assert simulator.positions()[0][:, 2].min() < -0.15, "it hangs"
    assert np.mean(slips) < 5e-4
    assert np.max(slips) < 1e-3


def shares(scene, way=(0.0, 0.0, 0.0)):
    """(V,) what each vertex keeps, and the pairs with it and without, in a step in which the last body goes a way."""
    solver = solver_of(space := SceneSpace(scene.validate()), cpu, NdbParameters())
    proximity, x = solver.proximity, cpu.array(space.start())
    target = x.copy()
    target[-scene.colliders[-1].positions.shape[1] :, :3] += np.asarray(way, np.float32)
    proximity.begin_step()
    mine = proximity.pairs(x, target)
    kept = np.minimum(proximity._pinched[0].view(np.float32), 1.0)
    again = proximity.pairs(x, target)
    for name in ("offset", "activation"):
        assert np.array_equal(getattr(mine, name), getattr(again, name)), "the whole step long"
    return kept, mine


def test_what_is_kept_is_what_there_is_room_for_between_bodies_that_stand():
    scene = set_table(2e-3)
    kept, pairs = shares(scene)
    cloth = len(scene.cloths[0].positions)
    assert (kept[cloth:] == 1.0).all()
    pinched = np.flatnonzero(kept < 1.0)
    assert len(pinched)
    assert kept[pinched].min() == pytest.approx(2.0 / 2.6, abs=0.02), (
        "2 mm, of twice 1 mm of thickness and 0.3 of reach"
    )
    least = kept[pairs.corner].min(axis=1)
    assert np.allclose(pairs.offset[least < 1.0], 1e-3 * least[least < 1.0], rtol=1e-5)
    comes_on, _ = shares(scene, (0.0, 0.0, -1e-3))
    assert (comes_on == 1.0).all(), "from a body that comes on, cloth has to get away"
    farther, _ = shares(scene, (0.0, 0.0, 4e-3))
    assert (farther == 1.0).all()


def test_cloth_between_a_body_and_cloth_keeps_its_thickness():
    scene = set_table(2e-3)
    cloth = scene.cloths[0]
    over = replace(cloth, name="Over", positions=cloth.positions + [0, 0, 1e-3], rest_positions=cloth.rest_positions)
    kept, _ = shares(Scene((cloth, over), scene.colliders[:1], SETTINGS))
    assert (kept == 1.0).all()

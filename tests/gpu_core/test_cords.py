# SPDX-License-Identifier: GPL-3.0-or-later
"""Cords: edges without a face are threads that weigh, pull, and keep out of cloth."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest
from scipy.optimize import brentq

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.files import job
from taffeta.gpu_core.scene.mesh import unique_edges, with_cords
from taffeta.gpu_core.scene.scene import Cloth, Collider, Cords, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.scene.seams import welded
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")
GRAVITY = 9.81


def with_chain(points, triangles, chain, *, joined=None, **numbers):
    """A sheet and a chain of vertices (C, 3) in one cloth. joined: the sheet's vertex that the chain ends at."""
    places, first = np.concatenate([points, chain]), len(points)
    of_chain = np.arange(first, first + len(chain))
    order = of_chain if joined is None else np.append(of_chain, joined)
    ends = np.column_stack([order[:-1], order[1:]]).astype(np.int32)
    lengths = np.linalg.norm(places[ends[:, 1]] - places[ends[:, 0]], axis=1)
    return Cloth("Cord", triangles, places, places, cords=Cords(ends, lengths), **numbers)


def pinned(cloth, *vertices):
    at = np.array(vertices, np.int32)
    return replace(cloth, pins=Pins(at, cloth.positions[None, at]))


def bake(scene, frames=None):
    """The simulator at the end, the cloth's places at each frame, and all reports."""
    simulator = Simulator(scene, cpu)
    check = SceneCheck(scene)
    places, reports = [simulator.positions()[0]], []
    for _ in range(frames or scene.settings.frames - 1):
        reports.append(simulator.advance_frame())
        assert not reports[-1].faults
        assert check.findings(simulator.frame, everything(scene, simulator)) == []
        places.append(simulator.positions()[0])
    return simulator, np.array(places), reports


def everything(scene, simulator):
    return np.concatenate([*simulator.positions(), *(body.positions[0].astype(float) for body in scene.colliders)])


def test_a_weight_stretches_its_cord_by_weight_over_stiffness():
    flat, triangles = sheet(3, 0.1)
    flat = flat[:, [0, 2, 1]] - [0.05, 0.0, 0.5]
    middle = 5  # of the upper border
    chain = np.column_stack([np.zeros(10), np.zeros(10), np.linspace(0.0, -0.36, 10)])
    cloth = with_chain(
        flat, triangles, chain, joined=middle, material=Material(density=5.0, air_drag=0.0, velocity_damping=8.0),
        cord_stiffness=20.0, cord_density=0.01,
    )  # fmt: skip
    scene = Scene((pinned(cloth, len(flat)),), (), Settings(frame_end=60, step_rate=96))
    _, places, _ = bake(scene)
    ends, lengths = cloth.cords.ends, cloth.cords.lengths
    last = places[-1]
    stretched = np.linalg.norm(last[ends[:, 1]] - last[ends[:, 0]], axis=1)
    below = 5.0 * 0.01 + np.cumsum((0.01 * lengths)[::-1])[::-1] - 0.5 * 0.01 * lengths  # kg on each cord's middle
    assert (stretched / lengths - 1.0) == pytest.approx(below * GRAVITY / 20.0, rel=0.01)


def test_a_chain_hangs_as_a_catenary():
    flat, triangles = sheet(3, 0.05)
    count = 41
    chain = np.column_stack([np.linspace(0.0, 0.8, count), np.zeros(count), np.zeros(count)])
    cloth = with_chain(flat + [0, 5, 0], triangles, chain, cord_stiffness=2000.0)
    cloth = replace(cloth, cords=Cords(cloth.cords.ends, cloth.cords.lengths * 1.25))
    cloth = replace(cloth, material=Material(velocity_damping=6.0))
    first = len(flat)
    cloth = pinned(cloth, *range(first), first, first + count - 1)
    _, places, reports = bake(Scene((cloth,), (), Settings(frame_end=48, step_rate=96)))
    scale = brentq(lambda a: 2.0 * a * np.sinh(0.4 / a) - 1.0, 0.05, 5.0)
    sag = scale * (np.cosh(0.4 / scale) - 1.0)
    assert -places[-1][first:, 2].min() == pytest.approx(sag, rel=0.01)
    assert sum(report.unfinished_steps for report in reports) == 0


def scene_of_contact(frames=24):
    """A chain that falls across a hammock and a ball beside it."""
    flat, triangles = sheet(9, 0.3)
    chain = np.column_stack([np.linspace(-0.1, 0.6, 36), np.full(36, 0.13), np.full(36, 0.03)])
    cloth = pinned(with_chain(flat, triangles, chain, thickness=2e-3), 0, 8, 72, 80)
    body, faces = ball(0.06)
    obstacle = Collider("Ball", faces, (body + [0.5, 0.12, -0.05])[None].astype(np.float32))
    return Scene((cloth,), (obstacle,), Settings(frame_end=frames, step_rate=96))


def test_a_cord_passes_neither_cloth_nor_bodies():
    scene = scene_of_contact()
    _, places, _ = bake(scene)
    cloth, (body,) = scene.cloths[0], scene.colliders
    faces = np.concatenate([cloth.triangles, body.triangles + len(cloth.positions)])
    edges = with_cords(unique_edges(faces), cloth.cords.ends)
    for frame in places:
        vertices = np.concatenate([frame, body.positions[0].astype(float)])
        assert not ipctk.has_intersections(ipctk.CollisionMesh(vertices, edges, faces), vertices)
    lying = places[-1][len(sheet(9)[0]) :]
    over_cloth = lying[(lying[:, 0] > 0.05) & (lying[:, 0] < 0.25)]
    hammock = places[-1][:81]
    assert len(over_cloth) > 5
    for point in over_cloth:  # it lies on the hammock, not below it
        nearest = hammock[np.argmin(np.linalg.norm(hammock[:, :2] - point[:2], axis=1))]
        assert point[2] > nearest[2] - 0.01


def over_a_ball(count, **settings):
    """A rope of so many vertices, without a single face, 4 cm above a ball that it sticks to."""
    line = np.column_stack([np.linspace(-0.15, 0.15, count), np.zeros(count), np.full(count, 0.12)])
    rope = with_chain(np.zeros((0, 3)), np.zeros((0, 3), np.int32), line, thickness=2e-3)
    body, faces = ball(0.08)
    obstacle = Collider("Ball", faces, body[None].astype(np.float32), friction=1.0)
    return Scene((rope,), (obstacle,), Settings(frame_end=16, **settings))


@pytest.mark.parametrize("count", [25, 27])
def test_a_rope_alone_lies_over_a_ball(count):
    _, places, reports = bake(over_a_ball(count))
    assert np.linalg.norm(places[-1], axis=1).min() > 0.07
    assert places[-1][:, 2].min() < 0.04 < 0.06 < places[-1][count // 2, 2]
    assert max(report.largest_stretch for report in reports) == 0.0  # of faces, of which there are none


@pytest.mark.parametrize(
    ("count", "stiffness", "rate"), [(23, 200.0, 96), (27, 200.0, 96), (40, 2e3, 96), (40, 2e4, 96), (40, 2e4, 192)]
)
def test_a_rope_is_not_thrown_however_stiff_it_is(count, stiffness, rate):
    """Taken whole, increments drew slack cords to a thousand times their length: up to 4600 m/s."""
    scene = over_a_ball(count, step_rate=rate)
    (rope,) = scene.cloths
    _, places, _ = bake(replace(scene, cloths=(replace(rope, cord_stiffness=stiffness),)))
    assert np.linalg.norm(np.diff(places, axis=0), axis=2).max() < 4.0 / 24.0  # it falls at 1.5 m/s
    cords = rope.cords
    lengths = np.linalg.norm(places[:, cords.ends[:, 1]] - places[:, cords.ends[:, 0]], axis=2)
    assert (lengths / cords.lengths).max() < 1.4
    assert np.linalg.norm(places[-1], axis=1).min() > 0.07


def test_the_check_finds_a_cord_through_a_triangle():
    flat, triangles = sheet(3, 0.1)
    cloth = with_chain(flat, triangles, np.array([[0.03, 0.02, -0.05], [0.03, 0.02, 0.05]]))
    scene = Scene((cloth,), (), Settings())
    (found,) = SceneCheck(scene).findings(1, cloth.positions)
    assert found.edge == (9, 10)
    warned = Simulator(scene, cpu).warnings
    assert any("intersects itself at the start" in text for text in warned)


def test_a_cord_is_taken_in_by_keys():
    """Four handles above the corners of a sheet, tied to a ring, draw it to a bag."""
    flat, triangles = sheet(9, 0.2)
    corners, middle = np.array([0, 8, 80, 72]), np.array([0.1, 0.1, 0.1])
    ring = middle + [[0.02 * np.cos(a), 0.02 * np.sin(a), 0.0] for a in np.arange(8) * np.pi / 4 + np.pi / 8]
    places, of_ring = np.concatenate([flat, ring]), 81 + np.arange(8)
    handles = np.column_stack([corners, of_ring[[4, 6, 0, 2]]])
    ends = np.concatenate([np.column_stack([of_ring, np.roll(of_ring, -1)]), handles]).astype(np.int32)
    lengths = np.linalg.norm(places[ends[:, 1]] - places[ends[:, 0]], axis=1)
    keys = {"cord_shrink": np.concatenate([np.zeros(4), np.linspace(0.0, 0.5, 13)])}
    cloth = Cloth("Bag", triangles, places, places, cords=Cords(ends, lengths), cord_stiffness=500.0, keys=keys)
    settings = Settings(frame_end=20, step_rate=96, gravity=(0, 0, 0))
    _, places, _ = bake(Scene((cloth,), (), settings))
    around = np.linalg.norm(places[:, ends[:, 1]] - places[:, ends[:, 0]], axis=2).sum(axis=1)
    assert np.ptp(around[:4]) < 1e-6
    assert around[-1] <= 0.52 * around[0]


def test_cords_survive_a_weld_and_a_job(tmp_path):
    flat, triangles = sheet(3, 0.1)
    cloth = with_chain(flat, triangles, np.array([[0.2, 0, 0], [0.3, 0, 0]]), joined=8)
    cloth = replace(cloth, seams=np.int32([[0, 8], [9, 10]]))
    sewn = welded(cloth, np.array([True, True]), np.zeros(2, bool))
    assert sewn.cloth.cords.ends.tolist() == [[sewn.vertex_of[10], sewn.vertex_of[8]]]
    assert sewn.cloth.cords.lengths == pytest.approx(cloth.cords.lengths[1:])
    scene = Scene((cloth,), (), Settings())
    job.save(scene, tmp_path / "job")
    loaded = job.load(tmp_path / "job").cloths[0]
    assert np.array_equal(loaded.cords.ends, cloth.cords.ends)
    assert np.array_equal(loaded.cords.lengths, cloth.cords.lengths)
    assert job.digest(scene) != job.digest(replace(scene, cloths=(replace(cloth, cord_stiffness=3.0),)))


@pytest.mark.parametrize(
    ("ends", "lengths", "problem"),
    [
        ([[0, 99]], [1.0], "does not exist"), ([[3, 3]], [1.0], "to itself"), ([[0, 1]], [0.0], "no length"),
        ([[0, 1]], [1.0, 1.0], "no length"), ([[0, 1]], [np.nan], "no length"),
    ],
)  # fmt: skip
def test_bad_cords_are_refused_by_name(ends, lengths, problem):
    flat, triangles = sheet(3, 0.1)
    cloth = Cloth("Bag", triangles, flat, flat, cords=Cords(np.int32(ends), np.array(lengths)))
    with pytest.raises(SceneError, match=f"Bag.*{problem}"):
        Scene((cloth,), (), Settings()).validate()

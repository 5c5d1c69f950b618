# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that begins inside a body comes out of it; what is outside, or pinned, stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.scene.nearest import Body, nearest_of_triangles
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.start import freed_of_bodies
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")
SETTINGS = Settings(frame_end=12, step_rate=96, gravity=(0, 0, -9.81), start="resolve")


def tube(radius, height, around=24, along=9):
    angle = np.arange(around) * 2 * np.pi / around
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * radius
    points = np.concatenate([np.column_stack([ring, np.full(around, z)]) for z in np.linspace(0, height, along)])
    a = np.arange(around * (along - 1)).reshape(along - 1, around)
    b = np.roll(a, -1, axis=1)
    faces = np.concatenate([np.stack(t, -1).reshape(-1, 3) for t in ((a, b, b + around), (a, b + around, a + around))])
    return points, faces.astype(np.int32)


def closed(radius, low, high, **options):
    """A trunk: a tube with lids."""
    points, faces = tube(radius, high - low, **options)
    around = options.get("around", 24)
    points = np.concatenate([points + [0, 0, low], [[0, 0, low], [0, 0, high]]])
    rim, top, count = np.arange(around), np.arange(around) + len(points) - 2 - around, len(points)
    lids = [
        np.stack([np.roll(rim, -1), rim, np.full(around, count - 2)], -1),
        np.stack([top, np.roll(top, -1), np.full(around, count - 1)], -1),
    ]
    return points, np.concatenate([faces, *lids]).astype(np.int32)


def shirt_within(depth):
    """A tube of cloth around a trunk, so many metres below its skin."""
    points, faces = tube(0.1 - depth, 0.3, around=36, along=13)
    body, triangles = closed(0.1, -0.1, 0.5, around=40, along=20)
    trunk = Collider("Trunk", triangles, body[None].astype(np.float32))
    return Scene((Cloth("Shirt", faces, points, points, Material()),), (trunk,), SETTINGS)


@pytest.mark.parametrize("depth", [0.001, 0.005, 0.012])
def test_a_garment_that_begins_inside_a_body_is_outside_from_the_first_frame_on(depth):
    scene = shirt_within(depth)
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    assert any("468 vertices begin inside Trunk" in text for text in simulator.warnings)
    body = scene.colliders[0].positions[0].astype(float)
    for _ in range(3):
        assert check.findings(simulator.frame, np.concatenate([*simulator.positions(), body])) == []
        report = simulator.advance_frame()
        assert (report.tangled, report.faults) == (0, [])
    assert np.linalg.norm(simulator.positions()[0][:, :2], axis=1).min() > 0.1


CUBE = (
    np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]),
    np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
        + [[1, 5, 7], [1, 7, 3]],
        np.int32,
    ),
)


def sheet_within(body, size, height=0.0, side=24, **fields):
    points, faces = sheet(side, size)
    points = points - points.mean(axis=0) + [0, 0, height]
    solid = Collider("Body", body[1], body[0][None].astype(np.float32))
    return Scene((Cloth("Sheet", faces, points, points, Material(), **fields),), (solid,), SETTINGS)


@pytest.mark.parametrize(("body", "far"), [(CUBE, 1.0), (ball(1.0), 1.0)], ids=["cube", "ball"])
@pytest.mark.parametrize("size", [1.9, 2.0, 4.0])
def test_a_sheet_in_the_middle_of_a_body_goes_up_as_it_is(body, far, size):
    """Blender adds both at the cursor. Each vertex by itself went to the nearest side: edges of four to eight lengths,
    minutes of untangling, and crossings that stayed."""
    scene = sheet_within(body, size)
    if size < 2.0 and body is CUBE:  # for whom there is room in it, stays
        scene = replace(scene, cloths=(replace(scene.cloths[0], positions=scene.cloths[0].positions + [0.1, 0, 0]),))
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    (text,) = simulator.warnings
    assert "They were brought out, all of the cloth by 1" in text
    moved = simulator.positions()[0] - scene.cloths[0].positions
    assert np.abs(moved - moved[0]).max() < 1e-5
    assert moved[0, 2] == pytest.approx(far, abs=0.05)
    assert check.findings(1, np.concatenate([*simulator.positions(), scene.colliders[0].positions[0]])) == []


def test_what_lies_higher_goes_no_farther_than_it_must_and_down_where_that_is_much_shorter():
    for height, expected in ((0.5, 0.5), (-0.6, -0.4)):
        scene = sheet_within(CUBE, 4.0, height)
        moved = freed_of_bodies(scene)[0].cloths[0].positions - scene.cloths[0].positions
        assert moved[:, 2] == pytest.approx(expected, abs=0.05)


def test_only_what_is_neither_pinned_nor_sewn_goes_as_a_whole():
    pins = Pins(np.array([0]), np.zeros((1, 1, 3), np.float32))
    for fields, goes in (({}, True), ({"pins": pins}, False), ({"seams": np.array([[0, 10]], np.int32)}, False)):
        scene = sheet_within(CUBE, 3.0, side=10, **fields)
        pins.targets[0, 0] = scene.cloths[0].positions[0]
        moved = freed_of_bodies(scene)[0].cloths[0].positions - scene.cloths[0].positions
        assert (np.ptp(moved, axis=0).max() < 0.01) == goes


def test_what_would_lie_in_a_heap_around_a_body_stays_where_it_began():
    """Each vertex of it at the nearest place of the same border: all crosses all, and each look took ten seconds."""
    scene = sheet_within(CUBE, 2.0, side=30, pins=Pins(np.array([0]), np.zeros((1, 1, 3), np.float32)))
    scene.cloths[0].pins.targets[0, 0] = scene.cloths[0].positions[0]
    assert freed_of_bodies(scene) == (scene, [])


def test_a_sheet_with_a_dent_of_a_ball_is_brought_over_it():
    flat, faces = sheet(15, 0.3)
    body, triangles = ball(0.08)
    points = flat + [-0.15, -0.15, 0.07]
    scene = Scene(
        (Cloth("Sheet", faces, points, points),),
        (Collider("Ball", triangles, body[None].astype(np.float32)),),
        SETTINGS,
    )
    found, said = freed_of_bodies(scene)
    assert len(said) == 1
    check = SceneCheck(scene)
    assert check.findings(1, np.concatenate([points, body]))
    assert check.findings(1, np.concatenate([found.cloths[0].positions, body])) == []
    far = np.linalg.norm(points, axis=1) > 0.12
    assert np.array_equal(found.cloths[0].positions[far], points[far])


def test_what_is_outside_stays_to_the_last_bit():
    flat, faces = sheet(9, 0.3)
    floor = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    below = Cloth("Below", faces, flat - [0, 0, 0.01], flat - [0, 0, 0.01])  # an open surface has no inside
    scene = Scene(
        (below,), (Collider("Floor", np.int32([[0, 1, 2], [0, 2, 3]]), floor[None].astype(np.float32)),), SETTINGS
    )
    found, said = freed_of_bodies(scene)
    assert (found is scene, said) == (True, [])


def test_pinned_vertices_stay_where_their_pins_are():
    scene = shirt_within(0.005)
    (cloth,) = scene.cloths
    held = np.int32([0, 5])
    scene = replace(scene, cloths=(replace(cloth, pins=Pins(held, cloth.positions[None, held])),))
    found, _ = freed_of_bodies(scene)
    assert np.array_equal(found.cloths[0].positions[held], cloth.positions[held])


def test_a_body_knows_inside_from_outside_with_holes_and_either_way_round():
    points, faces = closed(0.1, 0.0, 0.3)
    rng = np.random.default_rng(3)
    some = rng.uniform([-0.2, -0.2, -0.1], [0.2, 0.2, 0.4], (400, 3))
    radius, angle = np.linalg.norm(some[:, :2], axis=1), 7.5 * np.pi / 180
    inside = (radius < 0.1 * np.cos(angle)) & (some[:, 2] > 0) & (some[:, 2] < 0.3)
    sure = np.abs(radius - 0.1) > 0.005
    messy = np.where(rng.random(len(faces))[:, None] < 0.3, faces[:, ::-1], faces)
    for own in (faces, faces[:, ::-1], messy):
        assert np.array_equal(Body(points, own).holds(some)[sure], inside[sure])
    without_lid = Body(points, faces[:-24])
    deep = inside & (some[:, 2] < 0.2) & (radius < 0.09)
    assert without_lid.holds(some[deep]).all()


def test_the_nearest_place_of_a_body_is_the_nearest_of_all_its_triangles():
    points, faces = closed(0.1, 0.0, 0.3, around=9, along=3)
    some = np.random.default_rng(4).uniform(-0.3, 0.4, (60, 3))
    found, _ = Body(points, faces).nearest(some)
    every = nearest_of_triangles(some[:, None], points[faces][None])
    least = np.linalg.norm(every - some[:, None], axis=2).min(axis=1)
    assert np.linalg.norm(found - some, axis=1) == pytest.approx(least, rel=1e-9)

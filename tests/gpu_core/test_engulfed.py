# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that closing bodies have taken in is drawn out of them, and is out when they open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.benchmarks.stress.folded import ankles
from taffeta.benchmarks.stress.shapes import sphere
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact.tangles import tangles
from taffeta.gpu_core.engulfed import Engulfed
from taffeta.gpu_core.scene.meetings import Meetings
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Scene, Settings
from taffeta.gpu_core.scene_space import SceneSpace, of_surface
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
RADIUS, THICKNESS = 0.15, 1.0e-3


@pytest.fixture(scope="module")
def around():
    """A ball around the middle of a level sheet: (the scene's space, where all is (V, 3), what is inside)."""
    points, triangles = sheet(15, 0.6)
    points -= points.mean(axis=0)
    body, faces = sphere(RADIUS)
    sheets, bodies = (Cloth("Sheet", triangles, points, points, Material()),), (Collider("Ball", faces, body[None]),)
    scene = Scene(sheets, bodies, Settings()).validate()
    space, meetings = SceneSpace(scene), Meetings(scene)
    x = space.start()[:, :3].astype(np.float64)
    engulfed = Engulfed(space)
    thickness = of_surface(space.scene, "thickness")
    engulfed.renew(x, tangles(x, space.surface), thickness, meetings.of_scene(scene), meetings.apart(1))
    return space, x, engulfed


def test_what_is_inside_is_known_as_far_as_it_reaches(around):
    space, x, engulfed = around
    height = np.linalg.norm(space.world(x)[: space.cloth_vertices], axis=1)
    assert set(np.flatnonzero(height < 0.97 * RADIUS)) <= set(engulfed.vertices)
    assert set(engulfed.vertices) <= set(np.flatnonzero(height < RADIUS))


def test_it_is_drawn_to_a_place_outside_that_goes_along_with_the_body(around):
    """But what the body pierces is drawn half an edge to where the line of that gets shorter."""
    space, x, engulfed = around
    moved = x.copy()
    moved[space.cloth_vertices :] += [0.3, 0.0, 0.1]
    places = engulfed.outside(x)
    pierced = np.isin(engulfed.drawn, tangles(x, space.surface).corners)
    assert 0 < pierced[: len(engulfed.vertices)].sum() < len(engulfed.vertices)
    assert (np.linalg.norm(space.world(places)[~pierced], axis=1) > 0.97 * RADIUS + THICKNESS).all()
    assert np.linalg.norm((places - x[engulfed.drawn])[pierced], axis=1) == pytest.approx(0.5 * space.edge)
    assert np.abs(engulfed.outside(moved) - places - [0.3, 0.0, 0.1]).max() < 1e-9


@pytest.fixture(scope="module")
def legs():
    """Legs that have closed on trousers: (the scene, a simulator at a frame in which cloth is inside of them)."""
    scene = ankles(150, 30)
    simulator = Simulator(scene, cpu)
    while not simulator.state()["late"] and simulator.frame < 20:
        simulator.advance_frame()
    simulator.advance_frame()
    return scene, simulator


def test_a_bake_that_is_resumed_while_cloth_is_inside_goes_on_with_the_same_bits(legs):
    scene, simulator = legs
    assert simulator.crossings.count
    resumed = Simulator(scene, cpu)
    resumed.restore(simulator.state())
    for _ in range(2):
        reports = [each.advance_frame() for each in (simulator, resumed)]
        assert reports[0].released == reports[1].released
    np.testing.assert_array_equal(simulator.positions()[0], resumed.positions()[0])


def test_nothing_is_drawn_where_that_is_off(legs):
    scene, _ = legs
    simulator = Simulator(replace(scene, settings=replace(scene.settings, start="tolerate")), cpu)
    while not simulator.crossings.count:
        simulator.advance_frame()
    assert not len(simulator._engulfed.vertices)


def test_edges_that_a_body_pierces_are_drawn_on_though_no_vertex_is_inside():
    """A ball that is smaller than the faces of the sheet, and a little above it."""
    points, triangles = sheet(4, 0.6)
    points -= points.mean(axis=0)
    body, faces = sphere(0.04)
    cloths = (Cloth("Sheet", triangles, points, points, Material()),)
    scene = Scene(cloths, (Collider("Ball", faces, (body + [0.01, 0.0, 0.01])[None]),), Settings()).validate()
    space, meetings = SceneSpace(scene), Meetings(scene)
    x, engulfed = space.start()[:, :3].astype(np.float64), Engulfed(space)
    found, thickness = tangles(x, space.surface), of_surface(scene, "thickness")
    engulfed.renew(x, found, thickness, meetings.of_scene(scene), meetings.apart(1))
    assert not len(engulfed.vertices)
    assert len(engulfed.pierced)
    assert (engulfed.drawn == engulfed.pierced).all()
    ways = engulfed.outside(x) - x[engulfed.pierced]
    assert np.allclose(np.linalg.norm(ways, axis=1), 0.5 * space.edge)

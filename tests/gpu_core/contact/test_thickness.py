# SPDX-License-Identifier: GPL-3.0-or-later
"""Thickness: ξ apart from d̂, neighbours in the rest mesh left in peace, nothing moves by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact.pairs import REST_SHARE, Proximity, thickness_within_edges
from taffeta.gpu_core.contact.patches import Surface
from taffeta.gpu_core.elasticity.assembly import vectors
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.contact.hard_pairs import distance
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")


def pairs_of(x, rest, triangles, cloth_triangles, thickness, activation):
    objects = (np.arange(len(x)) >= triangles[:cloth_triangles].max() + 1).astype(np.int32)
    surface = Surface(len(x), triangles.astype(np.int32), cloth_triangles, objects)
    apart = np.zeros((2, 2), bool)
    proximity = Proximity(cpu, surface, x, vectors(rest), thickness, activation, 0.01, objects, apart)
    return proximity.pairs(vectors(x), vectors(x))


def test_offset_and_activation_are_numbers_of_their_own():
    """ξ is the mean of both sides; d̂ is at least ξ and at least the solver's least."""
    flat, grid = sheet(6, 0.1)
    body, faces = ball(0.02)
    x = np.concatenate([flat, body + [0.05, 0.05, 0.0215]])
    triangles = np.concatenate([grid, faces + 36])
    for cloth, collider, least, wanted in ((1e-3, 3e-3, 1e-3, 2e-3), (1e-3, 3e-3, 5e-3, 5e-3)):
        thickness = np.repeat([cloth, collider], [36, len(body)])
        found = pairs_of(x, x, triangles, len(grid), thickness, least)
        across = (found.corner[:, 0] < 36) != (found.corner[:, 3] < 36)
        assert across.any()
        assert found.offset[across] == pytest.approx(0.5 * (cloth + collider))
        assert found.activation[across] == pytest.approx(wanted)


def test_neighbours_are_left_out_by_ring_and_by_rest_distance():
    """ξ = 3 edges: no pair shares a vertex, and none reaches more than 0.6 of its distance at rest."""
    flat, grid = sheet(8, 0.07)
    thickness, folded = np.full(64, 0.03), flat * [0.05, 1, 1]
    assert pairs_of(flat, flat, grid, len(grid), thickness, 1e-3).count == 0  # at rest all are beyond that
    found = pairs_of(folded, flat, grid, len(grid), thickness, 1e-3)
    assert found.count > 1000
    shared = [len(set(corners)) < 4 for corners in found.corner.tolist()]
    assert not any(shared)
    rest, now = (distance(x[found.corner], found.feature[:, 0] < 0) for x in (flat, folded))
    assert (found.offset + found.activation <= 2 * REST_SHARE * rest * (1 + 1e-5)).all()
    assert (found.offset <= 0.03 * (1 + 1e-6)).all()
    assert (found.offset > REST_SHARE * now * 1.1).any()  # rest distances count, not those of the moment


def test_the_thinnest_corner_of_a_side_counts():
    flat, grid = sheet(3, 0.1)
    x = np.concatenate([flat, flat + [0, 0, 2e-3]])
    triangles = np.concatenate([grid, grid + 9])
    for thin in range(9):
        thickness = np.full(18, 2e-3)
        thickness[thin] = 1e-3
        found = pairs_of(x, x, triangles, len(grid), thickness, 1e-3)
        touches = (found.corner == thin).any(axis=1)
        across = (found.corner[:, 0] < 9) != (found.corner[:, 3] < 9)
        assert found.offset[touches & across] == pytest.approx(1.5e-3)
        assert found.offset[~touches & across] == pytest.approx(2e-3)


def test_thickness_is_held_within_the_edges_of_each_vertex():
    flat, grid = sheet(5, 0.04)
    graded = flat * [1.0, 1.0, 1.0]
    graded[:, 0] = 0.04 * (flat[:, 0] / 0.04) ** 3  # from 0.6 mm to 23 mm
    edges = unique_edges(grid)
    lengths = np.linalg.norm(graded[edges[:, 1]] - graded[edges[:, 0]], axis=1)
    held = thickness_within_edges(np.full(30, 8e-3), lengths, edges)
    for v in range(25):
        assert held[v] == pytest.approx(min(8e-3, lengths[(edges == v).any(axis=1)].mean()))
    assert (held[25:] == 8e-3).all(), "colliders keep theirs"
    assert (held[:25] < 8e-3).any()
    assert (held[:25] == 8e-3).any()


def at_rest(thickness, rest, start, triangles):
    cloth = Cloth("Sheet", triangles, rest, start, Material(air_drag=0.0), thickness=thickness)
    scene = Scene((cloth,), (), Settings(frame_end=4, gravity=(0.0, 0.0, 0.0), backend="cpu"))
    return Simulator(scene, cpu)


@pytest.mark.parametrize("edges", [1.5, 4.0])
def test_a_sheet_thicker_than_its_edges_does_not_move_by_itself(edges):
    flat, grid = sheet(14, 0.13)
    simulator = at_rest(edges * 0.01, flat, flat, grid)
    for _ in range(3):
        report = simulator.advance_frame()
    assert np.abs(simulator.positions()[0] - flat).max() < 1e-6
    assert report.contacts == 0
    assert report.smallest_gap > 0


def test_an_irregular_sheet_thicker_than_its_edges_does_not_move_by_itself():
    """Edges from a tenth to three times the thickness, slivers among them."""
    flat, grid = sheet(14, 0.13)
    rng = np.random.default_rng(2)
    flat[:, 0] = 0.13 * (flat[:, 0] / 0.13) ** 2
    flat[:, :2] += rng.uniform(-0.2, 0.2, (len(flat), 2)) * [1e-4, 0.01]
    simulator = at_rest(8e-3, flat, flat, grid)
    for _ in range(3):
        report = simulator.advance_frame()
    assert np.abs(simulator.positions()[0] - flat).max() < 1e-6
    assert report.contacts == 0


def test_a_turned_cloth_at_rest_stays_too():
    """In a place and pose that its rest shape is not in: rounding of the pose is no reason to push."""
    flat, grid = sheet(14, 0.13)
    a, b = np.deg2rad([33.0, 71.0])
    turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    turn = turn @ np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    start = flat @ turn.T + [3.0, -2.0, 1.0]
    simulator = at_rest(0.03, flat, start, grid)
    for _ in range(3):
        report = simulator.advance_frame()
    assert report.contacts == 0
    drift = 3 * report.steps * np.spacing(np.float32(3.0))  # the pose's rounding is strain: one digit a step at most
    assert np.abs(simulator.positions()[0] - start).max() < drift


def test_thickness_above_the_edges_is_said():
    flat, triangles = sheet(6, 0.1)
    body, faces = ball(0.02)
    still = Collider("Ball", faces, (body - [0, 0, 0.3])[None].astype(np.float32))
    thick = Scene((Cloth("Felt", triangles, flat, flat, thickness=0.05),), (still,), Settings(1, 2))
    (warning,) = Simulator(thick, cpu).warnings
    assert warning.startswith("Felt: the thickness 0.05 m is larger than the edges at 36 of 36 vertices")
    assert Simulator(replace(thick, cloths=(replace(thick.cloths[0], thickness=1e-3),)), cpu).warnings == []

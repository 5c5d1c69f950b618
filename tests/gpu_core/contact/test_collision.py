# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances, CCD and the filter on small scenes, against ipctk; test_float32.py has the hard pairs."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact.broad_phase import BroadPhase
from taffeta.gpu_core.contact.filter import Filter
from taffeta.gpu_core.contact.pairs import Pairs
from taffeta.gpu_core.contact.patches import Surface
from taffeta.gpu_core.elasticity.assembly import vectors
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")


def pair_set(kinds):
    """Pairs whose corners are 4i … 4i+3; kinds: True for edge–edge."""
    count = len(kinds)
    feature = np.where(np.asarray(kinds)[:, None], [[-1, 1]], [[0, 0]]).astype(np.int32)
    corner = np.arange(4 * count, dtype=np.int32).reshape(count, 4)
    offset = np.full(count, 1e-3, np.float32)
    return Pairs(count, feature, corner, offset, offset)


def hard_positions(rng, count):
    """(count, 4, 3) pairs: plain, parallel, coplanar, slivers, tiny gaps."""
    p = rng.normal(size=(count, 4, 3))
    kind = np.arange(count) % 5
    parallel, coplanar, sliver, tiny = (kind == k for k in (1, 2, 3, 4))
    p[parallel, 3] = p[parallel, 2] + (p[parallel, 1] - p[parallel, 0]) * rng.uniform(0.5, 2, (parallel.sum(), 1))
    p[coplanar, :, 2] = 0
    p[sliver, 3] = p[sliver, 1] + (p[sliver, 2] - p[sliver, 1]) * rng.uniform(0, 1, (sliver.sum(), 1))
    p[sliver, 3, 0] += 1e-4
    p[tiny, 0] = p[tiny, 1:].mean(axis=1) + rng.normal(size=(tiny.sum(), 3)) * 1e-4
    return (p * 10.0 ** rng.uniform(-3, 0, (count, 1, 1))).astype(np.float32)


def distance_error(p, edges):
    """(n,) what float32.md allows closest points: 16u of the size, and uκ² of it or a sliver's half width."""
    u = 2.0**-24
    sides = np.where(np.asarray(edges)[:, None, None], p[:, [1, 3]] - p[:, [0, 2]], p[:, [2, 3]] - p[:, [1, 1]])
    lengths = np.linalg.norm(sides, axis=2).prod(axis=1)
    kappa = lengths / np.maximum(np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1), 1e-12 * lengths)
    size = np.linalg.norm(p[:, :, None] - p[:, None], axis=3).max(axis=(1, 2))
    return size * (16 * u + np.minimum(u * kappa**2, 0.5 / kappa))


def reference_distance(p, edges):
    squared = ipctk.edge_edge_distance(*p) if edges else ipctk.point_triangle_distance(*p)
    return np.sqrt(squared)


def test_distances_agree_with_ipctk_in_double():
    rng = np.random.default_rng(1)
    p = hard_positions(rng, 4000)
    kinds = rng.random(4000) < 0.5
    pairs, got = pair_set(kinds), np.zeros(4000, np.float32)
    x = vectors(p.reshape(-1, 3))
    cpu.launch("pair_distance", 4000, feature=pairs.feature, corner=pairs.corner, x=x, distance=got)
    wanted = np.array([reference_distance(q.astype(float), e) for q, e in zip(p, kinds, strict=True)])
    error = np.abs(got - wanted)
    assert (error <= distance_error(p.astype(float), kinds)).all()


@pytest.mark.parametrize("far", [0.0, 100.0])
def test_no_collision_is_missed_or_found_late(far):
    """The gap along the accepted motion, sampled in double, never falls below the offset (or the start's own gap)."""
    rng = np.random.default_rng(2)
    count = 3000
    p = (hard_positions(rng, count) + np.float32(far)).astype(np.float32)
    motion = rng.normal(size=p.shape) * np.abs(p - p.mean(axis=1, keepdims=True)).max(axis=(1, 2), keepdims=True) * 2
    q = (p + motion).astype(np.float32)
    kinds = rng.random(count) < 0.5
    pairs, time = pair_set(kinds), np.zeros(count, np.float32)
    cpu.launch(
        "pair_impact",
        count,
        feature=pairs.feature,
        corner=pairs.corner,
        x=vectors(p.reshape(-1, 3)),
        x1=vectors(q.reshape(-1, 3)),
        offset=pairs.offset,
        time=time,
    )
    hits = 0
    for i in range(count):
        a, b = p[i].astype(float), q[i].astype(float)
        start = reference_distance(a, kinds[i])
        if start < 0.3e-3:
            continue
        allowed = min(1e-3, 0.95 * start) * 0.99 - 4e-7 * (1 + far)
        hits += time[i] <= 1
        for t in np.linspace(0, min(1.0, time[i]), 40):
            assert reference_distance(a + t * (b - a), kinds[i]) > allowed, (i, t, time[i])
    assert hits > count // 20


def test_a_touching_pair_may_separate_and_slide_but_not_approach():
    triangle = [[-1, -1, 0], [1, -1, 0], [0, 1, 0]]
    for move, free in (([0, 0, 1], True), ([1, 0, 0], True), ([0, 0, -1], False), ([0.5, 0, -0.01], False)):
        x = vectors(np.array([[0, 0, 1e-4], *triangle]))
        moved = x + vectors(np.array([move, [0, 0, 0], [0, 0, 0], [0, 0, 0]]))
        pairs, time = pair_set([False]), np.zeros(1, np.float32)
        found = {"feature": pairs.feature, "corner": pairs.corner, "offset": pairs.offset}
        cpu.launch("pair_impact", 1, **found, x=x, x1=moved, time=time)
        assert (time[0] > 1) == free, move


@pytest.mark.parametrize("name", ["per_vertex", "whole"])
def test_a_filtered_motion_is_free_of_collisions(name):
    """By ipctk's own CCD, for a crumpled sheet that is thrown at itself and at a ball."""
    rng = np.random.default_rng(5)
    vertices, triangles = sheet(9)
    body, faces = ball(0.2)
    x0 = np.concatenate([vertices + [0, 0, 0.3], body + [0.5, 0.5, 0.0]])
    count = len(vertices)
    x1 = x0.copy()
    x1[:count] += rng.normal(size=(count, 3)) * 0.15 + [0, 0, -0.4]
    x1[count:] += [0, 0, 0.1]
    both = np.concatenate([triangles, faces + count]).astype(np.int32)
    surface = Surface(len(x0), both, len(triangles), np.repeat([0, 1], [count, len(body)]).astype(np.int32))
    phase = BroadPhase(cpu, surface, x0, surface.object, np.zeros((2, 2), bool))
    found = phase.detect(vectors(x0), vectors(x1), 2e-3, 0.0)
    pairs = Pairs(found.count, found.feature, found.corner, *(np.full(found.count, 1e-3, np.float32) for _ in range(2)))
    body = np.repeat(np.array([-1, 0], np.int32), [count, len(body)])
    filter_ = Filter(cpu, body + 1, body, 1)
    taken = getattr(filter_, name)(pairs, vectors(x0), vectors(x1))[:, :3].astype(float)
    assert filter_.fallbacks == 0
    mesh = ipctk.CollisionMesh(x0, unique_edges(both), both)
    assert not ipctk.is_step_collision_free(mesh, x0.astype(np.float32).astype(float), x1)
    assert ipctk.is_step_collision_free(mesh, x0.astype(np.float32).astype(float), taken)
    moved = np.linalg.norm(taken - x0, axis=1) / np.maximum(np.linalg.norm(x1 - x0, axis=1), 1e-9)
    assert moved[count:].min() == pytest.approx(moved[count:].max(), rel=1e-5), "a body moves as one"
    assert moved[:count].mean() > (0.3 if name == "per_vertex" else 0.01)


def met_by_a_collider(cloth_motion, body_motion):
    """(how far the cloth, how far the body got, m): a vertex 2 mm above a body's triangle; both move along z."""
    triangle = [[-1, -1, 0], [1, -1, 0], [0, 1, 0]]
    x = vectors(np.array([[0, 0, 0.002], *triangle]))
    x1 = x + vectors(np.array([[0, 0, cloth_motion], *[[0, 0, body_motion]] * 3]))
    body = np.array([-1, 0, 0, 0], np.int32)
    filter_ = Filter(cpu, body + 1, body, 1)
    taken = filter_.per_vertex(pair_set([False]), x, x1) - x
    assert filter_.fallbacks == 0
    return taken[0, 2], taken[1, 2]


def test_cloth_gives_way_before_a_body_does():
    """The room is 1 mm. A body that needs less arrives at once, however fast the cloth comes to meet it."""
    cloth, body = met_by_a_collider(-0.017, 0.0004)
    assert body == pytest.approx(0.0004)
    assert -0.0006 < cloth <= 0.0


def test_a_body_is_not_stopped_by_what_moves_on_ahead_of_it_and_does_not_stop_that():
    cloth, body = met_by_a_collider(0.003, 0.0035)
    assert (cloth, body) == pytest.approx((0.003, 0.0035))
    cloth, body = met_by_a_collider(0.003, 0.006)
    assert cloth == pytest.approx(0.003), "cloth that flees is not held back"
    assert 0.0012 < body < 0.004


def test_bodies_do_not_wait_for_each_other():
    """One is stopped by the cloth above it, the other is free."""
    triangle = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])
    x = vectors(np.concatenate([[[0, 0, 0.002]], triangle, triangle + [5, 0, 0]]))
    x1 = x + vectors(np.array([[0, 0, 0.0], *[[0, 0, 0.01]] * 6]))
    body = np.array([-1, 0, 0, 0, 1, 1, 1], np.int32)
    taken = Filter(cpu, np.minimum(body + 1, 1), body, 2).per_vertex(pair_set([False]), x, x1)
    assert np.ptp(taken[1:4, 2]) == 0.0
    assert 0.0 < taken[1, 2] < 0.001
    assert np.array_equal(taken[4:], x1[4:])

# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact check against an independent rational solution, against ipctk, and on meshes made to mislead it."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.check import intersection
from taffeta.gpu_core.check.exact_predicates import segment_meets_triangle
from taffeta.gpu_core.check.intersection import intersections, unique_edges
from taffeta.gpu_core.check.scene_check import SceneCheck, check_frame, to_world
from taffeta.gpu_core.scene.scene import Cloth, Collider, Scene, Settings
from taffeta.tests.gpu_core.small_scene import sheet

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
ULP = np.finfo(np.float64).eps


def rational_meets(segment, triangle) -> bool:
    """Feasibility of λ·segment = μ·triangle with convex weights, over all bases, in fractions (no orientation used)."""
    points = [[Fraction(float(x)) for x in point] for point in (*segment, *triangle)]
    columns = [[*point, Fraction(1), Fraction(0)] for point in points[:2]]
    columns += [[*(-x for x in point), Fraction(0), Fraction(1)] for point in points[2:]]
    target = [Fraction(0)] * 3 + [Fraction(1)] * 2
    subsets = (basis for size in range(2, 6) for basis in itertools.combinations(columns, size))
    return any(nonnegative_solution(basis, target) for basis in subsets)


def nonnegative_solution(columns, target) -> bool:
    """Whether independent columns reach the target with weights ≥ 0 (Gauss elimination)."""
    rows = [[column[k] for column in columns] + [target[k]] for k in range(5)]
    for pivot in range(len(columns)):
        choice = next((r for r in range(pivot, 5) if rows[r][pivot] != 0), None)
        if choice is None:
            return False
        rows[pivot], rows[choice] = rows[choice], rows[pivot]
        rows[pivot] = [x / rows[pivot][pivot] for x in rows[pivot]]
        for r in range(5):
            if r != pivot and rows[r][pivot] != 0:
                factor = rows[r][pivot]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[pivot], strict=True)]
    return all(row[-1] == 0 for row in rows[len(columns) :]) and all(row[-1] >= 0 for row in rows[: len(columns)])


def pair_meets(segment, triangle) -> bool:
    """One pair through the public function, floats filters included."""
    vertices = np.concatenate([np.asarray(segment, float), np.asarray(triangle, float)])
    return len(intersections(vertices, np.array([[2, 3, 4]]), np.array([[0, 1]]))) == 1


def brute_force(vertices, triangles, edges, collider_start=None):
    start = len(vertices) if collider_start is None else collider_start
    return [
        (e, t)
        for e, t in itertools.product(range(len(edges)), range(len(triangles)))
        if not set(edges[e]) & set(triangles[t])
        and not (edges[e][0] >= start and triangles[t][0] >= start)
        and segment_meets_triangle(vertices[edges[e]], vertices[triangles[t]])
    ]


def by_boxes(vertices, triangles, edges, start):
    """The exact predicate on every pair whose float64 boxes overlap: for meshes too large for `brute_force`."""
    ends, corners = vertices[edges], vertices[triangles]
    low = np.maximum(ends.min(axis=1)[:, None], corners.min(axis=1))
    candidates = (low <= np.minimum(ends.max(axis=1)[:, None], corners.max(axis=1))).all(axis=2)
    candidates &= (edges[:, None, :, None] != triangles[None, :, None, :]).all(axis=(2, 3))
    candidates &= (edges[:, :1] < start) | (triangles[:, 0] < start)
    return [(e, t) for e, t in np.argwhere(candidates).tolist() if segment_meets_triangle(ends[e], corners[t])]


SHAPES = [
    ("through the inside", [[0.2, 0.2, -1], [0.2, 0.2, 1]], True),
    ("ends on the inside", [[0.2, 0.2, 0], [0.2, 0.2, 1]], True),
    ("ends one step above", [[0.2, 0.2, 5e-324], [0.2, 0.2, 1]], False),
    ("through the rim", [[0.5, 0.5, -1], [0.5, 0.5, 1]], True),
    ("one ulp outside the rim", [[0.5, 0.5 + ULP, -1], [0.5, 0.5 + ULP, 1]], False),
    ("through a corner", [[1, 0, -1], [1, 0, 1]], True),
    ("touches a corner with its end", [[0, 0, 0], [0, 0, 1]], True),
    ("coplanar and inside", [[0.1, 0.1, 0], [0.2, 0.2, 0]], True),
    ("coplanar and across", [[-1, 0.2, 0], [2, 0.2, 0]], True),
    ("coplanar and outside", [[0.6, 0.6, 0], [0.9, 0.9, 0]], False),
    ("coplanar along a side", [[0.25, 0, 0], [0.75, 0, 0]], True),
    ("coplanar, on the side's line, beyond it", [[1.5, 0, 0], [2, 0, 0]], False),
    ("coplanar, one ulp beside a side", [[0.25, -ULP, 0], [0.75, -ULP, 0]], False),
    ("coplanar, ends on a side", [[0.5, -1, 0], [0.5, 0, 0]], True),
    ("parallel above", [[0.1, 0.1, 1e-300], [0.2, 0.2, 1e-300]], False),
    ("a point inside", [[0.25, 0.25, 0], [0.25, 0.25, 0]], True),
    ("a point outside", [[0.75, 0.75, 0], [0.75, 0.75, 0]], False),
    ("stops short", [[0.2, 0.2, 2], [0.2, 0.2, 1]], False),
]


@pytest.mark.parametrize(("segment", "expected"), [s[1:] for s in SHAPES], ids=[s[0] for s in SHAPES])
def test_touching_counts_only_where_a_point_is_shared(segment, expected):
    assert rational_meets(segment, TRIANGLE) is expected
    for roll in range(3):
        for order in (segment, segment[::-1]):
            assert pair_meets(order, np.roll(TRIANGLE, roll, axis=0)) is expected


@pytest.mark.parametrize(
    "triangle", [[[0, 0, 0], [1, 1, 1], [3, 3, 3]], [[1, 1, 1]] * 3, [[0, 0, 0], [3, 3, 3], [0, 0, 0]]]
)
def test_triangles_without_area_are_still_sets_of_points(triangle):
    for segment in ([[1, 1, 0], [1, 1, 2]], [[1, 1, 1], [9, 9, 9]], [[1, 1, 1], [1, 1, 1]], [[1, 1, 0], [1.1, 1, 2]]):
        assert pair_meets(segment, triangle) == rational_meets(segment, triangle)


def test_small_lattices_agree_with_rational_arithmetic():
    """Coordinates 0, 1, 2: nearly every pair is coplanar, collinear, touching or degenerate somewhere."""
    random = np.random.default_rng(1)
    verdicts = []
    for points in random.integers(0, 3, size=(250, 5, 3)):
        expected = rational_meets(points[:2], points[2:])
        assert segment_meets_triangle(points[:2].astype(float), points[2:].astype(float)) == expected
        assert pair_meets(points[:2], points[2:]) == expected
        verdicts.append(expected)
    assert 20 < sum(verdicts) < 230


def test_grazing_pairs_agree_with_rational_arithmetic():
    """The segment ends within a few ulps of a point of the triangle, near the origin and far from it."""
    random = np.random.default_rng(2)
    verdicts = []
    for origin, _ in itertools.product((0.0, 1.0e3, 1.0e6), range(40)):
        triangle = random.normal(size=(3, 3)) + origin
        weights = random.dirichlet([0.5] * 3)
        touch = weights @ triangle
        near = touch + random.integers(-2, 3, size=3) * np.spacing(touch)
        segment = np.stack([near, near + random.normal(size=3)])
        expected = rational_meets(segment, triangle)
        assert pair_meets(segment, triangle) == expected
        verdicts.append(expected)
    assert 10 < sum(verdicts) < 110


def test_pairs_agree_with_ipctk():
    random = np.random.default_rng(3)
    verdicts = []
    for scale, points in itertools.product((1.0, 1e-3, 1e4), random.normal(size=(300, 5, 3))):
        p, q, a, b, c = points * scale
        expected = ipctk.is_edge_intersecting_triangle(p, q, a, b, c)
        assert pair_meets((p, q), (a, b, c)) == expected
        verdicts.append(expected)
    assert 50 < sum(verdicts) < 850


@pytest.mark.parametrize("seed", range(6))
def test_random_meshes_agree_with_brute_force(seed):
    random = np.random.default_rng(seed)
    if seed % 2:  # on a lattice everything touches everything, vertices coincide, triangles collapse
        vertices = random.integers(0, 4, size=(24, 3)).astype(float)
    else:
        vertices = random.normal(size=(24, 3)) * random.choice([1e-3, 1.0, 30.0], size=(24, 1)) + 1e3 * (seed == 4)
    triangles = np.array([random.choice(24, 3, replace=False) for _ in range(30)])
    edges = unique_edges(triangles)
    found = [tuple(pair) for pair in intersections(vertices, triangles).tolist()]
    assert found == brute_force(vertices, triangles, edges)


def test_a_crumpled_sheet_agrees_with_brute_force_and_ipctk():
    flat, triangles = sheet(6)
    edges = unique_edges(triangles)
    outcomes = set()
    for seed, noise in enumerate((0.0, 0.02, 0.06, 0.1, 0.3)):
        vertices = flat + np.random.default_rng(seed).normal(size=flat.shape) * noise
        found = [tuple(pair) for pair in intersections(vertices, triangles).tolist()]
        assert found == brute_force(vertices, triangles, edges)
        mesh = ipctk.CollisionMesh(vertices, edges.astype(np.int32), triangles.astype(np.int32))
        assert bool(found) == ipctk.has_intersections(mesh, vertices)
        outcomes.add(bool(found))
    assert outcomes == {True, False}


def test_elements_of_very_different_size_are_found():
    """A fine sheet through two triangles that are a million times larger, and slivers across all of it."""
    fine, triangles = sheet(7, 0.01)
    fine = fine @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]) - [0.003, 0.0, 0.005]
    floor = np.array([[-1e4, -1e4, 0.0], [1e4, -1e4, 0], [1e4, 1e4, 0], [-1e4, 1e4, 0]])
    slivers = np.array([[-1e4, 1e-4, 2e-3], [1e4, 1e-4, 2e-3], [1e4, -1e-4, 2.1e-3]])
    vertices = np.concatenate([fine, floor, slivers])
    collider = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]]) + len(fine)
    triangles = np.concatenate([triangles, collider])
    found = [tuple(pair) for pair in intersections(vertices, triangles, collider_start=len(fine)).tolist()]
    assert found == brute_force(vertices, triangles, unique_edges(triangles), len(fine))
    assert {triangle for _, triangle in found} >= {len(triangles) - 2, len(triangles) - 1}


def crumpled(random):
    """Folds, and creases in them."""
    flat, triangles = sheet(16)
    x, y = flat[:, 0], flat[:, 1]
    folds = np.stack([0.3 * np.sin(9 * x + y), y + 0.1 * np.cos(7 * x), 0.2 * np.cos(8 * x - 2 * y)], axis=1)
    return folds + random.normal(size=flat.shape) * 0.006, triangles


def spread(random):
    """Triangles of all sizes over seven decades, in clumps."""
    centres = random.random((6, 1, 3))[random.integers(6, size=300)] + random.normal(size=(300, 1, 3)) * 0.02
    sizes = 10.0 ** random.uniform(-7, 0, size=(300, 1, 1))
    return (centres + sizes * random.normal(size=(300, 3, 3))).reshape(-1, 3), np.arange(900).reshape(-1, 3)


def packed(random):
    """Corners on a coarse lattice: all touch, many coincide, some have no area."""
    vertices = random.integers(0, 9, size=(200, 3)).astype(float)
    return vertices, np.array([random.choice(200, 3, replace=False) for _ in range(60)])


def needles(random):
    """Long and thin, along and across the axes, in a thin layer."""
    start = random.random((200, 1, 3)) * [1, 1, 1e-3]
    along = np.eye(3)[random.integers(3, size=200)] + random.normal(size=(200, 3)) * random.choice([0, 0.1], (200, 1))
    corners = np.array([0, 0.5, 1])[:, None] * along[:, None, :] + random.normal(size=(200, 3, 3)) * 1e-4
    return (start + corners).reshape(-1, 3), np.arange(600).reshape(-1, 3)


@pytest.mark.parametrize("make", [crumpled, spread, packed, needles])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_no_sieve_loses_a_pair(make, scale):
    """As one cloth, and with half of it a collider that reaches far beyond the cloth."""
    vertices, triangles = make(np.random.default_rng(5))
    edges = unique_edges(triangles)
    for start in (len(vertices), len(vertices) // 2):
        moved = np.array(vertices)
        moved[(start + len(vertices)) // 2 :] *= 1e6
        found = [tuple(pair) for pair in intersections(moved * scale, triangles, edges, start).tolist()]
        assert found == by_boxes(moved * scale, triangles, edges, start)
        assert len(found) > 10


@pytest.mark.parametrize("at_once", [1, 1000])
def test_how_many_pairs_are_looked_at_together_changes_nothing(at_once, monkeypatch):
    vertices, triangles = crumpled(np.random.default_rng(6))
    expected = intersections(vertices, triangles)
    monkeypatch.setattr(intersection, "PAIRS_AT_ONCE", at_once)
    assert len(expected) > 10
    assert np.array_equal(intersections(vertices, triangles), expected)


def test_a_cloth_without_extent_is_found_in_a_triangle_without_end():
    point = np.full((3, 3), 0.25)
    for size in (1.0, 1e69):
        triangle = np.array([[0, 0, 0.25], [size, 0, 0.25], [0, size, 0.25]])
        vertices, triangles = np.concatenate([point, triangle]), np.array([[0, 1, 2], [3, 4, 5]])
        assert {t for _, t in intersections(vertices, triangles, collider_start=3).tolist()} == {1}
        lifted = vertices + np.array([[0, 0, 1e-9]] * 3 + [[0, 0, 0]] * 3)
        assert len(intersections(lifted, triangles, collider_start=3)) == 0


def test_moving_a_mesh_far_from_the_origin_does_not_blur_the_verdict():
    vertices, triangles = sheet(12)
    layers = np.concatenate([vertices, vertices + np.array([0.03, 0.02, 2.0**-20])])
    both = np.concatenate([triangles, triangles + len(vertices)])
    for offset in (0.0, 2.0**10, 2.0**20):
        far = layers + offset  # exact at these powers of two in z; in x and y rounding keeps the layers apart
        assert len(intersections(far, both)) == 0
        far[len(vertices) + 70, 2] -= 2.0**-19
        assert len(intersections(far, both)) > 0


def test_colliders_may_cross_each_other():
    vertices, triangles = sheet(6)
    upright = vertices @ np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]]) + [0.05, 0.43, -0.5]
    both = np.concatenate([triangles, triangles + len(vertices)])
    points = np.concatenate([vertices, upright])
    assert len(intersections(points, both)) > 0
    assert len(intersections(points, both, collider_start=len(vertices))) == len(intersections(points, both))
    assert len(intersections(points, both, collider_start=0)) == 0


def test_bad_input_is_refused():
    vertices, triangles = sheet(3)
    with pytest.raises(ValueError, match="vertex 4 has no finite position"):
        intersections(np.where(np.arange(9)[:, None] == 4, np.nan, vertices), triangles)
    with pytest.raises(ValueError, match="triangle names a vertex that does not exist"):
        intersections(vertices, triangles + 1)
    with pytest.raises(ValueError, match="edge names a vertex that does not exist"):
        intersections(vertices, triangles, np.array([[-1, 2]]))


def test_nothing_intersects_nothing():
    assert intersections(np.empty((0, 3)), np.empty((0, 3), int)).shape == (0, 2)
    assert intersections(TRIANGLE, np.array([[0, 1, 2]])).shape == (0, 2)


def test_ten_thousand_vertices_close_packed_take_less_than_two_seconds():
    """Fifty layers a millimetre apart: 0.05 s of processor time, and minutes where all were held against all."""
    vertices, triangles = sheet(100)
    position = vertices[:, 0] * 50
    layer = np.floor(position)
    within = np.where(layer % 2 == 0, position - layer, 1 - (position - layer))
    folded = np.stack([within / 50, vertices[:, 1], vertices[:, 0] * 0.05], axis=1)
    begin = time.process_time()
    assert len(intersections(folded, triangles)) == 0
    assert time.process_time() - begin < 2.0


def test_a_frame_is_checked_in_world_space_and_findings_name_object_and_place():
    vertices, triangles = sheet(4)
    ball = 0.5 * vertices[:, [0, 2, 1]] + [0.2, 0.55, -0.25]  # an upright sheet through the middle
    to_object = np.linalg.inv(np.array([[0.0, -2, 0, 5], [2, 0, 0, 6], [0, 0, 2, 7], [0, 0, 0, 1]]))
    cloth = Cloth("Curtain", triangles, vertices, vertices, world_to_object=to_object[None])
    moving = Collider("Ball", triangles, np.stack([3 + ball, ball]).astype(np.float32))
    scene = Scene((cloth,), (moving,), Settings(frame_start=5, frame_end=6))
    cached = (vertices @ to_object[:3, :3].T + to_object[:3, 3]).astype(np.float32)
    assert np.allclose(to_world(cloth, cached, 0), vertices, atol=1e-6)
    assert check_frame(scene, 5, [cached]) == []
    findings = check_frame(scene, 6, [cached])
    assert {f.edge_object for f in findings} == {"Curtain", "Ball"}
    assert all(0 <= v < 16 for f in findings for v in f.edge)
    assert all(0 <= f.triangle < len(triangles) for f in findings)
    first, second = findings[0].edge
    assert str(findings[0]).startswith(f"frame 6: the edge {first}–{second} of Curtain meets triangle")
    assert all(-0.1 <= x <= 1.1 for f in findings for x in f.place)


def test_a_check_that_is_kept_says_of_each_frame_what_a_new_one_says():
    vertices, triangles = sheet(6)
    ball = 0.5 * vertices[:, [0, 2, 1]] + [0.2, 0.55, -0.25]
    body = Collider("Ball", triangles, np.stack([ball, 3 + ball, ball + 0.1]).astype(np.float32))
    scene = Scene((Cloth("Sheet", triangles, vertices, vertices),), (body,), Settings(frame_start=1, frame_end=3))
    kept = SceneCheck(scene)
    counts = []
    for frame in (1, 2, 3, 1):
        cached = [(vertices * (1 + 0.1 * frame)).astype(np.float32)]
        found = kept.cached_findings(frame, cached)
        assert found == check_frame(scene, frame, cached)
        counts.append(len(found))
    assert counts[0] == counts[3] > 0 == counts[1]


def test_a_frame_that_does_not_fit_the_scene_is_refused():
    vertices, triangles = sheet(3)
    scene = Scene((Cloth("Sheet", triangles, vertices, vertices),), (), Settings(frame_start=1, frame_end=2))
    with pytest.raises(ValueError, match=r"frame 3 is outside 1\.\.2"):
        check_frame(scene, 3, [vertices.astype(np.float32)])
    with pytest.raises(ValueError, match="Sheet: the frame has 8 vertices, the mesh 9"):
        check_frame(scene, 1, [vertices[:8].astype(np.float32)])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Points on a surface of triangles: they come back to where they were, move rigidly with it and stay near it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import binding
from taffeta.addon.scene import mesh as mesh_arrays

LIMIT = 4.0e-4


def wavy(parts: int, height: float, phase: float = 0.0) -> binding.Surface:
    """A sheet of 1 m in waves."""
    line = np.linspace(0.0, 1.0, parts + 1)
    x, y = (axis.reshape(-1) for axis in np.meshgrid(line, line))
    points = np.column_stack([x, y, height * np.sin(9.0 * x + 4.0 * y + phase)])
    corners = np.arange((parts + 1) ** 2).reshape(parts + 1, parts + 1)
    a, b, c, d = (part.reshape(-1) for part in (corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]))
    return binding.surface(points, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]))


def bound(points: np.ndarray, held: binding.Surface, limit: float = LIMIT) -> binding.Places:
    places, far = binding.bind(points, held, binding.nearest(points, held.points, held.triangles)[0], limit)
    assert far.max() < 1e-9
    return places


def near(held: binding.Surface, away: float, seed: int = 0) -> np.ndarray:
    """500 points within this distance of the surface, some beside its border."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(3), 500)
    triangles = held.triangles[rng.integers(len(held.triangles), size=500)]
    on = np.einsum("nk,nkx->nx", weights, held.points[triangles])
    return on + rng.uniform(-away, away, on.shape)


@pytest.mark.parametrize("limit", [0.0, LIMIT, 1.0])
def test_points_come_back_to_where_they_were(limit):
    held = wavy(20, 0.05)
    points = near(held, 0.005)
    np.testing.assert_allclose(binding.follow(bound(points, held, limit), held, limit), points, rtol=0, atol=1e-9)


def test_points_move_rigidly_with_a_rigid_motion():
    held = wavy(20, 0.05)
    points = near(held, 0.005)
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    moved = binding.surface(held.points @ turn.T + [1.0, 2.0, 3.0], held.triangles)
    found = binding.follow(bound(points, held), moved, LIMIT)
    np.testing.assert_allclose(found, points @ turn.T + [1.0, 2.0, 3.0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("limit", [0.0, LIMIT])
def test_points_on_the_light_mesh_never_leave_it_by_more_than_the_limit(limit):
    """So two layers that keep a distance of more than twice that do not meet."""
    flat = wavy(20, 0.0)
    places = bound(near(flat, 0.0), flat, limit)
    folded = wavy(20, 0.2, 1.0)
    corner = folded.points[places.corners]
    on = np.einsum("nk,nkx->nx", places.weights, corner)
    away = np.linalg.norm(binding.follow(places, folded, limit) - on, axis=1)
    assert away.max() <= limit + 1e-12
    assert limit == 0.0 or away.max() > 0.5 * limit


def test_a_rounded_surface_is_nearer_to_the_smooth_one_than_its_triangles():
    flat = wavy(20, 0.0)
    points = near(flat, 0.0)
    folded = wavy(20, 0.05)
    smooth = 0.05 * np.sin(9.0 * points[:, 0] + 4.0 * points[:, 1])
    errors = [
        np.abs(binding.follow(bound(points, flat, limit), folded, limit)[:, 2] - smooth).mean() for limit in (0.0, 1.0)
    ]
    assert errors[1] < 0.5 * errors[0]


def test_normals_are_those_that_blender_gives_vertices(scene):
    bpy.ops.mesh.primitive_monkey_add()
    mesh = bpy.context.object.data
    points = mesh_arrays.positions(mesh).astype(np.float64)
    triangulated = bpy.data.meshes.new("Triangles")
    triangulated.from_pydata(points.tolist(), [], mesh_arrays.triangles(mesh).tolist())
    normals = np.array([vertex.normal for vertex in triangulated.vertices])
    held = binding.surface(points, mesh_arrays.triangles(triangulated))
    np.testing.assert_allclose(held.normals, normals, rtol=0, atol=3e-4)  # its arc cosine is a fast one


def test_a_triangle_without_area_holds_nothing():
    places = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]])
    assert binding.nearest(np.array([[1.0, 0, 0]]), places, np.array([[0, 1, 2], [0, 1, 3]]))[0].tolist() == [1]
    with pytest.raises(ValueError, match="no triangle has an area"):
        binding.nearest(places, places, np.array([[0, 1, 2]]))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest place of a body whose triangles differ a hundredfold: each of them has its say."""

from __future__ import annotations

import numpy as np

from taffeta.gpu_core.scene import nearest
from taffeta.gpu_core.scene.nearest import Body, nearest_of_triangles
from taffeta.tests.gpu_core.small_scene import sheet


def body() -> Body:
    """A fine sheet, two large triangles above it and one that cuts through."""
    fine, triangles = sheet(30, 0.3)
    square = [[-2, -2, 0.2], [2, -2, 0.2], [2, 2, 0.2], [-2, 2, 0.2]]
    large = np.array([*square, [0, 0, -3], [0.3, 0.1, 3], [3, 0, 0]], float)
    beside = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]]) + len(fine)
    return Body(np.concatenate([fine, large]), np.concatenate([triangles, beside]).astype(np.int32))


def test_the_nearest_place_is_that_of_all_triangles(monkeypatch):
    monkeypatch.setattr(nearest, "AT_ONCE", 1000)  # the points in many parts
    found = body()
    assert len(found._large) == 3
    points = np.random.default_rng(1).uniform([-0.5, -0.5, -0.3], [0.8, 0.8, 0.5], (400, 3))
    place, triangle = found.nearest_triangles(points)
    every = nearest_of_triangles(points[:, None], found.corners[None])
    least = np.linalg.norm(every - points[:, None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(place - points, axis=1), least.min(axis=1), rtol=1e-12)
    np.testing.assert_allclose(least[np.arange(400), triangle], least.min(axis=1), rtol=1e-12)
    assert set(found._large) & set(triangle) == set(found._large), "each of the large ones is nearest somewhere"


def test_a_body_of_triangles_alike_has_no_large_ones():
    fine, triangles = sheet(6, 0.3)
    found = Body(fine, triangles.astype(np.int32))
    place, _ = found.nearest_triangles(np.array([[0.1, 0.1, 0.7]]))
    np.testing.assert_allclose(place, [[0.1, 0.1, fine[0, 2]]], atol=1e-12)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The smoothest modes of H: those of many unknowns against Lanczos on the same matrix."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.elasticity.assembly import assemble
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.scene import Cloth
from taffeta.gpu_core.subspace import modes
from taffeta.tests.gpu_core.small_scene import sheet

RANK = 30


@pytest.fixture(scope="module")
def matrix():
    vertices, triangles = sheet(60)
    cloths = (Cloth("Left", triangles, vertices, vertices), Cloth("Right", triangles, vertices, vertices))
    return assemble(cloths, 1 / 200, ElasticityChoices(bending="hinge")).hessian


def test_refined_modes_are_those_of_lanczos(matrix, monkeypatch):
    exact, _ = modes.smoothest_modes(matrix, RANK)
    monkeypatch.setattr(modes, "DIRECT", 2000)  # 7200 unknowns: two levels
    values, vectors = modes.smoothest_modes(matrix, RANK)
    rounding = np.finfo(np.float32).eps * abs(matrix).sum(axis=1).max()
    assert np.all(values > exact - rounding)  # Ritz values never are below
    assert np.all(values < exact * 1.002)
    assert np.abs(vectors.T @ vectors - np.eye(RANK)).max() < 1e-5
    assert np.abs(vectors.T @ (matrix @ vectors) - np.diag(values)).max() < 1e-4 * values[-1]


def test_modes_over_three_levels_are_those_of_lanczos(matrix, monkeypatch):
    exact, _ = modes.smoothest_modes(matrix, RANK)
    monkeypatch.setattr(modes, "DIRECT", 300)
    monkeypatch.setattr(modes, "COARSEST", 300)
    values, _ = modes.smoothest_modes(matrix, RANK)
    assert np.all(values < exact * 1.002)


def test_one_thread_and_three_give_the_same_bits(matrix, monkeypatch):
    monkeypatch.setattr(modes, "DIRECT", 2000)

    def computed(threads):
        monkeypatch.setenv("TAFFETA_THREADS", threads)
        return modes.smoothest_modes(matrix, RANK)

    first, second = computed("1"), computed("3")
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])


def test_a_correction_that_is_only_rounding_does_not_stop_the_refinement():
    """As of modes that are found: it points where a mode does."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(40, 6)))[0]
    basis = np.hstack([vectors, 1e-5 * vectors[:, :1]]).astype(np.float32)
    stiffness = np.diag(np.arange(1.0, 41.0))
    values, mixing = modes._ritz(basis.T @ stiffness @ basis, (basis.T @ basis).astype(float), 4)
    exact = np.linalg.eigvalsh(vectors.T @ stiffness @ vectors)[:4]
    assert values == pytest.approx(exact, rel=1e-5)
    assert np.abs((basis @ mixing).T @ (basis @ mixing) - np.eye(4)).max() < 1e-5


def test_rounding_along_a_short_direction_makes_no_eigenvalue():
    """Seen on a matrix of 340 000, whose smallest of 30 eigenvalues came out as −998 instead of 0.013."""
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 7)))[0]
    basis = np.hstack([vectors[:, :6], vectors[:, :1] + 0.01 * vectors[:, 6:]])
    gram, stiffness = basis.T @ basis, basis.T @ np.diag(np.arange(1.0, 41.0)) @ basis
    exact, _ = modes._ritz(stiffness, gram, 4)
    stiffness[[0, 6], [6, 0]] += 0.1
    values, _ = modes._ritz(stiffness, gram, 4)
    assert np.all(values > 0.9 * exact)
    assert np.all(values < 1.5 * exact)

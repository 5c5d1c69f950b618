# SPDX-License-Identifier: GPL-3.0-or-later
"""What Newton could reuse: the conjugate gradients of the benchmark, and that it solves the product's systems."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.benchmarks.recycling.__main__ import LEFT, RITZ, of_scene, table
from taffeta.benchmarks.recycling.krylov import Space, System, gradients, modal, ritz

COUNT = 60


@pytest.fixture(scope="module")
def laplacian():
    """(system of a chain with three right sides, its eigenvectors as rows); its smoothest modes are the slow ones."""
    matrix = 2.0 * np.eye(COUNT) - np.eye(COUNT, k=1) - np.eye(COUNT, k=-1)
    right = np.random.default_rng(1).standard_normal((COUNT, 3))
    return System(lambda v: matrix @ v, lambda r: r, lambda r: 0.5 * r, right), np.linalg.eigh(matrix)[1].T


def error(system, run):
    exact = np.linalg.solve(np.stack([system.product(e) for e in np.eye(COUNT)[:, :, None]])[..., 0], system.residual)
    return system.energy(run.solutions[-1] - exact) / system.energy(exact)


def test_each_way_ends_at_the_solution_and_a_space_of_slow_modes_makes_it_shorter(laplacian):
    system, modes = laplacian
    space = modal(system, modes[:10])
    plain = gradients(system, system.aggregates, 200, exact=1e-8)
    deflated = gradients(system, system.aggregates, 200, exact=1e-8, deflated=space)
    beside = gradients(system, space.beside(system.blocks), 200, exact=1e-8)
    for run in (plain, deflated, beside):
        assert error(system, run) < 1e-6
    assert len(deflated.solutions) < 0.8 * len(plain.solutions)
    assert len(beside.solutions) < 0.8 * len(plain.solutions)


def test_ritz_vectors_of_a_whole_solve_are_the_smoothest_modes(laplacian):
    system, modes = laplacian
    found = ritz(system, gradients(system, system.aggregates, 200, exact=1e-10), None, 3).vectors
    values = [system.energy(v) ** 2 / (v * v).sum() for v in found]
    assert values == pytest.approx([system.energy(m[:, None]) ** 2 for m in modes[:3]], rel=0.02)


def test_the_space_of_all_there_is_solves_at_once(laplacian):
    system, modes = laplacian
    whole = modal(system, modes)
    assert isinstance(whole, Space)
    assert np.allclose(system.product(whole.within(system.residual)), system.residual)
    assert np.allclose(whole.doubled(system.residual), system.residual)


def test_all_ways_solve_the_products_own_systems():
    counts = of_scene("drape", 300, 3)
    ways = {count.way for count in counts}
    assert len(ways) == 4 + 2 * len(RITZ)
    assert all(0 < count.iterations[0] <= count.iterations[1] < 600 for count in counts)
    mean = {way: np.mean([c.iterations[1] for c in counts if c.way == way]) for way in ways}
    assert mean["aggregates"] < mean["blocks"]
    assert mean["blocks, V30"] < mean["blocks"]
    rows = table(counts, 300).splitlines()
    assert len(rows) == 4 + len(ways)
    assert len({row.count("|") for row in rows[2:]}) == 1
    assert len(LEFT) == 2

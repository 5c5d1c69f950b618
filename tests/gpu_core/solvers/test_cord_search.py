# SPDX-License-Identifier: GPL-3.0-or-later
"""The share of an increment that is taken, against energies in float64."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.scene import Cloth, Cords
from taffeta.gpu_core.solvers.cord_search import SHARES, CordSearch
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.tests.gpu_core.solvers.test_newton import cpu

STEP = 1 / 192
COUNT = 300  # vertices: more cords than one chunk has


class Rope:
    """At places (N, 3), after the increment of Newton's matrix there. Inertia wants it at rest; cords are all there is
    besides, so that what is taken as the matrix has it is known exactly."""

    def __init__(self, x, stiffness=2e4, length=0.01):
        ends = np.column_stack([np.arange(COUNT - 1), np.arange(1, COUNT)]).astype(np.int32)
        self.ends, self.length, self.k = ends, length, stiffness / length
        rest = np.column_stack([np.arange(COUNT) * length, np.zeros(COUNT), np.zeros(COUNT)])
        cords = Cords(ends, np.full(COUNT - 1, length))
        cloth = Cloth("Rope", np.zeros((0, 3), np.int32), rest, rest, cords=cords, cord_stiffness=stiffness)
        assembly = assemble((cloth,), STEP)
        self.inertia, self.rest = assembly.mass / STEP**2, rest
        self.x = vectors(x)
        self.system = system = NewtonStep(cpu, assembly, 1e-4, 2000, multilevel=True, growth=2.0)
        elastic = Elastic(cpu, assembly, STEP, (0, 0, 0), ElasticityChoices())
        cpu.sequence(elastic.residual_launches(self.x, vectors(rest), system))()
        solve, take = system.bind(self.x, None, None), lambda: system.scalar.copy()
        solve.begin(take, 0, True), solve.finish(take)
        self.search = CordSearch(cpu, elastic.cord, self.x, system.increment, system.scalar)
        cpu.sequence(self.search.launches)()
        self.share = float(self.search.share[0])

    def energy(self, share):
        """Of inertia and cords on a share of the increment, J."""
        x = (self.x + share * self.system.increment)[:, :3].astype(float)
        apart = np.linalg.norm(x[self.ends[:, 1]] - x[self.ends[:, 0]], axis=1)
        cords = 0.5 * self.k * np.maximum(apart - self.length, 0.0) ** 2
        return 0.5 * (self.inertia[:, None] * (x - self.rest) ** 2).sum() + cords.sum()


def straight(amount=1.0):
    return np.column_stack([np.arange(COUNT) * 0.01 * amount, np.zeros(COUNT), np.zeros(COUNT)])


def rough(amount, width):
    return straight(amount) + np.random.default_rng(0).normal(size=(COUNT, 3)) * width


@pytest.mark.parametrize("x", [straight(1.001), straight(0.5)], ids=["drawn", "slack"])
def test_an_increment_that_surprises_no_cord_is_taken_whole(x):
    assert Rope(x).share == 1.0


@pytest.mark.parametrize("width", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("amount", [0.9, 1.0, 1.1])
def test_the_share_that_lowers_the_energy_most_is_taken(amount, width):
    rope = Rope(rough(amount, width))
    energies = {0.5**k: rope.energy(0.5**k) for k in range(SHARES)}
    saved = rope.energy(0.0) - min(energies.values())
    assert saved > 0.0
    assert energies[rope.share] <= min(energies.values()) + 0.02 * saved


def test_whole_increments_would_raise_the_energy():
    """Or the tests above would ask for nothing."""
    rope = Rope(rough(1.0, 1e-2))
    assert rope.share < 1.0
    assert rope.energy(1.0) > rope.energy(0.0)


def test_cloth_without_cords_launches_nothing_more():
    search = CordSearch(cpu, None, None, None, None)
    assert search.launches == []
    assert search.share == 1.0

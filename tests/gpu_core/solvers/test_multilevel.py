# SPDX-License-Identifier: GPL-3.0-or-later
"""The multilevel preconditioner: its aggregates, and what it does to a solve."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sparse

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.multilevel import levels_of
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.gpu_core.solvers.sums import DotProduct
from taffeta.gpu_core.subspace.aggregation import aggregates
from taffeta.tests.gpu_core.chunk_sums import chunk_sums
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
STEP = 1 / 192


def assembled(vertices, triangles, pins=None):
    cloth = Cloth("Sheet", np.int32(triangles), vertices, vertices, Material(), pins=pins)
    return assemble((cloth,), STEP)


def partitions(vertices, triangles):
    """Level by level, the aggregate of each vertex."""
    assembly = assembled(vertices, triangles)
    found = levels_of(assembly.hessian, assembly.free, assembly.rest)
    member, levels = np.arange(len(vertices)), []
    for number in found:
        member = number[member]
        levels.append(member)
    return levels


def test_aggregates_are_connected_and_hold_every_unknown_once():
    vertices, triangles = sheet(15)
    assembly = assembled(vertices, triangles)
    rank = 1 + np.random.default_rng(0).permutation(len(vertices))
    number, roots = aggregates(assembly.hessian, rank)
    assert sorted(set(number.tolist())) == list(range(len(roots)))
    assert number[roots].tolist() == list(range(len(roots)))
    for k in range(len(roots)):
        inside = np.flatnonzero(number == k)
        assert sparse.csgraph.connected_components(assembly.hessian[inside][:, inside])[0] == 1


def test_levels_shrink_to_a_few_aggregates():
    sizes = [member.max() + 1 for member in partitions(*sheet(30))]
    assert sizes[0] < 900 / 4
    assert all(b <= a / 2 for a, b in pairwise(sizes))
    assert sizes[-1] <= 4


def test_aggregates_do_not_depend_on_the_numbering():
    vertices, triangles = sheet(15)
    order = np.random.default_rng(1).permutation(len(vertices))
    shuffled = partitions(vertices[order], np.argsort(order)[triangles])
    for plain, other in zip(partitions(vertices, triangles), shuffled, strict=True):
        assert (plain[order] == other).all()


def test_a_scene_sixteen_times_as_large_has_the_same_aggregates():
    """Where its elasticity is that of a larger sheet too; here the graph alone decides, so weights stay as they are."""
    vertices, triangles = sheet(15)
    assembly = assembled(vertices, triangles)
    small, large = (levels_of(assembly.hessian, assembly.free, scale * assembly.rest) for scale in (1.0, 16.0))
    for a, b in zip(small, large, strict=True):
        assert (a == b).all()


class Stretched:
    """A pulled, rough sheet and its Newton step."""

    def __init__(self, multilevel, side=24, accuracy=0.05, pins=None):
        rest, triangles = sheet(side, 0.5)
        assembly = assembled(rest, triangles, pins)
        self.system = NewtonStep(cpu, assembly, accuracy, 2000, multilevel, growth=2.0)
        x = vectors(rest * 1.02 + np.random.default_rng(2).normal(size=rest.shape) * 2e-4)
        z = vectors(rest * 1.02 + [0.0, 0.0, 0.01])
        cpu.sequence(
            Elastic(cpu, assembly, STEP, (0, 0, -9.81), ElasticityChoices()).residual_launches(x, z, self.system)
        )()
        self.solve = self.system.bind(x, None, None)

    def increment(self):
        take = lambda: self.system.scalar.copy()  # noqa: E731
        self.solve.begin(take, 0, True)
        self.solve.finish(take)
        return self.system.increment[:, :3].astype(float)


def test_levels_leave_less_of_the_error_in_fewer_iterations():
    exact = Stretched(True, accuracy=1e-6).increment()
    levels, blocks = Stretched(True), Stretched(False)
    left = [np.linalg.norm(item.increment() - exact) / np.linalg.norm(exact) for item in (levels, blocks)]
    assert left[0] < left[1]
    assert levels.system.iterations < blocks.system.iterations


@pytest.mark.parametrize("pins", [None, Pins(np.arange(24, dtype=np.int32), sheet(24, 0.5)[0][None, :24])])
def test_the_preconditioner_is_symmetric_and_positive(pins):
    item = Stretched(True, pins=pins)
    item.solve.begin(lambda: item.system.scalar.copy(), 0, True)
    system, rng = item.system, np.random.default_rng(3)
    free = system.free[:, None] != 0
    dot = DotProduct(cpu, len(free)).product
    apply = cpu.sequence(system._multilevel.launches(system._inverse, system._left, system._preconditioned, dot))
    sides, images = [], []
    for _ in range(4):
        side = np.where(free, rng.normal(size=(len(free), 3)), 0.0)
        system._left[:, :3] = side
        apply()
        assert np.array_equal(dot["partial"], chunk_sums(system._left, system._preconditioned))
        sides.append(side.ravel())
        images.append(system._preconditioned[:, :3].astype(float).ravel())
    gram = np.array(sides) @ np.array(images).T
    assert np.abs(gram - gram.T).max() < 1e-5 * np.abs(gram).max()
    assert np.linalg.eigvalsh(0.5 * (gram + gram.T)).min() > 0
    assert (np.array(images).reshape(4, -1, 3)[:, ~free[:, 0]] == 0).all()

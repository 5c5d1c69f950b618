# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's matrix against finite differences of the forces, and its solution against a direct solver."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.mesh import edge_sides, edges_of
from taffeta.gpu_core.scene.scene import Cloth, Cords, Material, Pins
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
STEP = 1 / 150


class Sheet:
    """A sheet, its forces and its matrix, in float64 at the door."""

    def __init__(self, side=7, pins=None, cords=None, **material):
        self.rest, triangles = sheet(side, 0.2)
        law = Material(
            **{"softening": 1.0, "stretch_warp": 900.0, "stretch_weft": 700.0, "shear": 40.0, "bend": 1e-5, **material}
        )
        cloth = Cloth("Sheet", triangles, self.rest, self.rest, law, pins=pins, cords=cords, cord_density=1e-12)
        assembly = assemble((cloth,), STEP)
        self.mass, self.inertia = assembly.mass, assembly.mass / STEP**2
        self.system = NewtonStep(cpu, assembly, 1e-5, 400, multilevel=True, growth=2.0)
        self.x, z = vectors(self.rest), vectors(self.rest)
        self.residual = cpu.sequence(
            Elastic(cpu, assembly, STEP, (0, 0, 0), ElasticityChoices()).residual_launches(self.x, z, self.system)
        )
        self.solve = self.system.bind(self.x, None, None)

    def solved(self, solve=None):
        """Writes the increment."""
        solve, take = solve or self.solve, lambda: self.system.scalar.copy()
        solve.begin(take, 0, True), solve.finish(take)

    def force(self, x):
        self.x[:, :3] = x
        self.residual()
        return self.system.residual[:, :3].astype(float)

    def times(self, x, p):
        """K(x) p."""
        self.force(x)
        start, iteration = self.system._launches(None)
        cpu.sequence(start)()
        self.system._direction[:, :3] = p
        (product,) = [item for item in iteration if item.kernel == "curvature_times"]
        cpu.sequence([product])()
        return self.system._product[:, :3].astype(float)

    def matrix(self, x):
        count = self.rest.size
        return np.stack([self.times(x, unit.reshape(-1, 3)).ravel() for unit in np.eye(count)], axis=1)


def pulled(rest, amount, rough=5e-4):
    """Stretched both ways, and rough enough to leave the plane."""
    return rest * amount + np.random.default_rng(0).normal(size=rest.shape) * rough


@pytest.mark.parametrize(("limit", "amount"), [(0.0, 1.15), (0.05, 1.2), (0.2, 1.1)])
def test_the_matrix_is_the_derivative_of_the_forces_where_all_is_in_tension(limit, amount):
    item = Sheet(strain_limit=limit)
    x, p, width = pulled(item.rest, amount, 1e-4), np.random.default_rng(1).normal(size=item.rest.shape), 2e-4
    differences = (item.force(x - width * p) - item.force(x + width * p)) / (2 * width)
    assert np.abs(item.times(x, p) - differences).max() < 2e-3 * np.abs(differences).max()


def test_the_matrix_is_the_derivative_of_taut_cords_and_knows_nothing_of_slack_ones():
    ends = np.int32([[2, 25], [11, 40], [8, 30]])
    cords = Cords(ends, np.array([0.05, 0.03, 0.5]))
    item, without = Sheet(cords=cords), Sheet()
    x, p, width = pulled(item.rest, 1.15, 1e-4), np.random.default_rng(1).normal(size=item.rest.shape), 2e-4
    differences = (item.force(x - width * p) - item.force(x + width * p)) / (2 * width)
    assert np.abs(item.times(x, p) - differences).max() < 2e-3 * np.abs(differences).max()
    slack = Sheet(cords=Cords(ends[2:], np.array([0.5])))
    assert slack.times(x, p) == pytest.approx(without.times(x, p), rel=1e-5, abs=1e-3)


KNIT = {"stretch_warp": 60.0, "stretch_weft": 35.0, "shear": 35.0, "strain_limit": 0.4}


@pytest.mark.parametrize("law", [{"strain_limit": 0.05}, KNIT], ids=["woven", "knit"])
@pytest.mark.parametrize("amount", [0.6, 0.95, 1.0, 1.3])
def test_the_matrix_is_symmetric_and_never_less_than_inertia(amount, law):
    """Compressed cloth has negative curvature: it is cut off, so that a step always goes downhill."""
    item = Sheet(5, **law)
    matrix = item.matrix(pulled(item.rest, amount, 4e-3))
    scale = np.abs(matrix).max()
    assert np.abs(matrix - matrix.T).max() < 1e-5 * scale
    least = np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min()
    assert least > item.inertia.min() - 1e-5 * scale


def test_a_common_motion_meets_inertia_only():
    item = Sheet(strain_limit=0.05)
    moved = item.times(pulled(item.rest, 1.1), np.tile([0.3, -0.2, 0.5], (len(item.rest), 1)))
    assert moved == pytest.approx(item.inertia[:, None] * [0.3, -0.2, 0.5], rel=1e-3, abs=1e-3)


def test_gradients_find_the_solution_of_a_direct_solver():
    item = Sheet(strain_limit=0.2)
    x = pulled(item.rest, 1.05)
    force = item.force(x)
    item.solved()
    found = item.system.increment[:, :3].copy()
    direct = np.linalg.solve(item.matrix(x), force.ravel()).reshape(-1, 3)
    assert np.abs(found - direct).max() < 1e-3 * np.abs(direct).max()


def test_gradients_stop_at_the_accuracy_they_are_asked_for():
    item = Sheet(strain_limit=0.2)
    item.force(pulled(item.rest, 1.05))
    counts = []
    for accuracy in (0.5, 0.05, 0.005):
        item.system.accuracy, item.system.iterations = accuracy, 0
        solve = item.system.bind(item.x, None, None)
        item.solved(solve)
        counts.append(item.system.iterations)
        assert float(item.system.scalar[0]) <= accuracy**2 * initial_energy(item)
    assert counts[0] < counts[1] < counts[2]


def test_iterations_after_the_accuracy_was_reached_change_nothing():
    """So that a host which looks late at a device gets the same bits."""
    item = Sheet(strain_limit=0.2)
    item.force(pulled(item.rest, 1.05))
    item.solved()
    found = item.system.increment.copy()
    cpu.sequence(item.system._launches(None)[1] * 8)()
    assert item.system.scalar[4] == 1.0
    assert np.array_equal(item.system.increment, found)


def initial_energy(item):
    cpu.sequence(item.system._launches(None)[0])()
    return float(item.system.scalar[0])


def test_pinned_vertices_do_not_move():
    pins = np.array([0, 3, 20], np.int32)
    rest = sheet(7, 0.2)[0]
    item = Sheet(pins=Pins(pins, rest[None, pins]))
    item.force(pulled(item.rest, 1.05))
    item.solved()
    assert np.all(item.system.increment[pins] == 0.0)
    assert np.abs(item.system.increment).max() > 0.0


def test_every_edge_has_its_triangles_sides():
    _, triangles = sheet(4)
    cords = np.int32([[9, 2], [3, 12], [4, 5]])  # the last beside an edge of the sheet
    edges = edges_of(triangles, 16, cords).ends
    sides = edge_sides(triangles, edges, cords)
    assert len(np.unique(sides[sides >= 0])) == (sides >= 0).sum() == 3 * len(triangles) + len(cords)
    for (a, b), pair in zip(edges, sides, strict=True):
        for side in pair[pair >= 0]:
            if side // 2 >= 3 * len(triangles):
                corners = cords[side // 2 - 3 * len(triangles)]
            else:
                corners = triangles[side // 6][[(side // 2 % 3 + 1) % 3, (side // 2 % 3 + 2) % 3]]
            assert tuple(corners) == ((a, b) if side % 2 else (b, a))


def test_every_vertex_finds_each_of_its_edges_once():
    _, triangles = sheet(4)
    edges = edges_of(triangles, 16, np.int32([[9, 2], [3, 12]]))
    for v in range(16):
        below = edges.below.entries[edges.below.start[v] : edges.below.start[v + 1]]
        own = {*range(edges.above[v], edges.above[v + 1]), *below.tolist()}
        assert own == set(np.flatnonzero((edges.ends == v).any(axis=1)).tolist())


def test_what_bends_holds_no_rounding_instead_of_zeros():
    """A grid's rows and their products cancel exactly but for the last digit: nearly half of the entries."""
    item = Sheet(9)
    start, value = item.system._rows["start"], item.system._rows["value"]
    assert np.abs(value).min() > 1e-6 * np.abs(value).max()
    assert start[-1] / len(item.rest) < 6.5

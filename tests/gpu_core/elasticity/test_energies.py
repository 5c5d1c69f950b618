# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of every registered energy, so of a new one too."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sparse

from taffeta.gpu_core.backend import launch, select
from taffeta.gpu_core.elasticity import assembly as assembly_module
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.elasticity.energies import ENERGIES
from taffeta.gpu_core.scene.fabrics import COTTON
from taffeta.gpu_core.scene.mesh import triangle_areas
from taffeta.gpu_core.scene.scene import Cloth, Cords, Scene, Settings
from taffeta.gpu_core.scene.shape import Shape
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers import elastic as elastic_module
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
CHOICES = ElasticityChoices()
#: As stiff against bending as against stretch, that float32 shows the digits of both.
MATERIAL = replace(COTTON.material, stretch_warp=10.0, stretch_weft=8.0, shear=3.0, bend=1e-2, strain_limit=0.02)
#: The sheet and the cone over its border enclose something too.
PRESSED = Shape(pressure=300.0, ambient_pressure=40.0, target_volume=1e-4)


@pytest.fixture
def rough():
    """(two cloths' assembly, with threads and cords, and (N, 3) stretched, bent and folded)."""
    points, triangles = sheet(7, 0.2)
    threads = np.int32([[0, 6], [7, 41]])
    cords = Cords(np.int32([[2, 25], [8, 30], [11, 40]]), np.array([0.05, 0.06, 0.3]))
    cloths = tuple(
        Cloth(name, triangles, points, points, MATERIAL, seams=threads, cords=cords, shape=PRESSED)
        for name in ("One", "Other")
    )
    rng = np.random.default_rng(4)
    x = np.concatenate([points * 1.03, points * 0.98 + [0.5, 0.0, 0.0]]) + rng.normal(size=(98, 3)) * 4e-3
    return assemble(cloths, 1 / 192), x


@pytest.mark.parametrize("energy", ENERGIES, ids=lambda energy: energy.name)
def test_the_force_is_what_the_energy_loses_on_the_way(energy, rough):
    assembly, x = rough
    system = NewtonStep(cpu, assembly, 1e-5, 10, multilevel=False, growth=2.0)
    elastic = Elastic(cpu, assembly, 1 / 192, (0, 0, 0), CHOICES)
    (one,) = [item for item in elastic.energies if isinstance(item, energy)]
    one.resume(one.memory(vectors(x)), vectors(x))
    way = np.random.default_rng(5).normal(size=x.shape) * 2e-5
    system.residual[:] = 0.0
    at = vectors(x)
    if hasattr(one, "turn"):
        one.turn(at)
    cpu.sequence(one.residual_launches(at, system))()
    lost = -one.gain(vectors(x - way), vectors(x + way), np.ones(len(x), bool))
    work = 2.0 * (system.residual[:, :3].astype(float) * way).sum()
    assert abs(work) > 0.0
    assert lost == pytest.approx(work, rel=2e-2)


@pytest.mark.parametrize("energy", ENERGIES, ids=lambda energy: energy.name)
def test_what_an_energy_adds_to_the_matrix_is_symmetric_and_never_negative(energy, rough):
    hessian = rough[0].parts[energy.name].hessian.toarray()
    assert np.allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12 * abs(hessian).max())
    assert np.linalg.eigvalsh(hessian).min() >= -1e-9 * abs(hessian).max()


@pytest.mark.parametrize("energy", ENERGIES, ids=lambda energy: energy.name)
def test_one_cloth_does_not_feel_another(energy, rough):
    hessian = rough[0].parts[energy.name].hessian.toarray()
    assert not hessian[:49, 49:].any()


def test_names_and_memories_are_each_energys_own(rough):
    elastic = Elastic(cpu, rough[0], 1 / 192, (0, 0, 0), CHOICES)
    assert len({energy.name for energy in ENERGIES}) == len(ENERGIES)
    names = [name for energy in elastic.energies for name in energy.memory(vectors(rough[1]))]
    assert len(set(names)) == len(names)


class Tether:
    """½ m ω² ‖x − X‖²: each vertex on a spring to where it rests, so stiff that all sink alike."""

    name, constant, external = "tether", True, True
    omega = 20.0  #: 1/s

    def __init__(self, backend, data, sheet, choices):
        self.stiffness, self.target, self.count = (
            backend.array(data.stiffness),
            backend.array(data.rest),
            sheet.vertices,
        )

    @classmethod
    def part(cls, cloth, choices, known=None):
        area = np.repeat(triangle_areas(cloth.rest_positions, cloth.triangles) / 3.0, 3)
        mass = cloth.material.density * np.bincount(cloth.triangles.ravel(), area)
        stiffness = cls.omega**2 * mass
        hessian = sparse.diags_array(stiffness).tocsr()
        return SimpleNamespace(stiffness=stiffness, hessian=hessian, viscosity=None, cloth=cloth)

    @staticmethod
    def joined(parts, cloths, offsets):
        (part,) = parts
        rest = vectors(part.cloth.positions)
        return SimpleNamespace(stiffness=part.stiffness, rest=rest, hessian=part.hessian, viscosity=None)

    def renew(self, data):
        self.stiffness[:] = data.stiffness

    def residual_launches(self, x, system):
        spring = {"stiffness": self.stiffness, "target": self.target, "residual": system.residual}
        return [launch("pin_residual", self.count, x=x, **spring)]

    def gain(self, start, x, of):
        return 0.0

    def memory(self, x):
        return {}

    def resume(self, memory, x):
        pass

    def remember(self, x, converged):
        return {}


def test_an_energy_needs_a_class_and_a_line(monkeypatch):
    """No solver, no matrix and no kernel launch knows of it, and a sheet hangs from it by g/ω²."""
    for module in (assembly_module, elastic_module):
        monkeypatch.setattr(module, "ENERGIES", (*ENERGIES, Tether))
    points, triangles = sheet(6, 0.2)
    cloth = Cloth("Sheet", triangles, points, points, replace(MATERIAL, air_drag=0.0))
    simulator = Simulator(Scene((cloth,), (), Settings(1, 60, step_rate=96.0)), cpu)
    for _ in range(59):
        report = simulator.advance_frame()
        assert report.unfinished_steps == 0
    sunk = points[:, 2] - simulator.positions()[0][:, 2]
    assert sunk == pytest.approx(np.full(len(points), 9.81 / Tether.omega**2), rel=0.01)

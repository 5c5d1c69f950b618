# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of every registered energy, so of a new one too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.elasticity.energies import ENERGIES
from taffeta.gpu_core.scene.fabrics import COTTON
from taffeta.gpu_core.scene.scene import Cloth
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
CHOICES = ElasticityChoices()
#: As stiff against bending as against stretch, that float32 shows the digits of both.
MATERIAL = replace(COTTON.material, stretch_warp=10.0, stretch_weft=8.0, shear=3.0, bend=1e-2, strain_limit=0.02)


@pytest.fixture
def rough():
    """(two cloths' assembly, (N, 3) stretched, bent and folded)."""
    points, triangles = sheet(7, 0.2)
    cloths = tuple(Cloth(name, triangles, points, points, MATERIAL) for name in ("One", "Other"))
    rng = np.random.default_rng(4)
    x = np.concatenate([points * 1.03, points * 0.98 + [0.5, 0.0, 0.0]]) + rng.normal(size=(98, 3)) * 4e-3
    return assemble(cloths, 1 / 192), x


@pytest.mark.parametrize("energy", ENERGIES, ids=lambda energy: energy.name)
def test_the_force_is_what_the_energy_loses_on_the_way(energy, rough):
    assembly, x = rough
    system = NewtonStep(cpu, assembly, 1e-5, 10, multilevel=False)
    elastic = Elastic(cpu, assembly, 1 / 192, (0, 0, 0), CHOICES)
    (one,) = [item for item in elastic.energies if isinstance(item, energy)]
    one.resume(one.memory(vectors(x)))
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
    assert np.linalg.eigvalsh(hessian).min() > -1e-9 * abs(hessian).max()


@pytest.mark.parametrize("energy", ENERGIES, ids=lambda energy: energy.name)
def test_one_cloth_does_not_feel_another(energy, rough):
    hessian = rough[0].parts[energy.name].hessian.toarray()
    assert not hessian[:49, 49:].any()


def test_names_and_memories_are_each_energys_own(rough):
    elastic = Elastic(cpu, rough[0], 1 / 192, (0, 0, 0), CHOICES)
    assert len({energy.name for energy in ENERGIES}) == len(ENERGIES)
    names = [name for energy in elastic.energies for name in energy.memory(vectors(rough[1]))]
    assert len(set(names)) == len(names)

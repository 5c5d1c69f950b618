# SPDX-License-Identifier: GPL-3.0-or-later
"""A step may take energy from free cloth, never give it any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.benchmarks.physics import energy
from taffeta.benchmarks.physics.result import DEFAULT
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.scene import Cloth
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
H = 1.0 / 192.0  #: s


def test_no_step_of_sheets_that_are_thrown_together_gives_them_energy():
    found = {result.quantity: result for result in energy.thrown(DEFAULT, speeds=(4.0,))}
    assert found["thrown together at 4 m/s: largest gain of a step"].holds
    assert found["thrown together at 4 m/s: energy at the end"].measured < 0.5  # they did meet


def test_a_step_whose_exact_minimum_gains_energy_is_taken_in_shorter_ones():
    assert all(result.holds for result in energy.shut(DEFAULT))
    blind = replace(DEFAULT, parameters=DEFAULT.parameters.replaced(energy_share=float("inf")))
    gained = next(iter(energy.shut(blind)))
    assert gained.measured > 0.005


@pytest.mark.parametrize("stretch", [0.9, 1.03, 1.1], ids=["compressed", "within its limit", "beyond its limit"])
def test_what_cloth_gains_is_the_difference_of_its_energies(stretch):
    points, triangles = sheet(5, 0.2)
    cloths = [Cloth(name, triangles, points, points + [0.0, 0.0, z]) for name, z in (("Lower", 0.0), ("Upper", 1.0))]
    data, alone = (assemble(some, H) for some in (cloths, cloths[1:]))
    random, rest = np.random.default_rng(1), np.concatenate([cloth.positions for cloth in cloths])
    start, end = (vectors(s * rest + 0.001 * random.standard_normal(rest.shape)) for s in (1.0, stretch))
    upper = np.arange(len(rest)) >= len(points)
    gained = Elastic(cpu, data, H, (0.0, 0.0, 0.0), ElasticityChoices()).gain(cpu.array(start), cpu.array(end), upper)

    before, after = (energy.elastic_energy(alone, x[upper, :3].astype(float)) for x in (start, end))
    assert gained == pytest.approx(after - before, rel=1e-3)

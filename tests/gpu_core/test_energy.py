"""A step may take energy from free cloth, never give it any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.benchmarks.physics import energy
from taffeta.benchmarks.physics.result import DEFAULT
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.scene import Cloth
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
H = 1.0 / 192.0  #: s
WAY = np.array([1.0, 1e-4, -1e-4, 0.0])  #: from the end, 0, back to the start, 1, and beside the end


def test_no_step_of_sheets_that_are_thrown_together_gives_them_energy():
    found = {result.quantity: result for result in energy.thrown(DEFAULT, speeds=(4.0,))}
    assert found["thrown together at 4 m/s: largest gain of a step"].holds
    assert found["thrown together at 4 m/s: energy at the end"].measured < 0.5  # they did meet


@pytest.mark.parametrize("stretch", [0.9, 1.03, 1.1], ids=["compressed", "within its limit", "beyond its limit"])
def test_what_backward_euler_takes_from_the_membrane_is_how_convex_its_energy_is_on_the_way(stretch):
    points, triangles = sheet(5, 0.2)
    data = assemble((Cloth("Sheet", triangles, points, points),), H, "plate", limit_in_hessian=False)
    random = np.random.default_rng(1)
    start, end = (vectors(s * points + 0.001 * random.standard_normal(points.shape)) for s in (1.0, stretch))
    taken = Elastic(cpu, data, H, (0.0, 0.0, 0.0), 1.0).loss(cpu.array(start), cpu.array(end))

    without_bending = replace(data, row_stiffness=0.0 * data.row_stiffness)
    start, end = start[:, :3].astype(float), end[:, :3].astype(float)
    at = [energy.elastic_energy(without_bending, end + t * (start - end)) for t in WAY]
    slope = (at[1] - at[2]) / (WAY[1] - WAY[2])
    assert float(taken.sum()) == pytest.approx(at[0] - at[3] - slope, rel=1e-3)

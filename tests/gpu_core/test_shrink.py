# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth that shrinks or grows has the form of its mesh at another size, flat or curved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.mesh import edge_lengths, unique_edges
from taffeta.gpu_core.scene.scene import Cloth, Material, Painted, Scene, SceneError, Settings
from taffeta.gpu_core.scene.shape import Shape
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.gpu_core.solvers.parameters import preset
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")
STIFF = Material(stretch_warp=60.0, stretch_weft=40.0, shear=10.0, bend=1e-2, strain_limit=0.0, air_drag=0.0)


def in_space(cloth: Cloth, frames: int = 13, **settings) -> Scene:
    return Scene((cloth,), (), Settings(1, frames, gravity=(0.0, 0.0, 0.0), backend="cpu", **settings))


def after(scene: Scene, parameters=None) -> np.ndarray:
    simulator = Simulator(scene, cpu, parameters)
    for _ in range(scene.settings.frames - 1):
        simulator.advance_frame()
    return simulator.positions()[0]


@pytest.mark.parametrize("shrink", [0.3, -0.5])
def test_a_shell_that_has_shrunk_to_its_size_is_free_of_force(shrink):
    points, triangles = ball(0.2)
    cloth = Cloth("Ball", triangles, points, points, STIFF, shape=Shape(shrink=shrink))
    x = vectors((1.0 - shrink) * points)
    for scale, force in ((1.0, 0.0), (1.02, 1e-2)):
        assembly = assemble((cloth,), 1.0)
        elastic, system = (
            Elastic(cpu, assembly, 1.0, (0, 0, 0), ElasticityChoices()),
            NewtonStep(cpu, assembly, 1e-5, 10, multilevel=False, growth=2.0),
        )
        at = (scale * x).astype(np.float32)
        cpu.sequence(elastic.residual_launches(at, at, system))()
        largest = np.abs(system.residual[:, :3]).max()
        assert largest < 1e-4 if force == 0.0 else largest > force


@pytest.mark.parametrize("method", ["default", "subspace"])
def test_a_sheet_shrinks_by_its_share(method):
    points, triangles = sheet(7, 0.2)
    cloth = Cloth("Sheet", triangles, points, points, STIFF, shape=Shape(shrink=0.1))
    edges = unique_edges(triangles)
    # It swings about its size, for nothing damps it but the steps.
    found = after(in_space(cloth, 25, step_rate=48.0), preset(method))
    ratio = edge_lengths(found, edges) / edge_lengths(points, edges)
    assert ratio == pytest.approx(np.full(len(edges), 0.9), abs=0.012)


def test_a_sheet_shrinks_where_it_is_painted_and_keeps_its_mass():
    points, triangles = sheet(6, 0.2)
    both, grid = np.concatenate([points, points + [1.0, 0, 0]]), np.concatenate([triangles, triangles + len(points)])
    second = np.arange(len(both)) >= len(points)
    cloth = Cloth("Sheets", grid.astype(np.int32), both, both, STIFF)
    cloth = replace(cloth, painted={"shrink": Painted(np.float32(second), 0.1)})
    edges = unique_edges(cloth.triangles)
    ratio = edge_lengths(after(in_space(cloth, 25, step_rate=48.0)), edges) / edge_lengths(both, edges)
    assert ratio[~second[edges[:, 0]]] == pytest.approx(1.0, abs=1e-5)
    assert ratio[second[edges[:, 0]]] == pytest.approx(0.9, abs=0.012)
    plain = assemble((replace(cloth, painted={}),), 1.0)
    assert np.array_equal(assemble((cloth,), 1.0).mass, plain.mass)


def test_a_strip_held_at_its_length_pulls_by_its_stiffness_times_the_strain():
    """Of Y ε with ε from the shrunk length: what the pins bear of a strip of a width."""
    points, triangles = sheet(9, 0.2)
    cloth = Cloth("Sheet", triangles, points, points, replace(STIFF, shear=20.0), shape=Shape(shrink=0.1))
    assembly = assemble((cloth,), 1.0)
    elastic = Elastic(cpu, assembly, 1.0, (0, 0, 0), ElasticityChoices())
    system = NewtonStep(cpu, assembly, 1e-5, 10, multilevel=False, growth=2.0)
    at = vectors(points)
    cpu.sequence(elastic.residual_launches(at, at, system))()
    border = np.isclose(points[:, 0], 0.0)
    strain = 1.0 / 0.9 - 1.0
    # The border's width at rest is 0.9 times that of the mesh.
    assert system.residual[border, 0].sum() == pytest.approx(0.1 * 60.0 * strain * 0.18, rel=1e-3)


@pytest.mark.parametrize("value", [1.0, np.nan, -20.0])
def test_a_length_that_no_edge_can_have_is_refused(value):
    points, triangles = sheet(3, 0.2)
    cloth = Cloth("Sheet", triangles, points, points, shape=Shape(shrink=value))
    with pytest.raises(SceneError, match=r"Set shrink to -9 to 0\.9"):
        in_space(cloth).validate()

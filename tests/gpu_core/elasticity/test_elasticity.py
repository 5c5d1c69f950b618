# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces against energies and closed forms; the global step against a direct solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg as linalg

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.bending import bending
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.global_step import GlobalStep, chebyshev_coefficients
from taffeta.gpu_core.solvers.parameters import NdbParameters
from taffeta.gpu_core.subspace.subspace import subspace
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
STEP = 1 / 150


def cloth(side=9, size=0.2, **material):
    vertices, triangles = sheet(side, size)
    law = {"bend": 0.0, "strain_limit": 0.0, "softening": 1.0, "air_drag": 0.0, **material}
    return Cloth("Sheet", triangles, vertices, vertices, Material(**law))


def forces(item, positions, parameters=None):
    """Elastic forces (N, 3) at `positions`: the residual with inertia satisfied."""
    parameters = parameters or NdbParameters()
    assembly = assemble((item,), STEP, parameters.elasticity)
    modes = subspace(assembly.hessian, assembly.free, 0, None)
    system = GlobalStep(cpu, assembly, modes, parameters.subspace)
    elastic = Elastic(cpu, assembly, STEP, (0, 0, 0), ElasticityChoices())
    x = vectors(positions)
    cpu.sequence(elastic.residual_launches(x, x.copy(), system))()
    return system.residual[:, :3].astype(float)


def strip_force(item, stretch, axis):
    """Total pull at one end of the sheet, stretched by `stretch` along `axis`, N per metre of width."""
    x = item.rest_positions.copy()
    x[:, axis] *= stretch
    end = item.rest_positions[:, axis] > item.rest_positions[:, axis].max() - 1e-9
    return -forces(item, x)[end, axis].sum() / np.ptp(item.rest_positions[:, 1 - axis])


@pytest.mark.parametrize("stretch", [0.98, 1.01, 1.05, 1.2])
def test_pull_along_warp_and_weft_follows_the_material(stretch):
    item = cloth(stretch_warp=900.0, stretch_weft=400.0, shear=50.0)
    assert strip_force(item, stretch, 0) == pytest.approx(900 * (stretch - 1), rel=1e-3)
    assert strip_force(item, stretch, 1) == pytest.approx(400 * (stretch - 1), rel=1e-3)


def test_small_shear_follows_the_shear_stiffness():
    item = cloth(stretch_warp=900.0, stretch_weft=400.0, shear=50.0)
    gamma, x = 0.01, item.rest_positions.copy()
    x[:, 0] += gamma * x[:, 1]
    top = item.rest_positions[:, 1] > item.rest_positions[:, 1].max() - 1e-9
    shear = -forces(item, x)[top, 0].sum() / 0.2
    assert shear == pytest.approx(50.0 * gamma, rel=0.02)


def test_the_strain_limit_pulls_only_beyond_the_limit():
    plain, limited = (
        cloth(stretch_warp=100.0, stretch_weft=100.0),
        cloth(stretch_warp=100.0, stretch_weft=100.0, strain_limit=0.05),
    )
    assert strip_force(limited, 1.049, 0) == pytest.approx(strip_force(plain, 1.049, 0), rel=1e-4)
    assert strip_force(limited, 1.10, 0) > 1.5 * strip_force(plain, 1.10, 0)


@pytest.mark.parametrize("form", ["plate", "hinge", "vertex"])
def test_rigid_motion_costs_nothing(form):
    item = cloth(bend=1e-4)
    angle = 1.1
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    got = forces(item, item.rest_positions @ turn.T + [3.0, -2.0, 5.0], NdbParameters().replaced(bending=form))
    assert np.abs(got).max() < 2e-3  # float32 noise of positions 5 m from the origin, times the stiffness


@pytest.mark.parametrize("form", ["plate", "hinge", "vertex"])
def test_bending_a_cylinder_costs_the_flexural_rigidity(form):
    """Energy per area of a cylinder is D κ²/2, away from the free border."""
    side, size, curvature = 41, 0.2, 1.0
    item = cloth(side, size, bend=3e-4)
    x = item.rest_positions.copy()
    x[:, 2] = np.cos(curvature * item.rest_positions[:, 0]) / curvature
    x[:, 0] = np.sin(curvature * item.rest_positions[:, 0]) / curvature
    part = bending(item, form)
    energy = 0.5 * (part.stiffness * ((part.rows @ x) ** 2).sum(axis=1)).sum()
    assert energy == pytest.approx(0.5 * 3e-4 * curvature**2 * size**2, rel=0.06)


def test_a_curved_rest_shape_is_at_rest_and_turns_with_the_cloth():
    item = cloth(11, bend=1e-4)
    curved = item.rest_positions.copy()
    curved[:, 2] = 0.02 * np.sin(20 * curved[:, 0])
    shaped = Cloth("Shaped", item.triangles, curved, curved, item.material)
    turn = np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]])
    flat = np.abs(forces(shaped, item.rest_positions)).max()
    assert np.abs(forces(shaped, curved)).max() < 0.1 * flat
    assert np.abs(forces(shaped, curved @ turn.T)).max() < 0.1 * flat


def global_step(parameters=None, pins=None, side=20):
    item = cloth(side, bend=1e-5)
    if pins is not None:
        item = Cloth(item.name, item.triangles, item.rest_positions, item.positions, item.material, pins=pins)
    parameters = parameters or NdbParameters()
    assembly = assemble((item,), STEP, parameters.elasticity)
    modes = subspace(assembly.hessian, assembly.free, 120, None)
    return assembly, GlobalStep(cpu, assembly, modes, parameters.subspace)


def solve(assembly, step, added):
    rng = np.random.default_rng(3)
    right = rng.normal(size=(assembly.vertices, 3)) * assembly.free[:, None]
    right = assembly.hessian @ linalg.spsolve(assembly.hessian.tocsc(), right)  # as rough as forces are
    step.residual[:, :3] = right
    step.added[:] = added
    step.total_diagonal[:] = step.rest_diagonal + step.added
    x = np.zeros((assembly.vertices, 4), np.float32)
    step.reuse(x, x)
    import scipy.sparse as sparse

    exact = linalg.spsolve((assembly.hessian + sparse.diags_array(step.added.astype(float))).tocsc(), right)
    return np.linalg.norm(step.increment[:, :3] - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("relaxation", ["chebyshev", "jacobi"])
def test_the_global_step_approaches_the_direct_solution(relaxation):
    assembly, step = global_step(NdbParameters().replaced(relaxation=relaxation))
    few = solve(assembly, step, 0.0)
    assembly, step = global_step(NdbParameters().replaced(relaxation=relaxation, sweeps=100))
    many = solve(assembly, step, 0.0)
    assert many < few < 0.3
    assert many < 0.05


def test_contacts_in_the_matrix_are_solved_for():
    added = np.where(np.arange(400) % 3 == 0, 300.0, 0.0)
    assembly, step = global_step(NdbParameters().replaced(sweeps=60))
    assert solve(assembly, step, added) < 0.1


def test_stored_outer_products_give_the_same_small_matrix():
    added = np.random.default_rng(1).uniform(0, 100, 400).astype(np.float32)
    matrices = []
    for gram in ("syrk", "stored"):
        _, step = global_step(NdbParameters().replaced(gram=gram))
        step.added[:] = added
        matrices.append(step.gram())
    assert np.allclose(*matrices, rtol=1e-4, atol=1e-4)
    modes = step._modes[: step.small].astype(float)
    assert np.allclose(matrices[0], (modes * added) @ modes.T, rtol=1e-4, atol=1e-3)


def test_a_jacobi_is_two_jacobi_sweeps():
    results = []
    for name in ("a_jacobi", "jacobi"):
        assembly, step = global_step(NdbParameters().replaced(relaxation=name, jacobi_weight=0.6, sweeps=8))
        solve(assembly, step, 0.0)
        results.append(step.increment.copy())
    assert np.allclose(*results, rtol=1e-3, atol=1e-6 * np.abs(results[0]).max())


def test_pinned_vertices_do_not_move_in_the_global_step():
    vertices = np.array([0, 19, 210], np.int32)
    targets = np.zeros((1, 3, 3))
    assembly, step = global_step(pins=Pins(vertices, targets))
    solve(assembly, step, 0.0)
    assert (step.increment[vertices] == 0).all()
    assert np.abs(step.increment).max() > 0


def test_chebyshev_keeps_the_error_polynomial_small_on_its_spectrum():
    low, high = 0.01, 2.0
    spectrum = np.linspace(low, high, 200)
    error, direction = np.ones(200), np.zeros(200)
    for keep, gain in chebyshev_coefficients(low, high, 30):
        direction = keep * direction + gain * spectrum * error
        error = error - direction
    rate = (np.sqrt(high / low) - 1) / (np.sqrt(high / low) + 1)
    assert np.abs(error).max() <= 2.0 * rate**30 * 1.01


def test_the_subspace_is_kept_by_content(tmp_path):
    assembly, _ = global_step()
    first = subspace(assembly.hessian, assembly.free, 20, tmp_path)
    stored = list(tmp_path.iterdir())
    again = subspace(assembly.hessian, assembly.free, 20, tmp_path)
    assert np.array_equal(first.modes, again.modes)
    assert len(stored) == 1
    stored[0].write_bytes(b"torn")
    assert np.array_equal(subspace(assembly.hessian, assembly.free, 20, tmp_path).modes, first.modes)
    residual = assembly.hessian @ first.modes.T.astype(float) - first.modes.T * first.eigenvalues
    assert np.abs(residual).max() < 1e-3 * first.largest * assembly.hessian.diagonal().max()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure in closed cloth against closed forms: gas, Laplace, weight of a fluid; and what it does to free cloth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.enclosure import enclosure
from taffeta.gpu_core.scene.scene import Cloth, Material, Painted, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.scene.shape import Shape
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.elastic import Elastic
from taffeta.gpu_core.solvers.newton import NewtonStep
from taffeta.gpu_core.solvers.parameters import preset
from taffeta.gpu_core.solvers.sums import DotProduct
from taffeta.tests.gpu_core.chunk_sums import chunk_sums
from taffeta.tests.gpu_core.small_scene import globe, sheet

cpu = select("cpu")
RADIUS = 0.1
#: Without weight of its own, as stiff in every direction: P = Y (λ − 1) a rest width under equal stretch λ.
RUBBER = Material(
    stretch_warp=100.0, stretch_weft=100.0, shear=50.0, softening=1.0, bend=1e-6, strain_limit=0.0, air_drag=0.0
)


def balloon(shape: Shape, material: Material = RUBBER, cuts: int = 3, **fields) -> Cloth:
    points, triangles = globe(RADIUS, cuts)
    return Cloth("Balloon", triangles, points, points, material, shape=shape, **fields)


def in_space(cloth: Cloth, frames: int = 25, gravity=(0.0, 0.0, 0.0), **settings) -> Scene:
    return Scene((cloth,), (), Settings(1, frames, gravity=gravity, backend="cpu", **{"step_rate": 48.0, **settings}))


def after(scene: Scene, method: str = "default") -> np.ndarray:
    simulator = Simulator(scene, cpu, preset(method))
    for _ in range(scene.settings.frames - 1):
        report = simulator.advance_frame()
    assert report.unfinished_steps == 0
    return simulator.positions()[0]


def volume(cloth: Cloth, positions=None) -> float:
    return float(enclosure(cloth.positions if positions is None else positions, cloth.triangles).volume.sum())


def forces(cloth: Cloth, positions, gravity=(0.0, 0.0, 0.0)) -> np.ndarray:
    """(N, 3) of the pressure alone, N."""
    assembly = assemble((cloth,), 1.0)
    elastic = Elastic(cpu, assembly, 1.0, gravity, ElasticityChoices())
    system = NewtonStep(cpu, assembly, 1e-5, 10, multilevel=False, growth=2.0)
    system.residual[:] = 0.0
    at = vectors(positions)
    cpu.sequence(elastic.pressure.residual_launches(at, system))()
    return system.residual[:, :3].astype(np.float64)


@pytest.mark.parametrize("method", ["default", "subspace"])
@pytest.mark.parametrize("outside", [500.0, -300.0])
def test_a_gas_keeps_pressure_times_volume(outside, method):
    """What presses on it from outside, as a constant: p₀ V₀ = (p₀ + p) V."""
    limp = replace(RUBBER, stretch_warp=0.5, stretch_weft=0.5, shear=0.25, bend=1e-7)
    cloth = balloon(Shape(pressure=-outside, ambient_pressure=1000.0), limp)
    found = volume(cloth, after(in_space(cloth), method))
    assert (1000.0 + outside) * found == pytest.approx(1000.0 * volume(cloth), rel=0.03)


@pytest.mark.parametrize("stretch", [1.05, 1.2])
def test_an_inflated_sphere_has_the_radius_of_laplaces_law(stretch):
    """p = 2T/R with the tension T = Y (λ − 1)/λ of what is stretched by λ both ways, R = λ R₀."""
    pressure = 2.0 * 100.0 * (stretch - 1.0) / (stretch**2 * RADIUS)
    cloth = balloon(Shape(pressure=pressure))
    radius = np.cbrt(volume(cloth, after(in_space(cloth))) / volume(cloth))
    assert radius == pytest.approx(stretch, rel=0.01)
    assert 200.0 * (radius - 1.0) / (radius**2 * RADIUS) == pytest.approx(pressure, rel=0.05)


def test_a_target_volume_is_reached_by_a_gas_that_nothing_resists():
    limp = replace(RUBBER, stretch_warp=0.5, stretch_weft=0.5, shear=0.25, bend=1e-7)
    cloth = balloon(Shape(ambient_pressure=1000.0, target_volume=6e-3), limp)
    assert volume(cloth, after(in_space(cloth))) == pytest.approx(6e-3, rel=0.01)


@pytest.mark.parametrize("density", [300.0, -300.0])
def test_a_fluid_weighs_what_its_volume_weighs(density):
    gravity = np.array([1.0, -2.0, -9.81])
    cloth = balloon(Shape(fluid_density=density))
    shaken = cloth.positions * [1.2, 0.9, 1.0] + [0.3, 0.1, -0.2]
    total = forces(cloth, shaken, tuple(gravity)).sum(axis=0)
    assert total == pytest.approx(density * volume(cloth, shaken) * gravity, rel=1e-4)


def test_pressure_of_a_closed_volume_has_neither_sum_nor_torque():
    cloth = balloon(Shape(pressure=800.0, ambient_pressure=2000.0, target_volume=5e-3))
    shaken = cloth.positions * [1.2, 0.7, 1.0] + np.random.default_rng(1).normal(size=cloth.positions.shape) * 3e-3
    force = forces(cloth, shaken + [0.5, 0.2, 0.1])
    size = np.abs(force).sum()
    assert np.abs(force.sum(axis=0)).max() < 1e-6 * size
    assert np.abs(np.cross(shaken, force).sum(axis=0)).max() < 1e-6 * size * RADIUS


def test_a_hole_is_closed_by_its_cone():
    """A globe without its cap: the volume of what is left and of the cone, and forces without a sum."""
    points, triangles = globe(RADIUS, 3)
    cut = triangles[(points[triangles][:, :, 2] < 0.9 * RADIUS).all(axis=1)]
    kept = np.unique(cut)
    number = np.zeros(len(points), np.int32)
    number[kept] = np.arange(len(kept))
    cloth = Cloth("Bowl", number[cut], points[kept], points[kept], RUBBER, shape=Shape(pressure=100.0))
    rim = enclosure(cloth.positions, cloth.triangles)
    top = cloth.positions[np.unique(rim.ends)].mean(axis=0)
    a, b, c = (cloth.positions[cloth.triangles[:, k]] - top for k in range(3))
    assert rim.volume.sum() == pytest.approx((a * np.cross(b, c)).sum() / 6.0, rel=1e-9)
    force = forces(cloth, cloth.positions + [0.2, 0.0, 0.3])
    assert np.abs(force.sum(axis=0)).max() < 1e-6 * np.abs(force).sum()


def test_a_mesh_that_is_inside_out_is_blown_up_all_the_same():
    cloth = balloon(Shape(pressure=200.0, ambient_pressure=100.0))
    turned = replace(cloth, triangles=cloth.triangles[:, ::-1].copy())
    assert forces(turned, turned.positions) == pytest.approx(forces(cloth, cloth.positions), abs=1e-8)


def test_islands_have_a_pressure_each():
    """One is squeezed to half its volume, and the other does not feel it."""
    points, triangles = globe(RADIUS, 2)
    both, grid = np.concatenate([points, points + [1.0, 0, 0]]), np.concatenate([triangles, triangles + len(points)])
    cloth = Cloth("Two", grid.astype(np.int32), both, both, RUBBER, shape=Shape(ambient_pressure=1000.0))
    first = np.arange(len(both)) < len(points)
    squeezed = np.where(first[:, None], both * 0.5 ** (1.0 / 3.0), both)
    force = forces(cloth, squeezed)
    assert np.abs(force[~first]).max() < 1e-3 * np.abs(force[first]).max()
    alone = Cloth("One", triangles, points, points, RUBBER, shape=Shape(pressure=1000.0))
    assert force[first] == pytest.approx(forces(alone, squeezed[first]), rel=1e-3, abs=1e-6)


def test_newtons_matrix_has_the_gas_in_it():
    """What conjugate gradients multiply with is the derivative of the force, ∇V⊗∇V part, along a breath."""
    cloth = balloon(Shape(ambient_pressure=1000.0), cuts=2)
    assembly = assemble((cloth,), 1.0)
    elastic = Elastic(cpu, assembly, 1.0, (0, 0, 0), ElasticityChoices())
    system = NewtonStep(cpu, assembly, 1e-5, 10, multilevel=False, growth=2.0)
    at, way = vectors(cloth.positions), vectors(cloth.positions * 1e-3)
    cpu.sequence(elastic.pressure.residual_launches(at, system))()
    product, dot = np.zeros_like(at), DotProduct(cpu, len(at)).product
    cpu.sequence(elastic.pressure.breath_launches(way, product, np.ones(len(at), np.float32), dot))()
    change = forces(cloth, 1.001 * cloth.positions) - forces(cloth, 0.999 * cloth.positions)
    assert product[:, :3] == pytest.approx(-0.5 * change, rel=0.01, abs=1e-7)
    assert np.array_equal(dot["partial"], chunk_sums(way, product))


def test_a_free_balloon_keeps_its_momentum_and_spin_while_it_is_blown_up():
    speed = np.array([0.3, -0.2, 0.1])
    cloth = balloon(Shape(), keys={"pressure": np.linspace(0.0, 300.0, 10)})
    velocity = speed + np.cross([0.0, 0.0, 1.0], cloth.positions)
    simulator = Simulator(in_space(replace(cloth, velocities=velocity), step_rate=96.0), cpu)
    mass = simulator.solver.assembly.mass[:, None]
    centre, spin = speed * mass.sum(), (mass * np.cross(cloth.positions, velocity)).sum(axis=0)
    for _ in range(10):
        assert simulator.advance_frame().halved_steps == 0
    state = simulator.state()
    momentum = mass * state["velocity"][:, :3]
    assert momentum.sum(axis=0) == pytest.approx(centre, rel=1e-4)
    around = np.cross(simulator.positions()[0], momentum).sum(axis=0)
    assert around[2] == pytest.approx(spin[2], rel=0.01)  # implicit Euler takes (ωh)² of it in a step


def test_a_painted_pressure_pushes_a_free_balloon_away():
    """By the sum of its forces, as if it lost gas there: what is painted is not taken for a closed volume."""
    cloth = balloon(Shape(pressure=5.0, pressure_factor=0.0), replace(RUBBER, stretch_warp=2e3, stretch_weft=2e3))
    lower = np.float32(cloth.positions[:, 2] < 0.0)
    cloth = replace(cloth, painted={"pressure_factor": Painted(lower, 1.0)})
    scene = in_space(cloth, 5)
    force = forces(cloth, cloth.positions).sum(axis=0)
    away = (after(scene) - cloth.positions).mean(axis=0)
    mass = assemble((cloth,), 1.0).mass.sum()
    steps, h = 8, 1.0 / 48.0
    assert force[2] < 0.0
    assert away[2] == pytest.approx(force[2] / mass * h * h * steps * (steps + 1) / 2.0, rel=0.1)


def test_a_key_that_sets_in_changes_nothing_before_it():
    cloth = balloon(Shape(), keys={"pressure": np.array([0.0] * 4 + [500.0])}, cuts=2)
    plain = replace(cloth, keys={})
    found, expected = ([], [])
    for item, frames in ((cloth, found), (plain, expected)):
        simulator = Simulator(in_space(replace(item, velocities=item.positions * [0, 1, 0]), 7), cpu)
        for _ in range(6):
            simulator.advance_frame()
            frames.append(simulator.positions()[0])
    assert np.array_equal(found[:3], expected[:3])
    assert np.abs(found[3] - expected[3]).max() > 1e-3


def test_faces_that_look_to_both_sides_are_refused_where_there_is_a_pressure():
    cloth = balloon(Shape(pressure=1.0), cuts=2)
    turned = cloth.triangles.copy()
    turned[0] = turned[0, ::-1]
    with pytest.raises(SceneError, match="3 edges lie between faces that look to opposite sides"):
        in_space(replace(cloth, triangles=turned)).validate()
    in_space(replace(cloth, triangles=turned, shape=Shape())).validate()


def test_a_sheet_that_is_held_bulges_as_a_membrane_does():
    """Held at its border and blown up by p: its middle rises as E(V) has it, along the normals."""
    points, triangles = sheet(11, 0.2)
    border = np.flatnonzero((points[:, :2] < 1e-9).any(axis=1) | (points[:, :2] > 0.2 - 1e-9).any(axis=1))
    pins = Pins(border.astype(np.int32), points[border][None])
    cloth = Cloth("Sheet", triangles, points, points, RUBBER, pins=pins, shape=Shape(pressure=20.0))
    assert after(in_space(cloth, 13))[:, 2].max() > 0.01

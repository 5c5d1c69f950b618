# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted numbers act where they are painted, and a painted constant is the number, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.scene.fields import of_triangles, of_vertices
from taffeta.gpu_core.scene.keyed import with_numbers
from taffeta.gpu_core.scene.scene import PAINTABLE, Cloth, Collider, Material, Painted, Scene, SceneError, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sheet
from taffeta.tests.gpu_core.swinging import SECOND, swinging

FRAMES = 4
cpu = select("cpu")


def with_number(cloth: Cloth, name: str, value: float) -> Cloth:
    return with_numbers(cloth, {name: value})


def number(cloth: Cloth, name: str) -> float:
    return cloth.numbers[name]


def with_paint(cloth: Cloth, name: str, weights, maximum: float) -> Cloth:
    return replace(cloth, painted={name: Painted(np.float32(weights), maximum)})


def bake(change=lambda cloth: cloth):
    scene = swinging(FRAMES + 1)
    simulator = Simulator(replace(scene, cloths=(change(scene.cloths[0]),)), cpu)
    for _ in range(FRAMES):
        simulator.advance_frame()
    return simulator.positions()[0]


@cache
def uniform():
    return bake()


@pytest.mark.parametrize("name", PAINTABLE)
def test_a_painted_number_acts_where_it_is_painted(name):
    away = np.abs(bake(lambda cloth: with_paint(cloth, name, SECOND, 3.0 * number(cloth, name))) - uniform())
    assert away[SECOND].max() > 1.0e-4, "it does nothing"
    assert away[~SECOND].max() < 0.3 * away[SECOND].max()  # both stop iterating together, and contact is touchy


@pytest.mark.parametrize("name", PAINTABLE)
def test_a_painted_constant_is_the_number_bit_for_bit(name):
    some = np.linspace(0.0, 1.0, len(SECOND))
    assert np.array_equal(bake(lambda cloth: with_paint(cloth, name, some, number(cloth, name))), uniform())
    other = 1.7 * number(swinging().cloths[0], name)
    full = bake(lambda cloth: with_paint(cloth, name, np.ones(len(SECOND)), other))
    assert np.array_equal(full, bake(lambda cloth: with_number(cloth, name, other)))


@pytest.mark.parametrize("form", ["plate", "hinge", "vertex"])
def test_each_form_of_bending_is_stiffer_where_it_is_painted(form):
    cloth = swinging().cloths[0]
    choices = ElasticityChoices(bending=form)
    plain = assemble((cloth,), 0.01, choices).bending
    data = assemble((with_paint(cloth, "bend", SECOND, 3.0 * cloth.material.bend),), 0.01, choices).bending
    factor = data.stiffness / plain.stiffness
    second = SECOND[data.hinge].all(axis=1)
    assert factor[second] == pytest.approx(3.0)
    assert (factor[~second] == 1.0).all()
    # The yarns rub where they are painted, and nowhere else.
    rubs = replace(cloth, material=replace(cloth.material, bend_friction=0.0))
    data = assemble((with_paint(rubs, "bend_friction", SECOND, 1.0e-3),), 0.01, choices).bending
    assert (data.rubbing[second] == 0.8).all()
    assert (data.rubbing[~second] == 0.0).all()


def test_of_two_patches_on_a_slope_the_one_painted_slippery_slides():
    """μ = 0.6 holds up to 31°, √(0.6 · 0) to none."""
    slope = np.radians(20.0)
    turn = np.array([[np.cos(slope), 0, np.sin(slope)], [0, 1, 0], [-np.sin(slope), 0, np.cos(slope)]])
    patch, triangles = sheet(6, 0.1)
    both = np.concatenate([patch, patch + [0.0, 0.2, 0.0]])
    grid = np.concatenate([triangles, triangles + len(patch)]).astype(np.int32)
    fabric = Material(friction=0.6, air_drag=0.0, bend=1e-4)
    cloth = Cloth("Patches", grid, both, (both + [0, 0, 1.9e-3]) @ turn.T, fabric)
    floor, faces = sheet(9, 2.0)
    plane = Collider("Plane", faces, ((floor - [1, 1, 0]) @ turn.T)[None].astype(np.float32), friction=0.6)
    simulator = Simulator(Scene((with_paint(cloth, "friction", SECOND, 0.0),), (plane,), Settings(1, 13)), cpu)
    for _ in range(12):
        simulator.advance_frame()
    path = (simulator.positions()[0] - cloth.positions) @ turn @ [1.0, 0.0, 0.0]
    assert np.abs(path[~SECOND]).max() < 1e-3
    assert path[SECOND].mean() == pytest.approx(0.5 * 9.81 * np.sin(slope) * 0.5**2, rel=0.1)


def test_a_number_is_linear_between_its_two_values():
    cloth = swinging().cloths[0]
    weights = np.float32(np.random.default_rng(1).random(len(SECOND)))
    fields = with_paint(cloth, "shear", weights, 1.0)
    assert of_vertices(fields, "shear") == pytest.approx(5.0 - 4.0 * weights)
    assert of_triangles(fields, "shear") == pytest.approx(5.0 - 4.0 * weights[cloth.triangles].mean(axis=1))


def test_mass_is_that_of_the_painted_density():
    cloth = swinging().cloths[0]
    weights = np.float32(cloth.rest_positions[:, 0] / 1.2)
    mass = assemble((with_paint(cloth, "density", weights, 1.0),), 0.01).mass.sum()
    middle = of_triangles(with_paint(cloth, "density", weights, 1.0), "density")
    assert mass == pytest.approx((middle * 0.2**2 / 50).sum(), rel=1e-12)


@pytest.mark.parametrize(("value", "maximum"), [(0.0, 0.1), (0.1, 0.0)])
def test_a_strain_limit_fades_to_none_by_wider_limits(value, maximum):
    weights = np.float32([0.0, 0.25, 0.5, 1.0])
    cloth = Cloth("Strip", np.int32([[0, 1, 2], [1, 2, 3]]), np.zeros((4, 3)), np.zeros((4, 3)))
    cloth = with_paint(with_number(cloth, "strain_limit", value), "strain_limit", weights, maximum)
    expected = [0.0, 0.4, 0.2, 0.1] if maximum else [0.1, 0.1 / 0.75, 0.2, 0.0]
    assert of_vertices(cloth, "strain_limit") == pytest.approx(expected)
    assert of_triangles(cloth, "strain_limit")[0 if maximum else 1] == 0.0


@pytest.mark.parametrize(
    ("name", "weights", "maximum", "words"),
    [
        ("bend", np.ones(3), 1.0, "do not match the vertices"),
        ("bend", np.full(len(SECOND), np.nan), 1.0, "outside 0 to 1"),
        ("bend", np.full(len(SECOND), 1.5), 1.0, "outside 0 to 1"),
        ("density", np.ones(len(SECOND)), 0.0, "density_max is 0.0"),
        ("bend", np.ones(len(SECOND)), np.inf, "bend_max is inf"),
        ("colour", np.ones(len(SECOND)), 1.0, "cannot be painted"),
    ],
)
def test_bad_paint_is_refused_by_name(name, weights, maximum, words):
    scene = swinging()
    cloth = replace(scene.cloths[0], painted={name: Painted(np.float32(weights), maximum)})
    with pytest.raises(SceneError, match=words) as caught:
        replace(scene, cloths=(cloth,)).validate()
    assert caught.value.object == "Sheets"
    assert caught.value.remedy

# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that begins tangled is untangled before the first step, whatever the kind; what is not tangled stays."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from taffeta.benchmarks.starts.scenes import (
    KINDS,
    layer_in_layer,
    open_tube,
    rippled,
    scene_of,
    standing,
    straight,
    trunk,
    worn,
)
from taffeta.benchmarks.stress.shapes import Mesh, grid, merged
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.contact.tangles import tangles
from taffeta.gpu_core.scene.error import SceneError
from taffeta.gpu_core.scene.nearest import Body
from taffeta.gpu_core.scene.scene import Cords, Pins, Scene, Settings
from taffeta.gpu_core.scene_space import start_positions, surface_of
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.untangle import resolved
from taffeta.gpu_core.untangling.contours import apart, shorter
from taffeta.gpu_core.untangling.fabric import Fabric

cpu = select("cpu")
RESOLVE = Settings(frame_end=12, step_rate=96, start="resolve")


def crossings(scene):
    return len(tangles(start_positions(scene), surface_of(scene)).corners)


def crossed_sheets(lean=40.0, **options):
    """Two sheets that go through each other, each with a border within the other."""
    first = grid(np.linspace(-0.1, 0.1, 16), np.linspace(-0.1, 0.1, 16))
    second = first.turned((1, 0, 0), lean).turned((0, 0, 1), 20.0).shifted(0.03, 0.05, 0.01)
    return Scene((worn("First", first), worn("Second", second)), (), replace(RESOLVE, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_a_tangled_start_begins_without_a_crossing(kind):
    scene = scene_of(kind, 0)
    open_seams = replace(scene, cloths=tuple(replace(cloth, seams=None) for cloth in scene.cloths))
    assert crossings(open_seams) > 50
    simulator = Simulator(scene, cpu)
    bodies = [body.positions[0].astype(float) for body in scene.colliders]
    assert SceneCheck(scene).findings(1, np.concatenate([*simulator.positions(), *bodies])) == []
    if kind == "unwelded seam":
        assert np.abs(simulator.positions()[0] - scene.cloths[0].positions).max() < 1e-4  # it is welded, no more
        return
    assert simulator.warnings
    surface = surface_of(scene)
    places = np.concatenate([*simulator.positions(), *bodies])
    # ipctk counts bodies against themselves: none of these bodies crosses itself
    assert not ipctk.has_intersections(ipctk.CollisionMesh(places, surface.edges, surface.triangles), places)


@pytest.mark.parametrize("kind", ["layer in layer", "self-tangled", "coincident"])
def test_what_was_untangled_goes_on_without_a_crossing_and_at_its_length(kind):
    scene = scene_of(kind, 4)
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    bodies = [body.positions[0].astype(float) for body in scene.colliders]
    for _ in range(2):
        report = simulator.advance_frame()
        assert (report.tangled, report.faults) == (0, [])
        assert check.findings(1, np.concatenate([*simulator.positions(), *bodies])) == []
    assert report.largest_stretch < 1.1
    assert report.smallest_gap > 0.5 * scene.cloths[0].thickness


def shirt_and_jacket(draw):
    """Tubes around a trunk, the outer one a little aside: one side of it is in the inner one."""
    shirt = open_tube(straight([0, 0, -0.14], [0, 0, 0.16], 21), 0.112 + rippled(draw, 21, 40, 0.002), 40)
    aside = draw.uniform(-0.006, 0.006, (2, 2))
    jacket = open_tube(straight([*aside[0], -0.16], [*aside[1], 0.13], 22), 0.1125 + rippled(draw, 22, 44, 0.001), 44)
    return Scene((worn("Shirt", shirt), worn("Jacket", jacket)), (trunk(0.1),), RESOLVE)


def three_layers(draw):
    waves = [rippled(draw, 21 + k, 40 + 4 * k, draw.uniform(0.003, 0.012)) for k in range(3)]
    tubes = [
        open_tube(straight([0, 0, -0.14 - 0.01 * k], [0, 0, 0.15], 21 + k), 0.112 + wave, 40 + 4 * k)
        for k, wave in enumerate(waves)
    ]
    return Scene(tuple(worn(name, tube) for name, tube in zip("ABC", tubes, strict=True)), (trunk(0.1),), RESOLVE)


@pytest.mark.parametrize("worn_on", [layer_in_layer, shirt_and_jacket, three_layers])
@pytest.mark.parametrize("seed", [6, 10, 11])
def test_untangled_clothes_are_still_on_their_body(worn_on, seed):
    """They once came off it as wholes: nothing crosses in the air beside a body either."""
    scene = worn_on(np.random.default_rng([7, seed]))
    found, said = resolved(scene)
    assert said
    assert crossings(found) == 0
    skin = Body(scene.colliders[0].positions[0], scene.colliders[0].triangles)
    for own, was in zip(found.cloths, scene.cloths, strict=True):
        assert not skin.holds(own.positions).any()
        assert np.linalg.norm(own.positions - was.positions, axis=1).max() < 0.03


def test_of_clothes_that_cross_the_one_that_lies_farther_out_stays_outside():
    scene = layer_in_layer(np.random.default_rng([7, 1]))
    shirt, jacket = resolved(scene)[0].cloths
    away = np.linalg.norm(jacket.positions[:, :2], axis=1)
    inner = Body(shirt.positions, shirt.triangles).nearest(jacket.positions)[0]
    within = np.abs(jacket.positions[:, 2]) < 0.13
    assert np.array_equal(shirt.positions, scene.cloths[0].positions)
    assert (away > np.linalg.norm(inner[:, :2], axis=1))[within].all()


def test_clothes_that_do_not_cross_keep_their_order():
    """Two collars above a shirt and a jacket that go through each other."""
    crossing = layer_in_layer(np.random.default_rng([7, 6]))
    tucked = [open_tube(straight([0, 0, 0.2], [0, 0, 0.3], 9), radius, 40) for radius in (0.118, 0.112)]
    scene = replace(crossing, cloths=(*crossing.cloths, *(worn(n, t) for n, t in zip("XY", tucked, strict=True))))
    found, _ = resolved(scene)
    for own, was in zip(found.cloths[2:], scene.cloths[2:], strict=True):
        assert np.array_equal(own.positions, was.positions)


@pytest.mark.parametrize("seed", range(3))
def test_clothes_do_not_come_off_where_no_order_can_be_told(seed):
    """A shirt with a jacket in the same mesh is one cloth, of which untangling alone knows what to do."""
    scene = shirt_and_jacket(np.random.default_rng([7, seed]))
    shirt, jacket = (Mesh(cloth.positions, cloth.triangles) for cloth in scene.cloths)
    scene = replace(scene, cloths=(worn("Outfit", merged(shirt, jacket)),))
    moved = resolved(scene)[0].cloths[0].positions - scene.cloths[0].positions
    assert np.median(np.linalg.norm(moved, axis=1)) < 0.05


def test_the_later_of_two_copies_lies_outside_the_earlier_by_the_thickness():
    scene = scene_of("coincident", 4)
    found, _ = resolved(scene)
    below, above = (cloth.positions for cloth in found.cloths)
    assert np.array_equal(below, scene.cloths[0].positions)
    height = Body(below, found.cloths[0].triangles).nearest(above)
    assert np.linalg.norm(above - height[0], axis=1).min() > scene.cloths[0].thickness
    assert (((above - height[0])[:, 2]) > 0).all()  # the ball is below


def test_copies_in_one_mesh_keep_their_thickness_although_they_are_nothing_apart_at_rest():
    flat = grid(np.linspace(-0.1, 0.1, 11), np.linspace(-0.1, 0.1, 11))
    scene = Scene((worn("Sheets", merged(flat, flat)),), (), RESOLVE)
    simulator = Simulator(scene, cpu)
    assert simulator.advance_frame().smallest_gap > 0.9 * scene.cloths[0].thickness


def test_sheets_that_cross_at_their_borders_go_apart_as_wholes():
    scene = crossed_sheets()
    assert crossings(scene) > 20
    found, said = resolved(scene)
    assert crossings(found) == 0
    assert "First: it went through Second at the start" in said[0]
    assert said[0].endswith("It was untangled")
    for own, was in zip(found.cloths, scene.cloths, strict=True):
        way = own.positions - was.positions
        assert np.abs(way - way[0]).max() < 1e-6


def test_pinned_vertices_stay_and_what_cannot_be_untangled_is_named_and_left_as_it_was():
    scene = crossed_sheets()
    every = np.arange(256, dtype=np.int32)
    pinned = tuple(replace(cloth, pins=Pins(every, cloth.positions[None])) for cloth in scene.cloths)
    scene = replace(scene, cloths=pinned)
    found, said = resolved(scene)
    assert found is scene
    assert said == []
    assert "First: it intersects Second at the start" in Simulator(scene, cpu).warnings[0]
    partly = np.int32([0, 255])
    held = tuple(replace(cloth, pins=Pins(partly, cloth.positions[None, partly])) for cloth in scene.cloths)
    found, _ = resolved(replace(scene, cloths=held))
    for own, was in zip(found.cloths, held, strict=True):
        assert np.array_equal(own.positions[partly], was.positions[partly])


def test_policies_refuse_and_tolerate_leave_the_scene_alone():
    with pytest.raises(SceneError, match="intersects Second at the start"):
        Simulator(crossed_sheets(start="refuse"), cpu)
    scene = crossed_sheets(start="tolerate")
    simulator = Simulator(scene, cpu)
    assert simulator.crossings.count > 0
    assert np.abs(simulator.positions()[0] - scene.cloths[0].positions).max() < 1e-6


def test_cloth_that_an_open_body_pierces_is_never_left_worse():
    """A wall through the middle of a sheet: there is no side to which all of it could go back."""
    sheet = grid(np.linspace(-0.2, 0.2, 21), np.linspace(-0.2, 0.2, 21))
    wall = grid(np.linspace(-0.1, 0.1, 12), np.linspace(-0.1, 0.1, 12)).turned((1, 0, 0), 80.0).shifted(0.003, 0.15, 0)
    scene = Scene((worn("Sheet", sheet), worn("Copy", sheet)), (standing("Wall", wall),), RESOLVE)
    before = crossings(scene)
    found, said = resolved(scene)
    assert crossings(found) < before
    assert said
    assert len(Simulator(scene, cpu).positions()) == 2


def test_cords_in_a_tangle_are_edges_like_others():
    scene = scene_of("self-tangled", 0)
    (cloth,) = scene.cloths
    across = np.column_stack([np.arange(30), np.arange(2, 32)]).astype(np.int32)  # no edge of a triangle has these ends
    cords = Cords(across, np.linalg.norm(np.diff(cloth.positions[across], axis=1)[:, 0], axis=1))
    scene = replace(scene, cloths=(replace(cloth, cords=cords),))
    assert crossings(resolved(scene)[0]) < crossings(scene)


def test_a_sheet_that_is_pinned_all_over_is_left_alone():
    scene = scene_of("self-tangled", 0)
    (cloth,) = scene.cloths
    pins = Pins(np.arange(len(cloth.positions), dtype=np.int32), cloth.positions[None])
    scene = replace(scene, cloths=(replace(cloth, pins=pins),))
    assert resolved(scene)[0] is scene


def test_a_clean_scene_stays_the_same_object():
    flat = grid(np.linspace(-0.1, 0.1, 16), np.linspace(-0.1, 0.1, 16))
    scene = Scene((worn("A", flat), worn("B", flat.shifted(0, 0, 0.002))), (), RESOLVE)
    found, said = resolved(scene)
    assert found is scene
    assert said == []


def test_the_same_start_is_untangled_to_the_same_bits():
    first, second = (resolved(scene_of("self-tangled", 1))[0] for _ in range(2))
    assert np.array_equal(first.cloths[0].positions, second.cloths[0].positions)


def test_a_sheet_that_does_not_collide_with_itself_keeps_its_loops():
    scene = scene_of("self-tangled", 0)
    scene = replace(scene, cloths=(replace(scene.cloths[0], self_collision=False),))
    found, said = resolved(scene)
    assert found is scene
    assert said == []


@pytest.mark.parametrize("method", [shorter, apart])
def test_along_the_gradient_the_line_of_crossing_grows_shorter(method):
    """A strip whose end has gone through a sheet: the line is as long as the strip is wide there, and it narrows."""
    sheet = grid(np.linspace(-0.1, 0.1, 9), np.linspace(-0.1, 0.1, 9)).turned((0, 0, 1), 10.0)
    strip = grid(np.linspace(-0.05, 0.08, 14), np.linspace(-1, 1, 7))
    points = strip.positions.copy()
    points[:, 1] *= 0.06 - 0.5 * points[:, 0]
    strip = Mesh(points, strip.triangles).turned((0, 1, 0), -80.0).shifted(0.004, 0.003, 0.0)
    scene = Scene((worn("Sheet", sheet), worn("Strip", strip)), (), RESOLVE)
    every = np.ones(81 + 98, bool)
    fabric = Fabric(surface_of(scene), start_positions(scene), every, 1e-3 * every, np.ones(2, bool))
    before = len(fabric.crossings().corners)
    assert before
    for _ in range(6):
        places = method(fabric, fabric.crossings())
        if places is None:
            break
        fabric.move(places)
    assert len(fabric.crossings().corners) < before

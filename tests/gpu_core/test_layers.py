# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers that begin in the wrong order are in order from the first frame on, and stay so; without numbers, nothing is
moved."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import unique_edges
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.scene.encounters import Encounter
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.untangle import resolved
from taffeta.tests.gpu_core.small_scene import sheet
from taffeta.tests.gpu_core.test_start import closed, tube

cpu = select("cpu")
SETTINGS = Settings(frame_end=12, step_rate=96, start="resolve")


def dressed(*radii, layers=None, tilt=0.0):
    """A trunk of 10 cm with tubes of cloth around it, the first meant to be the innermost."""
    body, triangles = closed(0.1, -0.1, 0.5, around=40, along=20)
    cloths = []
    for k, radius in enumerate(radii):
        points, faces = tube(radius, 0.3, around=36 + 5 * k, along=13 + k)
        points[:, 0] += tilt * (points[:, 2] - 0.15) * (-1) ** k
        cloths.append(Cloth(f"Layer {k + 1}", faces, points, points, layer=layers[k] if layers else k + 1))
    return Scene(tuple(cloths), (Collider("Trunk", triangles, body[None].astype(np.float32)),), SETTINGS)


def crossings(scene, positions):
    """By the exact check, and by ipctk."""
    body = scene.colliders[0].positions[0].astype(float)
    found = SceneCheck(scene).findings(scene.settings.frame_start, np.concatenate([*positions, body]))
    places, parts, first = [*positions, body], [item.triangles for item in (*scene.cloths, *scene.colliders)], 0
    for k, place in enumerate(places):
        parts[k], first = parts[k] + first, first + len(place)
    every, triangles = np.concatenate(places), np.concatenate(parts).astype(np.int32)
    mesh = ipctk.CollisionMesh(every, unique_edges(triangles).astype(np.int32), triangles)
    assert bool(found) == ipctk.has_intersections(mesh, every)
    return len(found)


def radius(positions):
    return np.linalg.norm(positions[:, :2], axis=1)


def inside(outer, inner):
    """How many places of the inner lie beyond the outer's at the same side and height."""
    angle, height = (lambda x: np.arctan2(x[:, 1], x[:, 0])), 0.3
    near = np.hypot(
        np.abs((angle(inner)[:, None] - angle(outer) + np.pi) % (2 * np.pi) - np.pi) * 0.1,
        inner[:, None, 2] - outer[:, 2],
    ).argmin(axis=1)
    within = (inner[:, 2] > outer[:, 2].min()) & (inner[:, 2] < min(outer[:, 2].max(), height))
    return int((radius(inner)[within] > radius(outer)[near[within]]).sum())


@pytest.mark.parametrize(
    "scene",
    [
        dressed(0.106, 0.103),  # wholly inside out
        dressed(0.106, 0.106, tilt=0.02),  # one side over, one side under
        dressed(0.112, 0.108, 0.104),  # three, in the opposite order
        dressed(0.098, 0.095),  # and both in the body
        dressed(0.106, 0.103, layers=(3, 9)),
    ],
    ids=["inside out", "crossing", "three", "in the body", "numbers with gaps"],
)
def test_outer_layers_are_outside_of_inner_ones_from_the_first_frame_on(scene):
    simulator = Simulator(scene, cpu)
    assert any("They were brought outside" in text for text in simulator.warnings)
    for _ in range(4):
        positions = simulator.positions()
        assert crossings(scene, positions) == 0
        for inner, outer in pairwise(positions):
            assert inside(outer, inner) == 0
        report = simulator.advance_frame()
        assert (report.tangled, report.faults) == (0, [])
    assert radius(simulator.positions()[0]).min() > 0.1


def test_the_number_says_who_is_outside_whatever_the_order_of_the_objects():
    scene = dressed(0.106, 0.103, layers=(2, 1))
    found, said = resolved(scene)
    assert (found, said) == (scene, [])  # as they begin
    found, said = resolved(dressed(0.103, 0.106, layers=(2, 1)))
    assert len(said) == 1
    assert said[0].startswith("Layer 1: 468 vertices begin under Layer 2")
    assert inside(found.cloths[0].positions, found.cloths[1].positions) == 0


@pytest.mark.parametrize("layers", [(0, 0), (0, 2), (2, 2)])
def test_without_two_numbers_nothing_is_moved(layers):
    scene = dressed(0.106, 0.103, layers=layers)
    assert resolved(scene)[0] is scene


def test_where_layers_are_in_order_nothing_is_moved_to_the_last_bit():
    scene = dressed(0.103, 0.106)
    assert resolved(scene) == (scene, [])


def test_what_pins_hold_and_what_is_let_through_stays():
    scene = dressed(0.106, 0.103)
    held = np.int32([0, 50])
    outer = replace(scene.cloths[1], pins=Pins(held, scene.cloths[1].positions[None, held]))
    found, _ = resolved(replace(scene, cloths=(scene.cloths[0], outer)))
    assert np.array_equal(found.cloths[1].positions[held], outer.positions[held])
    alone = replace(scene, encounters=(Encounter(0, 1, collides=False),))
    assert resolved(alone)[0] is alone


def test_without_a_body_outside_is_where_the_faces_look():
    flat, faces = sheet(9, 0.2)
    lower = Cloth("Lower", faces, flat, flat, layer=1)
    upper = Cloth("Upper", faces, flat - [0, 0, 0.004], flat - [0, 0, 0.004], Material(), layer=2)
    found, said = resolved(Scene((lower, upper), (), SETTINGS))
    assert len(said) == 1
    assert found.cloths[1].positions[:, 2].min() > 0.0
    turned = replace(lower, triangles=lower.triangles[:, ::-1])
    assert resolved(Scene((turned, upper), (), SETTINGS))[1] == []

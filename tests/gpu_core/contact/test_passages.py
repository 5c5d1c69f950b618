# SPDX-License-Identifier: GPL-3.0-or-later
"""What went through a cloth and lies behind it crosses nothing; who it was is known all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.bake.certificate import who_met
from taffeta.gpu_core.bake.frame_report import warnings
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.contact.passages import passages
from taffeta.gpu_core.contact.patches import Surface
from taffeta.gpu_core.scene.scene import Cloth, Collider, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def surface_of(vertices: int, triangles: list[list[int]], cloth: int) -> Surface:
    objects = np.zeros(vertices, np.int32)
    objects[np.array(triangles[cloth:], int).ravel()] = 1
    return Surface(vertices, np.array(triangles, np.int32), cloth, objects)


def through(before: np.ndarray, after: np.ndarray, carried: np.ndarray) -> int:
    """How often of two triangles the second, a body, goes through the first, cloth."""
    surface = surface_of(6, [[0, 1, 2], [3, 4, 5]], 1)
    vertex, triangle = passages(before, after, surface, carried)
    assert (vertex[:, None] != triangle).all()
    return len(vertex)


def test_each_vertex_that_passes_within_the_other_triangle_is_found_and_none_beside_it():
    body = np.array([False] * 3 + [True] * 3)
    small = np.array([[0.1, 0.1, -1.0], [0.3, 0.1, -1.0], [0.1, 0.3, -1.0]])
    before, after = np.concatenate([TRIANGLE, small]), np.concatenate([TRIANGLE, small + [0, 0, 1.5]])
    assert through(before, after, body) == 3
    assert through(before, after, np.zeros(6, bool)) == 0  # who minds contact has not gone through
    assert through(before, before + [0, 0, 1.5], np.ones(6, bool)) == 0  # both went along
    assert through(before, np.concatenate([TRIANGLE, small + [0, 0, 0.5]]), body) == 0  # it stayed below
    aside = np.concatenate([np.zeros((3, 3)), np.full((3, 3), [1.0, 1.0, 0.0])])
    assert through(before + aside, after + aside, body) == 0


def test_small_cloth_that_a_large_triangle_sweeps_over_is_found():
    body = np.array([False] * 3 + [True] * 3)
    large = 10 * TRIANGLE - [3.0, 3.0, 1.0]
    before, after = np.concatenate([TRIANGLE, large]), np.concatenate([TRIANGLE, large + [0, 0, 3.0]])
    assert through(before, after, body) == 3


@pytest.mark.parametrize("moves", ["Plate", "Sheet"])
def test_a_plate_and_a_sheet_of_pins_that_go_through_each_other_are_both_named(moves):
    """Only what moved was named, once: behind the other it crosses nothing, and every later frame was clean."""
    points, triangles = sheet(6, 0.6)
    points = points - points.mean(axis=0)
    rise = np.linspace(-0.1, 0.3, 8)[:, None, None] * [[[0.0, 0.0, 1.0]]]
    way = points[None] - (rise if moves == "Sheet" else 0.0)
    pins = Pins(np.arange(len(points)), way.astype(np.float32))
    cloth = Cloth("Sheet", triangles, points, way[0])
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    path = corners[None] + (rise if moves == "Plate" else 0.0)
    plate = Collider("Plate", np.array([[0, 1, 2], [0, 2, 3]], np.int32), path.astype(np.float32))
    scene = Scene((replace(cloth, pins=pins),), (plate,), Settings(1, 8, gravity=(0, 0, 0)))
    simulator = Simulator(scene, cpu)
    reports = [simulator.advance_frame() for _ in range(7)]
    assert "Sheet and Plate" in {text for report in reports for text in report.released}
    said = [text for report in reports for text in warnings(report)]
    assert any("no room was left between Sheet and Plate. " in text for text in said), said
    assert not len(intersections(*_drawn(simulator, plate)))


def _drawn(simulator: Simulator, plate: Collider) -> tuple[np.ndarray, np.ndarray]:
    (cloth,), body = simulator.positions(), plate.positions[-1]
    triangles = [simulator.scene.cloths[0].triangles, plate.triangles + len(cloth)]
    return np.concatenate([cloth, body]), np.concatenate(triangles)


@pytest.mark.parametrize(
    ("released", "words"),
    [
        (("Arm", "Sleeve and Arm"), "Sleeve and Arm"),
        (("Sleeve", "Sleeve and itself"), "Sleeve and itself"),
        (("Arm", "Cuff", "Sleeve and Arm"), "Cuff and what is near, between Sleeve and Arm"),
    ],
)
def test_the_words_name_each_object_with_the_one_that_it_met(released, words):
    assert who_met(released) == words

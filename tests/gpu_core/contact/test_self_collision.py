# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth without self-collision passes through itself, and through nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.scene.scene import Cloth, Material, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sheet


def layers() -> tuple[np.ndarray, np.ndarray]:
    """Two sheets 2 cm apart, of which the upper falls onto the lower one, which its corners hold."""
    vertices, triangles = sheet(6, 0.2)
    upper = vertices * [0.5, 0.5, 1] + [0.053, 0.047, 0.02]
    upper[:, 2] += 0.2 * vertices[:, 0]  # tilted, so that it is in the midst of the other for some frames
    return np.concatenate([vertices, upper]), np.concatenate([triangles, triangles + len(vertices)])


def crossings(scene: Scene) -> int:
    simulator = Simulator(scene, select("cpu"))
    start = np.cumsum([0, *(len(cloth.positions) for cloth in scene.cloths)])
    triangles = np.concatenate([cloth.triangles + first for cloth, first in zip(scene.cloths, start, strict=False)])
    most = 0
    for _ in range(scene.settings.frames - 1):
        simulator.advance_frame()
        most = max(most, len(intersections(np.concatenate(simulator.positions()), triangles)))
    return most


@pytest.mark.parametrize("itself", [True, False])
def test_two_layers_of_one_cloth(itself):
    points, triangles = layers()
    velocities = np.zeros_like(points)
    velocities[len(points) // 2 :, 2] = -1.0
    cloth = Cloth("Both", triangles, points, points, Material(air_drag=0.0), velocities, self_collision=itself)
    found = crossings(Scene((cloth,), (), Settings(1, 5, gravity=(0, 0, 0))))
    assert (found == 0) == itself


def test_two_cloths_collide_all_the_same():
    points, triangles = layers()
    half, faces = len(points) // 2, triangles[: len(triangles) // 2]
    lower = Cloth("Lower", faces, points[:half], points[:half], Material(air_drag=0.0), self_collision=False)
    falling = np.full((half, 3), [0.0, 0.0, -1.0])
    upper = replace(lower, name="Upper", rest_positions=points[half:], positions=points[half:], velocities=falling)
    assert crossings(Scene((lower, upper), (), Settings(1, 5, gravity=(0, 0, 0)))) == 0

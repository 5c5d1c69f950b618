# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sheets of one cloth that hang side by side from two corners each, swing down onto a slope and are stretched
beyond their limit: so every number of a cloth shows within a few frames."""

from __future__ import annotations

import numpy as np

from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, Settings
from taffeta.gpu_core.scene.shape import Shape
from taffeta.tests.gpu_core.small_scene import sheet

SIDE = 6  #: vertices along a sheet
APART = 1.0  #: m between the two
SECOND = np.repeat([False, True], SIDE**2)  #: (N,) the vertices of the second sheet
#: soft enough for its own weight to stretch it beyond the limit
FABRIC = Material(0.2, 20.0, 15.0, 5.0, 2.0e-4, 0.08, 0.5, 0.4, 1.0, 2.0e-3, 2.0e-3, 3.0e-3, 5.0e-3, 0.08, 2.0, 0.2)

#: What a key makes of a number to be seen: three times as much, but less of a threshold that is
#: seldom reached, and of what is at its most.
FACTORS = {"stretch_yield": 0.1, "pin_strength": 0.5}
SHAPE = Shape(0.01, 0.3, 0.5, 1.0e-3, 0.5, 0.5)


def swinging(frames: int = 5) -> Scene:
    vertices, triangles = sheet(SIDE, 0.2)
    both = np.concatenate([vertices, vertices + [APART, 0.0, 0.0]])
    bent = both + [0.0, 0.0, 0.02] * np.sin(15.0 * both[:, 1:2])
    grid = np.concatenate([triangles, triangles + len(vertices)]).astype(np.int32)
    held = np.array([0, (SIDE - 1) * SIDE, SIDE**2, SIDE**2 + (SIDE - 1) * SIDE], np.int32)
    pins = Pins(held, bent[held][None], np.float32([1.0, 0.5, 1.0, 0.5]))
    slope = np.array([[-1, -1, -0.04], [3, -1, -0.04], [3, 2, -0.12], [-1, 2, -0.12]], float)
    floor = Collider("Slope", np.int32([[0, 1, 2], [0, 2, 3]]), slope[None].astype(np.float32), 0.5, 2.0e-3)
    cloth = Cloth("Sheets", grid, both, bent, FABRIC, np.zeros_like(both), pins=pins, thickness=2.0e-3, shape=SHAPE)
    return Scene((cloth,), (floor,), Settings(1, frames, step_rate=96.0, tolerance=5.0e-3, backend="cpu"))

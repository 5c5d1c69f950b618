# SPDX-License-Identifier: GPL-3.0-or-later
"""A balloon, held to the floor at its lowest place, that is blown up and then pinched by two balls."""

from __future__ import annotations

import numpy as np

from ..gpu_core.scene.fabrics import named
from ..gpu_core.scene.scene import Cloth, Collider, Pins, Scene, Settings
from ..gpu_core.scene.shape import Shape
from .stress.shapes import Mesh, box, sphere

RADIUS = 0.1  #: m, of the balloon before it is blown up
FINGER = 0.03  #: m, radius of a ball
AIR = 1.0e5  #: Pa around the balloon and, at its target volume, in it
BLOWN, PINCHED = 24, 60  #: frames after the first
MORE = 2.5  #: times the volume
NARROW = 0.03  #: m left between the two balls


def outward(mesh: Mesh) -> Mesh:
    """A convex mesh about the origin, all its faces to the outside."""
    a, b, c = (mesh.positions[mesh.triangles[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * (a + b + c)).sum(axis=1) < 0.0
    return Mesh(mesh.positions, np.where(inward[:, None], mesh.triangles[:, ::-1], mesh.triangles))


def pinched_balloon(vertices: int, frames: int = PINCHED + 1) -> Scene:
    """About so many vertices. Two seconds and a half in all."""
    segments = max(8, 2 * round(np.sqrt(0.5 * vertices)))
    shape, finger, floor = outward(sphere(RADIUS, segments)), sphere(FINGER, 16), box(1.2, 1.2, 0.04)
    volume = 4.0 / 3.0 * np.pi * RADIUS**3
    grown = np.clip(np.arange(frames) / BLOWN, 0.0, 1.0)
    start = shape.positions + [0.0, 0.0, RADIUS + 3e-3]
    held = np.flatnonzero(shape.positions[:, 2] < -0.9 * RADIUS).astype(np.int32)  # or it slips out between the two
    balloon = Cloth(
        "Balloon", shape.triangles, shape.positions, start, named("Latex").material, pins=Pins(held, start[held][None]),
        shape=Shape(ambient_pressure=AIR, target_volume=volume, shrink=0.1),
        keys={"target_volume": volume * (1.0 + (MORE - 1.0) * grown)},
    )  # fmt: skip
    closing = np.clip((np.arange(frames) - BLOWN) / (PINCHED - 6 - BLOWN), 0.0, 1.0)
    away = 0.24 + (FINGER + 0.5 * NARROW - 0.24) * closing
    height = np.full(frames, RADIUS * MORE ** (1.0 / 3.0))
    pair = [
        Collider(
            f"Finger {side:+d}", finger.triangles,
            (finger.positions + np.stack([side * away, np.zeros(frames), height], 1)[:, None]).astype(np.float32),
        )
        for side in (1, -1)
    ]  # fmt: skip
    ground = Collider("Floor", floor.triangles, (floor.positions - [0.0, 0.0, 0.02])[None].astype(np.float32))
    return Scene((balloon,), (ground, *pair), Settings(1, frames, step_rate=96.0, backend="cpu"))

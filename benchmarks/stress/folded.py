# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that fold: between their parts there is less and less room, and then none."""

from __future__ import annotations

import numpy as np

from ...gpu_core.scene.scene import Scene
from .motions import ramp, turned
from .shapes import Array, Mesh, box, grid, lathe, merged
from .stress import Stress, cloth, collider, held, jittered, scene


def elbow(vertices: int, frames: int) -> Scene:
    """A sleeve on an arm whose elbow closes to 140°, through itself, and opens again: folds with nowhere to go."""
    upper, fore = capsule(0.045, 0.3), capsule(0.04, 0.3)
    arm = merged(upper.shifted(0, 0, 0.15), fore.shifted(0, 0, -0.15))
    path = np.tile(arm.positions, (frames, 1, 1))
    path[:, len(upper.positions) :] = turned(fore.shifted(0, 0, -0.15).positions, (1, 0, 0), bend(frames, 140.0))
    sleeve = jittered(garment(vertices, 0.055, -0.22, 0.26), 1e-4)
    top = sleeve.positions[:, 2] > 0.255
    return scene([cloth("Sleeve", sleeve, pins=held(sleeve, top))], [collider("Arm", arm, path)], frames, resolve=True)


def ankles(vertices: int, frames: int) -> Scene:
    """Two legs in trousers close until the ankles are 1 cm in each other, stay so, and open again."""
    legs = [capsule(0.06, 0.7).shifted(side * 0.12, 0, -0.35) for side in (-1, 1)]
    trousers, colliders = [], []
    for side, leg in zip((-1, 1), legs, strict=True):
        close = turned(leg.positions, (0, 1, 0), side * bend(frames, 5.8), (side * 0.12, 0.0, 0.0))
        colliders.append(collider("Left Leg" if side < 0 else "Right Leg", leg, close))
        trousers.append(jittered(garment(vertices // 2, 0.08, -0.7, -0.05).shifted(side * 0.12, 0, 0), 1e-4, side + 2))
    both = merged(*trousers)
    pins = held(both, both.positions[:, 2] > -0.055)
    return scene([cloth("Trousers", both, pins=pins)], colliders, frames, resolve=True)


def wrung_and_pressed(vertices: int, frames: int) -> Scene:
    """A closed tube is wrung by two turns and then pressed flat: its limit can hardly be kept, though there is room."""
    tube = jittered(garment(vertices, 0.08, -0.2, 0.2), 1e-4)
    z = tube.positions[:, 2]
    ends = np.abs(z) > 0.195
    wring, press = 360.0 * ramp(frames, 0.0, 1.0, 1.0), ramp(frames, 0.0, 0.0, 1.0)
    upper, lower = turned(tube.positions, (0, 0, 1), wring), turned(tube.positions, (0, 0, 1), -wring)
    path = np.where((z > 0)[None, :, None], upper, lower)
    path[:, :, 2] *= 1.0 - 0.1 * ramp(frames, 0.0, 1.0, 1.0)[:, None]
    plates = []
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        plate = box(0.02, 0.3, 0.3)
        moved = np.tile(plate.positions + [side * 0.12, 0, 0], (frames, 1, 1))
        moved[:, :, 0] -= side * 0.085 * press[:, None]
        plates.append(collider(name, plate, moved))
    return scene([cloth("Tube", tube, pins=held(tube, ends, path))], plates, frames, weightless=True)


def bend(frames: int, degrees: float) -> Array:
    """(F,) closes, stays closed for a while, and opens."""
    return degrees * ramp(frames, 0.0, 1.0, 1.0, 0.0)


def capsule(radius: float, length: float, segments: int = 24) -> Mesh:
    """About the origin along z, its round ends beyond the length."""
    angle = np.linspace(0.0, np.pi / 2, 5)
    cap = np.column_stack([radius * np.cos(angle), length / 2 + radius * np.sin(angle)])
    cap[-1, 0] = 0.0
    wall = np.column_stack([np.full(5, radius), np.linspace(-0.4, 0.4, 5) * length])
    profile = np.concatenate([cap[::-1] * [1, -1], wall, cap])
    return lathe(profile, segments)


def garment(vertices: int, radius: float, low: float, high: float) -> Mesh:
    """An open tube about z."""
    around = max(8, round(np.sqrt(vertices * 2 * np.pi * radius / (high - low))))
    rows = max(3, round(vertices / around))
    flat = grid(np.linspace(low, high, rows), np.arange(around))
    angle = 2 * np.pi * flat.positions[:, 1] / around
    walls = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), flat.positions[:, 0]])
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(around), indexing="ij")
    a, b = (i * around + j).ravel(), (i * around + (j + 1) % around).ravel()
    triangles = np.concatenate([np.column_stack([a, b, b + around]), np.column_stack([a, b + around, a + around])])
    return Mesh(walls, triangles.astype(np.int32))


FOLDED = (
    Stress(elbow, 60, squeezes=True),
    Stress(ankles, 60, squeezes=True),
    Stress(wrung_and_pressed, 60),
)

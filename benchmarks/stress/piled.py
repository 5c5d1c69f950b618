# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that falls on colliders and on itself: piles, folds, wedges, and places where it can lock."""

from __future__ import annotations

import numpy as np

from ...gpu_core.scene.scene import Scene
from .motions import moved, ramp, turned
from .shapes import Mesh, box, grid, merged, sheet, sphere, teapot
from .stress import Stress, cloth, collider, jittered, scene


def teapot_pile(vertices: int, frames: int) -> Scene:
    """Ten cloths on a teapot: ten layers over a knob, a spout and through a handle."""
    cloths = [
        cloth(
            f"Cloth {k}",
            jittered(sheet(vertices // 10, 0.36).turned((0, 0, 1), 9.0 * k), 2e-4, k).shifted(0, 0, 0.165 + 0.004 * k),
        )
        for k in range(10)
    ]
    return scene(cloths, [collider("Teapot", teapot())], frames)


def spout(vertices: int, frames: int) -> Scene:
    """A cloth caught on the tip of a spout: one tight contact must not hold up the rest."""
    falling = jittered(sheet(vertices, 0.4), 1e-4).shifted(0.1, 0.003, 0.165)
    return scene([cloth("Cloth", falling)], [collider("Teapot", teapot())], frames)


def zigzag(vertices: int, frames: int) -> Scene:
    """Cloths dropped edge-on fold over themselves again and again: all contact is self-contact."""
    cloths = []
    for k in range(3):
        strip = sheet(vertices // 3, 0.4, 0.1).turned((0, 1, 0), 90.0)
        strip.positions[:, 0] += 0.004 * np.sin(30.0 * strip.positions[:, 2]) + 0.03 * k
        cloths.append(cloth(f"Strip {k}", jittered(strip.shifted(0.0, 0.0, 0.203), 1e-4, k)))
    return scene(cloths, [collider("Floor", box(1.0, 1.0, 0.02).shifted(0.0, 0.0, -0.01))], frames)


def forty_layers(vertices: int, frames: int) -> Scene:
    """Forty layers, 1.5 mm apart, land as one: a blow must travel through all of them."""
    cloths = []
    for k in range(40):
        layer = jittered(sheet(vertices // 40, 0.1), 1e-4, k).turned((0, 0, 1), 2.0 * k)
        cloths.append(cloth(f"Layer {k}", layer.shifted(0.0, 0.0, 0.02 + 0.0015 * k)))
    return scene(cloths, [collider("Ball", sphere(0.2, 32).shifted(0.0, 0.0, -0.2))], frames)


def crossed_collider(vertices: int, frames: int) -> Scene:
    """A collider that passes through itself: cloth runs into wedges that have no bottom."""
    parts = [box(0.3, 0.05, 0.05).turned((0, 0, 1), 60.0 * k).turned((1, 0, 0), 15.0 * k) for k in range(3)]
    star = merged(*parts, sphere(0.06, 16).shifted(0.0, 0.0, 0.02))
    swing = turned(star.positions, (0.2, 0.1, 1), ramp(frames, 0.0, 45.0))
    falling = jittered(sheet(vertices, 0.34), 1e-4).shifted(0.002, 0.001, 0.125)
    return scene([cloth("Cloth", falling)], [collider("Star", star, swing)], frames)


def folding_collider(vertices: int, frames: int) -> Scene:
    """An arm that bends into itself with the cloth in the crook: the body takes the room away."""
    upper, lower = (box(0.2, 0.07, 0.07).shifted(side * 0.11, 0.0, 0.0) for side in (-1, 1))
    arm = merged(upper, lower)
    bend = np.concatenate(
        [
            np.repeat(upper.positions[None], frames, axis=0),
            turned(lower.positions, (0, 1, 0), -ramp(frames, 0.0, 165.0, 100.0), (0.0, 0.0, 0.03)),
        ],
        axis=1,
    )
    lying = jittered(sheet(vertices, 0.3, 0.2), 1e-4).shifted(0.0, 0.0, 0.038)
    return scene([cloth("Cloth", lying)], [collider("Arm", arm, bend)], frames)


def jaws(vertices: int, frames: int) -> Scene:
    """Eight pleats between jaws that close to 16 mm, where tips, which count twice, and other gaps need 13."""
    pleats, width = 8, 0.12
    count = max(3, round(np.sqrt(vertices / pleats)))
    along = np.linspace(0.0, pleats * 0.06, pleats * count + 1)
    flat = grid(along, np.linspace(-width / 2, width / 2, count))
    zigzag = np.abs((along / 0.06 + 0.5) % 2.0 - 1.0)
    path = np.column_stack([along * 0.15, np.zeros_like(along), 0.06 * zigzag - 0.03])
    folded = Mesh(np.repeat(path, count, axis=0) + flat.positions * [0.0, 1.0, 0.0], flat.triangles)
    folded = folded.shifted(-np.mean(path[:, 0]), 0.0, 0.0)
    jaw = box(0.01, 0.2, 0.2)
    shut = ramp(frames, 0.06, 0.013, 0.013)  # of the middles
    colliders = [
        collider(name, jaw, moved(jaw.positions, x=s * shut)) for name, s in (("Left jaw", -1), ("Right jaw", 1))
    ]
    colliders.append(collider("Shelf", box(0.3, 0.3, 0.01).shifted(0.0, 0.0, -0.038)))
    pleated = cloth("Pleats", jittered(folded, 1e-4), rest=flat.positions)
    return scene([pleated], colliders, frames)


PILED = (
    Stress(teapot_pile, 48),
    Stress(spout, 36),
    Stress(zigzag, 48),
    Stress(forty_layers, 24),
    Stress(crossed_collider, 36),
    Stress(jaws, 36, thickest=16 / 13),
    Stress(folding_collider, 48, squeezes=True),
)

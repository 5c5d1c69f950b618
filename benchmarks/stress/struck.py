# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is struck: fast, sharp and spinning colliders."""

from __future__ import annotations

import numpy as np

from ...gpu_core.scene.scene import Scene
from .motions import moved, ramp, turned
from .shapes import box, cylinder, lathe, merged, sheet, sphere
from .stress import Stress, cloth, collider, held, jittered, scene


def bullet(vertices: int, frames: int) -> Scene:
    """A ball at 20 m/s through the plane of a hanging sheet: ten centimetres a step."""
    hanging = sheet(vertices, 0.6).turned((0, 1, 0), 90.0)
    top = hanging.positions[:, 2] > 0.3 - 1e-9
    ball = sphere(0.06)
    path = moved(ball.positions, x=-0.15 + 20.0 / 96.0 * np.arange(frames), y=0.013, z=-0.1)
    sheets = cloth("Sheet", hanging, pins=held(hanging, top))
    return scene([sheets], [collider("Ball", ball, path)], frames, fps=96.0)


def head_on(vertices: int, frames: int) -> Scene:
    """Two sheets that meet face to face at 10 m/s: every vertex touches in the same step."""
    one = jittered(sheet(vertices // 2, 0.3), 2e-4).shifted(0.0, 0.0, -0.08)
    other = jittered(sheet(vertices // 2, 0.3), 2e-4, seed=2).turned((0, 0, 1), 31.0).shifted(0.0, 0.0, 0.08)
    cloths = [cloth("Rising", one, velocity=(0, 0, 5)), cloth("Falling", other, velocity=(0, 0, -5))]
    return scene(cloths, [], frames, fps=48.0, weightless=True)


def edge_on(vertices: int, frames: int) -> Scene:
    """Two sheets that meet border to border in one plane: parallel and coplanar edges, no normal to trust."""
    one, other = (sheet(vertices // 2, 0.2).shifted(side * 0.13, 0.0, 0.0) for side in (-1, 1))
    cloths = [cloth("Left", one, velocity=(2, 0, 0)), cloth("Right", other, velocity=(-2, 0, 0))]
    return scene(cloths, [], frames, fps=48.0, weightless=True)


def blade_bowl(vertices: int, frames: int) -> Scene:
    """Cloths in a bowl with a rotating blade: swept up from below at nearly 4 m/s, no way out."""
    angle = np.linspace(0.0, np.pi / 2, 13)
    bowl = lathe([(0.2 * np.sin(a), 0.2 - 0.2 * np.cos(a)) if a else (0.0, 0.0) for a in angle], 32)
    blade = merged(box(0.22, 0.016, 0.004), cylinder(0.012, 0.05, 10, 2)).shifted(0.0, 0.0, 0.05)
    spin = turned(blade.positions, (0, 0, 1), 20.0 * np.arange(frames))
    cloths = [
        cloth(f"Cloth {k}", jittered(sheet(vertices // 3, 0.2).shifted(0.01 * k, 0.0, 0.1 + 0.03 * k), 1e-4, k))
        for k in range(3)
    ]
    return scene(cloths, [collider("Bowl", bowl), collider("Blade", blade, spin)], frames, fps=96.0)


def needles(vertices: int, frames: int) -> Scene:
    """A sheet on a bed of needles: contact at single vertices, each tip finer than an edge of the cloth."""
    places = [(0.04 * i, 0.04 * j, 0.0) for i in range(-2, 3) for j in range(-2, 3)]
    needle = lathe([(0.0, 0.0), (0.003, 0.0), (0.0, 0.08)], 6)
    bed = merged(*(needle.shifted(*place) for place in places))
    falling = jittered(sheet(vertices, 0.24), 1e-4).shifted(0.004, 0.007, 0.1)
    return scene([cloth("Sheet", falling)], [collider("Needles", bed)], frames)


def sharp_box(vertices: int, frames: int) -> Scene:
    """A box on its corner, thrown up at 3 m/s: right angles, and triangles as long as the cloth."""
    corner = box(0.2, 0.2, 0.2).turned((1, -1, 0), 54.7356).shifted(0.0, 0.0, -0.25)
    rise = moved(corner.positions, z=np.minimum(3.0 / 24.0 * np.arange(frames), 0.375))
    falling = jittered(sheet(vertices, 0.4), 1e-4).shifted(0.011, 0.006, 0.03)
    return scene([cloth("Sheet", falling)], [collider("Box", corner, rise)], frames)


def spinning_cylinder(vertices: int, frames: int) -> Scene:
    """A cylinder at ten turns a second winds up the cloth that lies on it: friction at 6 m/s."""
    drum = cylinder(0.1, 0.5, 48, 6).turned((1, 0, 0), 90.0)
    spin = turned(drum.positions, (0, 1, 0), 15.0 * np.arange(frames))
    lying = jittered(sheet(vertices, 0.5, 0.3), 1e-4).shifted(0.0, 0.0, 0.104)
    return scene([cloth("Cloth", lying)], [collider("Drum", drum, spin)], frames, fps=240.0, step_rate=240.0)


def teleport(vertices: int, frames: int) -> Scene:
    """A ball that is on the other side of a hanging sheet from one frame to the next, and back."""
    hanging = sheet(vertices, 0.6).turned((0, 1, 0), 90.0)
    top = hanging.positions[:, 2] > 0.3 - 1e-9
    ball = sphere(0.08)
    there = np.where(np.arange(frames) % 10 < 5, -0.2, 0.2)
    sheets = cloth("Sheet", hanging, pins=held(hanging, top))
    return scene([sheets], [collider("Ball", ball, moved(ball.positions, x=there, y=0.02, z=-0.1))], frames)


def wringer(vertices: int, frames: int) -> Scene:
    """A cloth drawn between two rollers 5 mm apart: a gap of two layers that turns at 0.6 m/s."""
    roller = cylinder(0.04, 0.3, 32, 4).turned((1, 0, 0), 90.0)
    turn = 9.0 * np.arange(frames)
    upper, lower = roller.shifted(0.0, 0.0, 0.0425), roller.shifted(0.0, 0.0, -0.0425)
    colliders = [
        collider("Upper roller", roller, turned(upper.positions, (0, 1, 0), -turn, (0.0, 0.0, 0.0425))),
        collider("Lower roller", roller, turned(lower.positions, (0, 1, 0), turn, (0.0, 0.0, -0.0425))),
    ]
    lying = jittered(sheet(vertices, 0.3, 0.2), 1e-4).shifted(-0.14, 0.0, 0.0)
    x = lying.positions[:, 0]
    lead = held(lying, x > x.max() - 0.004, moved(lying.positions, x=ramp(frames, 0.0, 0.006 * frames)))
    return scene([cloth("Cloth", lying, pins=lead)], colliders, frames, fps=96.0)


STRUCK = (
    Stress(bullet, 24),
    Stress(head_on, 24),
    Stress(edge_on, 24),
    Stress(blade_bowl, 96),
    Stress(needles, 36),
    Stress(sharp_box, 36),
    Stress(spinning_cylinder, 96),
    Stress(teleport, 30),
    Stress(wringer, 72, thickest=1.5),
)

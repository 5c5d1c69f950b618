# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that pins and colliders force: twisted, knotted, pulled, crumpled, squeezed."""

from __future__ import annotations

import numpy as np

from ...gpu_core.scene.scene import Scene
from .motions import moved, ramp, turned
from .shapes import Array, Mesh, box, cylinder, frames_along, grid, lathe, merged, sheet, sphere, tube
from .stress import Stress, cloth, collider, held, jittered, scene


def twist(vertices: int, frames: int) -> Scene:
    """Eight full turns (2880°): every part ends in layered contact with every other."""
    return _wrung(vertices, frames, 0.35)


def slack_twist(vertices: int, frames: int) -> Scene:
    """Eight full turns with half the length to spare: the rope coils up upon itself."""
    return _wrung(vertices, frames, 0.5)


def _wrung(vertices: int, frames: int, drawn: float) -> Scene:
    """The ends turn against each other and draw together by a share `drawn` of the length. The rate of frames keeps a
    frame's turn at 15° with 96 frames: between frames pins move along straight lines."""
    length, width = 0.8, 0.16
    strip = sheet(vertices, length, width)
    x = strip.positions[:, 0]
    turn = ramp(frames, 0.0, 1440.0)
    left, right = (turned(strip.positions, (1, 0, 0), side * turn) for side in (1, -1))
    path = np.where((x < 0)[None, :, None], left, right)
    path[:, :, 0] *= 1.0 - ramp(frames, 0.0, drawn)[:, None]
    pins = held(strip, np.abs(x) > length / 2 - 1e-9, path)
    return scene([cloth("Strip", strip, pins=pins)], [], frames, fps=96.0, weightless=True)


def knot(vertices: int, frames: int) -> Scene:
    """An overhand knot pulled tight: friction, many layers, no way back.

    A ribbon along a trefoil cut open at the tip of a lobe; the ends are drawn apart until the knot closes.
    """
    t = np.linspace(np.pi + 0.12, 3 * np.pi - 0.12, 400)
    trefoil = np.column_stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)])
    ribbon, rest = _ribbon(trefoil * [0.05, 0.05, 0.035], 0.02, vertices)
    row = np.arange(len(ribbon.positions)) // (len(ribbon.positions) // _rows(vertices))
    first, last = row == 0, row == row.max()
    ends = [ribbon.positions[part].mean(axis=0) for part in (first, last)]
    side = np.sign(ends[0] - ends[1])
    reach = 0.43 * np.ptp(rest[:, 0]) * ramp(frames, 0.0, 1.0)
    path = np.where(
        first[None, :, None],
        moved(ribbon.positions, x=side[0] * reach, y=-0.15 * reach),
        moved(ribbon.positions, x=-side[0] * reach, y=-0.15 * reach),
    )
    ribbons = cloth("Ribbon", ribbon, rest=rest, pins=held(ribbon, first | last, path))
    return scene([ribbons], [], frames, weightless=True)


def _rows(vertices: int) -> int:
    return max(40, vertices // 4)


def _ribbon(path: Array, width: float, vertices: int) -> tuple[Mesh, Array]:
    """A ribbon across a path (P, 3) and its flat rest shape (N, 3): four vertices wide."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], _rows(vertices))
    line = np.column_stack([np.interp(at, along, path[:, k]) for k in range(3)])
    across, _ = frames_along(line, (0.0, 0.0, 1.0))
    flat = grid(at, np.linspace(-width / 2, width / 2, 4))
    positions = np.repeat(line, 4, axis=0) + np.repeat(across, 4, axis=0) * flat.positions[:, 1:2]
    return Mesh(np.asarray(positions, np.float64), flat.triangles), flat.positions


def funnel(vertices: int, frames: int) -> Scene:
    """A cloth pulled through a narrow neck: all of it must fold to a tenth of its width."""
    square = sheet(vertices, 0.3)
    middle = square.positions[np.linalg.norm(square.positions, axis=1).argmin()]
    square = square.shifted(*([0.001, 0.002, 0.105] - middle))
    off_axis = np.linalg.norm(square.positions[:, :2], axis=1)
    chosen = off_axis <= min(np.sort(off_axis)[3], 0.02)  # of a coarse cloth too, only what passes through the neck
    pull = moved(square.positions, z=ramp(frames, 0.0, -0.33))
    profile = [(0.17, 0.10), (0.10, 0.05), (0.05, 0.015), (0.032, 0.0), (0.03, -0.03), (0.03, -0.08)]
    wall = collider("Funnel", lathe(profile, 32))
    return scene([cloth("Cloth", square, pins=held(square, chosen, pull))], [wall], frames)


def hands(vertices: int, frames: int) -> Scene:
    """A cloth crumpled between two closing hands: no layer has a free direction."""
    crumpled = jittered(sheet(vertices, 0.3), 0.002).turned((1, 0, 0), 80.0).turned((0, 0, 1), 10.0)
    hand = merged(
        Mesh(sphere(1.0, 20).positions * [0.02, 0.07, 0.08], sphere(1.0, 20).triangles),
        *(
            tube([(0, y, 0.06), (0.01, y, 0.10), (0.035, 0.9 * y, 0.13), (0.06, 0.8 * y, 0.135)], 0.013, 10)
            for y in (-0.045, -0.015, 0.015, 0.045)
        ),
    )
    shut = ramp(frames, 0.24, 0.038, 0.038)
    left = moved(hand.positions, x=-shut)
    mirrored = Mesh(hand.turned((0, 0, 1), 180.0).positions, hand.triangles)
    right = moved(mirrored.turned((1, 0, 0), 90.0).positions, x=shut)
    colliders = [collider("Left hand", hand, left), collider("Right hand", hand, right)]
    return scene([cloth("Cloth", crumpled)], colliders, frames, weightless=True)


def armpit(vertices: int, frames: int) -> Scene:
    """Cloth between body and arm, pressed to less than its thickness, and let go again.

    At the narrowest 0.5 mm are left where one layer needs 1 mm to each side.
    """
    veil = jittered(sheet(vertices, 0.24, 0.2), 1e-4).turned((0, 1, 0), 90.0).shifted(0.084, 0.0, 0.0)
    top = veil.positions[:, 2] > veil.positions[:, 2].max() - 0.004
    trunk = cylinder(0.08, 0.5, 32, 6)
    arm = cylinder(0.04, 0.4, 24, 6).shifted(0.1205, 0.0, -0.1)
    opening = turned(arm.positions, (0, 1, 0), -ramp(frames, 25.0, 0.0, 0.0, 25.0), (0.1205, 0.0, 0.1))
    opening[:, :, 0] += ramp(frames, 0.02, 0.0, 0.0, 0.02)[:, None]
    colliders = [collider("Trunk", trunk), collider("Arm", arm, opening)]
    return scene([cloth("Sleeve", veil, pins=held(veil, top))], colliders, frames)


def crossing_pins(vertices: int, frames: int) -> Scene:
    """Two pinned edges change places, 2 cm past each other: the sheet is drawn through its own fold."""
    square = sheet(vertices, 0.3)
    x = square.positions[:, 0]
    left, right = np.isclose(x, x.min()), np.isclose(x, x.max())
    swing = ramp(frames, 0.0, 0.5, 1.0)
    lift = 0.01 * np.minimum(1.0, 4.0 * swing)
    path = np.where(
        left[None, :, None],
        moved(square.positions, x=0.3 * swing, z=lift),
        moved(square.positions, x=-0.3 * swing, z=-lift),
    )
    return scene([cloth("Sheet", square, pins=held(square, left | right, path))], [], frames)


def meeting_pins(vertices: int, frames: int) -> Scene:
    """Two pinned edges go straight through each other: nothing can keep them apart, so it must be said."""
    square = sheet(vertices, 0.3)
    x = square.positions[:, 0]
    left, right = np.isclose(x, x.min()), np.isclose(x, x.max())
    swing = 0.36 * ramp(frames, 0.0, 1.0)
    path = np.where(
        left[None, :, None],
        turned(moved(square.positions, x=swing), (1, 0, 0), np.full(frames, 20.0)),
        moved(square.positions, x=-swing),
    )
    path[0] = square.positions
    return scene([cloth("Sheet", square, pins=held(square, left | right, path))], [], frames)


def scissors(vertices: int, frames: int) -> Scene:
    """Two plates slide past each other 6 mm apart with the cloth between: edges shear every layer."""
    hanging = jittered(sheet(vertices, 0.3), 1e-4).turned((0, 1, 0), 90.0).shifted(0.0, 0.0, -0.15)
    top = hanging.positions[:, 2] > -0.004
    blade = box(0.2, 0.4, 0.004)
    stroke = ramp(frames, 0.11, -0.05, 0.11)
    upper = moved(blade.positions, x=stroke, z=-0.125)
    lower = moved(blade.positions, x=-stroke, z=-0.135)
    colliders = [collider("Upper blade", blade, upper), collider("Lower blade", blade, lower)]
    return scene([cloth("Cloth", hanging, pins=held(hanging, top))], colliders, frames)


FORCED = (
    Stress(twist, 96, coarsest=100),
    Stress(slack_twist, 96, coarsest=100),
    Stress(knot, 72),
    Stress(funnel, 72),
    Stress(hands, 60),
    Stress(armpit, 60, squeezes=True),
    Stress(crossing_pins, 48),
    Stress(meeting_pins, 36, squeezes=True),
    Stress(scissors, 48, coarsest=140, thickest=1.5),
)

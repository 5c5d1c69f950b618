# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb's law: what slides on a slope, how fast, how far; a strip on a belt (docs/theory/physics.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from ...gpu_core.scene.scene import Cloth, Collider, Material, Pins
from .motion import GRAVITY, Motion, simulate
from .result import Result, Solve
from .shapes import grid, square, turned

FloorKind = Literal["two triangles", "coarse floor", "fine floor", "cloth"]
FLOORS: tuple[FloorKind, ...] = ("two triangles", "coarse floor", "fine floor", "cloth")
SIDES = {"two triangles": 2, "coarse floor": 9, "fine floor": 101}  #: vertices a side; the sheet has edges of 25 mm
BESIDE = 2.0e-4  #: m
SLIDING = 3.0e-3  #: m/s after one second: Coulomb's sliding gets there 0.3 % above μ = 0.1, and 0.05 % above 0.8


def slope(friction: float, tangent: float, floor: FloorKind, solve: Solve, seconds: float) -> Motion:
    """A sheet of 20 cm, at rest just above a slope that goes down along +x by tan θ = tangent, in the slope's frame."""
    angle = np.arctan(tangent)
    material = Material(friction=friction, air_drag=0.0, bend=1e-4)
    points, triangles = square(9, 0.2)
    sheet = Cloth("Sheet", triangles, points, turned(angle, points + [-0.5, 0.0, 2.0e-3]), material)
    if floor == "cloth":
        cloths = (sheet, _cloth_floor(angle, material))
        faces, corners = square(2, 4.0)
        smooth = Collider(
            "Floor", corners, turned(angle, faces - [0, 0, 2.0e-3])[None].astype(np.float32), friction=0.0
        )
        return simulate(cloths, [smooth], solve=solve, seconds=seconds)
    faces, corners = square(SIDES[floor], 2.0 if floor != "two triangles" else 4.0)
    collider = Collider("Floor", corners, turned(angle, faces)[None].astype(np.float32), friction=friction)
    return simulate(sheet, [collider], solve=solve, seconds=seconds)


def _cloth_floor(angle: float, material: Material) -> Cloth:
    """A long sheet on a frictionless slope, held by its upper edge."""
    points, triangles = grid(36, 11, 1.7, 0.5)
    held = np.flatnonzero(points[:, 0] < -0.85 + 1e-9).astype(np.int32)
    at = turned(angle, points + [0.1, 0.0, 0.0])
    return Cloth("Lower sheet", triangles, points, at, material, pins=Pins(held, at[None, held]))


def along(motion: Motion, tangent: float) -> tuple[np.ndarray, np.ndarray]:
    """(F,) path and (F,) speed of the sheet down the slope: its first 81 vertices, of equal share in the mean."""
    angle = np.arctan(tangent)
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    share = motion.mass[:81] / motion.mass[:81].sum()
    return (motion.positions[:, :81] @ down) @ share, (motion.velocities[:, :81] @ down) @ share


def threshold(friction: float, floor: FloorKind, solve: Solve) -> float:
    """tan θ at which the sheet begins to slide, by bisection to 0.2 % of μ; nan where it is not within 20 %.

    Looked for within the 2 % first: creep may pass for sliding at one angle and not at a steeper one.
    """
    for width in (0.02, 0.2):
        low, high = (1.0 - width) * friction, (1.0 + width) * friction
        if not slides(friction, low, floor, solve) and slides(friction, high, floor, solve):
            break
    else:
        return float("nan")
    while high - low > 2e-3 * friction:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slides(friction, middle, floor, solve) else (middle, high)
    return 0.5 * (low + high)


def slides(friction: float, tangent: float, floor: FloorKind, solve: Solve) -> bool:
    _, speed = along(slope(friction, tangent, floor, solve, 1.0), tangent)
    return bool(speed[-1] > SLIDING)


def thresholds(solve: Solve) -> Iterator[Result]:
    for floor in FLOORS:
        for friction in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8) if floor == "two triangles" else (0.1, 0.3, 0.8):
            found = threshold(friction, floor, solve)
            yield Result(f"tan θ where sliding starts, μ {friction}, {floor}", found, friction, 0.02, relative=True)


def sliding(solve: Solve, floors: tuple[FloorKind, ...] = FLOORS) -> Iterator[Result]:
    """Acceleration from 0.25 s to 0.75 s."""
    for floor in floors:
        for friction in (0.1, 0.3, 0.6):
            tangent = friction + 0.2
            angle = np.arctan(tangent)
            _, speed = along(slope(friction, tangent, floor, solve, 0.75), tangent)
            ideal = GRAVITY * (np.sin(angle) - friction * np.cos(angle))
            measured = (speed[18] - speed[6]) / 0.5
            yield Result(
                f"acceleration, μ {friction}, tan θ {tangent:.1f}, {floor}", measured, ideal, 0.03, "m/s²", True
            )


def creep(solve: Solve, floors: tuple[FloorKind, ...] = FLOORS) -> Iterator[Result]:
    """Speed below the threshold, mean of the second half second. The bound is that of rest."""
    for floor in floors:
        for share in (0.5, 0.9, 0.98):
            path, _ = along(slope(0.3, 0.3 * share, floor, solve, 1.0), 0.3 * share)
            speed = 1e3 * (path[24] - path[12]) / 0.5
            yield Result(f"creep at tan θ = {share} μ, {floor}", speed, 0.0, 0.1, "mm/s")


def smooth(solve: Solve, sides: tuple[float, ...] = (4.0, 40.0)) -> Iterator[Result]:
    """A sheet at rest on a level floor without friction, its middle beside the edge of two triangles, stays there."""
    points, triangles = square(9, 0.2)
    material = Material(friction=0.0, air_drag=0.0)
    for side in sides:
        sheet = Cloth("Sheet", triangles, points, points + [BESIDE, 0.0, 2.0e-3], material)
        corners, faces = square(2, side)
        floor = Collider("Floor", faces, corners[None].astype(np.float32), friction=0.0)
        path = simulate(sheet, [floor], solve=solve, seconds=0.5).centre()
        moved = 1e3 * float(np.linalg.norm((path[-1] - path[0])[:2]))
        yield Result(f"moved in 0.5 s beside the edge of a smooth floor of {side:g} m", moved, 0.0, 0.1, "mm")


def stop(solve: Solve) -> Iterator[Result]:
    """A sheet thrown along a level floor stops after v₀²/(2μg) − v₀h/2 (BE brakes at the end of each step)."""
    for floor in ("two triangles", "fine floor"):
        points, triangles = square(9, 0.2)
        start = np.tile([1.0, 0.0, 0.0], (81, 1))
        sheet = Cloth(
            "Sheet", triangles, points, points + [-0.5, 0.0, 2.0e-3],
            Material(friction=0.4, air_drag=0.0, bend=1e-4), velocities=start,
        )  # fmt: skip
        faces, corners = square(SIDES[floor], 2.0)
        collider = Collider("Floor", corners, faces[None].astype(np.float32), friction=0.4)
        motion = simulate(sheet, [collider], solve=solve, seconds=0.75)
        path = motion.centre()[:, 0]
        ideal = 1.0 / (2 * 0.4 * GRAVITY) - 0.5 / 192
        yield Result(f"braking distance, 1 m/s, μ 0.4, {floor}", path[-1] - path[0], ideal, 0.03, "m", True)


def belt(solve: Solve) -> Iterator[Result]:
    """Stick and slip of an elastic strip, one end held, on a floor that moves away slowly.

    Where the belt has moved by δ, a length ℓ = √(2Yδ/(μρg)) next to the held end slips and the rest sticks, so the
    free end follows the belt until δ* = μρgL²/(2Y) and stays there while the belt goes on.
    """
    stiffness, density, friction, length, speed = 20.0, 0.2, 0.3, 0.6, 4.0e-3
    limit = friction * density * GRAVITY * length**2 / (2.0 * stiffness)
    points, triangles = grid(31, 3, length, 0.04)
    points = points + [0.5 * length, 0.0, 0.0]
    held = np.flatnonzero(points[:, 0] < 1e-9).astype(np.int32)
    at = points + [0.0, 0.0, 2.0e-3]
    material = Material(
        density=density, stretch_warp=stiffness, stretch_weft=stiffness, shear=0.5 * stiffness, softening=1.0,
        strain_limit=0.0, bend=1e-5, friction=friction, air_drag=0.0,
    )  # fmt: skip
    strip = Cloth("Strip", triangles, points, at, material, pins=Pins(held, at[None, held]))
    seconds = 2.0 * limit / speed
    frames = 1 + round(24 * seconds)
    faces, corners = grid(2, 2, 4.0, 4.0)
    path = faces[None] + np.arange(frames)[:, None, None] * [[[speed / 24.0, 0.0, 0.0]]]
    floor = Collider("Belt", corners, path.astype(np.float32), friction=friction)
    motion = simulate(strip, [floor], solve=solve, seconds=seconds)
    free = points[:, 0] > length - 1e-9
    tip = (motion.positions[:, free, 0] - at[free, 0]).mean(axis=1)
    half, settled = frames // 4, frames // 8
    yield Result("free end of a strip, belt at δ*/2", 1e3 * tip[half], 1e3 * speed * half / 24, 0.03, "mm", True)
    yield Result("free end of a strip, belt at 2 δ*", 1e3 * tip[-settled:].mean(), 1e3 * limit, 0.03, "mm", True)


def card_house(solve: Solve) -> Iterator[Result]:
    """Two stiff cards lean on each other at 15° from the vertical: they stand iff μ > tan(15°)/2 = 0.134."""
    for friction in (0.5, 0.05):
        motion = cards(friction, solve)
        heights = motion.positions[:, :, 2].max(axis=1)
        if friction == 0.5:
            yield Result("card house, μ 0.5: height kept", heights[-1] / heights[0], 1.0, 0.03)
            moved = 1e3 * float(np.linalg.norm(motion.centre()[-1] - motion.centre()[-25]))
            yield Result("card house, μ 0.5: moved in the last second", moved, 0.0, 0.1, "mm")
        else:
            yield Result("card house, μ 0.05: height kept", heights[-1] / heights[0], 0.0, 0.5)


def cards(friction: float, solve: Solve) -> Motion:
    points, triangles = grid(9, 7, 0.1, 0.07)
    lean, gap = np.radians(15.0), 1.9e-3
    up = points[:, 0] + 0.05
    material = Material(
        density=0.3, stretch_warp=2000, stretch_weft=2000, shear=1000, softening=1.0, strain_limit=0.0, bend=1e-2,
        friction=friction, air_drag=0.0,
    )  # fmt: skip
    cards = []
    for side in (-1.0, 1.0):
        inset = side * (0.5 * gap + np.sin(lean) * (0.1 - up))
        at = np.stack([inset, points[:, 1], np.cos(lean) * up + 1.9e-3], axis=1)
        cards.append(Cloth(f"Card {side:+.0f}", triangles, points, at, material))
    faces, corners = square(2, 1.0)
    floor = Collider("Floor", corners, faces[None].astype(np.float32), friction=friction)
    return simulate(cards, [floor], solve=solve, seconds=2.0)

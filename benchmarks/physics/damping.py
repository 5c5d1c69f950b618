# SPDX-License-Identifier: GPL-3.0-or-later
"""Numerical damping against backward Euler's own, and the order in h (docs/theory/physics.md)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...gpu_core.scene.scene import Cloth, Material, Pins
from . import backward_euler
from .backward_euler import orders
from .motion import simulate
from .result import TIGHT, Result, Solve
from .shapes import Points, square

RATES = (60.0, 150.0, 300.0)


def membrane_mode(solve: Solve) -> Iterator[Result]:
    """First mode of a square under tension, 3.162 Hz: every step of BE leaves 1/√(1 + h²ω²) of its amplitude.

    With q the mode's coordinate and p its velocity, √(q² + p²/ω²) falls by that factor in each step, exactly.
    """
    side, strain, stiffness, density, amplitude = 0.5, 0.01, 100.0, 0.2, 1.0e-3
    points, triangles = square(21, side)
    rest = points / (1.0 + strain)
    mode = np.prod(np.cos(np.pi * points[:, :2] / side), axis=1)
    border = np.flatnonzero(np.abs(points[:, :2]).max(axis=1) > 0.5 * side - 1e-9).astype(np.int32)
    start = points + amplitude * mode[:, None] * [0.0, 0.0, 1.0]
    material = Material(
        density=density, stretch_warp=stiffness, stretch_weft=stiffness, shear=0.5 * stiffness, softening=1.0,
        strain_limit=0.0, bend=0.0, air_drag=0.0,
    )  # fmt: skip
    cloth = Cloth("Square", triangles, rest, start, material, pins=Pins(border, points[None, border]))
    # Rest area is what carries the mass, the deformed side is what the wave runs along.
    tension, areal = stiffness * strain, density / (1.0 + strain) ** 2
    omega = np.pi / side * np.sqrt(2.0 * tension * (1.0 + strain) ** -1 / areal)
    for rate in RATES:
        h = 1.0 / rate
        motion = simulate(cloth, solve=solve, seconds=0.5, fps=rate, rate=rate, gravity=(0, 0, 0))
        weight = mode / (mode**2).sum()
        phase = (motion.positions[:, :, 2] @ weight) + 1j * (motion.velocities[:, :, 2] @ weight) / omega
        count = len(phase) - 1
        measured = np.log(abs(phase[0]) / abs(phase[-1])) / count
        ideal = 0.5 * np.log1p((h * omega) ** 2)
        turned = -np.unwrap(np.angle(phase))[-1] / (count * np.arctan(h * omega))
        yield Result(f"membrane mode, h 1/{rate:.0f}: loss a step", measured, ideal, 0.03, "", True)
        yield Result(f"membrane mode, h 1/{rate:.0f}: frequency beside BE's", turned, 1.0, 0.01, "", True)


def pendulum(solve: Solve) -> Iterator[Result]:
    """A narrow triangle hinged on its base: BE projects x + hv + h²g on the circle."""
    for rate, x, y in ((50.0, -0.766389, -0.642377), (100.0, -0.809175, -0.587568), (200.0, -0.831152, -0.556045)):
        points = np.array([[0.0, -0.05, 0.0], [0.0, 0.05, 0.0], [1.0, 0.0, 0.0]])
        angle = np.radians(60.0)
        start = points.copy()
        start[2] = [np.sin(angle), 0.0, -np.cos(angle)]
        stiffness = 1.0e4
        material = Material(
            density=1.0, stretch_warp=stiffness, stretch_weft=stiffness, shear=0.5 * stiffness, softening=1.0,
            strain_limit=0.0, bend=0.0, air_drag=0.0,
        )  # fmt: skip
        hinge = np.array([0, 1], np.int32)
        cloth = Cloth(
            "Pendulum", np.array([[0, 1, 2]], np.int32), points, start, material, pins=Pins(hinge, start[None, hinge])
        )
        tip = simulate(cloth, solve=solve, seconds=1.0, fps=rate, rate=rate, self_collision=False).positions[-1, 2]
        yield Result(
            f"pendulum from 60°, h 1/{rate:.0f}: distance after 1 s from BE's place",
            float(np.hypot(tip[0] - x, tip[2] - y)), 0.0, 1e-3, "m",
        )  # fmt: skip


def order(solve: Solve) -> Iterator[Result]:
    """`backward_euler.orders` of the centre of mass of a sheet that swings, free of contact.

    About an edge from 30°; and held by two corners, level at first, so that it falls and comes taut.
    """
    points, triangles = square(11, 0.5)
    angle = np.radians(30.0)
    below = (points[:, 0] + 0.25)[:, None] * [np.sin(angle), 0.0, -np.cos(angle)] + points * [0.0, 1.0, 0.0]
    edge, rates = np.flatnonzero(points[:, 0] < -0.25 + 1e-9), (96.0, 192.0, 384.0, 768.0)
    sheet = Cloth("Sheet", triangles, points, below, _limp(100.0), pins=_held(below, edge))
    for name, cloth, seconds in (("about an edge", sheet, 0.5), ("by two corners, 20 N/m", _hammock(20.0), 0.25)):
        yield from _orders(name, rates, [_centre_after(cloth, solve, seconds, rate) for rate in rates])


def order_of_a_jerk(
    solve: Solve, rates: tuple[float, ...] = (96.0, 192.0, 384.0, 768.0, 1536.0, 3072.0)
) -> Iterator[Result]:
    """The sheet held by two corners, five times as stiff: it comes taut with a jerk that these steps do not resolve.

    So beside order 1 stands backward Euler itself, solved to rounding in float64: its place and its order.
    """
    sheet, seconds = _hammock(100.0), 0.25
    ends = [_centre_after(sheet, solve, seconds, rate) for rate in rates]
    exact = [backward_euler.centre_after(sheet, seconds, rate) for rate in rates]
    for rate, end, place in zip(rates, ends, exact, strict=True):
        away = 1e3 * float(np.linalg.norm(end - place))
        yield Result(f"sheet that comes taut, h 1/{rate:.0f}: centre from exact BE's", away, 0.0, 0.1, "mm")
    yield from _orders("by two corners, 100 N/m", rates, ends)
    for rate, p, wanted in zip(rates, orders(ends), orders(exact), strict=False):
        yield Result(f"order in h from 1/{rate:.0f}, sheet that comes taut: exact BE's", p, wanted, 0.15)


def order_of_exact_steps(
    solve: Solve, rates: tuple[float, ...] = (384.0, 768.0, 1536.0, 3072.0, 6144.0, 12288.0)
) -> Iterator[Result]:
    """The same sheet by exact backward Euler alone, with steps that float32 has no digits for: its order comes to 1."""
    if solve is TIGHT:
        ends = [backward_euler.centre_after(_hammock(100.0), 0.25, rate) for rate in rates]
        for rate, p in zip(rates, orders(ends), strict=False):
            yield Result(f"order in h from 1/{rate:.0f}, exact BE alone, 100 N/m", p, 1.0, None)


def _orders(name: str, rates: tuple[float, ...], ends: list[Points]) -> Iterator[Result]:
    for rate, p in zip(rates, orders(ends), strict=False):
        yield Result(f"order in h from 1/{rate:.0f}, sheet held {name}", p, 1.0, 0.15)


def _hammock(stiffness: float) -> Cloth:
    points, triangles = square(11, 0.5)
    return Cloth("Sheet", triangles, points, points, _limp(stiffness), pins=_held(points, np.array([0, 10])))


def _held(start: Points, vertices: np.ndarray) -> Pins:
    return Pins(vertices.astype(np.int32), start[None, vertices])


def _limp(stiffness: float) -> Material:
    return Material(
        density=0.2, stretch_warp=stiffness, stretch_weft=stiffness, shear=0.5 * stiffness, softening=1.0,
        strain_limit=0.0, bend=1e-4, air_drag=0.0,
    )  # fmt: skip


def _centre_after(cloth: Cloth, solve: Solve, seconds: float, rate: float) -> Points:
    motion = simulate(cloth, solve=solve, seconds=seconds, rate=rate, self_collision=False)
    return np.asarray(motion.centre()[-1])

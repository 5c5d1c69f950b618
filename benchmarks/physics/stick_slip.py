# SPDX-License-Identifier: GPL-3.0-or-later
"""What sticks until Coulomb lets it go: strip over a cylinder, patch on springs, pushed strip."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import fsolve

from ...gpu_core.elasticity.assembly import assemble
from ...gpu_core.scene.scene import Cloth, Collider, Material, Pins
from .motion import GRAVITY, Positions, simulate
from .result import Result, Solve
from .shapes import cylinder, grid, square

RADIUS, SPAN = 0.1, 0.1  #: of the cylinder, and of each free end of the strip, m
DISTANCE = 1.96e-3  #: from the cylinder, where contact bears the pretension, m
STIFFNESS, PRETENSION = 100.0, 1.0  #: of the strip, N/m


def capstan(solve: Solve, frictions: tuple[float, ...] = (0.1, 0.2, 0.3, 0.5)) -> Iterator[Result]:
    """A strip over half a cylinder, one end held, the other pulled: T₂/T₁ = e^{μπ} once all of it slips.

    Before that the slip reaches an angle ψ from the pulled end, T₂ = T₀e^{μψ}, and T₁ is still the pretension T₀. No
    gravity, so that the spans carry one tension each, read from their stretch.
    """
    for friction in frictions:
        tension = _pulled_over_cylinder(friction, solve)
        arc = np.exp(np.pi * friction)
        early = int(np.argmax(tension[:, 1] > PRETENSION * np.sqrt(arc)))
        yield Result(
            f"capstan, μ {friction}: held end's tension while half the arc slips",
            tension[early, 0], PRETENSION, 0.02, "N/m", True,
        )  # fmt: skip
        ratio = float((tension[-6:, 1] / tension[-6:, 0]).mean())
        yield Result(f"capstan, μ {friction}: T₂/T₁ when all of it slips", ratio, float(arc), 0.02, "", True)


def _pulled_over_cylinder(friction: float, solve: Solve, seconds: float = 2.0) -> Positions:
    """(F, 2) tension of the held and of the pulled span, N/m, to twice the tension at which all of the arc slips."""
    cells, radius = 100, RADIUS + DISTANCE
    length = 2.0 * SPAN + np.pi * radius
    rest, triangles = grid(cells + 1, 3, length / (1.0 + PRETENSION / STIFFNESS), 0.02)
    along = np.repeat(np.linspace(0.0, length, cells + 1), 3)
    turned = np.clip((along - SPAN) / radius, 0.0, np.pi)
    past = np.minimum(along - SPAN, 0.0) - np.maximum(along - SPAN - np.pi * radius, 0.0)
    start = np.stack([-radius * np.cos(turned), rest[:, 1], radius * np.sin(turned) + past], axis=1)

    ends = np.flatnonzero((along < 1e-9) | (along > length - 1e-9)).astype(np.int32)
    most = 2.0 * PRETENSION * np.exp(np.pi * friction)
    pull = (most - PRETENSION) / STIFFNESS * (SPAN + RADIUS * (1.0 - np.exp(-np.pi * friction)) / friction + SPAN)
    frames = 1 + round(24 * seconds)
    path = np.repeat(start[None, ends], frames, axis=0)
    path[:, along[ends] > SPAN, 2] -= np.linspace(0.0, pull, frames)[:, None]

    strip = Cloth("Strip", triangles, rest, start, _elastic(0.05, STIFFNESS, friction, 1e-6), pins=Pins(ends, path))
    points, faces = cylinder(RADIUS, 0.1)
    collider = Collider("Cylinder", faces, points[None].astype(np.float32), friction)
    motion = simulate(strip, [collider], solve=solve, seconds=seconds, gravity=(0.0, 0.0, 0.0))
    rows = motion.positions.reshape(frames, cells + 1, 3, 3).mean(axis=2)
    stretch = np.linalg.norm(np.diff(rows, axis=1), axis=2) * cells / np.ptp(rest[:, 0]) - 1.0
    inner = int(cells * SPAN / length) - 3
    held, pulled = slice(2, inner), slice(-inner, -2)
    return np.stack([STIFFNESS * stretch[:, part].mean(axis=1) for part in (held, pulled)], axis=1)


def spring_block(solve: Solve) -> Iterator[Result]:
    """A patch on a belt, every vertex on a spring: it sticks until the springs bear μN, slips back, sticks no more.

    With one μ for rest and motion the exact model touches the belt's speed once in each turn of a circle of radius v/ω
    about the place where it let go; backward Euler damps that, and so does the reference.
    """
    friction, speed, rate, seconds = 0.3, 0.05, 192.0, 1.0
    points, triangles = square(9, 0.2)
    at = points + [0.0, 0.0, 1.5e-3]
    everything = np.arange(len(points), dtype=np.int32)
    pins = Pins(everything, at[None], np.full(len(everything), 1e-4, np.float32))
    velocities = np.tile([speed, 0.0, 0.0], (len(points), 1))
    patch = Cloth("Patch", triangles, points, at, _elastic(0.2, 500.0, friction, 1e-4), velocities, pins=pins)
    system = assemble((patch,), 1.0 / rate, solve.parameters.elasticity)
    spring, mass = float(system.pin_stiffness.sum()), float(system.mass.sum())

    corners, faces = square(2, 4.0)
    frames = 1 + round(24 * seconds)
    path = corners[None] + np.arange(frames)[:, None, None] * [[[speed / 24.0, 0.0, 0.0]]]
    belt = Collider("Belt", faces, path.astype(np.float32), friction=friction)
    motion = simulate(patch, [belt], solve=solve, seconds=seconds, rate=rate)
    moved = motion.centre() - motion.centre()[0]
    load = mass * GRAVITY + spring * float(moved[frames // 2 :, 2].mean())  # springs that are stretched bear, too
    limit = friction * load / spring
    exact = _sliding(limit, spring / mass, speed, rate, frames)
    stuck = _last_stuck(exact, speed)
    turn = int(exact.argmax())
    for name, measured, ideal in (
        ("place while it still sticks", moved[stuck, 0], exact[stuck]),
        ("farthest place", moved[turn, 0], exact[turn]),
        ("nearest place after that", moved[turn:, 0].min(), exact[turn:].min()),
    ):
        yield Result(f"patch on springs: {name}", 1e3 * float(measured), 1e3 * float(ideal), 0.03, "mm", True)


def _last_stuck(exact: np.ndarray, speed: float) -> int:
    """The last frame at which the reference has moved with the belt all the way."""
    belt = speed / 24.0 * np.arange(len(exact))
    return int(np.flatnonzero(exact > (1.0 - 1e-9) * belt)[-1])


def _sliding(limit: float, stiffness: float, speed: float, rate: float, frames: int) -> np.ndarray:
    """(F,) places of a mass with Coulomb friction: ẍ = −kx + f, |f| ≤ k·limit, by backward Euler; stiffness k = ω²."""
    x, v, h, places = 0.0, speed, 1.0 / rate, [0.0]
    for step in range(1, round(rate / 24) * (frames - 1) + 1):
        needed = (speed - v) / h + stiffness * (x + h * speed)  # acceleration that friction gives a mass that sticks
        given = float(np.clip(needed, -stiffness * limit, stiffness * limit))
        v = (v + h * (given - stiffness * x)) / (1.0 + h * h * stiffness)
        x += h * v
        if step % round(rate / 24) == 0:
            places.append(x)
    return np.array(places)


#: How far the clamp of an elastica of length 1 has come down when its other end slips, by μ.
SLIPS_AT = {0.1: 0.0472, 0.2: 0.1550, 0.3: 0.2716}
BUCKLING = 4.493409  #: tan k = k: the buckling mode of a strip that is clamped at one end and hinged at the other


def pushed_strip(solve: Solve, frictions: tuple[float, ...] = tuple(SLIPS_AT)) -> Iterator[Result]:
    """A weightless upright strip, its clamp pushed down: its lower end sticks to the floor until T/N reaches μ."""
    for friction in frictions:
        pushed, tip = _pushed(friction, 0.3 * SLIPS_AT[friction], 1.3 * SLIPS_AT[friction], solve)
        slipped = np.abs(tip - tip[0]) > 5.0e-3
        found = float(pushed[slipped.argmax()]) if slipped.any() else float("nan")
        yield Result(f"pushed strip, μ {friction}: δ/L when it slips", found, SLIPS_AT[friction], 0.05, "", True)


def _pushed(friction: float, first: float, last: float, solve: Solve, seconds: float = 24.0) -> Positions:
    """(2, F) δ and the lower end's place, m; the free length is 1 m and starts near its buckled shape.

    That shape has to end under the clamp: 2 mm beside it, and the strip slips 7 % later. Pushed in a third of
    the time it has gone 2 % further until it has snapped away.
    """
    cells, fine = 40, 4001
    along = np.linspace(0.0, 1.0, fine)
    mode = BUCKLING * (np.cos(BUCKLING * along) - 1.0 + BUCKLING * np.sin(BUCKLING * along))

    def misses(unknown: np.ndarray) -> list[float]:
        angle = unknown[0] * mode + unknown[1] * along
        return [float(np.sin(angle).mean()), float(1.0 - np.cos(angle).mean() - first)]

    high, more = fsolve(misses, [np.sqrt(2.0 * first / (mode**2).mean()), 0.0])
    angle = high * mode + more * along
    aside, down = (np.concatenate([[0.0], np.cumsum(f(angle)[1:])]) / (fine - 1) for f in (np.sin, np.cos))

    rest, triangles = grid(cells + 2, 3, 1.0 + 1.0 / cells, 0.1)
    place = np.repeat(np.arange(-1, cells + 1) / cells, 3)
    start = np.stack([np.interp(place, along, aside), rest[:, 1], -np.where(
        place < 0.0, place, np.interp(place, along, down))], axis=1)  # fmt: skip
    start[:, 2] -= start[:, 2].min() - DISTANCE
    clamp = np.flatnonzero(place < 1e-9).astype(np.int32)
    frames = 1 + round(24 * seconds)
    pushed = np.linspace(first, last, frames)
    path = np.repeat(start[None, clamp], frames, axis=0)
    path[:, :, 2] -= (pushed - first)[:, None]
    strip = Cloth("Strip", triangles, rest, start, _elastic(0.01, 1000.0, friction, 1e-2), pins=Pins(clamp, path))
    points, faces = square(2, 4.0)
    floor = Collider("Floor", faces, points[None].astype(np.float32), friction)
    motion = simulate(strip, [floor], solve=solve, seconds=seconds, gravity=(0.0, 0.0, 0.0), self_collision=False)
    return np.stack([pushed, motion.positions[:, -3:, 0].mean(axis=1)])


def _elastic(density: float, stiffness: float, friction: float, bend: float) -> Material:
    return Material(
        density=density, stretch_warp=stiffness, stretch_weft=stiffness, shear=0.5 * stiffness, softening=1.0,
        strain_limit=0.0, bend=bend, friction=friction, air_drag=0.0,
    )  # fmt: skip

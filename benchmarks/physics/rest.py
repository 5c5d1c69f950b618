# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest is rest: what has settled stays, for ten thousand steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...gpu_core.scene.scene import Cloth, Collider, Material
from .motion import simulate
from .result import Result, Solve
from .shapes import grid, square
from .symmetry import block

RATE = 192.0  #: steps a second
SECONDS = 10_000 / RATE
WINDOW = 2  #: s, over which the last speed is taken


def _floor() -> Collider:
    points, triangles = square(2, 2.0)
    return Collider("Floor", triangles, points[None].astype(np.float32))


def _settle(
    name: str,
    cloths: Cloth | Sequence[Cloth],
    colliders: Sequence[Collider],
    limit: float,
    solve: Solve,
    seconds: float,
) -> Iterator[Result]:
    motion = simulate(cloths, colliders, solve=solve, rate=RATE, seconds=seconds)
    frames, window = len(motion.positions), round(WINDOW / motion.interval)
    speed = 1e3 * motion.rms_speed()
    early = slice(round(4 / motion.interval), round((4 + WINDOW) / motion.interval))
    settled, last = (float(np.sqrt((speed[part] ** 2).mean())) for part in (early, slice(-window, None)))
    yield Result(f"{name}: rms speed at 4–6 s", settled, 0.0, None, "mm/s")
    steps = round(seconds * RATE)
    yield Result(f"{name}: rms speed after {steps} steps", last, 0.0, limit, "mm/s")
    apart = motion.positions[-1] - motion.positions[frames // 2]
    drift = 1e3 * float(np.sqrt((apart**2).sum(1).mean()))
    yield Result(f"{name}: rms way in the last {steps // 2} steps", drift, 0.0, 1.0, "mm")
    iterations = np.mean([report.iterations / report.steps for report in motion.reports[-window:]])
    yield Result(f"{name}: iterations of a settled step", float(iterations), 0.0, None)


def flat(solve: Solve, seconds: float = SECONDS) -> Iterator[Result]:
    points, triangles = square(11, 0.2)
    sheet = Cloth("Sheet", triangles, points, points + [0, 0, 0.01], Material())
    yield from _settle("sheet on a floor", sheet, [_floor()], 0.1, solve, seconds)


def drape(solve: Solve, seconds: float = SECONDS) -> Iterator[Result]:
    points, triangles = square(17, 0.3)
    sheet = Cloth("Sheet", triangles, points, points + [0.002, 0.001, 0.01], Material())
    yield from _settle("sheet on a block", sheet, [block()], 0.1, solve, seconds)


def pile(solve: Solve, seconds: float = SECONDS) -> Iterator[Result]:
    """A strip dropped on its end, so that it folds upon itself."""
    points, triangles = grid(31, 5, 0.3, 0.04)
    standing = np.stack([0.004 * np.sin(40 * points[:, 0]), points[:, 1], points[:, 0] + 0.155], axis=1)
    strip = Cloth("Strip", triangles, points, standing, Material())
    yield from _settle("strip in a pile", strip, [_floor()], 1.0, solve, seconds)


def stack(solve: Solve, seconds: float = SECONDS) -> Iterator[Result]:
    points, triangles = square(9, 0.15)
    sheets = [
        Cloth(f"Sheet {k}", triangles, points, points + [0.003 * k, 0.002 * k, 0.004 + 0.004 * k], Material())
        for k in range(4)
    ]
    yield from _settle("four sheets on a floor", sheets, [_floor()], 1.0, solve, seconds)

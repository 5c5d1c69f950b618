# SPDX-License-Identifier: GPL-3.0-or-later
"""What falls, falls: alone, and as a part of a cloth that is in contact elsewhere. What cannot arrive says so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...gpu_core.scene.scene import Cloth, Collider, Material
from .motion import GRAVITY, simulate
from .result import Result, Solve
from .shapes import grid, square

VACUUM = Material(air_drag=0.0, bend=1e-7)


def backward_euler_drop(steps: int, h: float) -> float:
    """g h² n(n + 1)/2."""
    return GRAVITY * h * h * steps * (steps + 1) / 2.0


def free_fall(solve: Solve) -> Iterator[Result]:
    points, triangles = square(8, 0.2)
    cloth = Cloth("Sheet", triangles, points, points + [0, 0, 5.0], VACUUM)
    for fps, rate in ((24.0, 24.0), (24.0, 192.0), (30.0, 150.0)):
        motion = simulate(cloth, solve=solve, seconds=1.0, fps=fps, rate=rate)
        drop = motion.positions[0] - motion.positions[-1]
        ideal = backward_euler_drop(round(rate), 1.0 / rate)
        error = float(np.abs(drop - [0.0, 0.0, ideal]).max())
        yield Result(f"free fall, h 1/{rate:.0f}: farthest vertex from BE", 1e6 * error, 0.0, 20.0, "µm")


def beside_contact(solve: Solve) -> Iterator[Result]:
    """One mesh, two parts: one is thrown at 10 m/s between two plates that close on it, the other falls."""
    points, triangles = square(9, 0.2)
    both = np.concatenate([points, points + [1.0, 0.0, 0.0]])
    thrown = np.repeat([[0.0, 0.0, -10.0], [0.0, 0.0, 0.0]], 81, axis=0)
    faces = np.concatenate([triangles, triangles + 81]).astype(np.int32)
    cloth = Cloth("Sheet", faces, both, both, VACUUM, velocities=thrown)
    motion = simulate(cloth, _press(), solve=solve, seconds=0.25)
    drop = (motion.positions[0] - motion.positions[-1])[81:, 2]
    ideal = backward_euler_drop(48, 1 / 192)
    yield Result("loose part of a squeezed cloth: drop", float(drop.mean()), ideal, 0.01, "m", True)
    yield Result("squeezed cloth: pairs in contact at the end", motion.reports[-1].contacts, 0.0, None)


def far_end(solve: Solve) -> Iterator[Result]:
    """A limp strip, one end squeezed: straight it has no tension, so its far half falls with g at first."""
    points, triangles = grid(61, 5, 1.2, 0.08)
    cloth = Cloth("Strip", triangles, points, points + [0.55, 0.0, 0.0], VACUUM)
    motion = simulate(cloth, _press(), solve=solve, seconds=0.125)
    far = points[:, 0] > 0.0
    drop = (motion.positions[0] - motion.positions[-1])[far, 2]
    ideal = backward_euler_drop(24, 1 / 192)
    yield Result("far half of a strip squeezed at one end: drop", float(drop.mean()), ideal, 0.01, "m", True)
    yield Result("far half of a strip: slowest vertex", float(drop.min()), ideal, None, "m", True)


def _press() -> list[Collider]:
    """Two plates that close in a quarter of a second to 1.1 mm on each side of z = 0, where ξ is 1 mm."""
    plate, faces = square(5, 0.3)
    shift = np.linspace(4.0e-3, 1.1e-3, 7)[:, None, None] * [[[0.0, 0.0, 1.0]]]
    return [
        Collider(name, faces, (plate[None] + side * shift).astype(np.float32))
        for name, side in (("Upper", 1), ("Lower", -1))
    ]


def squeezed(solve: Solve) -> Iterator[Result]:
    """Plates that pass through each other leave no room: late steps and both names must be in the reports."""
    points, triangles = square(8, 0.2)
    plate, faces = square(4, 0.3)
    shift = (0.02 * np.abs(np.linspace(-1, 1, 13)) - 0.004)[:, None, None] * [[[0.0, 0.0, 1.0]]]
    colliders = [
        Collider(name, faces, (plate[None] + side * shift).astype(np.float32))
        for name, side in (("Upper", 1), ("Lower", -1))
    ]
    cloth = Cloth("Sheet", triangles, points, points, VACUUM)
    motion = simulate(cloth, colliders, solve=solve, seconds=0.5, gravity=(0.0, 0.0, 0.0))
    named = {name for report in motion.reports for name in report.released}
    yield Result("squeezed to nothing: colliders named, of 2", len({"Upper", "Lower"} & named), 2, 0.0)
    yield Result("squeezed to nothing: late steps reported", sum(r.late_steps for r in motion.reports), 0, None)
    yield Result("squeezed to nothing: tangled pairs at the end", motion.reports[-1].tangled, 0, None)

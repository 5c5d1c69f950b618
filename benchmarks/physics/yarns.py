# SPDX-License-Identifier: GPL-3.0-or-later
"""Yarns that rub: what is left of a bend when a strip is let go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...gpu_core.elasticity.bending import RUBBING
from ...gpu_core.scene import fabrics
from ...gpu_core.scene.scene import Cloth, Material
from .motion import Positions, simulate
from .result import Result, Solve
from .shapes import square

SIDE, LENGTH, ARC = 13, 0.06, 60.0  #: vertices and length of a side, m; curvature at the start, 1/m
DENIM = fabrics.named("denim").material


def strip(friction: float) -> Cloth:
    """A patch that starts as an arc about y, flat at rest: of denim but for its friction, N, and for its mass, with
    which it would swing past the place where its yarns hold it."""
    flat, triangles = square(SIDE, LENGTH)
    angle = ARC * flat[:, 0]
    arc = np.column_stack([np.sin(angle) / ARC, flat[:, 1], (1.0 - np.cos(angle)) / ARC])
    material: Material = replace(DENIM, density=0.03, bend_friction=friction, strain_limit=0.0, air_drag=0.0)
    return Cloth("Strip", triangles, flat, arc, material)


def curvature(positions: Positions) -> float:
    """Mean curvature (1/m) of a `strip` at positions (N, 3), from the angle between the ends of its middle row."""
    rest = square(SIDE, LENGTH)[0]
    row = positions[np.flatnonzero(np.abs(rest[:, 1]) < 1e-9)]
    row = row[np.argsort(rest[np.abs(rest[:, 1]) < 1e-9, 0])]
    first, last = row[1] - row[0], row[-1] - row[-2]
    cosine = first @ last / np.linalg.norm(first) / np.linalg.norm(last)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)) / (LENGTH - LENGTH / (SIDE - 1)))


def let_go(solve: Solve) -> Iterator[Result]:
    """It springs back until D can no longer move its yarns: to M/D. Where none slide, as far as they and D agree."""
    for friction in (0.0, 2e-4, DENIM.bend_friction, 2e-3):
        left = min(friction / DENIM.bend, ARC * RUBBING / (1.0 + RUBBING))
        motion = simulate(strip(friction), solve=solve, seconds=1.0, gravity=(0.0, 0.0, 0.0))
        name = f"strip let go, friction {1e3 * friction:.3g} mN"
        yield Result(f"{name}: curvature left", curvature(motion.positions[-1]), left, 0.05 * left + 0.01 * ARC, "1/m")
        yield Result(f"{name}: rms speed then", 1e3 * float(motion.rms_speed()[-1]), 0.0, 0.5, "mm/s")

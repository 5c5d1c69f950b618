# SPDX-License-Identifier: GPL-3.0-or-later
"""How colliders and pins move: positions (F, N, 3) per frame from positions (N, 3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .shapes import Array, rotation


def ramp(frames: int, *knots: float) -> Array:
    """(F,) values that go evenly from knot to knot."""
    return np.interp(np.linspace(0.0, len(knots) - 1, frames), np.arange(len(knots)), knots)


def moved(positions: Array, *, x: npt.ArrayLike = 0.0, y: npt.ArrayLike = 0.0, z: npt.ArrayLike = 0.0) -> Array:
    """Carried along a path whose coordinates are numbers or (F,), m."""
    path = np.stack(np.broadcast_arrays(*np.atleast_1d(x, y, z)), axis=-1)
    return np.asarray(positions[None] + path[:, None])


def turned(
    positions: Array,
    axis: tuple[float, float, float],
    degrees: npt.ArrayLike,
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Array:
    """Turned about an axis through centre by degrees (F,). Between frames colliders move along straight lines: keep the
    turn per frame small."""
    turns = np.stack([rotation(axis, angle) for angle in np.radians(np.atleast_1d(degrees))])
    return np.asarray((positions - centre) @ turns.transpose(0, 2, 1) + centre)

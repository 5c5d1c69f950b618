# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of a cloth as fields over it: one value a vertex or a triangle, whether they are painted or not.

A field of equal values has exactly that value everywhere, so a painted constant bakes to the bits of a number.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .scene import Cloth, Painted


def of_vertices(cloth: Cloth, name: str) -> Array:
    """(N,) the number of this name (`PAINTABLE`) at each vertex, SI."""
    value = cloth.numbers[name]
    painted = cloth.painted.get(name)
    if painted is None:
        return np.full(len(cloth.positions), value)
    return _limit(value, painted) if name == "strain_limit" else _painted(value, painted)


def of_triangles(cloth: Cloth, name: str) -> Array:
    """(T,) the number in the middle of each triangle, SI; no strain limit, 0, where a corner has none."""
    corner = of_vertices(cloth, name)[cloth.triangles]
    a, b, c = corner.T
    field = np.asarray(a + ((b - a) + (c - a)) / 3.0)
    return np.where((corner > 0.0).all(axis=1), field, 0.0) if name == "strain_limit" else field


def rest_scale(cloth: Cloth) -> Array:
    """(T,) how long a triangle's edges are at rest, relative to its rest positions."""
    return 1.0 - of_triangles(cloth, "shrink")


def _painted(value: float, painted: Painted) -> Array:
    weight = painted.weights.astype(np.float64)
    return np.where(weight == 1.0, painted.maximum, value + weight * (painted.maximum - value))


def _limit(value: float, painted: Painted) -> Array:
    """Where one end is 0, no limit, the paint fades to it by limits that grow beyond all bounds, not by tight ones."""
    if (value > 0.0) == (painted.maximum > 0.0):
        return _painted(value, painted)
    weight = painted.weights.astype(np.float64)
    share = weight if painted.maximum > 0.0 else 1.0 - weight
    return np.divide(value + painted.maximum, share, out=np.zeros_like(share), where=share > 0.0)

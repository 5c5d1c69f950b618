# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that lie on each other are laid apart: the later one of two goes to the outer side of the earlier."""

from __future__ import annotations

import numpy as np

from ..contact.tangles import Tangles
from ..scene.arrays import Array
from ..scene.nearest import Body
from .fabric import Fabric

REACH = 4.0  #: edges, how far what lies beside is taken along


def laid_apart(fabric: Fabric, found: Tangles) -> Array | None:
    """(V, 3) all places; None where no two sheets cross whose crossing parts are within the gap of each other."""
    places, done = fabric.places.copy(), False
    for first, second in _pairs(fabric, found):
        own = np.flatnonzero(fabric.sheet == second)
        triangles = fabric.triangles[fabric.sheet[fabric.triangles[:, 0]] == first]
        if not len(triangles):  # it is a cord
            continue
        below = Body(places, triangles)
        near, normal = below.nearest(places[own])
        height = ((places[own] - near) * normal).sum(axis=1)
        gap = 2.0 * fabric.gap[own] * (1.0 + fabric.spare)
        close = np.linalg.norm(places[own] - near, axis=1) < gap
        if not close.any():
            continue
        side = fabric.outer_side(near[close], normal[close])
        ways = ((side * gap - height)[:, None] * normal)[close]
        places[: fabric.cloth] += fabric.spread(own[close], ways, np.zeros(0, np.int64), REACH)
        done = True
    return places if done else None


def _pairs(fabric: Fabric, found: Tangles) -> list[tuple[int, int]]:
    """The sheets that cross, the earlier one first, in order of the later."""
    both = found.corners[:, [0, 2]]
    both = both[(both < fabric.cloth).all(axis=1)]
    sheets = np.sort(fabric.sheet[both], axis=1)
    sheets = np.unique(sheets[sheets[:, 0] != sheets[:, 1]], axis=0)
    return sorted(map(tuple, sheets.tolist()), key=lambda pair: pair[::-1])

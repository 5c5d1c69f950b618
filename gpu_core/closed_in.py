# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies pass through themselves or each other. What stands there cannot get away, however short a step is, and
is not untangled before they have parted again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from .check.folding import COLLAPSED, extended
from .check.intersection import intersections
from .contact.patches import Surface
from .contact.tangles import Tangles
from .scene.arrays import Array, IntArray

Places = npt.NDArray[np.floating]


def in_a_fold(positions: Array, surface: Surface, found: Tangles) -> bool:
    """Whether bodies pass through themselves or each other about where something crosses.

    positions: (V, 3) of all vertices, m; found: what crosses.
    """
    places, crossing = positions[found.corners.ravel()], positions[np.unique(_crossings(positions, surface))]
    near = (crossing >= places.min(axis=0)) & (crossing <= places.max(axis=0))
    return bool(near.all(axis=1).any())


def closed_in(before: Places, after: Places, surface: Surface, stopped: IntArray) -> bool:
    """Whether some of these vertices are within an edge of where bodies come to pass through themselves or each other.
    Parts that do so all the time, as a blade and its shaft, close nothing in.

    before, after: (V, 3), where all is and where bodies are to arrive, m. stopped: (K,) those of cloth that a body did
    not let go their way.
    """
    if not len(stopped):
        return False
    known = {tuple(pair) for pair in _crossings(before, surface).tolist()}
    new = [pair for pair in _crossings(after, surface).tolist() if tuple(pair) not in known]
    if not new:
        return False
    corners = np.array(new)
    edge = float(np.linalg.norm(after[corners[:, 0]] - after[corners[:, 1]], axis=1).max())
    return bool((cKDTree(after[np.unique(corners)]).query(before[stopped])[0] < edge).any())


def _crossings(positions: Places, surface: Surface) -> IntArray:
    """(K, 5) ends of an edge and corners of a triangle of bodies that cross."""
    cloth = surface.cloth_vertices
    bodies = surface.triangles[surface.triangles[:, 0] >= cloth].astype(np.int64) - cloth
    places = np.asarray(positions[cloth:], np.float64)
    point = COLLAPSED * float(np.abs(places).max(initial=0.0))
    edges, bodies = extended(places, bodies, point)
    edge, triangle = intersections(places, bodies, edges).T
    return np.asarray(np.column_stack([edges[edge], bodies[triangle]]) + cloth)

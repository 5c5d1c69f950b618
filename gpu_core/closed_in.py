# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies pass through themselves or each other. What stands there cannot get away, however short a step is, and
is not untangled before they have parted again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from .check.intersection import intersections, unique_edges
from .contact.patches import Surface
from .contact.tangles import Tangles
from .scene.arrays import Array


def in_a_fold(positions: Array, surface: Surface, found: Tangles) -> bool:
    """Whether bodies pass through themselves or each other about where something crosses.

    positions: (V, 3) of all vertices, m; found: what crosses.
    """
    crossing, _ = _crossing(positions, surface)
    places = positions[found.corners.ravel()]
    near = (crossing >= places.min(axis=0)) & (crossing <= places.max(axis=0))
    return bool(near.all(axis=1).any())


def closed_in(positions: Array, surface: Surface, stopped: npt.ArrayLike) -> bool:
    """Whether some of these places are within an edge of where bodies pass through themselves or each other.

    positions: (V, 3), bodies where they are to arrive, m. stopped: (K, 3) cloth that a body did not let go its way.
    """
    if not len(places := np.asarray(stopped, np.float64)):
        return False
    crossing, edge = _crossing(positions, surface)
    return bool(len(crossing)) and bool((cKDTree(crossing).query(places)[0] < edge).any())


def _crossing(positions: Array, surface: Surface) -> tuple[Array, float]:
    """((K, 3) the corners of bodies' edges and triangles that cross, the longest such edge), m."""
    cloth = surface.cloth_vertices
    bodies = surface.triangles[surface.triangles[:, 0] >= cloth].astype(np.int64) - cloth
    edges, of_bodies = unique_edges(bodies), positions[cloth:]
    edge, triangle = intersections(of_bodies, bodies, edges).T
    corners = np.unique(np.concatenate([edges[edge].ravel(), bodies[triangle].ravel()]))
    ends = of_bodies[edges[edge]]
    return of_bodies[corners], float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max(initial=0.0))

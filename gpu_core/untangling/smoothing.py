# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet that goes through itself is pulled straight there: a harmonic surface has no loops.

All within some edges of a crossing is laid smoothly between what is around it, farther and farther, until nothing
crosses. The shape without stress stays, so what is too short then is too long again in the first frames.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu

from ..contact.tangles import Tangles
from ..scene.arrays import Array
from .fabric import Fabric

GROWTH = 1.3  #: of the reach from one trial to the next
MOST = 0.5  #: of a sheet that is laid anew


def smoothed(fabric: Fabric, found: Tangles, reach: float) -> Array | None:
    """(V, 3) all places, those of sheets that cross themselves within `reach` edges laid smoothly; None where that
    leaves nothing of a sheet."""
    corners = found.corners
    own = corners[(corners < fabric.cloth).all(axis=1)]
    own = own[fabric.sheet[own[:, 0]] == fabric.sheet[own[:, 2]]]
    if not len(own):
        return None
    far = csgraph.dijkstra(
        fabric.graph, directed=False, indices=np.unique(own), unweighted=True, min_only=True, limit=reach
    )
    zone = np.flatnonzero(np.isfinite(far) & fabric.free)
    size, laid = (np.bincount(fabric.sheet[of], minlength=fabric.sheets) for of in (slice(None), zone))
    if not len(zone) or (laid > MOST * size).any():
        return None
    graph = fabric.graph
    matrix = (sparse.diags_array(np.asarray(graph.sum(axis=1)).ravel()) - graph).tocsr()
    around = fabric.places[: fabric.cloth].copy()
    around[zone] = 0.0
    places = fabric.places.copy()
    places[zone] = splu(matrix[zone][:, zone].tocsc()).solve(-(matrix[zone] @ around))
    return places

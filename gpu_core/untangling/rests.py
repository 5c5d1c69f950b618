# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets of one mesh that lie on each other at rest, as a copy joined to its original does.

Contact keeps vertices of one cloth apart by a share of what they are apart at rest, which for such sheets is nothing.
The shape without stress of a sheet may lie anywhere, so that of the later ones is put beside the others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

from ..scene.mesh import unique_edges
from ..scene.scene import Cloth

REACH = 4.0  #: thicknesses that sheets are apart at rest where a share of it is enough


def laid_side_by_side(cloth: Cloth) -> Cloth:
    """The cloth, with those of its sheets beside each other at rest that are near another one there."""
    count, edges, rest = len(cloth.positions), unique_edges(cloth.triangles), cloth.rest_positions
    graph = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    sheets, sheet = csgraph.connected_components(graph, directed=False)
    if sheets == 1 or cloth.seams is not None or cloth.cords is not None:
        return cloth
    pairs = cKDTree(rest).query_pairs(REACH * cloth.thickness, output_type="ndarray")
    near = np.sort(sheet[pairs], axis=1)
    later = np.unique(near[near[:, 0] != near[:, 1], 1])
    if not len(later):
        return cloth
    width = float(np.ptp(rest[:, 0])) + 2.0 * REACH * cloth.thickness
    places = rest.copy()
    for number, own in enumerate(later, start=1):
        places[sheet == own, 0] += number * width
    return replace(cloth, rest_positions=places)

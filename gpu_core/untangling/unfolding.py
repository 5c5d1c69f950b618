# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet that is tangled all over is unfolded towards a shape of the same sheet that is not.

That is its shape without stress, or else its canonical form (Elad, Kimmel 2003): distances along the cloth become
distances in space, so sleeves stand out straight and loops are open, and nothing of how the sheet lies now is asked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu

from ..scene.arrays import Array
from .fabric import Fabric

LANDMARKS = 64  #: from which the distances of all are measured
LOOSEST, TIGHTEST, GROWTH = 1.0, 1e5, 4.0  #: edges², how far the difference to the open shape is spread


def unfolded(fabric: Fabric, sheet: int, rest: Array, lengths: Array) -> Iterator[Array]:
    """(V, 3) all places, with one sheet nearer and nearer to an open shape. rest: (N, 3), lengths: (E,) of edges, m.

    What the sheet's own wide bends and motion are stays; its difference to the open shape is smoothed.
    """
    own = np.flatnonzero(fabric.sheet == sheet)
    if len(own) < LANDMARKS:
        return
    here = fabric.places[own]
    graph = fabric.graph[own][:, own]
    laplacian = sparse.diags_array(np.asarray(graph.sum(axis=1)).ravel()) - graph
    inner = np.isin(fabric.edges, own).all(axis=1)
    number = np.full(fabric.cloth, -1)
    number[own] = np.arange(len(own))
    form = _canonical(number[fabric.edges[inner]], lengths[inner], len(own))
    for shape, mirrored in ((rest[own], False), (form, True)):
        model = _laid(shape, here, mirrored)
        spread = LOOSEST
        while spread <= TIGHTEST:
            system = splu((sparse.eye_array(len(own)) + spread * laplacian).tocsc())
            places = fabric.places.copy()
            places[own] = np.where(fabric.free[own, None], model + system.solve(here - model), here)
            yield places
            spread *= GROWTH


def _canonical(edges: Array, lengths: Array, count: int) -> Array:
    """(count, 3) classical scaling of the distances to landmarks that are far from each other."""
    ends = np.concatenate([edges, edges[:, ::-1]])
    graph = sparse.coo_array((np.tile(lengths, 2), (ends[:, 0], ends[:, 1])), shape=(count, count)).tocsr()
    chosen, rows = [0], []
    least = np.full(count, np.inf)
    for _ in range(LANDMARKS):
        far = csgraph.dijkstra(graph, indices=chosen[-1])
        rows.append(far)
        least = np.minimum(least, far)
        chosen.append(int(np.argmax(least)))
    squared = np.array(rows) ** 2  # (L, count)
    between = squared[:, chosen[:-1]]
    centred = -0.5 * (between - between.mean(axis=0) - between.mean(axis=1)[:, None] + between.mean())
    values, vectors = np.linalg.eigh(centred)
    values, vectors = values[-3:], vectors[:, -3:]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), range(3)])
    return -0.5 * (squared - between.mean(axis=1)[:, None]).T @ (vectors / np.sqrt(np.maximum(values, 1e-12)))


def _laid(shape: Array, here: Array, mirrored: bool) -> Array:
    """(K, 3) a shape turned and moved to lie as near as it can to `here` (Kabsch 1976)."""
    a, b = shape - shape.mean(axis=0), here - here.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    flip = np.ones(3)
    if not mirrored and np.linalg.det(u @ vt) < 0.0:
        flip[2] = -1.0
    return np.asarray(a @ (u * flip) @ vt + here.mean(axis=0))

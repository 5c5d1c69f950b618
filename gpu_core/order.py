# SPDX-License-Identifier: GPL-3.0-or-later
"""Clothes on a body that go through each other, and for which no layer is given, are laid over each other there.

Which is the outer one is told by where they lie: near the crossing, the one that is farther from the body, by the
median. It goes over the inner one as a layer does (`layers.py`), but at first only around the crossing: elsewhere a
collar may lie over what it is worn under.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from .contact.tangles import tangles
from .layers import in_layers
from .scene.meetings import Meetings, let_through
from .scene.nearest import Body
from .scene.scene import Cloth, Scene
from .scene_space import start_positions, surface_of
from .start import movable

RINGS = (6.0, np.inf)  #: edges around what crosses, that may be laid elsewhere: more where that does not do


def in_order(scene: Scene) -> Scene:
    """The scene with such clothes laid over each other, if less crosses then; else the same object."""
    bodies = [Body(item.positions[0], item.shell) for item in scene.colliders] if len(scene.cloths) > 1 else []
    best, least = scene, len(_crossings(scene)) if bodies else 0
    for rings in RINGS:
        if least:
            laid = _laid(scene, rings, bodies)
            if (crossing := len(_crossings(laid))) < least:
                best, least = laid, crossing
    return best


def _laid(scene: Scene, rings: float, bodies: list[Body]) -> Scene:
    near, sewn = _near(scene, rings), () if scene.threads is None else np.unique(scene.threads[:, [0, 2]])
    crossing = [k for k, own in enumerate(near) if own.any() and not scene.cloths[k].layer and k not in sewn]
    height = {k: _height(scene.cloths[k], near[k], bodies) for k in crossing}
    rank = {k: 1 + number for number, k in enumerate(sorted(crossing, key=lambda k: (height[k], k)))}
    ranked = (replace(cloth, layer=rank.get(k, 0)) for k, cloth in enumerate(scene.cloths))
    free = [movable(cloth) & own for cloth, own in zip(scene.cloths, near, strict=True)]
    laid = in_layers(replace(scene, cloths=tuple(ranked)), free)[0]
    pairs = zip(scene.cloths, laid.cloths, strict=True)
    return replace(scene, cloths=tuple(replace(cloth, positions=own.positions) for cloth, own in pairs))


def _crossings(scene: Scene) -> npt.NDArray[np.integer]:
    """(K, 5) corners of what crosses of different cloths."""
    found, meetings = tangles(start_positions(scene), surface_of(scene)), Meetings(scene)
    let = let_through(
        meetings.of_scene(scene), meetings.apart(scene.settings.begins), found.corners[:, :2], found.corners[:, 2:]
    )
    of_cloths = (found.objects < len(scene.cloths)).all(axis=1) & (found.objects[:, 0] != found.objects[:, 1])
    return found.corners[of_cloths & ~let]


def _near(scene: Scene, rings: float) -> list[npt.NDArray[np.bool_]]:
    """(N,) of each cloth, what is around a crossing with another."""
    ends = np.cumsum([len(cloth.positions) for cloth in scene.cloths])
    near, crossing = np.zeros(ends[-1], bool), np.unique(_crossings(scene))
    if len(crossing):
        edges = surface_of(scene).edges
        a, b = edges[(edges < ends[-1]).all(axis=1)].T
        graph = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(ends[-1], ends[-1])).tocsr()
        far = csgraph.dijkstra(graph, False, crossing, unweighted=True, limit=rings, min_only=True)
        near = np.isfinite(far)
    return np.split(near, ends[:-1])


def _height(cloth: Cloth, near: npt.NDArray[np.bool_], bodies: list[Body]) -> int:
    """Of the median over the nearest body, in thicknesses: of two that lie in one place the later is the outer one."""
    points = np.asarray(cloth.positions, np.float64)[near]
    away = [np.linalg.norm(points - body.nearest(points)[0], axis=1) for body in bodies]
    return round(float(np.median(np.min(away, axis=0))) / cloth.thickness)

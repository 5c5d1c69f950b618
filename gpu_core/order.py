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

from .contact.tangles import Tangles, tangles
from .layers import in_layers
from .scene.meetings import Meetings, let_through
from .scene.nearest import Body
from .scene.scene import Cloth, Scene
from .scene_space import start_positions, surface_of
from .start import movable

RINGS = (6.0, np.inf)  #: edges around what crosses, that may be laid elsewhere: more where that does not do


def in_order(scene: Scene) -> Scene:
    """The scene with such clothes laid over each other, if less crosses then; else the same object."""
    bodies = [Body(item.positions[0], item.shell) for item in scene.colliders]
    if not bodies or len(scene.cloths) < 2:
        return scene
    found = _crossings(scene)
    best, least = scene, len(found.corners)
    for rings in RINGS:
        if least:
            laid = _laid(scene, found, rings, bodies)
            if (left := len(_crossings(laid).corners)) < least:
                best, least = laid, left
    return best


def _laid(scene: Scene, found: Tangles, rings: float, bodies: list[Body]) -> Scene:
    """Those that cross, over each other: a group of them that cross each other does not touch the order of another."""
    count, near = len(scene.cloths), _near(scene, found, rings)
    graph = sparse.coo_array((np.ones(len(found.objects)), tuple(found.objects.T)), shape=(count, count))
    groups = csgraph.connected_components(graph, directed=False)[1]
    sewn = () if scene.threads is None else np.unique(scene.threads[:, [0, 2]])
    crossing = [k for k, own in enumerate(near) if own.any() and not scene.cloths[k].layer and k not in sewn]
    height = {k: _height(scene.cloths[k], near[k], bodies) for k in crossing}
    free = [movable(cloth) & own for cloth, own in zip(scene.cloths, near, strict=True)]
    layers = [cloth.layer for cloth in scene.cloths]
    for group in np.unique(groups[crossing]):
        ordered = sorted((k for k in crossing if groups[k] == group), key=lambda k: (height[k], k))
        ranks = [1 + ordered.index(k) if k in ordered else 0 for k in range(count)]
        scene = _with_layers(in_layers(_with_layers(scene, ranks), free)[0], layers)
    return scene


def _with_layers(scene: Scene, layers: list[int]) -> Scene:
    cloths = zip(scene.cloths, layers, strict=True)
    return replace(scene, cloths=tuple(replace(cloth, layer=own) for cloth, own in cloths))


def _crossings(scene: Scene) -> Tangles:
    """What crosses of different cloths."""
    found, meetings = tangles(start_positions(scene), surface_of(scene)), Meetings(scene)
    let = let_through(
        meetings.of_scene(scene), meetings.apart(scene.settings.begins), found.corners[:, :2], found.corners[:, 2:]
    )
    of_cloths = (found.objects < len(scene.cloths)).all(axis=1) & (found.objects[:, 0] != found.objects[:, 1])
    return found.subset(of_cloths & ~let)


def _near(scene: Scene, found: Tangles, rings: float) -> list[npt.NDArray[np.bool_]]:
    """(N,) of each cloth, what is around a crossing with another."""
    ends = np.cumsum([len(cloth.positions) for cloth in scene.cloths])
    edges = surface_of(scene).edges
    a, b = edges[(edges < ends[-1]).all(axis=1)].T
    graph = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(ends[-1], ends[-1])).tocsr()
    crossing = np.unique(found.corners)
    far = csgraph.dijkstra(graph, False, crossing, unweighted=True, limit=rings, min_only=True)
    return np.split(np.isfinite(far), ends[:-1])


def _height(cloth: Cloth, near: npt.NDArray[np.bool_], bodies: list[Body]) -> int:
    """Of the median over the nearest body, in thicknesses: of two that lie in one place the later is the outer one."""
    points = np.asarray(cloth.positions, np.float64)[near]
    away = [np.linalg.norm(points - body.nearest(points)[0], axis=1) for body in bodies]
    return round(float(np.median(np.min(away, axis=0))) / cloth.thickness)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A start in which layers are in order: what is worn over another cloth begins outside of it.

Contact keeps an order, whichever it is; so a shirt that begins under its own lining would stay there for ever. The
cloths of a scene that have a layer are looked at from the inside out. What of a cloth lies under one of a lower layer
goes to the nearest place of that one's surface and the thickness beyond, and then, a little at a time, what still
crosses it, as cloth does that begins inside a body (`start.py`). Outside is away from the nearest body; where there is
none, the side that the faces look to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from .contact.tangles import tangles
from .scene.arrays import Array, IntArray
from .scene.meetings import Meetings, Table
from .scene.nearest import Body, outwards
from .scene.scene import Cloth, Scene
from .scene_space import surface_of

Mask = npt.NDArray[np.bool_]
ROUNDS = 120  #: in which what still crosses goes a step
STEP = 0.25  #: of the thickness, that it goes in a round
SPARE = 0.1  #: of the thickness, that is kept besides
DEEPEST = 0.05  #: m that cloth is looked for under another where there is no body
UNDER = -0.5  #: cosine to the nearest triangle's normal below which a point is under it: beyond a border it is not


def in_layers(scene: Scene, movable: Sequence[Mask]) -> tuple[Scene, list[str]]:
    """The scene with its layers in order as far as they can be, and what was done, in words.

    movable: (N,) of each cloth.
    """
    order = sorted((cloth.layer, k) for k, cloth in enumerate(scene.cloths) if cloth.layer)
    if len({layer for layer, _ in order}) < 2:
        return scene, []
    bodies, said = [Body(item.positions[0], item.shell) for item in scene.colliders], []
    cloths, apart = list(scene.cloths), _apart(scene)
    for layer, k in order:
        inner = [other for below, other in order if below < layer and not apart[k, other]]
        moved = _brought_over(cloths, k, movable[k], inner, bodies) if inner else 0
        if moved:
            names = ", ".join(cloths[other].name for other in inner)
            said.append(f"{cloths[k].name}: {moved} vertices begin under {names}. They were brought outside")
    return (replace(scene, cloths=tuple(cloths)) if said else scene), said


def _brought_over(cloths: list[Cloth], own: int, free: Mask, inner: Sequence[int], bodies: Sequence[Body]) -> int:
    """How many vertices of a cloth are now over those of lower layers. cloths: that one is changed."""
    cloth = cloths[own]
    places, moved = np.array(cloth.positions, np.float64), np.zeros(len(cloth.positions), bool)
    surfaces = [(cloths[k], facing(cloths[k], bodies)) for k in inner]
    for below, surface in surfaces:
        gap = (1.0 + SPARE) * 0.5 * (cloth.thickness + below.thickness)
        moved |= _over(places, free, surface, bodies, gap)
    moved |= _part(replace(cloth, positions=places), surfaces, places, free)
    cloths[own] = replace(cloth, positions=places)
    return int(moved.sum())


def _over(places: Array, free: Mask, surface: Body, bodies: Sequence[Body], gap: float) -> Mask:
    """(N,) which of the places (N, 3) were under a surface and are now over it."""
    moved = np.zeros(len(places), bool)
    near = np.flatnonzero(free)
    if len(near):
        place, normal = surface.nearest(places[near])
        way = place - places[near]
        depth = np.linalg.norm(way, axis=1)
        under = ((way * normal).sum(axis=1) > -UNDER * np.maximum(depth, 1e-30)) & (depth <= _room(place, bodies) + gap)
        near, place, normal = near[under], place[under], normal[under]
        way, depth = way[under], depth[under, None]
        places[near] = place + gap * np.where(depth > 1e-9, way / np.maximum(depth, 1e-30), normal)
        moved[near] = True
    return moved


def _room(places: Array, bodies: Sequence[Body]) -> Array:
    """(P,) how far something may be under these places (P, 3) of a surface: a body is behind it there, m."""
    away = [np.linalg.norm(places - body.nearest(places)[0], axis=1) for body in bodies]
    return np.min([*away, np.full(len(places), np.inf if bodies else DEEPEST)], axis=0)


def _part(cloth: Cloth, surfaces: Sequence[tuple[Cloth, Body]], places: Array, free: Mask) -> Mask:
    """(N,) what of a cloth crosses what is under it and goes outwards, a step a round. places: (N, 3), changed."""
    together = Scene((cloth, *(below for below, _ in surfaces)))
    surface, moved = surface_of(together), np.zeros(len(places), bool)
    every = np.concatenate([places, *(below.positions for below, _ in surfaces)])
    for _ in range(ROUNDS):
        every[: len(places)] = places
        found = tangles(every, surface)
        crossed = (found.objects[:, 0] == 0) & (found.objects[:, 1] > 0)
        if not crossed.any():
            break
        for number in np.unique(found.objects[crossed, 1]):
            corners = np.unique(found.corners[crossed & (found.objects[:, 1] == number)])
            own = corners[corners < len(places)]
            own = own[free[own]]
            below, body = surfaces[number - 1]
            if len(own):
                place, normal = body.nearest(places[own])
                away = places[own] - place
                size = np.linalg.norm(away, axis=1, keepdims=True)
                outside = (away * normal).sum(axis=1, keepdims=True) > 0.0
                places[own] += (
                    STEP
                    * max(cloth.thickness, below.thickness)
                    * np.where(outside & (size > 1e-9), away / np.maximum(size, 1e-30), normal)
                )
                moved[own] = True
    return moved


def facing(cloth: Cloth, bodies: Sequence[Body]) -> Body:
    """The surface of a cloth as it begins, each part of it turned to look away from the nearest body."""
    if not bodies:
        return Body(cloth.positions, cloth.triangles, turned=False)
    triangles = outwards(cloth.positions, cloth.triangles)
    corners = np.asarray(cloth.positions, np.float64)[triangles]
    middle, normal = corners.mean(axis=1), np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    away = np.stack([middle - body.nearest(middle)[0] for body in bodies])
    length = np.linalg.norm(away, axis=2)
    nearest, which = length.argmin(axis=0), np.arange(len(middle))
    outside = away[nearest, which] / np.maximum(length[nearest, which], 1e-30)[:, None]
    part = _parts(triangles, len(cloth.positions))
    vote = np.bincount(part, (normal * outside).sum(axis=1))
    return Body(cloth.positions, np.where(vote[part][:, None] < 0.0, triangles[:, ::-1], triangles), turned=False)


def _parts(triangles: IntArray, vertices: int) -> npt.NDArray[np.integer]:
    """(T,) which connected part each triangle is of."""
    a, b = triangles[:, [0, 1]].ravel(), triangles[:, [1, 2]].ravel()
    graph = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(vertices, vertices))
    return np.asarray(csgraph.connected_components(graph, directed=False)[1][triangles[:, 0]])


def _apart(scene: Scene) -> Table:
    """(cloths, cloths) which the user lets through each other at the start."""
    meetings = Meetings(scene)
    first = [own[0] for own in meetings.of_cloths]
    return np.asarray(meetings.apart(scene.settings.begins)[np.ix_(first, first)])

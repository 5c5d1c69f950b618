# SPDX-License-Identifier: GPL-3.0-or-later
"""A start that is free of bodies: cloth that begins inside one is brought out by the shortest way.

Contact keeps what is outside out; what begins inside it would keep in for ever. So vertices go to the nearest place of
the surface and the thickness beyond, and then, a little at a time, those of edges and triangles that still cross. The
shape without stress stays, so the first steps pull straight what this has bent. What cannot be brought out is left
alone as before. What belongs inside stays there (`enclosed.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .contact.tangles import Tangles, tangles
from .enclosed import belonging, edges_of_pieces, inside
from .scene import keyed
from .scene.arrays import Array, IntArray
from .scene.meetings import Meetings, let_through
from .scene.nearest import Body
from .scene.scene import Cloth, Collider, Scene
from .scene_space import start_positions, surface_of
from .way_out import way_out

ROUNDS = 60  #: in which what still crosses goes a step
SPARE = 0.1  #: of the thickness, that is kept besides
ON = 0.01  #: of the thickness, below which a vertex lies on a surface
AHEAD = 0.5  #: cosine to the way out of a body, above which another body lies ahead
STEP = 0.25  #: of the thickness, that crossing cloth goes in a round
HEAP = 10  #: times as many crossings as vertices or as before: cloth that pins hold in the middle of a cube had 160
PASSES = 3  #: over all bodies: out of one may be into another


def freed_of_bodies(scene: Scene, began: Began | None = None) -> tuple[Scene, list[str]]:
    """The scene with its cloth outside of the bodies that it collides with as far as it can be, and what was done, in
    words. The same object where nothing was moved. began: what tells which cloth belongs inside; None = the scene."""
    meetings, began = Meetings(scene), began or Began(scene)
    places = [np.array(cloth.positions, np.float64) for cloth in scene.cloths]
    brought, said = False, list[str]()
    for k, own in enumerate(places):
        depths, staying = _freed(scene, k, own, meetings, began)
        brought |= bool(depths)
        way = _as_a_whole(scene, k, own, depths, meetings, began) if depths and not any(staying.values()) else None
        for number, item in enumerate(scene.colliders):
            if number in depths:
                said.append(_in_words(scene.cloths[k], item, depths[number], way))
            elif staying.get(number):
                text = f"{scene.cloths[k].name}: {staying[number]} vertices begin inside {item.name}"
                said.append(f"{text} and stay there: there is room")
    if not brought:
        return scene, said
    free = [movable(cloth) for cloth in scene.cloths]
    if not _part(_with(scene, places), meetings, began, places, free):
        return scene, []
    return _with(scene, places), said


def _as_a_whole(
    scene: Scene, k: int, own: Array, depths: dict[int, Array], meetings: Meetings, began: Began
) -> Array | None:
    """(3,) m, by which cloth k goes with all that it has where what goes alone would be drawn long. own: (N, 3) where
    that went, changed. depths: of it, by body, m."""
    cloth = scene.cloths[k]
    deepest = max(float(depth.max(initial=0.0)) for depth in depths.values())
    gap = (1.0 + SPARE) * (cloth.thickness + max(scene.colliders[number].thickness for number in depths))
    way = way_out(scene, k, own, deepest, gap, meetings, began.bodies)
    if way is not None:
        own[:] = np.asarray(cloth.positions, np.float64) + way
    return way


def _in_words(cloth: Cloth, item: Collider, depth: Array, way: Array | None) -> str:
    """depth: (K,) of what was brought out, m. way: (3,) m, that all of the cloth went."""
    deepest = float(f"{1e3 * depth.max():.2g}")
    where = f"inside {item.name}, up to {deepest:g} mm deep" if deepest else f"on the surface of {item.name}"
    whole = "" if way is None else f", all of the cloth by {float(f'{1e3 * np.linalg.norm(way):.2g}'):g} mm"
    return f"{cloth.name}: {len(depth)} vertices begin {where}. They were brought out{whole}"


def _freed(
    scene: Scene, k: int, own: Array, meetings: Meetings, began: Began
) -> tuple[dict[int, Array], dict[int, int]]:
    """Bring cloth k out of bodies, and off a surface that it lies on and in which it has no side. own: (N, 3) of it,
    changed. Returns, by body, the depths (K,) of what was inside at first and is out now, m, and how many vertices
    belong inside."""
    cloth, party, apart = scene.cloths[k], meetings.of_cloths[k], meetings.apart(scene.settings.begins)
    free, edges = movable(cloth), edges_of_pieces(cloth)
    depths, staying = dict[int, Array](), dict[int, int]()
    for _ in range(PASSES):
        again = False
        for number, (item, body) in enumerate(zip(scene.colliders, began.bodies, strict=True)):
            gap = (1.0 + SPARE) * (cloth.thickness + item.thickness)
            held, on = inside(own, body, ON * gap)
            out = (held | on) & free & ~apart[party, meetings.of_colliders[number]]
            if not out.any():
                continue
            crossing = began.crossing(k, number)
            if not (on & crossing).any():  # it lies close, and on one side
                out &= held
            stays = began.belonging(k, number)
            staying.setdefault(number, int((out & stays).sum()))
            deep = np.flatnonzero(out & ~stays)
            if len(deep):
                before = own.copy()
                depth = _brought_out(own, deep, body, [other for other in began.bodies if other is not body], gap)
                _take_along(own, np.where(on[:, None], own - before, 0.0), edges, crossing & free & ~out)
                depths.setdefault(number, depth)
                again = True
        if not again:
            break
    return depths, staying


class Began:
    """What a scene began with: which of its cloth goes through bodies, and which belongs inside of them. What
    untangling makes of it later changes neither. Looked for when it is asked for."""

    def __init__(self, scene: Scene) -> None:
        self.bodies = [Body(item.positions[0], item.shell) for item in scene.colliders]
        self._scene = scene
        self._first = np.cumsum([0, *(len(cloth.positions) for cloth in scene.cloths)])
        self._found: Tangles | None = None
        self._belonging: dict[tuple[int, int], npt.NDArray[np.bool_]] = {}

    @property
    def tangles(self) -> Tangles:
        """All that crosses."""
        if self._found is None:
            self._found = tangles(start_positions(self._scene), surface_of(self._scene))
        return self._found

    def crossing(self, cloth: int, collider: int) -> npt.NDArray[np.bool_]:
        """(N,) the vertices of a cloth whose edges or faces go through a body."""
        found, number = self.tangles, len(self._scene.cloths) + collider
        corners = np.unique(found.corners[(found.objects == [cloth, number]).all(axis=1)])
        first, last = self._first[cloth : cloth + 2]
        crossing = np.zeros(last - first, bool)
        crossing[corners[(corners >= first) & (corners < last)] - first] = True
        return crossing

    def belonging(self, cloth: int, collider: int) -> npt.NDArray[np.bool_]:
        """(N,) the vertices of a cloth that belong inside of a body."""
        pair = cloth, collider
        if pair not in self._belonging:
            own, item, body = self._scene.cloths[cloth], self._scene.colliders[collider], self.bodies[collider]
            places, gap = np.asarray(own.positions, np.float64), (1.0 + SPARE) * (own.thickness + item.thickness)
            held, _ = inside(places, body)
            self._belonging[pair] = belonging(places, edges_of_pieces(own), body, held, self.crossing(*pair), gap)
        return self._belonging[pair]


def _brought_out(own: Array, deep: IntArray, body: Body, others: list[Body], gap: float) -> Array:
    """(K,) how deep the vertices `deep` (K,) were that are now out, m; 0 on the surface. own: (N, 3), changed. Where
    another body comes soon, they go half of the way to it, those on the surface all alike."""
    place, normal = body.nearest(own[deep])
    way = place - own[deep]
    depth = np.linalg.norm(way, axis=1)
    depth[depth < ON * gap] = 0.0
    outwards = np.where(depth[:, None] > 0.0, way / np.maximum(depth, 1e-30)[:, None], normal)
    room = np.full(len(deep), gap)
    for other in others:
        near = np.flatnonzero(((place >= other.low - gap) & (place <= other.high + gap)).all(axis=1))
        if len(near):
            ahead = other.nearest(place[near])[0] - place[near]
            far = np.linalg.norm(ahead, axis=1)
            before = (ahead * outwards[near]).sum(axis=1) > AHEAD * far
            room[near[before]] = np.minimum(room[near[before]], 0.5 * far[before])
    if len(on := np.flatnonzero(depth == 0.0)):
        room[on] = room[on].min()  # as one: else it would go through a rim
    own[deep] = place + room[:, None] * outwards
    return np.asarray(depth)


def _take_along(own: Array, ways: Array, edges: IntArray, who: npt.NDArray[np.bool_]) -> None:
    """Beside what was laid on a surface, a face that reaches over its border touches it too: its corners go as far as
    those beside them. own: (N, 3), changed. ways: (N, 3) m. who: (N,) those corners."""
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[who[both[:, 0]] & ways[both[:, 1]].any(axis=1)]
    sums, count = np.zeros_like(own), np.bincount(both[:, 0], minlength=len(own))
    np.add.at(sums, both[:, 0], ways[both[:, 1]])
    own += sums / np.maximum(count, 1)[:, None]


def _part(
    scene: Scene, meetings: Meetings, began: Began, places: list[Array], free_of: list[npt.NDArray[np.bool_]]
) -> bool:
    """Move what crosses a body away from it, a step a round. places: (N, 3) of each cloth, changed. False where cloth
    has come to lie in a heap, so that it was better where it began."""
    surface, cloths = surface_of(scene), len(scene.cloths)
    party, apart = meetings.of_scene(scene), meetings.apart(scene.settings.begins)
    first = np.cumsum([0, *(len(own) for own in places)])
    every = start_positions(scene)
    free = np.concatenate(free_of)
    for _ in range(ROUNDS):
        found = tangles(every, surface)
        if len(found.corners) > HEAP * max(first[-1], len(began.tangles.corners)):
            return False
        found = found.subset(~let_through(party, apart, found.corners[:, :2], found.corners[:, 2:]))
        crossed = np.flatnonzero((found.objects[:, 0] < cloths) & (found.objects[:, 1] >= cloths))
        if not len(crossed):
            break
        for number in np.unique(found.objects[crossed, 1]):
            corners = found.corners[crossed[found.objects[crossed, 1] == number]]
            own = np.unique(corners[corners < first[-1]])
            own = own[free[own]]
            if not len(own):
                continue
            body = began.bodies[number - cloths]
            place, normal = body.nearest(every[own])
            away = every[own] - place
            away = np.where((away * normal).sum(axis=1, keepdims=True) < 0.0, -away, away)
            size = np.linalg.norm(away, axis=1, keepdims=True)
            step = STEP * max(cloth.thickness for cloth in scene.cloths)
            every[own] += step * np.where(size > 1e-9, away / np.maximum(size, 1e-30), normal)
    for own, start, end in zip(places, first[:-1], first[1:], strict=True):
        own[:] = every[start:end]
    return True


def movable(cloth: Cloth) -> npt.NDArray[np.bool_]:
    """(N,) all but what hard pins hold at the start."""
    free, pins = np.ones(len(cloth.positions), bool), keyed.pins_at(cloth, 0.0)
    if pins is not None:
        free[pins.vertices[np.ones(len(pins.vertices), bool) if pins.weights is None else pins.weights >= 1.0]] = False
    return free


def _with(scene: Scene, places: list[Array]) -> Scene:
    cloths = zip(scene.cloths, places, strict=True)
    return replace(scene, cloths=tuple(replace(cloth, positions=own) for cloth, own in cloths))

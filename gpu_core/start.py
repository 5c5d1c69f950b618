# SPDX-License-Identifier: GPL-3.0-or-later
"""A start that is free of bodies: cloth that begins inside one is brought out by the shortest way.

Contact keeps what is outside out; what begins inside it would keep in for ever. So vertices go to the nearest place of
the surface and the thickness beyond, and then, a little at a time, those of edges and triangles that still cross. The
shape without stress stays, so the first steps pull straight what this has bent. What cannot be brought out is left
alone as before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .contact.tangles import tangles
from .scene import keyed
from .scene.arrays import Array
from .scene.meetings import Meetings, let_through
from .scene.nearest import Body
from .scene.scene import Cloth, Scene
from .scene_space import start_positions, surface_of

ROUNDS = 60  #: in which what still crosses goes a step
SPARE = 0.1  #: of the thickness, that is kept besides
BEFORE = (
    0.9  #: cosine to the nearest triangle's normal beyond which a point is surely outside, or in what is closed inside
)
STEP = 0.25  #: of the thickness, that crossing cloth goes in a round
PASSES = 3  #: over all bodies: out of one may be into another


def freed_of_bodies(scene: Scene) -> tuple[Scene, list[str]]:
    """The scene with its cloth outside of the bodies that it collides with as far as it can be, and what was done, in
    words."""
    meetings = Meetings(scene)
    apart = meetings.apart(scene.settings.begins)
    bodies = [(item, Body(item.positions[0], item.shell)) for item in scene.colliders]
    places = [np.array(cloth.positions, np.float64) for cloth in scene.cloths]
    free_of = [movable(cloth) for cloth in scene.cloths]
    said: list[str] = []
    for cloth, own, free, party in zip(scene.cloths, places, free_of, meetings.of_cloths, strict=True):
        for _ in range(PASSES):
            before = len(said)
            for (item, body), its in zip(bodies, meetings.of_colliders, strict=True):
                gap = (1.0 + SPARE) * (cloth.thickness + item.thickness)
                moved = _brought_out(own, free & ~apart[party, its], body, gap)
                if len(moved):
                    deepest = f"up to {1e3 * moved.max():.2g} mm deep"
                    text = f"{cloth.name}: {len(moved)} vertices begin inside {item.name}, {deepest}"
                    said.append(f"{text}. They were brought out")
            if len(said) == before:
                break
    if not said:
        return scene, []
    now = _with(scene, places)
    _part(now, meetings, [body for _, body in bodies], places, free_of)
    return _with(scene, places), said


def _brought_out(own: Array, free: npt.NDArray[np.bool_], body: Body, gap: float) -> Array:
    """(K,) how deep those were that are now out, m. own: (N, 3), changed."""
    near = np.flatnonzero(free & ((own >= body.low) & (own <= body.high)).all(axis=1))
    if not len(near):
        return np.zeros(0)
    place, normal = body.nearest(own[near])
    before = ((own[near] - place) * normal).sum(axis=1)
    doubtful = before < BEFORE * np.linalg.norm(own[near] - place, axis=1)  # the winding number is dear
    near, place, normal = near[doubtful], place[doubtful], normal[doubtful]
    inside = before[doubtful] < -BEFORE * np.linalg.norm(own[near] - place, axis=1)
    if not (body.closed and inside.all()):
        unsure = np.flatnonzero(~inside) if body.closed else np.arange(len(near))
        inside[unsure] = body.holds(own[near[unsure]])
    near, place, normal = near[inside], place[inside], normal[inside]
    way = place - own[near]
    depth = np.linalg.norm(way, axis=1)
    outwards = np.where(depth[:, None] > 1e-9, way / np.maximum(depth, 1e-30)[:, None], normal)
    own[near] = place + gap * outwards
    return np.asarray(depth)


def _part(
    scene: Scene, meetings: Meetings, bodies: list[Body], places: list[Array], free_of: list[npt.NDArray[np.bool_]]
) -> None:
    """Move what crosses a body away from it, a step a round. places: (N, 3) of each cloth, changed."""
    surface, cloths = surface_of(scene), len(scene.cloths)
    party, apart = meetings.of_scene(scene), meetings.apart(scene.settings.begins)
    first = np.cumsum([0, *(len(own) for own in places)])
    every = start_positions(scene)
    free = np.concatenate(free_of)
    for _ in range(ROUNDS):
        found = tangles(every, surface)
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
            body = bodies[number - cloths]
            place, normal = body.nearest(every[own])
            away = every[own] - place
            away = np.where((away * normal).sum(axis=1, keepdims=True) < 0.0, -away, away)
            size = np.linalg.norm(away, axis=1, keepdims=True)
            step = STEP * max(cloth.thickness for cloth in scene.cloths)
            every[own] += step * away / np.maximum(size, 1e-30)
    for own, start, end in zip(places, first[:-1], first[1:], strict=True):
        own[:] = every[start:end]


def movable(cloth: Cloth) -> npt.NDArray[np.bool_]:
    """(N,) all but what hard pins hold at the start."""
    free, pins = np.ones(len(cloth.positions), bool), keyed.pins_at(cloth, 0.0)
    if pins is not None:
        free[pins.vertices[np.ones(len(pins.vertices), bool) if pins.weights is None else pins.weights >= 1.0]] = False
    return free


def _with(scene: Scene, places: list[Array]) -> Scene:
    cloths = zip(scene.cloths, places, strict=True)
    return replace(scene, cloths=tuple(replace(cloth, positions=own) for cloth, own in cloths))

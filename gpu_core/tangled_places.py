# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a scene is tangled, for somebody who looks: which objects, how often, which of their vertices, along which
lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .contact.outlines import outlines
from .contact.patches import Surface
from .contact.tangles import tangles
from .scene.arrays import Array, IntArray
from .scene.garments import garments
from .scene.meetings import Meetings, Table, let_through
from .scene.scene import Scene
from .scene_space import start_positions, surface_of
from .sewing import Sewing


class TangledPlace(NamedTuple):
    """Two objects that cross, or one that crosses itself."""

    first: str
    second: str
    crossings: int  #: of an edge and a triangle
    middle: tuple[float, float, float]  #: of the vertices, world, m
    size: float  #: of the box around them, m
    vertices: dict[str, list[int]]  #: of each object, those that belong to what crosses

    def __str__(self) -> str:
        other = "itself" if self.first == self.second else self.second
        return f"{self.first} and {other}: {self.crossings}"


class TangledPlaces(NamedTuple):
    """All of a scene, those that cross most first."""

    places: list[TangledPlace]
    lines: Array  #: (S, 2, 3) along which surfaces cross, world, m


def at_start(scene: Scene) -> TangledPlaces:
    """As the scene begins before anything is brought out of anything. Seams that are closed there count as one."""
    met = Meetings(scene)
    parts = garments(met.marked(scene))
    sewing = Sewing(parts.scene)
    count = sum(len(cloth.positions) for cloth in scene.cloths)
    number = sewing.number(parts.number(np.arange(count)))
    surface = surface_of(sewing.scene)
    bodies = np.arange(surface.vertices - int(number.max()) - 1) + int(number.max()) + 1
    sizes = [*(len(cloth.positions) for cloth in scene.cloths), *(item.positions.shape[1] for item in scene.colliders)]
    names = [*(cloth.name for cloth in scene.cloths), *(body.name for body in scene.colliders)]
    owner = np.repeat(np.arange(len(names)), sizes)
    let = met.of_scene(sewing.scene), met.apart(scene.settings.begins)
    return tangled_places(names, owner, np.append(number, bodies), start_positions(sewing.scene), surface, let)


def tangled_places(
    names: list[str],
    owner: npt.NDArray[np.integer],
    number: npt.NDArray[np.integer],
    positions: Array,
    surface: Surface,
    let: tuple[IntArray, Table] | None = None,
) -> TangledPlaces:
    """owner: (M,) which object each vertex of the objects belongs to. number: (M,) which of the V of the surface it is.
    positions: (V, 3) world, m. let: the party of each vertex (V,), and which parties (P, P) the user lets through."""
    found = tangles(positions, surface)
    if let is not None:
        found = found.subset(~let_through(*let, found.corners[:, :2], found.corners[:, 2:]))
    owner_of = np.zeros(surface.vertices, np.int64)
    owner_of[number[::-1]] = owner[::-1]
    pairs = np.sort(owner_of[found.corners[:, [0, 2]]], axis=1)
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(names)))])
    places = []
    for a, b in np.unique(pairs, axis=0):
        corners = np.unique(found.corners[(pairs == [a, b]).all(axis=1)])
        low, high = positions[corners].min(axis=0), positions[corners].max(axis=0)
        x, y, z = (0.5 * (low + high)).tolist()
        vertices = {names[k]: _own(number, owner, corners, k, int(first[k])) for k in {int(a), int(b)}}
        count = int((pairs == [a, b]).all(axis=1).sum())
        places.append(TangledPlace(names[a], names[b], count, (x, y, z), float(np.linalg.norm(high - low)), vertices))
    places.sort(key=lambda place: -place.crossings)
    return TangledPlaces(places, outlines(positions, surface, found))


def _own(
    number: npt.NDArray[np.integer], owner: npt.NDArray[np.integer], corners: IntArray, item: int, first: int
) -> list[int]:
    """The vertices of an object among these of the surface."""
    own: list[int] = (np.flatnonzero((owner == item) & np.isin(number, corners)) - first).tolist()
    return own

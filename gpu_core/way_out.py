# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that begins deep in a body, a plane in the middle of a cube: the shortest way out for all of it.

Each vertex by itself would go to the nearest side, and what goes to opposite sides is drawn long around the body.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .contact.tangles import tangles
from .enclosed import edges_of_pieces, inside
from .scene.arrays import Array
from .scene.meetings import Meetings, let_through
from .scene.mesh import edge_lengths
from .scene.nearest import Body
from .scene.scene import Scene
from .scene_space import start_positions, surface_of

LONGEST = 1.5  #: times their length before, of edges of cloth that is brought out vertex by vertex
DEEP = 2.0  #: mean edges, from which cloth is deep inside
FARTHEST = 3.0  #: times the depth of the deepest vertex, that cloth goes as a whole
ASIDE = 1.25  #: times as far, that cloth rather goes against gravity
HALVINGS = 6  #: of the way that is known to lead out
CLEAR = 0.3  #: length of the mean of its normals, below which cloth has no side


def way_out(
    scene: Scene, k: int, own: Array, deepest: float, gap: float, meetings: Meetings, bodies: list[Body]
) -> Array | None:
    """(3,) m, by which all of cloth k comes out of the bodies that it collides with; None where that is not called for.

    own: (N, 3) where its vertices were brought one by one. deepest: of them, m. gap: that contact keeps, m. bodies: as
    the colliders stand.
    """
    cloth = scene.cloths[k]
    before = np.asarray(cloth.positions, np.float64)
    if cloth.pins is not None or cloth.pin_groups or cloth.seams is not None:
        return None
    edges = edges_of_pieces(cloth)
    lengths = edge_lengths(before, edges)
    drawn = (edge_lengths(own, edges) / np.maximum(lengths, 1e-30)).max(initial=0.0)
    if deepest < DEEP * lengths.mean() or drawn < LONGEST:
        return None
    apart = meetings.apart(scene.settings.begins)
    let = apart[meetings.of_cloths[k]][:, meetings.of_colliders].all(axis=0)
    stopping = [body for body, through in zip(bodies, let, strict=True) if not through]
    surface, party, every = surface_of(scene), meetings.of_scene(scene), start_positions(scene)
    first, cloths = sum(len(other.positions) for other in scene.cloths[:k]), len(scene.cloths)

    def leads_out(way: Array) -> bool:
        places = before + way
        if any(found.any() for body in stopping for found in inside(places, body, gap)):
            return False
        every[first : first + len(places)] = places
        found = tangles(every, surface)
        found = found.subset((found.objects[:, 0] == k) & (found.objects[:, 1] >= cloths))
        return bool(let_through(party, apart, found.corners[:, :2], found.corners[:, 2:]).all())

    best, least = None, np.inf
    for direction, share in _directions(scene, k):
        low, high = 0.0, FARTHEST * deepest + 2.0 * gap
        if not leads_out(high * direction):
            continue
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if leads_out(middle * direction) else (middle, high)
        if share * high < least:
            best, least = high * direction, share * high
    return best


def _directions(scene: Scene, k: int) -> Iterator[tuple[Array, float]]:
    """(of length 1, how much longer a way counts than one against gravity)."""
    gravity = np.asarray(scene.settings.gravity, np.float64)
    if strength := float(np.linalg.norm(gravity)):
        yield -gravity / strength, 1.0
    corners = np.asarray(scene.cloths[k].positions, np.float64)[scene.cloths[k].triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    mean = normals.sum(axis=0) / max(float(np.linalg.norm(normals, axis=1).sum()), 1e-30)
    axes = [*np.eye(3), *([mean / np.linalg.norm(mean)] if np.linalg.norm(mean) > CLEAR else [])]
    yield from ((sign * axis, ASIDE) for axis in axes for sign in (1.0, -1.0))

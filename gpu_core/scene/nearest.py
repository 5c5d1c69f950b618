# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a point is to a body: the nearest place of its surface, and whether it lies inside.

What is inside is told by the winding number (Jacobson et al. 2013), which holes and overlaps of a body do not confuse;
a point before an open surface is not in it. Each part of a body looks outwards, whichever way its faces were made, but
for the walls of a hollow in it.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from .arrays import Array, IntArray
from .mesh import counted_edges, directed_edges

NEAREST = 16  #: triangles by their middles, among which the nearest one is looked for
LARGE = 4.0  #: times the median radius; larger triangles are looked at wherever they may be nearer than what is found
AT_ONCE = 1 << 21  #: pairs of a point and a triangle
WITHIN = 0.5  #: winding number beyond which a point is inside
SAMPLES = 256  #: most vertices of a part, by which it is seen to lie in another
FLAT = 1.0e-9  #: volume below which a part has no inside, of a cube as large as the surface
WIDE = 0.3  #: area of a surface's openings over its own, beyond which it is a bowl, a tub, a sheet: nothing is in it
WELDED = 1.0e-6  #: of a surface's size: vertices that are nearer are one where its openings are looked for


class Body:
    """A surface as it stands."""

    def __init__(self, positions: npt.NDArray[np.floating], triangles: IntArray, *, turned: bool = True) -> None:
        """positions: (M, 3) m. triangles: (T, 3). turned: so that each part looks outwards; else as they are."""
        #: (T,) those that were made to look the other way
        self.turned = looking_inwards(positions, triangles) if turned else np.zeros(len(triangles), bool)
        self.triangles = np.where(self.turned[:, None], triangles[:, ::-1], triangles)  #: (T, 3)
        #: no edge has a triangle on one side alone
        self.closed = bool((counted_edges(triangles)[1] > 1).all())
        self._wide = not self.closed and openness(positions, self.triangles) > WIDE
        self._stand(positions)

    def moved(self, positions: npt.NDArray[np.floating]) -> Body:
        """The same surface with its vertices elsewhere, (M, 3) m."""
        other = copy(self)
        other._stand(positions)
        return other

    def _stand(self, positions: npt.NDArray[np.floating]) -> None:
        self.corners = np.asarray(positions, np.float64)[self.triangles]
        self.low, self.high = self.corners.min(axis=(0, 1)), self.corners.max(axis=(0, 1))
        a, b, c = (self.corners[:, k] for k in range(3))
        normal = np.cross(b - a, c - a)
        self.normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
        middle = self.corners.mean(axis=1)
        radius = np.linalg.norm(self.corners - middle[:, None], axis=2).max(axis=1)
        self._large = np.flatnonzero(radius > LARGE * np.median(radius))
        self._small = np.flatnonzero(radius <= LARGE * np.median(radius))
        self._tree = cKDTree(middle[self._small])
        self._large_ball = middle[self._large], radius[self._large]

    def nearest(self, points: Array) -> tuple[Array, Array]:
        """((P, 3) the nearest places of the surface to points (P, 3), (P, 3) the normals of their triangles)."""
        place, triangle = self.nearest_triangles(points)
        return place, self.normal[triangle]

    def nearest_triangles(self, points: Array) -> tuple[Array, npt.NDArray[np.int64]]:
        """((P, 3) the nearest places of the surface to points (P, 3), (P,) their triangles)."""
        many = min(NEAREST, len(self._small))
        found = self._small[self._tree.query(points, many)[1].reshape(len(points), many)]
        place, triangle = np.empty((len(points), 3)), np.empty(len(points), np.int64)
        rows = max(1, AT_ONCE // max(many, len(self._large)))
        for start in range(0, len(points), rows):
            part = slice(start, start + rows)
            every = nearest_of_triangles(points[part, None], self.corners[found[part]])
            best = np.linalg.norm(every - points[part, None], axis=2).argmin(axis=1)
            place[part] = np.take_along_axis(every, best[:, None, None], axis=1)[:, 0]
            triangle[part] = np.take_along_axis(found[part], best[:, None], axis=1)[:, 0]
            self._see_large(points[part], place[part], triangle[part])
        return place, triangle

    def _see_large(self, points: Array, place: Array, triangle: npt.NDArray[np.int64]) -> None:
        """Put the large triangles in where one of them is nearer. points, place: (P, 3) m; triangle: (P,); the last two
        are what was found so far, and are changed. Only those are measured whose ball around their middle is nearer."""
        middle, radius = self._large_ball
        least = np.linalg.norm(place - points, axis=1)
        of, which = np.nonzero(cdist(points, middle) - radius < least[:, None])
        nearest = nearest_of_triangles(points[of], self.corners[self._large[which]])
        away = np.linalg.norm(nearest - points[of], axis=1)
        order = np.lexsort((which, away, of))
        order = order[np.unique(of[order], return_index=True)[1]]  # of each point, the nearest one
        order = order[away[order] < least[of[order]]]
        place[of[order]], triangle[of[order]] = nearest[order], self._large[which[order]]

    def holds(self, points: Array) -> npt.NDArray[np.bool_]:
        """(P,) which of the points (P, 3) lie inside."""
        if self._wide:
            return np.zeros(len(points), bool)
        return np.asarray(np.abs(winding_number(points, self.corners)) > WITHIN)

    def beyond(self, points: Array, ways: Array) -> Array:
        """(P,) how far it is from points (P, 3) along unit vectors (P, 3) to the surface, m; infinity where there is
        none. What is nearer than a thousandth of the body is passed over: points may lie on the surface."""
        result = np.full(len(points), np.inf)
        least = 1e-3 * float(np.linalg.norm(self.high - self.low))
        a, ab, ac = self.corners[:, 0], self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0]
        normal = np.cross(ab, ac)
        for k, (point, way) in enumerate(zip(points, ways, strict=True)):  # Möller and Trumbore 1997
            steep = -(normal @ way)
            across = np.cross(point - a, way)
            with np.errstate(divide="ignore", invalid="ignore"):
                u, v = (ac * across).sum(axis=1) / steep, -(ab * across).sum(axis=1) / steep
                far = ((point - a) * normal).sum(axis=1) / steep
                met = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (far > least)
            result[k] = far[met].min(initial=np.inf)
        return result


def winding_number(points: Array, corners: Array) -> Array:
    """(P,) of points (P, 3) in triangles (T, 3, 3)."""
    winding = np.empty(len(points))
    rows = max(1, AT_ONCE // max(1, len(corners)))
    for start in range(0, len(points), rows):
        part = slice(start, start + rows)
        a, b, c = (corners[None, :, k] - points[part, None] for k in range(3))
        la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
        above = (a * np.cross(b, c)).sum(axis=2)
        below = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
        winding[part] = np.arctan2(above, below).sum(axis=1) / (2.0 * np.pi)
    return winding


def weights_in_triangles(points: Array, corners: Array) -> Array:
    """(P, 3) barycentric weights of points (P, 3) in the planes of triangles (P, 3, 3)."""
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(ab, ac)
    size = np.maximum((normal * normal).sum(axis=1), 1e-60)
    v, w = ((np.cross(*sides) * normal).sum(axis=1) / size for sides in ((points - a, ac), (ab, points - a)))
    return np.column_stack([1.0 - v - w, v, w])


def outwards(positions: npt.NDArray[np.floating], triangles: IntArray) -> IntArray:
    """(T, 3) the triangles turned alike, and each part of the surface so that it encloses a volume above 0; the walls
    of a hollow so that it is below."""
    return np.where(looking_inwards(positions, triangles)[:, None], triangles[:, ::-1], triangles)


def looking_inwards(positions: npt.NDArray[np.floating], triangles: IntArray) -> npt.NDArray[np.bool_]:
    """(T,) which triangles `outwards` turns."""
    part, against = _parts(triangles)
    corners = np.asarray(positions, np.float64)[np.where(against[:, None], triangles[:, ::-1], triangles)]
    corners = corners - corners.mean(axis=(0, 1))
    sums = (corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])).sum(axis=1)
    volume, votes = np.bincount(part, sums), np.bincount(part, np.where(against, -1.0, 1.0))
    flat = np.abs(volume) <= FLAT * np.linalg.norm(np.ptp(corners, axis=(0, 1))) ** 3 if len(corners) else volume > 0.0
    wrong = np.where(flat, votes, volume) < 0.0  # a floor encloses nothing: as most of it was made
    return np.asarray((against ^ wrong[part]) ^ _hollow(corners, part, votes, volume)[part])


def _parts(triangles: IntArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """((T,) the part of the surface that each triangle is of, (T,) which of them look another way than the others)."""
    count, ends = len(triangles), directed_edges(triangles).astype(np.int64)
    key = np.sort(ends, axis=1) @ [1 << 32, 1]
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    first, second = order[same], order[same + 1]
    against = (ends[first, 0] == ends[second, 0]) * count  # both run alike along the edge: one looks the other way
    a, b = first // 3, second // 3
    rows, columns = np.concatenate([a, a + count]), np.concatenate([b + against, b + count - against])
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * count, 2 * count))
    _, part = csgraph.connected_components(graph, directed=False)
    alike = np.minimum(part[:count], part[count:])
    return alike.astype(np.int64), np.asarray(part[:count] != alike)


def _hollow(
    corners: Array, part: npt.NDArray[np.int64], votes: npt.NDArray[Any], volume: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """(parts,) which are walls of a hollow in another: they lie in it, and were made to look the other way.

    corners: (T, 3, 3) turned alike within each part, volume what those enclose, m³, and votes how many more of them
    look as they were made than the other way.
    """
    sense, size, hollow = np.sign(votes * volume), np.abs(volume), np.zeros(len(volume), bool)
    largest = int(size.argmax()) if len(size) else 0
    for inner in np.flatnonzero(sense * sense[largest : largest + 1] < 0.0):
        points = corners[part == inner].reshape(-1, 3)
        points = points[:: max(1, len(points) // SAMPLES)]
        for outer in np.flatnonzero((sense == -sense[inner]) & (size > size[inner])):
            around = corners[part == outer]
            boxed = (points > around.min(axis=(0, 1))).all() and (points < around.max(axis=(0, 1))).all()
            if boxed and (np.abs(winding_number(points, around)) > WITHIN).all():
                hollow[inner] = True
                break
    return hollow


def openness(positions: npt.NDArray[np.floating], triangles: IntArray) -> float:
    """The area of a surface's openings over its own. triangles: (T, 3) turned alike."""
    points = np.asarray(positions, np.float64)
    points = points - points.mean(axis=0)
    grid = np.round(points / (WELDED * max(float(np.abs(points).max(initial=0.0)), 1e-30)))
    one_of_each = np.unique(grid, axis=0, return_inverse=True)[1].ravel()
    ends = directed_edges(one_of_each[triangles])
    _, first, count = np.unique(np.sort(ends, axis=1), axis=0, return_index=True, return_counts=True)
    rims = ends[first[count == 1]]
    graph = sparse.coo_array((np.ones(len(rims)), (rims[:, 0], rims[:, 1])), shape=(len(points), len(points)))
    rim = csgraph.connected_components(graph, directed=False)[1][rims[:, 0]]
    places = np.zeros_like(points)
    places[one_of_each] = points
    a, b = places[rims[:, 0]], places[rims[:, 1]]
    openings = [np.bincount(rim, side) for side in (0.5 * np.cross(a, b)).T] if len(rims) else np.zeros((3, 1))
    corners = points[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    return float(np.linalg.norm(openings, axis=0).sum() / max(float(area), 1e-30))


def nearest_of_triangles(point: Array, corners: Array) -> Array:
    """(…, 3) the place of a triangle (…, 3, 3) nearest to a point (…, 3): Ericson 2004, section 5.1.5."""
    a, b, c = (corners[..., k, :] for k in range(3))
    ab, ac, bc = b - a, c - a, c - b
    normal = np.cross(ab, ac)
    size = np.maximum((normal * normal).sum(-1), 1e-60)
    to = point - a
    v, w = (np.cross(to, ac) * normal).sum(-1) / size, (np.cross(ab, to) * normal).sum(-1) / size
    inner = (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
    plane = a + v[..., None] * ab + w[..., None] * ac
    sides = np.stack([_of_segment(point, start, way) for start, way in ((a, ab), (a, ac), (b, bc))], axis=-2)
    best = np.linalg.norm(sides - point[..., None, :], axis=-1).argmin(axis=-1)
    side = np.take_along_axis(sides, best[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(np.where(inner[..., None], plane, side))


def _of_segment(point: Array, start: Array, way: Array) -> Array:
    share = ((point - start) * way).sum(-1) / np.maximum((way * way).sum(-1), 1e-60)
    return np.asarray(start + np.clip(share, 0.0, 1.0)[..., None] * way)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is inside of bodies is drawn out of them.

Where bodies come to meet, or one folds until it passes through itself, there is no state without a crossing: a body
arrives even so, and cloth is in it. Contact would keep in for ever what it should keep out. So bodies do not touch the
vertices inside, cloth keeps out of cloth as ever, and springs draw them to the nearest place outside, which goes along
with the body: as soon as the fold opens, it is free. The nearest way out may be the wrong one: then the body pierces
what is between those that are out and those that are not. All that it pierces is drawn, a little a frame, to where the
line of piercing gets shorter, be that back over the body. What belongs inside of a body since the start, as in a room,
is never drawn out of it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from .contact.line_gradients import LineGradients, unit_normals
from .contact.tangles import Tangles, tangles
from .enclosed import belonging, inside
from .scene.arrays import Array, IntArray
from .scene.meetings import Table
from .scene.mesh import with_cords
from .scene.nearest import Body, weights_in_triangles
from .scene_space import SceneSpace

PASSES = 8  #: out of one part of a body may be into another
SPARE = 0.1  #: of the thickness, beyond which they are drawn
PUSH = 0.5  #: of a mean edge, that what is pierced is drawn on from where it is
Bodies = list[tuple[slice, Body, npt.NDArray[np.bool_]]]  #: which vertices, as they stand, (V,) who meets them


class Engulfed:
    """Which of the N cloth vertices are inside of bodies, and where they would be outside."""

    def __init__(self, space: SceneSpace) -> None:
        self.vertices: IntArray = np.zeros(0, np.int32)  #: (K,)
        #: (P,) outside, but of an edge or triangle that a body pierces: they are drawn, too
        self.pierced: IntArray = np.zeros(0, np.int32)
        self._space = space
        row, start = space.cloth_vertices, np.asarray(space.start()[:, :3], np.float64)
        self._bodies: list[tuple[slice, Body]] = []  #: which vertices, and how they began
        for collider in space.scene.colliders:
            rows = slice(row, row := row + collider.positions.shape[1])
            self._bodies.append((rows, Body(start[rows], collider.shell)))
        self._outside: list[tuple[npt.NDArray[np.int64], IntArray, Array]] = []
        self._line_gradients = LineGradients(space.surface)

    @cached_property
    def _astray(self) -> list[npt.NDArray[np.bool_]]:
        """(V,) of each body, all but the cloth that belongs inside of it since the start."""
        space = self._space
        start, cloth = np.asarray(space.start()[:, :3], np.float64), slice(0, space.cloth_vertices)
        edges, thickness = with_cords(space.edges, space.surface.cords), space.moment(space.begins).thickness
        crossed: Tangles | None = None
        astray = [np.ones(len(start), bool) for _ in self._bodies]
        for (rows, body), own in zip(self._bodies, astray, strict=True):
            held, _ = inside(start[cloth], body)
            if not held.any():
                continue
            crossed = tangles(start, space.surface) if crossed is None else crossed
            of_body = ((crossed.corners >= rows.start) & (crossed.corners < rows.stop)).any(axis=1)
            crossing = np.zeros(len(start), bool)
            crossing[crossed.corners[of_body]] = True
            gap = float(thickness[cloth].max() + thickness[rows.start])
            own[cloth] = ~belonging(start[cloth], edges, body, held, crossing[cloth], gap)
        return astray

    def renew(self, x: Array, found: Tangles, thickness: Array, party: IntArray, apart: Table) -> None:
        """Look at what crosses at x (V, 3), m, and at all that hangs on it.

        thickness: (V,) ξ, m. party: (V,). apart: (P, P) which parties the user lets through each other now.
        """
        bodies = [
            (rows, body.moved(x[rows]), astray & ~apart[party, party[rows.start]])
            for (rows, body), astray in zip(self._bodies, self._astray, strict=True)
        ]
        self.vertices = self._inside(x, found, bodies)
        self.pierced = self._pierced(found)
        vertices = self.drawn
        self._outside = []
        place = x[vertices].copy()
        of, triangle = np.full(len(vertices), -1), np.zeros(len(vertices), np.int64)
        for _ in range(PASSES):
            moved = False
            for number, (rows, body, met) in enumerate(bodies):
                deep = np.flatnonzero(met[vertices] & _held(body, place))
                if len(deep):
                    surface, triangle[deep] = body.nearest_triangles(place[deep])
                    gap = thickness[vertices[deep]] + thickness[rows.start]
                    place[deep] = surface + (1.0 + SPARE) * gap[:, None] * body.normal[triangle[deep]]
                    of[deep], moved = number, True
            if not moved:
                break
        self._push(x, place, of, triangle, bodies, found)
        for number, (rows, body, _) in enumerate(bodies):
            own = np.flatnonzero(of == number)
            corners = body.corners[triangle[own]]
            height = ((place[own] - corners[:, 0]) * body.normal[triangle[own]]).sum(axis=1)
            weights = weights_in_triangles(place[own] - height[:, None] * body.normal[triangle[own]], corners)
            self._outside.append((own, body.triangles[triangle[own]] + rows.start, np.column_stack([weights, height])))

    @property
    def drawn(self) -> IntArray:
        """(D,) what is inside, and what is pierced."""
        return np.concatenate([self.vertices, self.pierced])

    def outside(self, x: Array) -> Array:
        """(D, 3) where they are drawn when bodies are as in x (V, 3), m."""
        result = np.zeros((len(self.drawn), 3))
        for own, triangles, weights in self._outside:
            a, b, c = (x[triangles[:, k]] for k in range(3))
            normal = unit_normals(x, triangles)
            u, v, w, height = (weights[:, k, None] for k in range(4))
            result[own] = u * a + v * b + w * c + height * normal
        return result

    def _pierced(self, found: Tangles) -> IntArray:
        count = self._space.cloth_vertices
        corners = np.unique(found.corners[(found.corners >= count).any(axis=1)])
        return np.setdiff1d(corners[corners < count], self.vertices).astype(np.int32)

    def _push(
        self,
        x: Array,
        place: Array,
        of: npt.NDArray[np.int64],
        triangle: npt.NDArray[np.int64],
        bodies: Bodies,
        found: Tangles,
    ) -> None:
        """Where those are drawn that a line touches in which bodies pierce cloth: a share of an edge from where they
        are, along its gradient; the pierced that have none, off the nearest surface. The arguments that `renew` has
        made for all that is inside are changed and completed."""
        crossed = found.subset((found.corners >= self._space.cloth_vertices).any(axis=1))
        way = self._line_gradients.of_vertices(x, crossed)[self.drawn]
        length = np.linalg.norm(way, axis=1)
        own = np.flatnonzero((length > 0.0) | (np.arange(len(place)) >= len(self.vertices)))
        here, way = x[self.drawn[own]], way[own] / np.maximum(length[own, None], 1e-30)
        least = np.full(len(own), np.inf)
        for number, (_, body, met) in enumerate(bodies):
            surface, nearest = body.nearest_triangles(here)
            distance = np.where(met[self.drawn[own]], np.linalg.norm(here - surface, axis=1), np.inf)
            closer = np.flatnonzero(distance < least)
            rows = own[closer]
            least[closer], of[rows], triangle[rows] = distance[closer], number, nearest[closer]
            away = np.where(length[own, None] > 0.0, way, body.normal[nearest])[closer]
            place[rows] = here[closer] + PUSH * self._space.edge * away

    def _inside(self, x: Array, found: Tangles, bodies: Bodies) -> IntArray:
        """Those of what crosses bodies, and of all that hangs on them, that are inside."""
        count = self._space.cloth_vertices
        crossed = (found.corners >= count).any(axis=1)
        new = np.unique(found.corners[crossed])
        new = new[new < count]
        inside, seen = np.zeros(count, bool), np.zeros(count, bool)
        edges = self._space.edges
        while len(new):
            seen[new] = True
            for _, body, met in bodies:
                inside[new] |= met[new] & _held(body, x[new])
            deep = np.zeros(count, bool)
            deep[new] = inside[new]
            beside = edges[deep[edges].any(axis=1)]
            new = np.unique(beside[~seen[beside]])
        return np.flatnonzero(inside).astype(np.int32)


def _held(body: Body, points: Array) -> npt.NDArray[np.bool_]:
    """(P,) which of the points (P, 3) the body holds."""
    held = ((points >= body.low) & (points <= body.high)).all(axis=1)
    near = np.flatnonzero(held)
    if len(near):
        held[near] = body.holds(points[near])
    return held

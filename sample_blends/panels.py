# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat panels of cloth: an outline filled with triangles, and a patch on it that is sewn on along its sides."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from mathutils import Vector
from mathutils.geometry import delaunay_2d_cdt

Points = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]
CLEAR = 0.6  #: of the spacing: no nearer to a line lies a point that is not on it


class Panel(NamedTuple):
    points: Points  #: (N, 2) m, first those of the outline and of the patch's, in turn
    triangles: Numbers  #: (T, 3) counterclockwise
    sides: Numbers  #: (B,) which side of the outline begins at each point of it, or holds it
    patch: Points  #: (C, 2) corners of the patch
    patch_sides: Numbers  #: (P,) the same as `sides` of the patch's outline

    def on(self, sides: Sequence[int]) -> Numbers:
        """(S,) the points of these sides of the outline, their ends included."""
        chosen = np.isin(self.sides, sides)
        return np.flatnonzero(chosen | np.roll(chosen, 1)).astype(np.int32)

    def pocket(self) -> tuple[Numbers, Numbers]:
        """((K,) points that the patch has again, (T, 3) its triangles: from N on those K, below those it is sewn to).

        Its last side is open. A triangle between two of its seams is the panel's alone.
        """
        count, first = len(self.points), len(self.sides)
        corners = self.points[self.triangles]
        own = self.triangles[within(corners.mean(axis=1), self.patch)]
        seam = self.patch_sides != self.patch_sides.max()
        sewn = first + np.flatnonzero(seam | np.roll(seam, 1))
        own = own[~np.isin(own, sewn).all(axis=1)]
        again = np.setdiff1d(own, sewn)
        number = np.arange(count)
        number[again] = count + np.arange(len(again))
        return again.astype(np.int32), number[own].astype(np.int32)


def cut(outline: Sequence[tuple[float, float]], patch: Sequence[tuple[float, float]], spacing: float) -> Panel:
    """A panel with edges of about `spacing` m; those of the patch's outline are among them."""
    rims, sides = zip(*(divided(np.array(corners), spacing) for corners in (outline, patch)), strict=True)
    lines = np.concatenate(rims)
    inner = filled(rims[0], spacing)
    inner = inner[distance(inner, rims[1]) > CLEAR * spacing]
    every = np.concatenate([lines, inner])
    around = [np.column_stack([np.arange(len(rim)), np.roll(np.arange(len(rim)), -1)]) for rim in rims]
    edges = np.concatenate([around[0], around[1] + len(rims[0])])
    points, _, faces, origins, _, _ = delaunay_2d_cdt(
        [Vector(point) for point in every.tolist()], edges.tolist(), [], 1, 1e-6
    )
    assert len(points) == len(every)
    assert all(origin == [k] for k, origin in enumerate(origins))
    return Panel(np.array(points), np.array(faces, np.int32), sides[0], np.array(patch), sides[1])


def divided(corners: Points, spacing: float) -> tuple[Points, Numbers]:
    """((B, 2) points around a polygon, about `spacing` m apart, (B,) the side that each lies on or begins)."""
    points: list[Points] = []
    sides: list[int] = []
    for side, (start, end) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True)):
        count = max(1, ceil(np.linalg.norm(end - start) / spacing))
        points += [start + (end - start) * step / count for step in range(count)]
        sides += [side] * count
    return np.array(points), np.array(sides, np.int32)


def filled(outline: Points, spacing: float, mirrored: bool = False) -> Points:
    """(K, 2) points of a triangular grid inside, none near the outline. mirrored: the same on both sides of x = 0."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    rows = np.arange(low[1] + 0.4 * spacing, high[1], spacing * sqrt(0.75))
    columns = np.arange(0.5 * spacing, high[0], spacing)
    signs = (1.0, -1.0) if mirrored else (1.0,)
    points = np.array([
        (sign * (x + 0.5 * spacing * (row % 2)), y) for row, y in enumerate(rows) for x in columns for sign in signs
    ])  # fmt: skip
    return points[within(points, outline) & (distance(points, outline) > CLEAR * spacing)]


def distance(points: Points, outline: Points) -> Points:
    """(K,) of points (K, 2) from a polygon (B, 2), m."""
    start, way = outline, np.roll(outline, -1, axis=0) - outline
    along = ((points[:, None] - start) * way).sum(2) / (way**2).sum(1)
    away = points[:, None] - start - np.clip(along, 0.0, 1.0)[..., None] * way
    return np.asarray(np.linalg.norm(away, axis=2).min(axis=1))


def within(points: Points, outline: Points) -> npt.NDArray[np.bool_]:
    """(K,) which of the points (K, 2) lie inside a polygon (B, 2)."""
    start, end = outline, np.roll(outline, -1, axis=0)
    above = (start[:, 1] > points[:, None, 1]) != (end[:, 1] > points[:, None, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = start[:, 0] + (points[:, None, 1] - start[:, 1]) / (end - start)[:, 1] * (end - start)[:, 0]
    return np.asarray((above & (points[:, None, 0] < crossing)).sum(axis=1) % 2 == 1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that fold so far that they pass through themselves: cloth that is caught there has no room."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ..scene.arrays import Array, IntArray
from ..scene.scene import Collider, Scene
from .intersection import intersections, unique_edges

LOOKS = 8  #: frames of a range that are looked at
NEAR = 0.15  #: m from cloth at the start, that what crosses is of interest
MARKS = 5  #: vertices from which distances are measured
RIGID = 1.0e-3  #: share of a body's size by which they may change where it does not fold
COLLAPSED = 1.0e-6  #: share of all that is looked at, below which an edge is a point: a rig hides limbs by a scale of 0


def folding(scene: Scene) -> Iterator[str]:
    """What to know of each body, in words. Takes some tenths of a second a look for 10 000 vertices."""
    near = cKDTree(np.concatenate([cloth.positions for cloth in scene.cloths]))
    for body in scene.colliders:
        if not body.animated or _is_rigid(body):
            continue
        close = near.query(np.asarray(body.positions[0], np.float64), distance_upper_bound=NEAR)[0] <= NEAR
        point = COLLAPSED * float(np.ptp(body.positions[_some(len(body.positions))], axis=1).max())
        found = [(frame, *_crossings(scene, body, frame, close, point)) for frame in _frames(scene)]
        crossing = [(frame, count, place) for frame, count, place in found if count]
        if not crossing:
            continue
        frame, count, (x, y, z) = max(crossing, key=lambda entry: entry[1])
        others = sorted({each for each, *_ in crossing} - {frame})
        also = f", and at frame {', '.join(map(str, others))}" if others else ""
        yield (
            f"{body.name}: it passes through itself at frame {frame}, in {count} places near ({x:.3g}, {y:.3g}, "
            f"{z:.3g}) m{also}. Cloth that is caught there has no room: pose it apart, or let it collide by a cage "
            "that gives way (Make Cage)"
        )


def _frames(scene: Scene) -> list[int]:
    return [scene.settings.simulated[k] for k in _some(len(scene.settings.simulated))]


def _is_rigid(body: Collider) -> bool:
    """By the distances of all vertices from a few."""
    few = np.linspace(0, body.positions.shape[1] - 1, MARKS).astype(int)
    first, *others = (
        np.linalg.norm(points[:, None] - points[few], axis=2)
        for points in np.asarray(body.positions[_some(len(body.positions))], np.float64)
    )
    return all((np.abs(other - first) <= RIGID * first.max()).all() for other in others)


def _some(count: int) -> npt.NDArray[np.int64]:
    """Of so many places, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, LOOKS).astype(np.int64))


def _crossings(
    scene: Scene, body: Collider, frame: int, close: npt.NDArray[np.bool_], point: float
) -> tuple[int, tuple[float, float, float]]:
    """How many of its edges pass through it at a frame where cloth is close, (M,), and the middle of those, m.

    point: as of `extended`.
    """
    settings = scene.settings
    points: Array = np.asarray(body.positions[(frame - settings.begins) * settings.samples_per_frame], np.float64)
    edges, triangles = extended(points, body.stopping, point)
    pairs = intersections(points, triangles, edges)
    crossing = edges[pairs[:, 0]]
    crossing = np.unique(crossing[close[crossing].any(axis=1)], axis=0)
    if not len(crossing):
        return 0, (0.0, 0.0, 0.0)
    middles = points[crossing].mean(axis=1)
    x, y, z = middles[np.linalg.norm(middles - middles.mean(axis=0), axis=1).argmin()].tolist()
    return len(crossing), (x, y, z)


def extended(points: Array, triangles: IntArray, point: float) -> tuple[npt.NDArray[np.int64], IntArray]:
    """The edges (E, 2) and triangles (T, 3) that are longer than a point, m. What is collapsed passes through nothing,
    though each of its edges meets each of its triangles."""
    edges = unique_edges(triangles)
    long = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1) > point
    return edges[long], triangles[np.ptp(points[triangles], axis=1).max(axis=1) > point]

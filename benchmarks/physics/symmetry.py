# SPDX-License-Identifier: GPL-3.0-or-later
"""What the mesh's mirror image and its numbering must not change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...gpu_core.scene.fabrics import COTTON
from ...gpu_core.scene.scene import Cloth, Collider, Material
from .motion import Motion, simulate
from .result import TIGHT, Result, Solve
from .shapes import Mesh, cylinder, square

SIDE = 21
SECONDS = (0.25, 0.5, 1.0)
NUDGE = 1e-4  #: m
ELASTIC = Material()  #: cotton whose yarns do not rub


def block() -> Collider:
    """A cube of 12 cm with its top at z = 0, cut alike on both sides of x = 0."""
    points, triangles = square(3, 0.12, diagonals="mirrored")
    top = len(points)
    bottom = points - [0.0, 0.0, 0.12]
    ring = [0, 1, 2, 5, 8, 7, 6, 3]  # once around the 3 × 3 vertices
    walls = []
    for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
        left = points[a, 0] + points[b, 0] < 0.0
        walls += [[a, a + top, b], [b, a + top, b + top]] if left else [[a, a + top, b + top], [a, b + top, b]]
    faces = np.concatenate([triangles, triangles[:, ::-1] + top, np.array(walls)]).astype(np.int32)
    return Collider("Block", faces, np.concatenate([points, bottom])[None].astype(np.float32))


def _drape(
    mesh: Mesh, order: np.ndarray, collider: Collider, solve: Solve, nudge: float = 0.0, material: Material = ELASTIC
) -> Motion:
    """order: (N,) new number → old number. nudge: by which one border starts higher and the other lower, m."""
    points, triangles = mesh
    number, tilt = np.argsort(order), nudge * points[order, 0] / points[:, 0].max()
    laid = points[order] + [0, 0, 0.01] + tilt[:, None] * [0, 0, 1]
    cloth = Cloth("Sheet", number[triangles].astype(np.int32), points[order], laid, material)
    return simulate(cloth, [collider], solve=solve, seconds=SECONDS[-1])


def mirror(solve: Solve) -> Iterator[Result]:
    """A square laid over a cylinder, all symmetric about x = 0: rms distance of a vertex from its mirror image."""
    yield from _mirrored("over a cylinder", roller(), 1.0, solve)


def mirror_of_folds(solve: Solve) -> Iterator[Result]:
    """The same on the block, where staying symmetric is an unstable balance."""
    yield from _mirrored("on a block", block(), 1.0, solve)


def mirror_of_rubbing_folds(solve: Solve) -> Iterator[Result]:
    """The same of a cotton whose yarns rub, also nudged: they hold it in the balance."""
    cotton = COTTON.material
    yield from _mirrored("on a block, yarns rub", block(), 1.0, solve, material=cotton)
    yield from _mirrored("nudged, on a block, yarns rub", block(), None, solve, NUDGE, cotton)


def mirror_of_a_nudge(solve: Solve) -> Iterator[Result]:
    """Both with one border 0.1 mm too high, one too low: a stable balance forgets it, an unstable one does not."""
    yield from _mirrored("nudged, over a cylinder", roller(), 1.0, solve, NUDGE)
    yield from _mirrored("nudged, on a block", block(), None, solve, NUDGE)


def _mirrored(
    name: str, collider: Collider, bound: float | None, solve: Solve, nudge: float = 0.0, material: Material = ELASTIC
) -> Iterator[Result]:
    mesh = square(SIDE, 0.3, diagonals="mirrored")
    motion = _drape(mesh, np.arange(SIDE**2), collider, solve, nudge, material)
    twin = np.arange(SIDE**2).reshape(SIDE, SIDE)[::-1].ravel()
    for seconds in SECONDS:
        x = motion.positions[round(24 * seconds)]
        apart = np.linalg.norm(x - x[twin] * [-1.0, 1.0, 1.0], axis=1)
        yield Result(f"mirror image, {name}, after {seconds} s, rms", 1e3 * _rms(apart), 0.0, bound, "mm")


def numbering(solve: Solve) -> Iterator[Result]:
    """A sheet with shuffled vertices, laid over a cylinder: rms distance from the same sheet in order."""
    yield from _renumbered("over a cylinder", roller(), 1.0, solve)


def numbering_of_folds(solve: Solve) -> Iterator[Result]:
    """The same on the block, where the sheet has to choose which way its corners fold.

    That choice makes a distance of whatever the tolerance leaves: judged only where little is left.
    """
    yield from _renumbered("on a block", block(), 1.0 if solve is TIGHT else None, solve)


def _renumbered(name: str, collider: Collider, bound: float | None, solve: Solve) -> Iterator[Result]:
    mesh = square(SIDE, 0.3)
    order = np.random.default_rng(3).permutation(SIDE**2)
    plain, shuffled = (_drape(mesh, some, collider, solve) for some in (np.arange(SIDE**2), order))
    for seconds in SECONDS:
        frame = round(24 * seconds)
        apart = np.linalg.norm(plain.positions[frame][order] - shuffled.positions[frame], axis=1)
        yield Result(f"numbering, {name}: apart after {seconds} s, rms", 1e3 * _rms(apart), 0.0, bound, "mm")


def roller() -> Collider:
    """A cylinder of radius 10 cm whose top is at z = 0."""
    points, faces = cylinder(0.1, 0.5)
    return Collider("Cylinder", faces, (points - [0.0, 0.0, 0.1])[None].astype(np.float32))


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean()))

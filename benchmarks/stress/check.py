# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a frame free of intersections? The exact check and ipctk, on the positions that a cache would hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ipctk
import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.sparse.csgraph

from ...gpu_core.check.intersection import unique_edges
from ...gpu_core.check.scene_check import Finding, check_frame
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.scene import Collider, Scene


@dataclass(frozen=True)
class Verdict:
    """What the two programs say of one frame."""

    findings: list[Finding]  #: of the exact check
    ipctk: bool  #: whether ipctk finds an intersection


def verdict(scene: Scene, frame: int, positions: Sequence[Array]) -> Verdict:
    """positions: world (N, 3) of each cloth, m."""
    cached = [shape.astype(np.float32) for shape in positions]
    return Verdict(check_frame(scene, frame, cached), _ipctk_finds(scene, frame, cached))


def _ipctk_finds(scene: Scene, frame: int, cached: Sequence[npt.NDArray[np.float32]]) -> bool:
    """All cloths with each connected part of each collider in turn: colliders may cross each other and themselves.

    ipctk could be told so by a `can_collide`, but one written in Python stops its threads for ever.
    """
    cloths = [(shape.astype(np.float64), cloth.triangles) for shape, cloth in zip(cached, scene.cloths, strict=True)]
    parts = [part for collider in scene.colliders for part in _parts(collider, frame - scene.settings.frame_start)]
    return any(_intersects([*cloths, part]) for part in parts) if parts else _intersects(cloths)


def _parts(collider: Collider, index: int) -> list[tuple[Array, npt.NDArray[np.int32]]]:
    positions = collider.positions[index if collider.animated else 0].astype(np.float64)
    ends = unique_edges(collider.triangles).T
    joined = scipy.sparse.coo_matrix((np.ones(ends.shape[1]), ends), shape=(len(positions), len(positions)))
    count, part = scipy.sparse.csgraph.connected_components(joined, directed=False)
    return [(positions, collider.triangles[part[collider.triangles[:, 0]] == k]) for k in range(count)]


def _intersects(meshes: Sequence[tuple[Array, npt.NDArray[np.int32]]]) -> bool:
    first = np.cumsum([0, *(len(positions) for positions, _ in meshes)])
    triangles = np.concatenate([faces + at for (_, faces), at in zip(meshes, first, strict=False)])
    used, triangles = np.unique(triangles, return_inverse=True)
    vertices = np.concatenate([positions for positions, _ in meshes])[used]
    triangles = triangles.reshape(-1, 3).astype(np.int32)
    mesh = ipctk.CollisionMesh(vertices, unique_edges(triangles).astype(np.int32), triangles)
    return bool(ipctk.has_intersections(mesh, vertices))

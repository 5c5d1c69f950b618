# SPDX-License-Identifier: GPL-3.0-or-later
"""ipctk, which shares nothing with Taffeta, on meshes as Blender draws them: does cloth cross anything?"""

from __future__ import annotations

from collections.abc import Sequence

import ipctk
import numpy as np

from ..gpu_core.scene.arrays import Array, IntArray

Mesh = tuple[Array, IntArray]  # (N, 3) m, (T, 3)


def crosses(cloths: Sequence[Mesh], bodies: Sequence[Mesh]) -> bool:
    """Cloth with itself, each other and all bodies; bodies may cross each other and themselves.

    Equal places of cloth are one vertex: closed seams leave two.
    """
    points, triangles = _together(cloths)
    points, inverse = np.unique(points, axis=0, return_inverse=True)
    triangles = inverse.reshape(-1)[triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    cloth = len(points)
    points, triangles = _together([(points, triangles), *bodies])
    mesh = ipctk.CollisionMesh(points, ipctk.edges(triangles), triangles)
    patches = np.minimum(np.arange(len(points)), cloth)  # each vertex of cloth is one, all bodies together another
    mesh.can_collide = ipctk.make_vertex_patches_filter(patches)
    return bool(ipctk.has_intersections(mesh, points))


def _together(meshes: Sequence[Mesh]) -> Mesh:
    starts = np.cumsum([0, *(len(points) for points, _ in meshes)])
    points = np.concatenate([points for points, _ in meshes])
    triangles = np.concatenate([own + start for (_, own), start in zip(meshes, starts, strict=False)])
    return np.asfortranarray(points), triangles.astype(np.int32)

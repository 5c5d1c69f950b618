# SPDX-License-Identifier: GPL-3.0-or-later
"""All cloths' triangles on the device: what energies share of the mesh."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import Backend, Launch, launch
from ..scene.arrays import IntArray
from ..scene.mesh import incidence


class Sheet:
    """N vertices, T triangles."""

    def __init__(self, backend: Backend, triangles: IntArray, vertices: int, step: float) -> None:
        """triangles: (T, 3). step: h, s."""
        self.h = step
        start, corner = incidence(triangles, vertices)
        self.backend, self.vertices, self.triangles = backend, vertices, len(triangles)
        self.corners = backend.array(triangles, np.int32)  #: (T, 3)
        self.start, self.corner = (
            backend.array(start, np.int32),
            backend.array(corner, np.int32),
        )  #: 3t + corner, by vertex
        self.before = backend.xp.zeros(
            (vertices, 4), backend.xp.float32
        )  #: (N, 4) where the step began, where it counts
        self.normal = backend.xp.zeros((vertices, 4), backend.xp.float32)  #: (N, 4) after `normals`

    def normals(self, x: Any) -> Launch:
        """The kernel that sets `normal` at x (V, 4)."""
        return launch(
            "vertex_normal", self.vertices, x=x, corners=self.corners, start=self.start, incident=self.corner,
            normal=self.normal,
        )  # fmt: skip

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the exact check and the edges say of a motion, whoever has made it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...gpu_core.check.intersection import unique_edges
from ...gpu_core.check.scene_check import SceneCheck
from ...gpu_core.scene.mesh import edge_lengths
from ...gpu_core.scene.scene import Scene


class Judge:
    """Looks at frame after frame."""

    def __init__(self, scene: Scene) -> None:
        self._check = SceneCheck(scene)
        self._edges = [unique_edges(cloth.triangles) for cloth in scene.cloths]
        self._rest = [
            edge_lengths(np.asarray(cloth.rest_positions), edges)
            for cloth, edges in zip(scene.cloths, self._edges, strict=True)
        ]
        self.frames = 0
        self.crossing_frames = 0
        self.most_crossings = 0  #: in one frame, edges that meet triangles
        self.largest_stretch = 1.0  #: of any edge in any frame, by its length at rest; not finite where places are not

    def look(self, frame: int, places: Sequence[npt.NDArray[np.floating]]) -> None:
        """places: world (N, 3) of each cloth, m."""
        self.frames += 1
        if not all(np.isfinite(own).all() for own in places):
            self.largest_stretch = float("inf")
            return
        found = len(self._check.cached_findings(frame, [own.astype(np.float32) for own in places]))
        self.crossing_frames += found > 0
        self.most_crossings = max(self.most_crossings, found)
        for own, edges, rest in zip(places, self._edges, self._rest, strict=True):
            stretch = float((edge_lengths(np.asarray(own, np.float64), edges) / rest).max())
            self.largest_stretch = max(self.largest_stretch, stretch)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The unknowns of a step: where the cloth is, and where inertia, gravity and air alone would take it."""

from __future__ import annotations

from typing import Any

from ..backend import Backend, Launch, launch
from ..contact.barrier import VertexData
from .elastic import Elastic
from .state import NdbState


class Iterate:
    """V vertices, the first N of them cloth. A displacement is measured from the step's start."""

    def __init__(self, backend: Backend, elastic: Elastic, vertices: VertexData, count: int, *, adaptive: bool) -> None:
        """count: V. adaptive: begin with the last step's share of gravity, or at z."""
        xp = backend.xp
        self.backend, self.elastic, self.cloth, self.h = backend, elastic, vertices.cloth, elastic.h
        self._adaptive = adaptive
        self.x, self.start = (xp.zeros((count, 4), xp.float32) for _ in range(2))  #: (V, 4) m
        #: (N, 4) m: z of the inertia term; x − start without the rounding of x; the same by inertia, gravity and air
        #: alone; and of a step without forces
        self.z, self.displacement, self.inertial, self.coast = (
            xp.zeros((vertices.cloth, 4), xp.float32) for _ in range(4)
        )
        self.free = xp.zeros((count, 1), bool)  #: (V, 1) neither hard pin nor collider
        self.free[: vertices.cloth, 0] = vertices.free != 0

    @property
    def held(self) -> Any:
        """(V,) hard pins and colliders."""
        return ~self.free[:, 0]

    def begin(self, state: NdbState, target: Any) -> None:
        """z ← x* + h v + h²(g + M⁻¹δf), and the first guess of x; hard pins and colliders go to `target` (V, 4)."""
        xp = self.backend.xp
        self.start[:] = state.x
        self.coast[:] = self.h * state.velocity
        self.elastic.inertia_target(
            self.start, state.velocity, state.forwarded, state.gravity_share, self._adaptive, self.displacement,
            self.inertial, self.x, self.z,
        )  # fmt: skip
        self.x[:] = xp.where(self.free, self.x, target)
        pinned = self.x[: self.cloth] - self.start[: self.cloth]
        self.displacement[:] = xp.where(self.free[: self.cloth], self.displacement, pinned)

    def return_to(self, feasible: Any) -> None:
        """The free vertices go back to where the filter let them; those it did not stop stay as they are."""
        xp, cloth = self.backend.xp, self.cloth
        stopped = (self.x != feasible).any(axis=1, keepdims=True) & self.free
        self.displacement[:] = xp.where(stopped[:cloth], feasible[:cloth] - self.start[:cloth], self.displacement)
        self.x[:] = xp.where(stopped, feasible, self.x)

    def add(self, increment: Any) -> Launch:
        """Kernel: x and displacement += increment (N, 4)."""
        return launch("add_increment", self.cloth, increment=increment, x=self.x, displacement=self.displacement)

    def move(self, motion: Any) -> None:
        """x and displacement += motion (N, 4) of the cloth, m."""
        self.displacement += motion
        self.x[: self.cloth] += motion

    def take_back(self, motion: Any) -> None:
        """x and displacement −= motion (N or V, 4), m."""
        self.x[: len(motion)] -= motion
        self.displacement -= motion[: self.cloth]

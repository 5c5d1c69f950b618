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
        self.backend, self.elastic, self.cloth = backend, elastic, vertices.cloth
        self._adaptive, self.count = adaptive, count
        #: (V, 4) m: the unknowns; the step's start; the last state that the filter let all go to; where it lets all go
        #: from there towards x; and x when it was last asked
        self.x, self.start, self.feasible, self.reached, self.predicted = (
            xp.zeros((count, 4), xp.float32) for _ in range(5)
        )
        #: (N, 4) m: z of the inertia term; x − start without the rounding of x; the same by inertia, gravity and air
        #: alone; and of a step without forces
        self.z, self.displacement, self.inertial, self.coast = (
            xp.zeros((vertices.cloth, 4), xp.float32) for _ in range(4)
        )
        self.held = xp.ones(count, xp.int32)  #: (V,) 1 = hard pin or collider
        self.held[: vertices.cloth] = vertices.free == 0
        self.free = (self.held == 0)[:, None]  #: (V, 1) the others

    @property
    def h(self) -> float:
        """Length of the step, s."""
        return self.elastic.h

    def begin(self, state: NdbState, target: Any) -> None:
        """z ← x* + h v + h²(g + M⁻¹δf), and the first guess of x; hard pins and colliders go to `target` (V, 4)."""
        self.start[:] = self.feasible[:] = state.x
        velocity = self.elastic.kept(state.velocity)
        self.elastic.inertia_target(
            self.start, velocity, state.forwarded, state.gravity_share, self._adaptive, self.displacement,
            self.inertial, self.x, self.z,
        )  # fmt: skip
        self.backend.launch(
            "step_start", self.count, target=target, held=self.held, start=self.start, velocity=velocity,
            cloth=self.cloth, h=self.h, x=self.x, displacement=self.displacement, coast=self.coast,
        )  # fmt: skip

    def return_to_feasible(self) -> None:
        """The free vertices go back to where the filter let them; those it did not stop stay as they are."""
        self.backend.launch(
            "return_vertex", self.count, feasible=self.feasible, held=self.held, start=self.start, cloth=self.cloth,
            x=self.x, displacement=self.displacement,
        )  # fmt: skip

    def add(self, increment: Any) -> Launch:
        """Kernel: x and displacement += increment (N, 4)."""
        return launch("add_increment", self.cloth, increment=increment, x=self.x, displacement=self.displacement)

    def take(self, accepted: Any, share: Any, increment: Any, last: Any) -> Launch:
        """Kernel: the same with a share (1,) of it, which is last (N, 4) then, if accepted (1,) int32."""
        return launch(
            "take_increment", self.cloth, accepted=accepted, share=share, increment=increment, last=last, x=self.x,
            displacement=self.displacement,
        )  # fmt: skip

    def move(self, motion: Any) -> None:
        """x and displacement += motion (N, 4) of the cloth, m."""
        self.displacement += motion
        self.x[: self.cloth] += motion

    def take_back(self, motion: Any) -> None:
        """x and displacement −= motion (N or V, 4), m."""
        self.x[: len(motion)] -= motion
        self.displacement -= motion[: self.cloth]

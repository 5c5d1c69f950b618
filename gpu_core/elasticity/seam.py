# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams: threads that pull pairs of vertices together and hold them (docs/theory/sewing.md), kernels `seam.h`.

A thread is a spring that only pulls, with a force of at most `Cloth.sewing_force`. Its length is a function of time,
not of what happened: from the distance at the start down to CLOSED in `Cloth.sewing_time`. In H it counts as a spring
of length 0, which is its curvature along itself and more than that across.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..scene.arrays import IntArray
from ..scene.fields import of_vertices
from ..scene.mesh import incidence
from ..scene.scene import Cloth
from .choices import ElasticityChoices
from .energy import LinearSystem
from .sheet import Sheet

CLOSED = 5.0e-5  #: m between the ends of a thread that has pulled its seam closed


class Seam(NamedTuple):
    """Of one cloth, or of all. S threads, N vertices."""

    ends: npt.NDArray[np.int32]  #: (S, 2)
    open: npt.NDArray[np.float64]  #: (S,) length at the start, m
    duration: npt.NDArray[np.float64]  #: (S,) until it is closed, s
    stiffness: npt.NDArray[np.float64]  #: (S,) N/m
    most: npt.NDArray[np.float64]  #: (S,) N
    hessian: sparse.csr_array  #: (N, N) N/m
    viscosity: sparse.csr_array | None = None


class SeamEnergy:
    """On the device."""

    name: ClassVar[str] = "seam"
    constant: ClassVar[bool] = True
    external: ClassVar[bool] = False

    def __init__(self, backend: Backend, data: Seam, sheet: Sheet, choices: ElasticityChoices) -> None:
        xp, count = backend.xp, len(data.ends)
        self.backend, self.sheet, self.threads = backend, sheet, count
        self._open, self._duration = backend.array(data.open), backend.array(data.duration)
        self._law = {
            "ends": backend.array(data.ends, np.int32), "longest": xp.zeros(count, xp.float32),
            "stiffness": backend.array(data.stiffness), "most": backend.array(data.most),
        }  # fmt: skip
        self._first = data.ends[:, 0]
        start, incident = incidence(data.ends, sheet.vertices)
        self._gather = {"start": backend.array(start, np.int32), "incident": backend.array(incident, np.int32)}
        self._force = xp.zeros((count, 4), xp.float32)
        self.shorten(0.0)

    @staticmethod
    def part(cloth: Cloth, choices: ElasticityChoices, known: Seam | None = None) -> Seam:
        ends = np.zeros((0, 2), np.int32) if cloth.seams is None else cloth.seams
        count, first, second = len(cloth.positions), *ends.T
        of_both = of_vertices(cloth, "stretch_warp") + of_vertices(cloth, "stretch_weft")
        stiffness = 0.25 * (of_both[first] + of_both[second])
        most = np.full(len(ends), cloth.sewing_force)
        if known is not None and np.array_equal(stiffness, known.stiffness) and np.array_equal(most, known.most):
            return known
        gap = cloth.positions[second] - cloth.positions[first]
        coupling = sparse.coo_array((stiffness, (first, second)), shape=(count, count))
        coupling = coupling + coupling.T
        return Seam(
            ends=ends,
            open=np.linalg.norm(gap, axis=1),
            duration=np.full(len(ends), cloth.sewing_time),
            stiffness=stiffness,
            most=most,
            hessian=(sparse.diags_array(coupling.sum(axis=1)) - coupling).tocsr(),
        )

    @staticmethod
    def joined(parts: Sequence[Seam], cloths: Sequence[Cloth], offsets: IntArray) -> Seam:
        ends = [part.ends + first for part, first in zip(parts, offsets, strict=False)]
        return Seam(
            ends=np.concatenate(ends).astype(np.int32),
            open=np.concatenate([part.open for part in parts]),
            duration=np.concatenate([part.duration for part in parts]),
            stiffness=np.concatenate([part.stiffness for part in parts]),
            most=np.concatenate([part.most for part in parts]),
            hessian=sparse.block_diag([part.hessian for part in parts], format="csr"),
        )

    def renew(self, data: Seam) -> None:
        self._law["stiffness"][:] = self.backend.array(data.stiffness)
        self._law["most"][:] = self.backend.array(data.most)

    def shorten(self, seconds: float) -> None:
        """The threads are as long as they are to be so long after the start, s."""
        if self.threads:
            self.backend.launch(
                "thread_length", self.threads, open=self._open, duration=self._duration, seconds=seconds, closed=CLOSED,
                longest=self._law["longest"],
            )  # fmt: skip

    def residual_launches(self, x: Any, system: LinearSystem) -> list[Launch]:
        if not self.threads:
            return []
        return [
            launch("thread_force", self.threads, x=x, **self._law, force=self._force),
            launch("thread_residual", self.sheet.vertices, **self._gather, force=self._force, residual=system.residual),
        ]

    def gain(self, start: Any, x: Any, of: Any) -> float:
        if not self.threads:
            return 0.0
        sewn = of[self._law["ends"][:, 0]]
        before, after = self._energy(start)[sewn].sum(), self._energy(x)[sewn].sum()
        return float(after - before)

    def memory(self, x: Any) -> dict[str, Any]:
        return {}

    def resume(self, memory: dict[str, Any], x: Any) -> None:
        pass

    def remember(self, x: Any, converged: bool) -> dict[str, Any]:
        return {}

    def _energy(self, x: Any) -> Any:
        """(S,) J, float64."""
        energy = self.backend.xp.zeros(self.threads, self.backend.xp.float32)
        self.backend.launch("thread_energy", self.threads, x=x, **self._law, energy=energy)
        return energy.astype(self.backend.xp.float64)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams: threads that pull pairs of vertices together and hold them (docs/theory/sewing.md), kernels `threads.h`.

A thread is a spring that only pulls, with a force of at most `Cloth.sewing_force`. Its length is a function of time,
not of what happened: from the distance at the start down to CLOSED in `Cloth.sewing_time`. In H it counts as a spring
of length 0, which is its curvature along itself and more than that across.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend
from ..scene.arrays import IntArray
from ..scene.fields import of_vertices
from ..scene.scene import Cloth
from .choices import ElasticityChoices
from .sheet import Sheet
from .threads import Threads, springs

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


class SeamEnergy(Threads):
    """On the device."""

    name: ClassVar[str] = "seam"
    constant: ClassVar[bool] = True

    def __init__(self, backend: Backend, data: Seam, sheet: Sheet, choices: ElasticityChoices) -> None:
        super().__init__(backend, sheet, data.ends)
        self._open, self._duration = backend.array(data.open), backend.array(data.duration)
        self.renew(data)
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
        return Seam(
            ends=ends,
            open=np.linalg.norm(gap, axis=1),
            duration=np.full(len(ends), cloth.sewing_time),
            stiffness=stiffness,
            most=most,
            hessian=springs(ends, np.where(most > 0.0, stiffness, 0.0), count),  # what lets go must not hold back
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
        self.law["stiffness"][:] = self.backend.array(data.stiffness)
        self.law["most"][:] = self.backend.array(data.most)

    def shorten(self, seconds: float) -> None:
        """The threads are as long as they are to be so long after the start, s."""
        if self.threads:
            self.backend.launch(
                "thread_length", self.threads, open=self._open, duration=self._duration, seconds=seconds, closed=CLOSED,
                longest=self.law["longest"],
            )  # fmt: skip

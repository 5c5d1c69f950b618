# SPDX-License-Identifier: GPL-3.0-or-later
"""Cords: edges without a triangle, which pull once they are longer than at rest (docs/theory/sewing.md, "Cords").

A drawstring is a cord that is taken in, an elastic band a soft one. They weigh, and contact guards them as it does
every edge; against bending, twist and compression they have nothing. Of the second derivative k n⊗n + (pull / length)
(1 − n⊗n) both parts are never negative, and both are in Newton's matrix: a slack cord is not in it at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..scene.arrays import IntArray
from ..scene.scene import Cloth
from .choices import ElasticityChoices
from .energy import LinearSystem
from .sheet import Sheet
from .threads import Threads, springs

UNBREAKABLE = 1.0e30  #: N


class Cord(NamedTuple):
    """Of one cloth, or of all. C cords, N vertices."""

    ends: npt.NDArray[np.int32]  #: (C, 2)
    length: npt.NDArray[np.float64]  #: (C,) that does not pull, m
    stiffness: npt.NDArray[np.float64]  #: (C,) N/m
    hessian: sparse.csr_array  #: (N, N) N/m
    viscosity: sparse.csr_array | None = None


class CordEnergy(Threads):
    """On the device."""

    name: ClassVar[str] = "cord"
    constant: ClassVar[bool] = False

    def __init__(self, backend: Backend, data: Cord, sheet: Sheet, choices: ElasticityChoices) -> None:
        super().__init__(backend, sheet, data.ends)
        self.law["most"][:] = UNBREAKABLE
        self.renew(data)

    @staticmethod
    def part(cloth: Cloth, choices: ElasticityChoices, known: Cord | None = None) -> Cord:
        count = len(cloth.positions)
        if cloth.cords is None:
            none = np.zeros(0)
            return known or Cord(np.zeros((0, 2), np.int32), none, none, sparse.csr_array((count, count)))
        ends, length = cloth.cords.ends, cloth.cords.lengths * (1.0 - cloth.cord_shrink)
        stiffness = cloth.cord_stiffness / length
        if known is not None and np.array_equal(length, known.length) and np.array_equal(stiffness, known.stiffness):
            return known
        return Cord(ends, length, stiffness, springs(ends, stiffness, count))

    @staticmethod
    def joined(parts: Sequence[Cord], cloths: Sequence[Cloth], offsets: IntArray) -> Cord:
        ends = [part.ends + first for part, first in zip(parts, offsets, strict=False)]
        return Cord(
            ends=np.concatenate(ends).astype(np.int32),
            length=np.concatenate([part.length for part in parts]),
            stiffness=np.concatenate([part.stiffness for part in parts]),
            hessian=sparse.block_diag([part.hessian for part in parts], format="csr"),
        )

    def renew(self, data: Cord) -> None:
        self.law["longest"][:] = self.backend.array(data.length)
        self.law["stiffness"][:] = self.backend.array(data.stiffness)

    def stored(self, x: Any) -> float:
        """Elastic energy of all cords at x (V, 4), J."""
        return float(self._energy(x).sum()) if self.threads else 0.0

    def residual_launches(self, x: Any, system: LinearSystem) -> list[Launch]:
        launches = super().residual_launches(x, system)
        if launches and system.cord_block is not None:
            launches.append(launch("cord_curvature", self.threads, x=x, **self.law, blocks=system.cord_block))
        return launches

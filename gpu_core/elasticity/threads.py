# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs that only pull, between two vertices each: what seams and cords share (kernels `threads.h`)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..scene.arrays import IntArray
from ..scene.mesh import incidence
from .energy import LinearSystem
from .sheet import Sheet


class Threads:
    """On the device: S threads."""

    external: ClassVar[bool] = False

    def __init__(self, backend: Backend, sheet: Sheet, ends: IntArray) -> None:
        """ends: (S, 2)."""
        xp, count = backend.xp, len(ends)
        self.backend, self.sheet, self.threads = backend, sheet, count
        #: longest: (S,) m that is not pulled at. most: (S,) that one pulls with, N
        self.law = {"ends": backend.array(ends, np.int32)} | {
            name: xp.zeros(count, xp.float32) for name in ("longest", "stiffness", "most")
        }
        start, incident = incidence(ends, sheet.vertices)
        self._gather = {"start": backend.array(start, np.int32), "incident": backend.array(incident, np.int32)}
        self._force = xp.zeros((count, 4), xp.float32)

    def residual_launches(self, x: Any, system: LinearSystem) -> list[Launch]:
        if not self.threads:
            return []
        return [
            launch("thread_force", self.threads, x=x, **self.law, force=self._force),
            launch("thread_residual", self.sheet.vertices, **self._gather, force=self._force, residual=system.residual),
        ]

    def gain(self, start: Any, x: Any, of: Any) -> float:
        if not self.threads:
            return 0.0
        counted = of[self.law["ends"][:, 0]]
        before, after = self._energy(start)[counted].sum(), self._energy(x)[counted].sum()
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
        self.backend.launch("thread_energy", self.threads, x=x, **self.law, energy=energy)
        return energy.astype(self.backend.xp.float64)


def springs(ends: IntArray, stiffness: npt.NDArray[np.float64], vertices: int) -> sparse.csr_array:
    """(N, N) the second derivative of springs of length 0, N/m: ends (S, 2), stiffness (S,) N/m."""
    coupling = sparse.coo_array((stiffness, (ends[:, 0], ends[:, 1])), shape=(vertices, vertices))
    coupling = coupling + coupling.T
    return (sparse.diags_array(coupling.sum(axis=1)) - coupling).tocsr()

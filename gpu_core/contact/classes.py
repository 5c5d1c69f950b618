# SPDX-License-Identifier: GPL-3.0-or-later
"""Classes of features: vertices, edges and triangles whose corners are of the same parties keep apart from the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..scene.arrays import IntArray
from ..scene.meetings import Table


class Classes:
    """C classes, of P parties; a class of one party has its number."""

    def __init__(
        self, backend: Backend, party: IntArray, apart: Table, features: Sequence[npt.NDArray[np.integer]]
    ) -> None:
        """party: (V,). apart: (P, P) which parties do not collide. features: (K, n) corners of each kind."""
        known: dict[tuple[int, ...], int] = {(number,): number for number in range(len(apart))}
        #: (K,) of each kind, on the device
        self.of = [backend.array(_numbers(party[corners], known), np.int32) for corners in features]
        self.count = len(known)
        self._backend, self._members = backend, np.zeros((self.count, len(apart)), np.int64)
        for parties, number in known.items():
            self._members[number, list(parties)] = 1
        self._apart = apart
        self.table = backend.array(self._made(apart), np.int32)  #: (C · C,) 1 = no pair

    def part(self, apart: Table) -> bool:
        """Other parties do not collide from now on. Is the table another?"""
        if apart is self._apart or np.array_equal(apart, self._apart):
            return False
        self._apart = apart
        self.table[:] = self._backend.array(self._made(apart), np.int32)
        return True

    def _made(self, apart: Table) -> npt.NDArray[np.bool_]:
        return np.asarray(self._members @ apart @ self._members.T > 0).ravel()


def _numbers(parties: IntArray, known: dict[tuple[int, ...], int]) -> IntArray:
    """(K,) the class of each feature, whose corners are of parties (K, n)."""
    numbers = parties[:, 0].copy()
    mixed = np.flatnonzero((parties != parties[:, :1]).any(axis=1))
    if len(mixed):
        sets, which = np.unique(np.sort(parties[mixed], axis=1), axis=0, return_inverse=True)
        own = [known.setdefault(tuple(sorted(set(row))), len(known)) for row in sets.tolist()]
        numbers[mixed] = np.array(own, np.int32)[which.ravel()]
    return numbers

"""The filter: how much of a motion may be taken without a collision (method.md §5, §10, §14).

Per vertex: every pair that collides lowers the fractions of its corners, again and again until a round finds none.
Safety: each round takes its fractions, and runs CCD on exactly the rounded positions that are then handed out, for
every pair with a lowered corner; all others were clean in the first round and their motion is unchanged. Fractions
only fall and 0 is the feasible start, so the rounds end; past ROUNDS all vertices take the paper's global fraction.

Colliders share one fraction: a body does not bend because one of its vertices was stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import Backend
from .pairs import Pairs

SAFETY = 0.8  #: α, share of the time of impact that is taken (method.md §11)
ROUNDS = 48  #: rounds after which the global fraction is taken
GENTLE_ROUNDS = 8  #: rounds that lower the fastest corners first


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.int32))


@dataclass
class Filter:
    """Cuts motions of V vertices; the first `cloth` of them are cloth, `moving` marks colliders that move."""

    backend: Backend
    vertices: int
    cloth: int
    fallbacks: int = 0

    def __post_init__(self) -> None:
        self.fraction = self.backend.xp.full(self.vertices, _bits(1.0), self.backend.xp.int32)

    @property
    def smallest(self) -> float:
        """Smallest fraction of the last motion that a vertex could take."""
        return float(self.backend.host(self.fraction.min().reshape(1)).view(np.float32)[0])

    def per_vertex(self, pairs: Pairs, x: Any, x1: Any) -> Any:
        """Positions (V, 4) reached from x towards x1, each vertex as far as its pairs allow."""
        self.fraction = self._uniform(1.0)
        for round_ in range(ROUNDS):
            taken = self._take(x, x1)
            lowered = self._round(pairs, x, taken, first=round_ == 0, own=round_ >= GENTLE_ROUNDS)
            if lowered is None:
                return taken
            self.fraction = self._share_colliders(lowered, x, x1)
        self.fallbacks += 1
        return self.whole(pairs, x, x1)

    def whole(self, pairs: Pairs, x: Any, x1: Any) -> Any:
        """As `per_vertex`, with one fraction for everything: the paper's global filter."""
        time = self.backend.xp.full(pairs.count + 1, 2.0, self.backend.xp.float32)
        self.backend.launch("pair_impact", pairs.count, pairs.feature, pairs.corner, x, x1, pairs.offset, time)
        impact = float(time.min())
        fraction = 1.0 if impact > 1.0 else SAFETY * impact
        for _ in range(ROUNDS):
            self.fraction = self._uniform(fraction)
            taken = self._take(x, x1)
            if fraction in (0.0, 1.0) or self._round(pairs, x, taken, first=True, own=True) is None:
                return taken
            fraction *= 0.5  # the rounding of the positions has brought a pair too near
        self.fraction = self._uniform(0.0)
        return x.copy()

    def _uniform(self, fraction: float) -> Any:
        return self.backend.xp.full(self.vertices, _bits(fraction), self.backend.xp.int32)

    def _round(self, pairs: Pairs, x: Any, taken: Any, *, first: bool, own: bool) -> Any | None:
        """The fractions, lowered where a pair collides between x and `taken`; None where none does."""
        lowered, hits = self.fraction.copy(), self.backend.xp.zeros(1, self.backend.xp.int32)
        self.backend.launch(
            "filter_pair", pairs.count, pairs.feature, pairs.corner, x, taken, pairs.offset, self.fraction,
            int(first), int(own), SAFETY, lowered, hits,
        )  # fmt: skip
        return lowered if int(hits[0]) else None

    def _share_colliders(self, lowered: Any, x: Any, x1: Any) -> Any:
        if self.cloth < self.vertices:
            moving = (x1[self.cloth :] != x[self.cloth :]).any(axis=1)
            slowest = self.backend.xp.where(moving, lowered[self.cloth :], _bits(1.0)).min()
            lowered[self.cloth :] = slowest
        return lowered

    def _take(self, x: Any, x1: Any) -> Any:
        taken = self.backend.xp.empty_like(x)
        self.backend.launch("take_fraction", self.vertices, x, x1, self.fraction, taken)
        return taken

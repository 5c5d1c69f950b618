"""The filter: how much of a motion may be taken without a collision (method.md §5, §10, §14).

Per vertex: every pair that collides lowers the fractions of its corners, again and again until a round finds none.
Safety: the last round runs additive CCD on exactly the motion that is then taken, for every pair with a lowered
corner; all others were clean in the first round and their motion is unchanged. Fractions only fall and 0 is the
feasible start, so the rounds end; past ROUNDS every moving vertex takes the paper's global fraction instead.

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
        xp = self.backend.xp
        self.fraction = xp.full(self.vertices, _bits(1.0), xp.int32)
        for round_ in range(ROUNDS):
            lowered, hits = self.fraction.copy(), xp.zeros(1, xp.int32)
            self.backend.launch(
                "filter_pair", pairs.count, pairs.feature, pairs.corner, x, x1, pairs.offset, self.fraction,
                int(round_ == 0), int(round_ >= GENTLE_ROUNDS), SAFETY, lowered, hits,
            )  # fmt: skip
            if int(hits[0]) == 0:
                return self._take(x, x1)
            self.fraction = self._share_colliders(lowered, x, x1)
        self.fallbacks += 1
        return self.whole(pairs, x, x1)

    def whole(self, pairs: Pairs, x: Any, x1: Any) -> Any:
        """As `per_vertex`, with one fraction for everything: the paper's global filter."""
        xp, fraction = self.backend.xp, 1.0
        if pairs.count:
            time = xp.empty(pairs.count, xp.float32)
            self.backend.launch("pair_impact", pairs.count, pairs.feature, pairs.corner, x, x1, pairs.offset, time)
            impact = float(time.min())
            fraction = 1.0 if impact > 1.0 else SAFETY * impact
        self.fraction = xp.full(self.vertices, _bits(fraction), xp.int32)
        return self._take(x, x1)

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

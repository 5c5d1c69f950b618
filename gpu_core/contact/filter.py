# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter: how much of a motion may be taken without a collision (docs/theory/filter.md).

Per vertex: every pair that collides lowers the fractions of its corners, again and again until a round finds none.
Safety: each round takes its fractions, and runs CCD on exactly the rounded positions that are then handed out, for
every pair with a lowered corner; all others were clean in the first round and their motion is unchanged. Each pair that
collides lowers at least one of its corners, fractions only fall and 0 is the feasible start, so the rounds end; past
ROUNDS all vertices take the paper's global fraction.

Which corner waits is free to choose. The first rounds let only those wait that approach, cloth before colliders: so
cloth gives way and colliders arrive, and what moves on ahead of others is not held back by them. Each collider has one
fraction: it does not bend because one of its vertices was stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import Backend
from .pairs import Pairs

SAFETY = 0.8  #: α, share of the time of impact that is taken (Lan 2024)
ROUNDS = 48  #: rounds after which the global fraction is taken
GENTLE_ROUNDS = 16  #: rounds that choose who waits


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.int32))


@dataclass
class Filter:
    """Cuts motions of V vertices."""

    backend: Backend
    held: Any  #: (V,) int32, 1 = vertex of a collider or hard pin
    collider: Any  #: (V,) int32, which collider (0 … C − 1) a vertex belongs to, or -1
    colliders: int  #: C
    fallbacks: int = 0

    def __post_init__(self) -> None:
        self.vertices = len(self.held)
        self.fraction = self._uniform(1.0)

    @property
    def smallest(self) -> float:
        """Smallest fraction of the last motion that a vertex could take."""
        return float(self.backend.host(self.fraction.min().reshape(1)).view(np.float32)[0])

    def per_vertex(self, pairs: Pairs, x: Any, x1: Any, released: Callable[[Any], Pairs] | None = None) -> Any:
        """Positions (V, 4) reached from x towards x1, each vertex as far as its pairs allow.

        released: the pairs when some vertices (V,) take any part of their ways and the others all; None = `pairs` hold
        them already.
        """
        self.fraction = self._uniform(1.0)
        for round_ in range(ROUNDS):
            taken = self._take(x, x1)
            lowered = self._round(pairs, x, taken, first=round_ == 0, own=round_ >= GENTLE_ROUNDS)
            if lowered is None:
                return taken
            self.fraction = self._one_a_collider(lowered, x, x1)
            if released:
                pairs = released(self.fraction < _bits(1.0))
        self.fallbacks += 1
        return self.whole(pairs, x, x1)

    def whole(self, pairs: Pairs, x: Any, x1: Any, released: Callable[[Any], Pairs] | None = None) -> Any:
        """As `per_vertex`, with one fraction for everything: the paper's global filter."""
        time = self.backend.xp.full(pairs.count + 1, 2.0, self.backend.xp.float32)
        self.backend.launch(
            "pair_impact",
            pairs.count,
            feature=pairs.feature,
            corner=pairs.corner,
            x=x,
            x1=x1,
            offset=pairs.offset,
            time=time,
        )
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
            "filter_pair", pairs.count, feature=pairs.feature, corner=pairs.corner, x=x, taken=taken,
            offset=pairs.offset, held=self.held, fraction=self.fraction, first_round=int(first), own=int(own),
            safety=SAFETY, lowered=lowered, hits=hits,
        )  # fmt: skip
        return lowered if int(hits[0]) else None

    def _one_a_collider(self, lowered: Any, x: Any, x1: Any) -> Any:
        """Every vertex of a collider takes the smallest fraction of those that move."""
        slowest = self.backend.xp.full(max(1, self.colliders), _bits(1.0), self.backend.xp.int32)
        self.backend.launch(
            "slowest_of_collider", self.vertices, collider=self.collider, x=x, x1=x1, fraction=lowered, slowest=slowest
        )
        self.backend.launch("share_fraction", self.vertices, collider=self.collider, slowest=slowest, fraction=lowered)
        return lowered

    def _take(self, x: Any, x1: Any) -> Any:
        taken = self.backend.xp.empty_like(x)
        self.backend.launch("take_fraction", self.vertices, x=x, x1=x1, fraction=self.fraction, taken=taken)
        return taken

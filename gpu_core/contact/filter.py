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

from ..backend import Backend, launch
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
        xp, self.vertices = self.backend.xp, len(self.held)
        self.fraction, self._lowered = (xp.full(self.vertices, _bits(1.0), xp.int32) for _ in range(2))
        self._slowest, self._hits = xp.zeros(max(1, self.colliders), xp.int32), xp.zeros(1, xp.int32)
        self._hit = self.backend.look(self._hits)
        self._waited = False  #: a fraction was lowered in the last motion of `per_vertex`
        self._taken = xp.zeros((self.vertices, 4), xp.float32)
        self._takes: tuple[Any, Any, list[Callable[[], None]]] | None = None  #: bound to these ways

    @property
    def smallest(self) -> float:
        """Smallest fraction of the last motion that a vertex could take."""
        return float(self.backend.host(self.fraction.min().reshape(1)).view(np.float32)[0])

    @property
    def stopped(self) -> Any:
        """(V,) bool: which vertices the last motion of `per_vertex` did not let go all their way."""
        return self.fraction < _bits(1.0)

    @property
    def delays(self) -> bool:
        """Whether the last motion of `per_vertex` let a collider that moves wait."""
        return self._waited and bool((self._slowest < _bits(1.0)).any())

    def per_vertex(self, pairs: Pairs, x: Any, x1: Any, released: Callable[[Any], Pairs] | None = None) -> Any:
        """Positions (V, 4) reached from x towards x1, each vertex as far as its pairs allow; until the next call.

        released: the pairs when some vertices (V,) take any part of their ways and the others all; None = `pairs` hold
        them already.
        """
        self._waited = False
        for round_ in range(ROUNDS):
            taken = self._take(x, x1, whole=round_ == 0)
            if not self._collide(pairs, x, taken, first=round_ == 0, own=round_ >= GENTLE_ROUNDS):
                return taken
            self._one_a_collider(x, x1)
            self._waited = True
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
            self._set(fraction)
            taken = self._take(x, x1)
            if fraction in (0.0, 1.0) or not self._collide(pairs, x, taken, first=True, own=True):
                return taken
            fraction *= 0.5  # the rounding of the positions has brought a pair too near
        self._set(0.0)
        return x.copy()

    def _set(self, fraction: float) -> None:
        """Of all vertices."""
        self.backend.launch("fill_number", self.vertices, value=_bits(fraction), to=self.fraction)

    def _take(self, x: Any, x1: Any, *, whole: bool = False) -> Any:
        """(V, 4) where all go with their fractions, until the next call. whole: with the fraction 1."""
        bound = self._takes
        if bound is None or bound[0] is not x or bound[1] is not x1:
            take = launch(
                "take_fraction", self.vertices, x=x, x1=x1, fraction=self.fraction, taken=self._taken,
                lowered=self._lowered, hits=self._hits,
            )  # fmt: skip
            all_ = launch("fill_number", self.vertices, value=_bits(1.0), to=self.fraction)
            self._takes = bound = x, x1, [self.backend.sequence(items) for items in ([take], [all_, take])]
        bound[2][whole]()
        return self._taken

    def _collide(self, pairs: Pairs, x: Any, taken: Any, *, first: bool, own: bool) -> bool:
        """Does a pair collide between x and `taken`? Then the fractions are lowered."""
        self.backend.launch(
            "filter_pair", pairs.count, feature=pairs.feature, corner=pairs.corner, x=x, taken=taken,
            offset=pairs.offset, held=self.held, fraction=self.fraction, first_round=int(first), own=int(own),
            safety=SAFETY, lowered=self._lowered, hits=self._hits,
        )  # fmt: skip
        if not self._hit()()[0][0]:
            return False
        self.fraction[:] = self._lowered
        return True

    def _one_a_collider(self, x: Any, x1: Any) -> None:
        """Every vertex of a collider takes the smallest fraction of those that move."""
        colliders = {"collider": self.collider, "slowest": self._slowest, "fraction": self.fraction}
        self.backend.launch("fill_number", len(self._slowest), value=_bits(1.0), to=self._slowest)
        self.backend.launch("slowest_of_collider", self.vertices, x=x, x1=x1, **colliders)
        self.backend.launch("share_fraction", self.vertices, **colliders)

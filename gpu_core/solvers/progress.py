# SPDX-License-Identifier: GPL-3.0-or-later
"""What a full CCD has made of the iterations before it: measured on the device, read by the host in one look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..backend import Answer, launch
from .iterate import Iterate
from .sums import DotProduct


class Seen(NamedTuple):
    """Of the way from one feasible state to the next."""

    cut: float  #: the largest part of a vertex's way that the filter took, m
    moved: float  #: the largest way of a vertex, as long as it would have been had it not been shortened, m
    late: bool  #: something that is held was cut
    back: bool  #: on the whole, what is free took back the way before


class Progress:
    """Looks at the iterate's x, `feasible` and `reached`, and makes the second the first."""

    def __init__(self, iterate: Iterate) -> None:
        backend, xp, count = iterate.backend, iterate.backend.xp, iterate.count
        self.backend = backend
        self._whole = xp.ones((count, 1), xp.float32)
        self._share = self._whole.copy()  #: (V, 1) of their ways that the iterations tried
        self._shortened = False
        self._most, self._nothing = (xp.zeros(4, xp.int32) for _ in range(2))
        way, along = xp.zeros((count, 4), xp.float32), DotProduct(backend, count)
        ways = {"before": iterate.feasible, "reached": iterate.reached, "held": iterate.held}
        self._measure: Callable[[], None] = backend.sequence(
            [
                launch("copy_number", 4, source=self._nothing, to=self._most),
                launch("step_cut", count, x=iterate.x, share=self._share, **ways, most=self._most),
                launch("free_way", count, **ways, way=way, **along.product),
                *along.used("negative_total", negative=self._most[3:]),
                launch("copy_vector", count, source=iterate.reached, to=iterate.feasible),
                launch("copy_vector", count, source=iterate.x, to=iterate.predicted),
            ]
        )
        self._look: Callable[[], Answer] = backend.look(self._most)

    def advance(self) -> None:
        """What was reached is feasible from now on, and x is what the next contacts are made for."""
        self._measure()

    def seen(self, share: Any) -> Seen:
        """`advance`, and what there was to see.

        share: (V, 1) of their ways that the iterations tried; None = all.
        """
        if share is not None or self._shortened:
            self._share[:] = self._whole if share is None else share
            self._shortened = share is not None
        self._measure()
        (bits,) = self._look()()
        cut, moved = bits[:2].view(np.float32)
        return Seen(float(cut), float(moved), bool(bits[2]), bool(bits[3]))

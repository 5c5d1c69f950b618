# SPDX-License-Identifier: GPL-3.0-or-later
"""How far from its end an iteration with a constant matrix is.

Such iterations converge linearly: each error is some θ of the one before. Where H is a thousand times as stiff as the
sheet (docs/theory/ndb.md), θ is 0.999, and an increment below the tolerance says nothing. Stiff integrators ask for
θ/(1 − θ) ‖Δx‖ instead, with θ the ratio of two increments, and take another matrix where so many iterations as are left
would not do (Hairer and Wanner 1996, Solving Ordinary Differential Equations II, IV.8).
"""

from __future__ import annotations


class Rate:
    """Of the iterations between two full CCDs."""

    def __init__(self, tolerance: float) -> None:
        """tolerance: of the error, m."""
        self.tolerance = tolerance
        self.begin()

    def begin(self) -> None:
        self._last = 0.0
        self.hopeless = False  #: at this rate the iterations that are left end beyond the tolerance

    def see(self, change: float, left: int) -> float:
        """‖x − its end‖ after an increment ‖Δx‖ = `change`, m: infinity where it is the first, or no smaller than the
        one before. left: how many more there may be."""
        last, self._last = self._last, change
        if change == 0.0:
            return 0.0
        if last == 0.0:
            return float("inf")
        ratio = change / last
        if ratio >= 1.0:
            self.hopeless = True
            return float("inf")
        error = change * ratio / (1.0 - ratio)
        self.hopeless = ratio ** max(0, left) * error > self.tolerance
        return error

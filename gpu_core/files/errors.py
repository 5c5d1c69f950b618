# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a cache, for the user: `problem`, and `remedy`, the way out."""

from __future__ import annotations

from ..messages import Told


class CacheError(Told, RuntimeError):
    """A cache that cannot be used: damaged, or not Taffeta's."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


class BusyError(CacheError):
    """Somebody else writes into it now."""


class StaleError(CacheError):
    """It is whole, but of another scene or another solver than the one that asks."""


class CompleteError(CacheError):
    """Nothing is left to do in it."""

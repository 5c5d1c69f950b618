# SPDX-License-Identifier: GPL-3.0-or-later
"""The form that a cloth strives for, besides the rest positions of its mesh."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """All 0: the rest positions as they are."""

    shrink: float = 0.0  #: share of the rest lengths that is taken away: 0.3 leaves 0.7; below 0 the cloth grows

# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges of a cloth that are more than sides of its triangles."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array, IntArray


@dataclass(frozen=True)
class Cords:
    """Threads that stay: each pulls once it is longer than at rest. Their vertices need no triangle."""

    ends: IntArray  #: (C, 2) indices into the cloth's vertices
    lengths: Array  #: (C,) at rest, m


@dataclass(frozen=True)
class Folds:
    """Edges with an angle at rest, besides what the rest shape has: pleats, creases, pressed hems."""

    ends: IntArray  #: (K, 2) indices into the cloth's vertices
    weights: Array  #: (K,) of `Cloth.fold_angle`: above 0 a mountain as seen from where faces look, below 0 a valley

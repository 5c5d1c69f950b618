# SPDX-License-Identifier: GPL-3.0-or-later
"""Damped bending (docs/theory/shape.md): the rows' law from Ψ and from k_d/2h ‖K x − F s*‖², s* of the step's start.

Both are quadratic in K x, so they are one: the sum of both stiffnesses, from the mean of what both strive for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..backend import Backend, Launch, launch
from ..scene.arrays import Array

SOFTEST = 1e-30  #: stiffness of a row; softer ones hold nothing


class Lag:
    """Of R rows. law: stiffness (R,), rest (R, 4) and held (R, 4) without damping."""

    def __init__(self, backend: Backend, law: Mapping[str, Any]) -> None:
        self.backend, self._elastic = backend, law
        self.acts = False
        self.law = law  #: with damping, where it acts
        self._share, self._past = backend.xp.zeros(0, backend.xp.float32), backend.xp.zeros((0, 4), backend.xp.float32)

    def renew(self, stiffness: Array, damping: Array) -> None:
        """stiffness: (R,) of the law. damping: (R,) over h, both N/m."""
        xp, array, acts = self.backend.xp, self.backend.array, bool(damping.any())
        if acts != self.acts:
            self.acts, self.law = acts, self._elastic
            if acts:
                self.law = {name: xp.zeros_like(values) for name, values in self._elastic.items()}
                self._share, self._past = xp.zeros_like(self.law["stiffness"]), xp.zeros_like(self.law["rest"])
        if acts:
            self._share[:] = array(damping / np.maximum(stiffness + damping, SOFTEST))
            self.law["stiffness"][:] = array(stiffness + damping)

    def shape(self) -> None:
        """Take up what the rows without damping strive for."""
        if self.acts:
            self.law["rest"][:] = (1.0 - self._share)[:, None] * self._elastic["rest"]

    def start_launches(self, x: Any, rows: Mapping[str, Any], frame: Mapping[str, Any]) -> list[Launch]:
        """Kernels that look at the cloth at x (N, 4), where a step begins."""
        return [launch("bending_past", len(self._past), x=x, **rows, **frame, past=self._past)] if self.acts else []

    def turn_launches(self, x: Any, frame: Mapping[str, Any]) -> list[Launch]:
        """Kernels that turn what the rows were as the cloth is turned at x (V, 4)."""
        if not self.acts:
            return []
        return [
            launch(
                "bending_lag", len(self._past), x=x, **frame, share=self._share, past=self._past,
                held=self._elastic["held"], damped=self.law["held"],
            )
        ]  # fmt: skip

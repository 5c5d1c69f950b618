# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes that cloth has taken on for good, by more strain or curvature than springs back (docs/theory/shape.md).

Both are decided at a step's end and hold in the next: within a step the cloth is elastic. What has been taken on is
part of a state, and of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..backend import Backend, Launch, launch
from ..scene.arrays import Array
from .sheet import Sheet

NEVER = 1.0e30  #: a curvature beyond all, 1/m


class Yielding(NamedTuple):
    """Of the rows of one cloth, or of the plates of all."""

    curvature: Array  #: (P,) that springs back, 1/m; `NEVER` where all of it does
    inverse_area: Array  #: (P,) curvature of a row's value, 1/m²


def yielding_of(parts: Sequence[Yielding], plates: Sequence[npt.NDArray[np.integer]]) -> Yielding:
    """Of the plates that begin with these rows of each part."""
    each = [(part.curvature[plate], part.inverse_area[plate]) for part, plate in zip(parts, plates, strict=True)]
    return Yielding(*(np.concatenate(values) for values in zip(*each, strict=True)))


class Creases:
    """What the rows of bending have taken on: a curvature besides that of the rest shape."""

    def __init__(self, backend: Backend, rows: int, data: Yielding) -> None:
        self.backend, self.rows = backend, rows
        self._most, self._inverse_area = backend.array(data.curvature), backend.array(data.inverse_area)
        self.acts = False
        self.taken = backend.xp.zeros((0, 4), backend.xp.float32)  #: (R, 4) in the rows' frames; (0, 4): nothing
        self.renew(data)

    def renew(self, data: Yielding) -> None:
        self._most[:], self._inverse_area[:] = self.backend.array(data.curvature), self.backend.array(data.inverse_area)
        self.acts = bool((data.curvature < NEVER).any())

    def resume(self, taken: Any) -> bool:
        """taken: as `remember` gave it. Whether there is or was any: it stays when nothing yields any more."""
        before, self.taken = self.taken, self.none() if self.acts and not len(taken) else taken
        return len(self.taken) > 0 or len(before) > 0

    def none(self) -> Any:
        xp = self.backend.xp
        return xp.zeros((self.rows if self.acts else 0, 4), xp.float32)

    def remember(self, rest: Any, first: Any, frame: dict[str, Any], before: list[Launch]) -> Any:
        """(R, 4) taken on in a step. rest: (R, 4) with what was taken before. first: of each plate's rows; frame: the
        arguments of `row_curvature` and `row_frame` at the step's end; before: what launches they need."""
        if not self.acts:
            return self.taken
        slid = rest.copy()
        slide = launch(
            "bending_slide", len(self._most), first=first, stiffness=self._inverse_area, most=self._most, **frame,
            slid=slid,
        )  # fmt: skip
        self.backend.run([*before, slide])
        return self.taken + (slid - rest)


class Stretches:
    """What the triangles have taken on: F = [x₁−x₀, x₂−x₀] D⁻¹ P with P of each."""

    def __init__(self, backend: Backend, sheet: Sheet, strain: Array) -> None:
        """strain: (T,) that springs back; 0: all of it."""
        self.backend, self.sheet = backend, sheet
        self._most = backend.array(strain)
        self.acts = False
        self.taken = backend.xp.zeros((0, 4), backend.xp.float32)  #: (T, 4) P row by row; (0, 4): the identity
        self.renew(strain)

    def renew(self, strain: Array) -> None:
        self._most[:], self.acts = self.backend.array(strain), bool(strain.any())

    def resume(self, taken: Any) -> bool:
        before, self.taken = self.taken, self.none() if self.acts and not len(taken) else taken
        return len(self.taken) > 0 or len(before) > 0

    def none(self) -> Any:
        count = self.sheet.triangles if self.acts else 0
        return self.backend.array(np.tile([1.0, 0.0, 0.0, 1.0], (count, 1)).reshape(-1, 4))

    def shape(self, elastic: Any, rest_inverse: Any) -> None:
        """rest_inverse (T, 4) ← D⁻¹ P of D⁻¹, `elastic` (T, 4)."""
        if len(self.taken):
            self.backend.launch(
                "rest_after_yield", self.sheet.triangles, elastic=elastic, taken=self.taken, rest_inverse=rest_inverse
            )
        else:
            rest_inverse[:] = elastic

    def remember(self, x: Any, rest_inverse: Any) -> Any:
        """(T, 4) taken on in a step that ends at x (V, 4). rest_inverse: (T, 4) of the step, what was taken in it."""
        if not self.acts:
            return self.taken
        taken = self.taken.copy()
        self.backend.launch(
            "membrane_yield", self.sheet.triangles, x=x, corners=self.sheet.corners, rest_inverse=rest_inverse,
            most=self._most, taken=taken,
        )  # fmt: skip
        return taken

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a picture is made of: meshes at rest in world space, each with its looks, and the view of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...gpu_core.scene.arrays import Array, IntArray

Look = Literal["cloth", "collider", "line"]


@dataclass(frozen=True)
class Part:
    """One mesh of a picture. Cloth is shown with a thickness and rounder folds, as `sample_blends/render.py` has it."""

    name: str
    positions: Array  #: (N, 3) m
    triangles: IntArray  #: (T, 3)
    look: Look = "collider"
    dye: int = 0  #: of cloth: its place in `look.DYES`
    rest: Array | None = None  #: (N, 3) m, of cloth: where the stripes along its hem are woven, and its own quads
    marked: npt.NDArray[np.bool_] | None = None  #: (T,) triangles in the colour of a warning
    framed: bool = True  #: the camera takes it in whole

    def shifted(self, x: float, y: float, z: float) -> Part:
        """The same, elsewhere; m."""
        return replace(self, positions=self.positions + [x, y, z])


@dataclass(frozen=True)
class Picture:
    """A scene that is run, and how it is looked at. `vertices` of all cloths of a run together, about."""

    take: Callable[[int], list[Part]]  #: runs it with about so many vertices
    vertices: int
    azimuth: float  #: where the camera stands, degrees from +x, seen from above
    elevation: float  #: degrees above the horizon
    raised: float = 0.0  #: of the lowest part above the floor, in widths of what is taken in
    close: float = 1.0  #: share of the width that the camera takes in, about the most crowded place
    film: tuple[int, int] = (960, 540)  #: pixels

    @property
    def name(self) -> str:
        return self.take.__name__


def beside(parts: list[Part], other: list[Part], gap: float) -> list[Part]:
    """Both, the other ones `gap` m to the right (+x) of what is framed of the first; they keep their heights."""
    right = max(part.positions[:, 0].max() for part in parts if part.framed)
    left = min(part.positions[:, 0].min() for part in other if part.framed)
    return parts + [part.shifted(right - left + gap, 0.0, 0.0) for part in other]

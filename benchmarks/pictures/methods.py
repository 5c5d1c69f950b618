# SPDX-License-Identifier: GPL-3.0-or-later
"""One drape by two methods (docs/theory/subspace.md)."""

from __future__ import annotations

from ...gpu_core.scene.settings import SolverPreset
from ..speed.scenes import built
from .part import Part, Picture, beside
from .run import run

FRAME = 36


def drape_by_method(vertices: int) -> list[Part]:
    """Newton's to the left, *Subspace Reuse*'s to the right."""
    return beside(_drape(vertices, "default"), _drape(vertices, "subspace"), 0.1)


def _drape(vertices: int, preset: SolverPreset) -> list[Part]:
    return run(built("drape", vertices, FRAME, preset), FRAME, said=preset)


PICTURES = (Picture(drape_by_method, 10_000, -80.0, 12.0, raised=0.05, film=(960, 480)),)

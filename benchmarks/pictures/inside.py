# SPDX-License-Identifier: GPL-3.0-or-later
"""A balloon that is blown up and pinched (docs/theory/shape.md)."""

from __future__ import annotations

from ..balloon import BLOWN, PINCHED, pinched_balloon
from .part import Part, Picture, beside
from .run import run


def pinched(vertices: int) -> list[Part]:
    """Blown up to the left, pinched to the right."""
    scene = pinched_balloon(vertices)
    blown, both = (_without_floor(run(scene, frame + 1, said="balloon")) for frame in (BLOWN, PINCHED))
    return beside(blown, both, 0.05)


def _without_floor(parts: list[Part]) -> list[Part]:
    return [part for part in parts if part.name != "Floor"]


PICTURES = (Picture(pinched, 4000, -45.0, 14.0, film=(960, 420)),)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Several cloths in one scene, each of its own dye."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from .actors import add_sheet
from .look import DYES, fabric

Place = tuple[tuple[float, float, float], tuple[float, float, float]]  #: location, m, and rotation, rad


def add_sheets(name: str, vertices: int, size: float, places: Sequence[Place]) -> list[bpy.types.Object]:
    """Square cloths, `size` m wide, of `vertices` in all; numbered from 1 in the order of their places."""
    dyed = [fabric(*dye) for dye in DYES[: len(places)]]
    sheets = []
    for number, (location, rotation) in enumerate(places):
        sheet = add_sheet(f"{name} {number + 1}", vertices // len(places), size, location, rotation)
        sheet.data.materials[0] = dyed[number % len(dyed)]
        sheets.append(sheet)
    return sheets

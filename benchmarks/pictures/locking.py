# SPDX-License-Identifier: GPL-3.0-or-later
"""One tight contact beside a free part, under both filters (docs/theory/filter.md)."""

from __future__ import annotations

import numpy as np

from ...gpu_core.scene.scene import Collider, Scene
from ...gpu_core.solvers.parameters import NdbParameters
from ..stress.motions import moved
from ..stress.shapes import box, sheet
from ..stress.stress import cloth, collider, scene
from .part import Part, Picture, beside
from .run import run

FRAMES = 18
SHUT = 4  #: frame in which the plates are shut
ROOM = 0.15e-3  #: m on each side of the sheet, which needs 1 mm; nearer than 0.2 of that nothing may come


def squeezed_end(vertices: int) -> list[Part]:
    """A sheet pressed in one place to less than its thickness: the per-vertex filter left, the global one right."""
    runs = []
    for name in ("vertex", "global"):
        parameters = NdbParameters().replaced(filter=name)
        parts = run(squeezed(vertices), FRAMES, parameters, said=f"{name} filter")
        print(f"{name} filter: lowest vertex at {1e3 * parts[0].positions[:, 2].min():.0f} mm", flush=True)
        runs.append(parts)
    return beside(runs[0], runs[1], gap=0.14)


def squeezed(vertices: int) -> Scene:
    """Two plates shut on a third of one edge of a sheet; the rest of it meets nothing."""
    flat = sheet(vertices, 0.3).shifted(0.13, 0.0, 0.0)
    plate = box(0.08, 0.1, 0.012)
    apart = 0.006 + np.interp(np.arange(FRAMES), [0, SHUT - 1], [4.0e-3, ROOM])
    colliders: list[Collider] = [
        collider(name, plate, moved(plate.positions, z=side * apart))
        for name, side in (("Upper plate", 1), ("Lower plate", -1))
    ]
    return scene([cloth("Sheet", flat)], colliders, FRAMES)


PICTURES = (Picture(squeezed_end, 700, -62.0, 12.0, raised=0.02),)

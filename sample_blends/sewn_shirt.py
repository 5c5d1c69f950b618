# SPDX-License-Identifier: GPL-3.0-or-later
"""Two flat panels before and behind a body are sewn to a shirt; then gravity has it."""

from __future__ import annotations

from math import ceil, sqrt

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Vector
from mathutils.geometry import delaunay_2d_cdt

from .actors import add_figure, add_panels
from .panels import filled
from .studio import light_and_film

FRAMES = 84
AWAY = 0.17  #: m from the body's middle to each panel
CLOSED = 2.0  #: s; in 1.5 the sides of an armhole snap together
#: Half of a panel, m from its middle: neck, along shoulder and sleeve to the cuff, back to the armpit, down to the hem.
OUTLINE = (
    (0.0, 1.385), (0.06, 1.41), (0.105, 1.46), (0.24, 1.42), (0.47, 1.30), (0.41, 1.16), (0.27, 1.21), (0.25, 0.80),
)  # fmt: skip
AREA = 0.6  #: m² of both panels, or so
SMALL = 1600  #: vertices; coarser sleeves lie on the arms without room to settle
SEWN = ((2, 3), (3, 4), (5, 6), (6, 7))  #: of these corners, the sides that are sewn


def build(vertices: int) -> None:
    """Fill the empty session: the two panels have `vertices` or so."""
    light_and_film(target=(0.0, 0.0, 1.1), distance=3.6, frames=FRAMES)
    add_figure("Body")
    points, triangles, sewn = panel(sqrt(AREA / (sqrt(0.75) * vertices)))
    cloth = add_panels("Shirt", points, triangles, sewn, AWAY).taffeta.cloth
    scene = bpy.context.scene
    for frame, gravity in ((1, 0.0), (round(24 * CLOSED), 0.0), (round(24 * CLOSED) + 6, -9.81)):
        scene.gravity[2] = gravity
        scene.keyframe_insert("gravity", index=2, frame=frame)
    cloth.sewing, cloth.sewing_time = True, CLOSED


def panel(spacing: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """(points (N, 2), triangles (T, 3), the points that are sewn), edges of about `spacing` m."""
    corners = np.array(OUTLINE)
    border: list[npt.NDArray[np.float64]] = []
    sewn: list[bool] = []
    for side in range(len(corners) - 1):
        start, end = corners[side], corners[side + 1]
        count = max(1, ceil(np.linalg.norm(end - start) / spacing))
        border += [start + (end - start) * step / count for step in range(count)]
        sewn += [(side, side + 1) in SEWN or (step == 0 and (side - 1, side) in SEWN) for step in range(count)]
    hem = corners[-1]
    count = max(1, round(hem[0] / spacing))
    border += [hem - [hem[0] * step / count, 0.0] for step in range(count + 1)]
    sewn += [step == 0 for step in range(count + 1)]
    right, flags = np.array(border), np.array(sewn)
    inner = right[:, 0] > 1e-9
    outline = np.concatenate([right, (right * [-1.0, 1.0])[inner][::-1]])
    flags = np.concatenate([flags, flags[inner][::-1]])
    inside = filled(outline, spacing, mirrored=True)
    every = [Vector(point) for point in np.concatenate([outline, inside]).tolist()]
    rim = [(k, (k + 1) % len(outline)) for k in range(len(outline))]
    points, _, faces, origins, _, _ = delaunay_2d_cdt(every, rim, [], 1, 1e-6)
    assert len(points) == len(every)
    assert all(origin == [k] for k, origin in enumerate(origins))
    return np.array(points), np.array(faces, np.int32), np.flatnonzero(flags).astype(np.int32)

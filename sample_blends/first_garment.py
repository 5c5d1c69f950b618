# SPDX-License-Identifier: GPL-3.0-or-later
"""Two rectangles are sewn to a tunic on a figure, and gathered at the waist.

The garment of docs/manual/first_garment.md.
"""

from __future__ import annotations

from math import radians, sqrt

import bpy
import numpy as np

from .actors import add_figure, add_garment
from .look import DYES, fabric
from .studio import light_and_film

FRAMES = 96
ELEVATION = radians(8.0)  #: of the camera
WIDTH, TOP, HEM = 0.46, 1.50, 0.62  #: m, of a panel, and from the floor
AWAY = 0.13  #: m from the body's middle to each panel
NECK = 0.13  #: m from the middle to where a shoulder begins
ARMHOLE = 1.20  #: m from the floor, where it ends
WAIST = (1.02, 1.08)  #: m from the floor
GATHERED = ((48, 0.0), (66, 0.25))  #: frame, share of the cloth there that is taken in
CLOSED = 1.5  #: s
GRAVITY = ((1, 0.0), (36, 0.0), (42, -9.81))  #: frame, m/s²
TURN = ((66, 0.0), (78, 50.0), (90, -20.0))  #: frame, and where the figure looks, degrees


def build(vertices: int) -> None:
    """Fill the empty session: the two panels have `vertices` or so."""
    light_and_film((0.0, 0.0, 1.02), 3.5, FRAMES, elevation=ELEVATION, film=(600, 720))
    figure = add_figure("Body")
    for frame, angle in TURN:
        figure.rotation_euler.z = radians(angle)
        figure.keyframe_insert("rotation_euler", index=2, frame=frame)
    tunic = add_panels(vertices)
    cloth = tunic.taffeta.cloth
    cloth.sewing, cloth.sewing_time = True, CLOSED
    waist = tunic.vertex_groups.new(name="Waist")
    waist.add([v.index for v in tunic.data.vertices if WAIST[0] <= v.co.z <= WAIST[1]], 1.0, "REPLACE")
    cloth.shrink_group = waist.name
    for frame, share in GATHERED:
        cloth.shrink_max = share
        tunic.keyframe_insert("taffeta.cloth.shrink_max", frame=frame)
    scene = bpy.context.scene
    for frame, gravity in GRAVITY:
        scene.gravity[2] = gravity
        scene.keyframe_insert("gravity", index=2, frame=frame)


def add_panels(vertices: int) -> bpy.types.Object:
    """A rectangle before the figure and one behind it, with a thread from each vertex of a seam to its opposite."""
    height = TOP - HEM
    columns = max(7, round(sqrt(0.5 * vertices * WIDTH / height)))
    rows = max(10, round(0.5 * vertices / columns))
    u, v = (axis.ravel() for axis in np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows)))
    x, z, count = (u - 0.5) * WIDTH, HEM + v * height, rows * columns
    places = np.concatenate([np.column_stack([x, np.full(count, side * AWAY), z]) for side in (-1.0, 1.0)])
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    front = np.column_stack([first, first + 1, first + columns + 1, first + columns])
    faces = np.concatenate([front, front[:, ::-1] + count])
    shoulders = (v == 1.0) & (abs(x) > NECK)
    sides = ((u == 0.0) | (u == 1.0)) & (z < ARMHOLE)
    sewn = np.flatnonzero(shoulders | sides)
    flat = np.tile(np.column_stack([0.25 + 0.5 * u, 0.5 * v]), (2, 1))  # so that the stripes lie along the hem alone
    threads = np.column_stack([sewn, sewn + count])
    tunic = add_garment("Tunic", places, faces, fabric(*DYES[1]), edges=threads, flat=flat)
    weld = tunic.modifiers.new("Weld", "WELD")  # closed seams are shaded as one sheet
    weld.merge_threshold = 1.0e-5
    return tunic

# SPDX-License-Identifier: GPL-3.0-or-later
"""Six cloths fall into a bowl and are stirred by a blade with three fins that turns in it (lan2024, figure 16)."""

from __future__ import annotations

from math import cos, radians, sin, tau

import bpy
import numpy as np

from .sheets import Place, add_sheets
from .studio import light_and_film
from .turned import add_body, smooth, turned

CLOTHS, SIZE = 6, 0.32  #: how many, and m
LOWEST, APART = 0.32, 0.07  #: m above the floor, and from each to the next
TILT, TURN, ASIDE = radians(10.0), radians(100.0), 0.06  #: of each, from each to the next, and m from the axis
FRAMES = 120
SAMPLES = 4  #: a frame, so that the fins' tips are round
STARTS, FULL = 20, 44  #: frames: it stands, it speeds up
PACE = tau / 24.0  #: rad a frame: one turn a second
#: Radius and height, m: up outside, down inside.
BOWL = (
    (0.0, 0.004), (0.16, 0.004), (0.24, 0.03), (0.31, 0.13), (0.335, 0.27), (0.330, 0.276), (0.322, 0.27),
    (0.295, 0.13), (0.235, 0.050), (0.21, 0.040), (0.0, 0.040),
)  # fmt: skip
#: Radius of the core, how far the fins stand out of it, and height, m. It begins below the bowl's inner floor.
BLADE = (
    (0.0, 0.0, 0.022), (0.050, 0.0, 0.022), (0.055, 0.13, 0.024), (0.050, 0.13, 0.050), (0.040, 0.12, 0.100),
    (0.030, 0.08, 0.150), (0.026, 0.02, 0.190), (0.024, 0.0, 0.210), (0.012, 0.0, 0.222), (0.0, 0.0, 0.224),
)  # fmt: skip
FINS, SHARP = 3, 10  #: and how narrow they are: a power of the cosine
COLUMNS = 72


def build(vertices: int) -> None:
    """Fill the empty session: the cloths have about `vertices` in all."""
    floor = light_and_film(target=(0.0, 0.0, 0.14), distance=2.4, frames=FRAMES, elevation=radians(42.0))
    bpy.context.scene.taffeta.samples_per_frame = SAMPLES
    floor.taffeta.role = "COLLIDER"
    add_body("Bowl", [turned(smooth(BOWL, 64), 64)])
    add_blade()
    add_sheets("Cloth", vertices, SIZE, [place(number) for number in range(CLOTHS)])


def place(number: int) -> Place:
    """Above one side of the bowl, tilted towards the blade."""
    turn = TURN * number
    return (ASIDE * sin(turn), -ASIDE * cos(turn), LOWEST + APART * number), (TILT, 0.0, turn)


def add_blade() -> None:
    """It stands, speeds up evenly and then turns on at its pace."""
    profile = smooth(BLADE, 28)
    fin = np.abs(np.cos(0.5 * FINS * tau * np.arange(COLUMNS) / COLUMNS)) ** SHARP
    blade = add_body("Blade", [turned(profile[:, [0, 2]], COLUMNS, profile[:, 1:2] * fin)])
    for frame in range(STARTS, FRAMES + 1):
        run = min(frame, FULL) - STARTS
        blade.rotation_euler.z = PACE * (0.5 * run**2 / (FULL - STARTS) + max(frame - FULL, 0))
        blade.keyframe_insert("rotation_euler", index=2, frame=frame)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A teapot of our own, 27 cm high: body and lid from the lathe, a spout and a handle, made one surface."""

from __future__ import annotations

import bpy

from .turned import add_body, drawn, smooth, turned

HEIGHT = 0.272  #: m, of the lid's knob
#: Radius and height of body, lid and knob, m.
PROFILE = (
    (0.0, 0.0), (0.085, 0.0), (0.092, 0.008), (0.128, 0.055), (0.142, 0.105), (0.130, 0.153), (0.100, 0.186),
    (0.080, 0.196), (0.080, 0.204), (0.060, 0.218), (0.030, 0.228), (0.013, 0.234), (0.013, 0.242), (0.023, 0.252),
    (0.021, 0.264), (0.010, 0.271), (0.0, HEIGHT),
)  # fmt: skip
#: Place in x and z, and radius, m.
SPOUT = (
    (0.110, 0.070, 0.036), (0.165, 0.090, 0.029), (0.200, 0.130, 0.022), (0.222, 0.178, 0.017), (0.262, 0.212, 0.014)
)  # fmt: skip
HANDLE = (
    (-0.105, 0.168, 0.013), (-0.160, 0.186, 0.012), (-0.205, 0.165, 0.012), (-0.212, 0.120, 0.012),
    (-0.180, 0.078, 0.012), (-0.115, 0.062, 0.013),
)  # fmt: skip
TIP = (SPOUT[-1][0], 0.0, SPOUT[-1][1])  #: of the spout, m
CLEAR = 2.0e-3  #: m, between its foot and the floor
VOXEL = 6.0e-3  #: m
POLISH = 3  #: times


def add_teapot(name: str) -> bpy.types.Object:
    """It stands on the floor in the middle, its spout along x. Cloth collides with it."""
    tubes = [smooth(path, 24) for path in (SPOUT, HANDLE)]
    arms = [drawn(way[:, :2] @ [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], way[:, 2], 20) for way in tubes]
    teapot = add_body(name, [turned(smooth(PROFILE, 60), 64), *arms])
    teapot.location.z = CLEAR
    joined = teapot.modifiers.new("Joined", "REMESH")
    joined.mode, joined.voxel_size, joined.use_smooth_shade = "VOXEL", VOXEL, True
    polished = teapot.modifiers.new("Polished", "SMOOTH")
    polished.iterations = POLISH
    return teapot

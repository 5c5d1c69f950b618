# SPDX-License-Identifier: GPL-3.0-or-later
"""A wide skirt with a tunnel at its waist, in which a string lies: it is pulled tight, then the pins let go."""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from .actors import add_figure, add_garment
from .look import DYES, fabric
from .rings import ellipse, hem_below, ring_faces
from .studio import light_and_film

FRAMES = 96
#: Height and half axes of the skirt, m: its upper border, the tunnel's rims, the hem.
BORDER, UPPER, LOWER, HEM = (1.135, 0.170, 0.145), (1.10, 0.165, 0.140), (1.07, 0.165, 0.140), (0.62, 0.225, 0.200)
BULGE = 0.005  #: m from the string to either wall of the tunnel
PULLED = ((6, 0.0), (48, 0.34))  #: frame, share of the string that is taken in
LET_GO = (54, 60)  #: frames from which to which the pins let go
HOLD = 0.1  #: weight of the pins: soft, so that the border comes along
STRING = 0.01  #: kg/m, a cotton cord of 4 mm
CELLS = 1.5  #: height of a face by its width


def build(vertices: int) -> None:
    """Fill the empty session: the skirt has `vertices` or so, its string among them."""
    light_and_film((0.0, 0.0, 0.88), 1.9, FRAMES, film=(720, 600))
    add_figure("Body")
    around = 2 * np.pi * np.mean([LOWER[1:], HEM[1:]])
    columns = round(np.sqrt(CELLS * vertices * around / (BORDER[0] - HEM[0] + 2.0 * (UPPER[0] - LOWER[0]))))
    rows = round(vertices / columns)
    cell = CELLS * around / columns
    inside = max(1, round((UPPER[0] - LOWER[0]) / cell))  # rings of either wall between its rims
    ruffle = max(1, round((BORDER[0] - UPPER[0]) / cell))
    skirt = max(3, rows - ruffle - 2 * inside - 3)
    outer = np.concatenate([
        rings(BORDER, UPPER, ruffle),
        wall(inside, BULGE)[:-1],
        rings(LOWER, HEM, skirt),
        [HEM],
    ])  # fmt: skip
    inner, string = wall(inside, -BULGE)[1:-1], wall(1, 0.0)[1:-1]
    places = placed(np.concatenate([outer, inner, string]), columns)
    count = len(outer) * columns
    lining = np.arange(count, count + inside * columns).reshape(inside, columns)
    rims = np.arange(count).reshape(-1, columns)[[ruffle, ruffle + inside + 1]]
    joined = np.concatenate([rims[:1], lining, rims[1:]]).ravel()
    faces = np.concatenate([ring_faces(len(outer), columns), joined[ring_faces(inside + 2, columns)[:, ::-1]]])
    loop = np.arange(count + inside * columns, len(places))
    share = (np.concatenate([outer, inner, string])[:, :1] - BORDER[0]) / (HEM[0] - BORDER[0])
    made = add_garment(
        "Skirt", places, faces, fabric(*DYES[3]),
        edges=np.column_stack([loop, np.roll(loop, -1)]), flat=hem_below(share, columns),
    )  # fmt: skip
    hold(made, columns)


def rings(start: tuple[float, float, float], end: tuple[float, float, float], count: int) -> npt.NDArray[np.float64]:
    """(count, 3) heights and half axes from `start` on, without `end`."""
    return np.linspace(start, end, count, endpoint=False)


def wall(inside: int, bulge: float) -> npt.NDArray[np.float64]:
    """(inside + 2, 3) heights and half axes of a wall of the tunnel, its rims included; bulge: outwards, m."""
    share = np.linspace(0.0, 1.0, inside + 2)[:, None]
    out = 4.0 * bulge * share * (1.0 - share) * [0.0, 1.0, 1.0] if inside > 1 else bulge * (share == 0.5) * [0, 1, 1]
    return np.array(UPPER) + share * (np.array(LOWER) - UPPER) + out


def placed(heights: npt.NDArray[np.float64], columns: int) -> npt.NDArray[np.float64]:
    """(rings × columns, 3) places of rings, each given by its height and half axes."""
    plan = ellipse(heights[:, 1:], columns)
    up = np.broadcast_to(heights[:, :1], plan.shape[:2])
    return np.concatenate([plan, up[..., None]], axis=2).reshape(-1, 3)


def hold(skirt: bpy.types.Object, columns: int) -> None:
    """Pins hold the border until the string does."""
    pins = skirt.vertex_groups.new(name="Held")
    pins.add(list(range(columns)), HOLD, "REPLACE")
    cloth = skirt.taffeta.cloth
    cloth.pin_group, cloth.cord_density = pins.name, STRING
    for frame, share in PULLED:
        cloth.cord_shrink = share
        skirt.keyframe_insert("taffeta.cloth.cord_shrink", frame=frame)
    for frame, strength in zip(LET_GO, (1.0, 0.0), strict=True):
        cloth.pin_strength = strength
        skirt.keyframe_insert("taffeta.cloth.pin_strength", frame=frame)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A skirt whose pleats are folds: the figure that wears it turns once, the skirt flies, and hangs pleated again."""

from __future__ import annotations

from math import radians, sqrt, tau

import bpy
import numpy as np
import numpy.typing as npt

from .actors import add_figure, add_garment
from .look import DYES, fabric
from .rings import ellipse, hem_below, ring_faces
from .studio import light_and_film

FRAMES = 96
PLEATS = 18
FOLD = radians(100.0)  #: by which the faces beside a pleat are turned from each other
PRESSED = 1.0e-3  #: N·m, the bending stiffness of the pressed cloth, against 5e-6 of cotton
WIDTH = (0.030, 0.066)  #: m from one fold to the next, at the waist and at the hem
HEIGHT = (1.045, 0.62)  #: m, of the waist and of the hem, as it is put on
VALLEYS = ((0.126, 0.094), (0.225, 0.200))  #: m, the half axes of the ellipse they lie on, at the waist and at the hem
TURN = (12, 34)  #: frames between which the figure turns once
CELLS = 0.75  #: height of a face by its width


def build(vertices: int) -> None:
    """Fill the empty session: the skirt has `vertices` or so."""
    light_and_film((0.0, 0.0, 0.84), 2.0, FRAMES, film=(720, 600))
    figure = add_figure("Body")
    flank = max(2, round(sqrt(vertices / (2 * PLEATS) * np.mean(WIDTH) * CELLS / (HEIGHT[0] - HEIGHT[1]))))
    columns = 2 * PLEATS * flank
    rows = max(4, round(vertices / columns))
    share = np.linspace(0.0, 1.0, rows)[:, None]  # of the way from the waist to the hem
    worn = pleated(share, flank)
    flat = hem_below(share, columns)
    skirt = add_garment("Skirt", worn.reshape(-1, 3), ring_faces(rows, columns), fabric(*DYES[1]), flat=flat)
    skirt.shape_key_add(name="Worn")
    cut = skirt.shape_key_add(name="Cut")
    cut.data.foreach_set("co", cone(worn).ravel())
    cut.value = 0.0  # from Blender 5.2 on a new key is on
    skirt.taffeta.cloth.rest_shape_key = "Cut"
    mark_pleats(skirt, flank, columns)
    press(skirt, flank, columns)
    skirt.parent = figure
    for frame, angle in zip(TURN, (0.0, tau), strict=True):
        figure.rotation_euler.z = angle
        figure.keyframe_insert("rotation_euler", index=2, frame=frame)


def pleated(share: npt.NDArray[np.float64], flank: int) -> npt.NDArray[np.float64]:
    """(rows, columns, 3) the skirt as it is put on: an ellipse of valleys, and mountains a flank's width from them."""
    waist, hem = (np.array(axes) for axes in VALLEYS)
    axes = waist + share * (hem - waist)
    width = WIDTH[0] + share * (WIDTH[1] - WIDTH[0])
    valleys = ellipse(axes, PLEATS)
    chord = np.roll(valleys, -1, axis=1) - valleys
    half = 0.5 * np.linalg.norm(chord, axis=2)
    outwards = np.stack([chord[..., 1], -chord[..., 0]], axis=2) / (2.0 * half[..., None])
    mountains = valleys + 0.5 * chord + np.sqrt(width**2 - half**2)[..., None] * outwards
    lines = np.stack([valleys, mountains], axis=2).reshape(len(share), 2 * PLEATS, 2)
    inner = np.arange(flank)[:, None] / flank
    between = lines[:, :, None] * (1.0 - inner) + np.roll(lines, -1, axis=1)[:, :, None] * inner
    plan = between.reshape(len(share), -1, 2)
    height = np.broadcast_to(HEIGHT[0] + share * (HEIGHT[1] - HEIGHT[0]), plan.shape[:2])
    return np.concatenate([plan, height[..., None]], axis=2)


def cone(worn: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(rows, columns, 3) the same cloth before it was pleated: as long around, and as long from waist to hem."""
    rows, columns, _ = worn.shape
    radius = np.linalg.norm(np.roll(worn, -1, axis=1) - worn, axis=2).sum(axis=1) / tau
    slant = np.linalg.norm(np.diff(worn, axis=0), axis=2).mean(axis=1)
    fall = np.insert(np.cumsum(np.sqrt(slant**2 - np.diff(radius) ** 2)), 0, 0.0)
    angle = np.linspace(0.0, tau, columns, endpoint=False)
    plan = radius[:, None, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    height = np.broadcast_to((HEIGHT[0] - fall)[:, None], (rows, columns))
    return np.concatenate([plan, height[..., None]], axis=2)


def mark_pleats(skirt: bpy.types.Object, flank: int, columns: int) -> None:
    """Upright edges that are folds: mountains and valleys in turn."""
    attribute = skirt.data.attributes.new("Pleats", "FLOAT", "EDGE")
    sharp = skirt.data.attributes.new("crease_edge", "FLOAT", "EDGE")  # for the picture: smoothing leaves them
    for edge, value, crease in zip(skirt.data.edges, attribute.data, sharp.data, strict=True):
        first, second = (vertex % columns for vertex in edge.vertices)
        if first == second and first % flank == 0:
            value.value, crease.value, edge.use_edge_sharp = 1.0 if (first // flank) % 2 else -1.0, 1.0, True
    cloth = skirt.taffeta.cloth
    cloth.fold_attribute, cloth.fold_angle = "Pleats", FOLD


def press(skirt: bpy.types.Object, flank: int, columns: int) -> None:
    """The pleats are stiff, so that they stay, and the waistband is held."""
    pressed, pins = (skirt.vertex_groups.new(name=name) for name in ("Pressed", "Waist"))
    pressed.add([v.index for v in skirt.data.vertices if v.index % columns % flank == 0], 1.0, "REPLACE")
    pins.add(list(range(columns)), 1.0, "REPLACE")
    cloth = skirt.taffeta.cloth
    cloth.pin_group = pins.name
    cloth.bend_friction = 0.0  # so that they spring back
    cloth.bend_group, cloth.bend_max = pressed.name, PRESSED

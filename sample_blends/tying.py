# SPDX-License-Identifier: GPL-3.0-or-later
"""Strips that lie loosely tied at first: each on edge along a curve, while flat and straight at rest."""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator, make_interp_spline

from .actors import add_garment
from .look import satin

Array = npt.NDArray[np.float64]
COUNT = 2000  #: places of a curve that a strip is laid along
WIDTH = 0.015  #: m
UP = np.array([0.0, 0.0, 1.0])
PLACES = 14  #: decimals of a metre
FLAT = "Flat"  #: the shape key of how a strip was woven


def curve(points: npt.ArrayLike, heights: npt.ArrayLike) -> Array:
    """(COUNT, 3) a smooth way through points (P, 2) x and y, m, with heights (H, 2) at shares of its length, m."""
    given = np.array(points)
    chords = np.insert(np.cumsum(np.linalg.norm(np.diff(given, axis=0), axis=1)), 0, 0.0)
    line = evenly(make_interp_spline(chords, given)(np.linspace(0.0, chords[-1], COUNT)))
    share, height = np.array(heights).T
    return np.column_stack([line, PchipInterpolator(share, height)(np.linspace(0.0, 1.0, COUNT))])


def evenly(line: Array, count: int = COUNT) -> Array:
    """(count, D) places at even distances along a line (P, D)."""
    along = np.insert(np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)), 0, 0.0)
    at = np.linspace(0.0, along[-1], count)
    return np.column_stack([np.interp(at, along, line[:, axis]) for axis in range(line.shape[1])])


def beside(line: Array, away: float) -> Array:
    """The line (P, 3) moved so far to its left, seen from above, m."""
    left = np.cross(UP, np.gradient(line, axis=0))
    return np.asarray(line + away * left / np.linalg.norm(left, axis=1, keepdims=True))


def add_strip(name: str, vertices: int, line: Array, colour: tuple[float, float, float]) -> bpy.types.Object:
    """A strip of about so many vertices that stands on edge along a line (P, 3), m."""
    length = float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    columns = max(2, round(np.sqrt(vertices * WIDTH / length)))
    rows = max(8, round(vertices / columns))
    middle = evenly(line, rows)
    forwards = np.gradient(middle, axis=0)
    forwards /= np.linalg.norm(forwards, axis=1, keepdims=True)
    across = UP - forwards * forwards[:, 2:]
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    aside = (np.arange(columns) / (columns - 1) - 0.5) * WIDTH
    tied = middle[:, None] + aside[:, None] * across[:, None]
    tied = np.round(tied, PLACES) + 0.0  # what is 0 but for rounding is another 1e-16 on another processor
    along = np.linspace(0.0, length, rows)
    flat = np.stack([*np.broadcast_arrays(along[:, None], aside), np.zeros((rows, columns))], axis=-1).reshape(-1, 3)
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    quads = np.column_stack([first, first + columns, first + columns + 1, first + 1])
    strip = add_garment(name, tied.reshape(-1, 3), quads, satin(colour), flat=flat[:, :2])
    strip.shape_key_add(name="Tied")
    woven = strip.shape_key_add(name=FLAT)
    woven.data.foreach_set("co", flat.astype(np.float32).ravel())
    woven.value = 0.0  # from Blender 5.2 on a new key is on
    strip.taffeta.cloth.rest_shape_key = FLAT
    return strip

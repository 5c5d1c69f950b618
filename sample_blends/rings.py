# SPDX-License-Identifier: GPL-3.0-or-later
"""Tubes of cloth as rings of vertices, from above down: skirts, waists, legs."""

from __future__ import annotations

from math import tau

import numpy as np
import numpy.typing as npt


def ellipse(axes: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.float64]:
    """(R, count, 2) places as far apart along each of the ellipses with half axes (R, 2)."""
    angle = np.linspace(0.0, tau, 721)
    fine = axes[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    way = np.insert(np.cumsum(np.linalg.norm(np.diff(fine, axis=1), axis=2), axis=1), 0, 0.0, axis=1)
    share = np.arange(count) / count
    at = np.array([np.interp(share * row[-1], row, angle) for row in way])
    return axes[:, None] * np.stack([np.cos(at), np.sin(at)], axis=2)


def ring_faces(rows: int, columns: int) -> npt.NDArray[np.int32]:
    """(F, 4) of a tube of rows × columns vertices from above down, seen from outside."""
    here = np.arange(columns)
    there = (here + 1) % columns
    top = columns * np.arange(rows - 1)[:, None]
    quads = np.stack([top + here, top + columns + here, top + columns + there, top + there], axis=-1)
    return quads.reshape(-1, 4).astype(np.int32)


def hem_below(share: npt.NDArray[np.float64], columns: int) -> npt.NDArray[np.float64]:
    """(N, 2) a UV map whose border is the hem alone, so that the stripes of the cloth lie there."""
    around = np.linspace(0.25, 0.75, columns, endpoint=False)
    return np.stack([*np.broadcast_arrays(around, 0.5 * (1.0 - share))], axis=-1).reshape(-1, 2)

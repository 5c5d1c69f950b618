# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets and colliders for the scenarios; sheets are flat in z = 0, metres."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]  # (N, 3)
Triangles = npt.NDArray[np.int32]  # (T, 3)
Mesh = tuple[Points, Triangles]


def grid(columns: int, rows: int, length: float, width: float, *, diagonals: str = "one") -> Mesh:
    """columns × rows vertices, centred. diagonals: "one" way, or "mirrored" in both axes about the middle."""
    i, j = np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij")
    x, y = (i - 0.5 * (columns - 1)) * (length / (columns - 1)), (j - 0.5 * (rows - 1)) * (width / (rows - 1))
    points = np.stack([x, y, 0.0 * x], axis=-1).reshape(-1, 3)  # so that x and −x have the same digits
    a = (i[:-1, :-1] * rows + j[:-1, :-1]).ravel()
    b, c, d = a + rows, a + rows + 1, a + 1
    one = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    if diagonals == "one":
        return points, one.astype(np.int32)
    other = np.concatenate([np.stack([a, b, d], 1), np.stack([b, c, d], 1)])
    middle = points[a] + 0.5 * (points[c] - points[a])
    flipped = np.tile(middle[:, 0] * middle[:, 1] < 0.0, 2)
    return points, np.where(flipped[:, None], other, one).astype(np.int32)


def square(side: int, size: float, *, diagonals: str = "one") -> Mesh:
    """side × side vertices of a square, centred."""
    return grid(side, side, size, size, diagonals=diagonals)


def cylinder(radius: float, width: float, faces: int = 180) -> Mesh:
    """Around y, open at its ends; centred."""
    points, triangles = grid(faces + 1, 2, 2.0 * np.pi, width)
    around = np.stack([radius * np.sin(points[:, 0]), points[:, 1], radius * np.cos(points[:, 0])], axis=1)
    seam = np.arange(len(points))
    seam[-2:] = [0, 1]
    return around[:-2], seam[triangles].astype(np.int32)


def turned(angle: float, points: Points) -> Points:
    """Points turned about the y axis, so that +x goes down by `angle`, rad."""
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T

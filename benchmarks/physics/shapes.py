"""Sheets, discs and floors for the scenarios; all flat in z = 0, metres."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import Delaunay

Points = npt.NDArray[np.float64]  # (N, 3)
Triangles = npt.NDArray[np.int32]  # (T, 3)
Mesh = tuple[Points, Triangles]


def grid(columns: int, rows: int, length: float, width: float, *, diagonals: str = "one") -> Mesh:
    """columns × rows vertices, centred. diagonals: "one" way, or "mirrored" in both axes about the middle."""
    i, j = np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij")
    points = np.stack([i * length / (columns - 1), j * width / (rows - 1), 0.0 * i], axis=-1).reshape(-1, 3)
    points -= [0.5 * length, 0.5 * width, 0.0]
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


def disc(count: int, radius: float, *, seed: int = 0) -> Mesh:
    """About `count` vertices in a disc, without preferred direction: a spiral of equal areas, a ring as border."""
    rim = round(np.sqrt(4.0 * np.pi * np.pi * count / (2.0 * np.sqrt(3.0) * 1.15)))
    inside = count - rim
    k = np.arange(inside) + 0.5
    r, turn = (radius - 0.75 * 2 * np.pi * radius / rim) * np.sqrt(k / inside), k * np.pi * (3.0 - np.sqrt(5.0))
    angle = 2.0 * np.pi * (np.arange(rim) + seed / 7.0) / rim
    flat = np.concatenate(
        [np.stack([r * np.cos(turn), r * np.sin(turn)], 1), radius * np.stack([np.cos(angle), np.sin(angle)], 1)]
    )
    triangles = Delaunay(flat).simplices
    a, b, c = (flat[triangles[:, k]] for k in range(3))
    twice = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    triangles[twice < 0] = triangles[twice < 0][:, ::-1]
    fat = np.abs(twice) > 1e-6 * radius * radius / rim
    return np.column_stack([flat, np.zeros(len(flat))]), triangles[fat].astype(np.int32)


def turned(angle: float, points: Points) -> Points:
    """Points turned about the y axis, so that +x goes down by `angle`, rad."""
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T

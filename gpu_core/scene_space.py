"""The bodies of a scene in one index space: all cloths' vertices, then all colliders'."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .contact.patches import Surface
from .scene.scene import Cloth, Collider, Scene


def centre(scene: Scene) -> npt.NDArray[np.float64]:
    """Middle of the cloths at the start, rounded so that a scene near the origin keeps its own coordinates."""
    every = np.concatenate([cloth.positions for cloth in scene.cloths])
    middle = 0.5 * (every.min(axis=0) + every.max(axis=0))
    return np.asarray(np.round(middle / 8.0) * 8.0)


def start_positions(scene: Scene) -> npt.NDArray[np.float64]:
    """(V, 3) where everything begins, m."""
    cloth = [c.positions for c in scene.cloths]
    return np.concatenate([*cloth, *(np.asarray(c.positions[0], np.float64) for c in scene.colliders)])


def between(frames: npt.NDArray[np.floating], at: float) -> npt.NDArray[np.float64]:
    """(n, 3) of a (F or 1, n, 3) animation `at` frames after its first, linear between frames."""
    if len(frames) == 1:
        return np.asarray(frames[0], np.float64)
    before = min(int(np.floor(at)), len(frames) - 1)
    after, share = min(before + 1, len(frames) - 1), at - before
    return np.asarray(
        (1.0 - share) * np.asarray(frames[before], np.float64) + share * np.asarray(frames[after], np.float64)
    )


def surface_of(scene: Scene) -> tuple[Surface, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(surface, thickness (V,), friction (V,)) of cloth and colliders in one index space."""
    bodies: list[tuple[Cloth | Collider, int, float]] = [
        *((c, len(c.positions), c.material.friction) for c in scene.cloths),
        *((c, c.positions.shape[1], c.friction) for c in scene.colliders),
    ]
    counts = np.array([count for _, count, _ in bodies])
    first = np.concatenate([[0], np.cumsum(counts)])
    triangles = np.concatenate([body.triangles + at for (body, _, _), at in zip(bodies, first, strict=False)])
    surface = Surface(
        int(first[-1]),
        triangles.astype(np.int32),
        sum(len(c.triangles) for c in scene.cloths),
        np.repeat(np.arange(len(bodies)), counts).astype(np.int32),
    )
    return surface, np.repeat([b.thickness for b, _, _ in bodies], counts), np.repeat([f for _, _, f in bodies], counts)

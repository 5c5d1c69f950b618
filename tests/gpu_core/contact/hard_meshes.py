# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that are hard for a broad phase, and the pairs that brute force finds in them."""

from __future__ import annotations

import numpy as np

from taffeta.gpu_core.contact.patches import Surface
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.tests.gpu_core.small_scene import ball, sheet


def together(*parts, cloth=1):
    """(positions, surface) of (vertices, triangles) parts, the first `cloth` of them cloth, the others colliders."""
    counts = [len(vertices) for vertices, _ in parts]
    first = np.cumsum([0, *counts])
    triangles = np.concatenate([t + at for (_, t), at in zip(parts, first, strict=False)]).astype(np.int32)
    cloth_triangles = sum(len(t) for _, t in parts[:cloth])
    objects = np.repeat(np.arange(len(parts)), counts).astype(np.int32)
    return np.concatenate([v for v, _ in parts]), Surface(int(first[-1]), triangles, cloth_triangles, objects)


def soup(rng, count):
    """Triangles of any three of `count` random points: no two need be neighbours, patches are long and thin."""
    triangles = np.array([rng.choice(count, 3, replace=False) for _ in range(2 * count)], np.int32)
    used = np.unique(triangles)
    return rng.normal(size=(count, 3))[used], np.searchsorted(used, triangles).astype(np.int32)


def meshes():
    """name: (positions, surface, how far vertices move, reach, margin)"""
    rng = np.random.default_rng(11)
    (flat, grid), (body, faces), far = sheet(9), ball(0.3), np.array([1e3, -2e3, 5e3])
    point = together((0 * flat, grid), (0 * body, faces))
    slivers = together((flat * [1e3, 1e-3, 1] + rng.normal(size=flat.shape) * 1e-3, grid), (body, faces))
    coplanar = together((flat, grid), (flat + [0.01, 0, 0], grid), (flat[:, [1, 0, 2]], grid), cloth=2)
    triangle = (np.array([[-100, -100, 0], [100, -100, 0], [0, 100, 0.0]]), np.array([[0, 1, 2]]))
    huge = together((flat * 0.01 + rng.normal(size=flat.shape) * 1e-3, grid), triangle)
    levels = together((flat, grid), (flat * 1e-3 + [0.5, 0.5, 1e-4], grid), (body, faces), cloth=2)
    crumpled = together((flat + rng.normal(size=flat.shape) * 0.1, grid), (body + 0.5, faces))
    distant = (crumpled[0] * 0.1 + far, crumpled[1])
    unlike = np.where(np.arange(len(crumpled[0]))[:, None] % 17 == 0, 100.0, 1e-4)
    return {
        "random triangles": (*together(soup(rng, 60), (body, faces)), 0.05, 0.02, 0.01),
        "crumpled": (*crumpled, 0.1, 0.02, 0.01),
        "all in one point": (*point, 0.0, 1e-3, 0.0),
        "boxes without extent": (*point, 0.0, 0.0, 0.0),
        "at rest, nothing to spare": (*crumpled, 0.0, 0.0, 0.0),
        "long slivers": (*slivers, 1e-3, 2e-3, 1e-4),
        "coplanar layers": (*coplanar, 0.0, 2e-3, 0.0),
        "a huge triangle among tiny ones": (*huge, 1e-3, 2e-3, 1e-4),
        "two scales": (*levels, 1e-3, 2e-3, 1e-4),
        "kilometres away": (*distant, 1e-3, 2e-3, 1e-4),
        "kilometres away, reach below a digit": (*distant, 0.0, 1e-5, 0.0),
        "motions unlike each other": (*crumpled, unlike, 2e-3, 1e-4),
    }


def brute_force(surface: Surface, x0, x1, inflation):
    """Features of all candidates as a set: swept boxes overlap, no shared corner, one of them cloth. float64."""
    edges = unique_edges(surface.triangles)
    cloth = surface.triangles[: surface.cloth_triangles].max() + 1

    def boxes(corners):
        both = np.concatenate([x0[corners], x1[corners]], axis=1)
        return both.min(axis=1) - inflation, both.max(axis=1) + inflation, corners

    def pairs(a, b):
        (low, high, first), (other_low, other_high, second) = a, b
        hit = ((low[:, None] <= other_high) & (other_low <= high[:, None])).all(axis=2)
        shared = (first[:, None, :, None] == second[None, :, None, :]).any(axis=(2, 3))
        return hit & ~shared & ((first[:, :1] < cloth) | (second[:, 0] < cloth))

    vertices = np.unique(surface.triangles)
    v, t = np.nonzero(pairs(boxes(vertices[:, None]), boxes(surface.triangles)))
    e, f = np.nonzero(np.triu(pairs(boxes(edges), boxes(edges)), 1))
    return set(zip(vertices[v].tolist(), t.tolist(), strict=True)) | set(zip((~e).tolist(), f.tolist(), strict=True))


def between(x0, x1, fraction):
    return np.float64(x0) + fraction * (np.float64(x1) - np.float64(x0))


def all_collide(surface):
    """Objects as parties, each of which collides with each."""
    return np.zeros((int(surface.object.max()) + 1,) * 2, bool)

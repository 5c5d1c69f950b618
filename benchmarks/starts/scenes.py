# SPDX-License-Identifier: GPL-3.0-or-later
"""Six kinds of tangled starts, each from a seed. Lengths in metres; the shape without stress is the tangled one itself,
as for a garment that was modelled so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...gpu_core.scene.scene import Cloth, Collider, Scene, Settings
from ...gpu_core.scene.welds import NEAR, lying_seams
from ..stress.shapes import Mesh, cylinder, frames_along, grid, merged, rotation, sphere

Array = npt.NDArray[np.float64]

SETTINGS = Settings(frame_end=24, step_rate=96, start="resolve")


def open_tube(path: Array, radius: npt.ArrayLike, around: int) -> Mesh:
    """Without lids, along a path (P, 3)."""
    normal, binormal = frames_along(path)
    angle = 2 * np.pi * np.arange(around) / around
    ring = np.cos(angle)[None, :, None] * normal[:, None] + np.sin(angle)[None, :, None] * binormal[:, None]
    radii = np.broadcast_to(np.asarray(radius, np.float64), (len(path), around))
    points = (path[:, None] + radii[..., None] * ring).reshape(-1, 3)
    first = np.arange(around * (len(path) - 1)).reshape(-1, around)
    second = np.roll(first, -1, axis=1)
    halves = ((first, second, second + around), (first, second + around, first + around))
    return Mesh(points, np.concatenate([np.stack(half, -1).reshape(-1, 3) for half in halves]).astype(np.int32))


def straight(start: npt.ArrayLike, end: npt.ArrayLike, rings: int) -> Array:
    return np.linspace(np.asarray(start, np.float64), np.asarray(end, np.float64), rings)


def rippled(draw: np.random.Generator, rings: int, around: int, size: float) -> Array:
    """(rings, around) some waves of this size."""
    along, angle = np.linspace(0, 1, rings)[:, None], 2 * np.pi * np.arange(around)[None] / around
    total = np.zeros((rings, around))
    for _ in range(4):
        turns, waves, phase, other = draw.integers(1, 5), draw.uniform(0.5, 3), *draw.uniform(0, 2 * np.pi, 2)
        total += np.sin(turns * angle + phase) * np.sin(2 * np.pi * waves * along + other)
    return np.asarray(size * total / np.abs(total).max())


def worn(name: str, mesh: Mesh) -> Cloth:
    return Cloth(name, mesh.triangles, mesh.positions, mesh.positions)


def standing(name: str, mesh: Mesh) -> Collider:
    return Collider(name, mesh.triangles, mesh.positions[None].astype(np.float32))


def trunk(radius: float) -> Collider:
    return standing("Trunk", cylinder(radius, 0.6, 40, 24))


def inside_a_body(draw: np.random.Generator) -> Scene:
    """A shirt modelled into the skin."""
    depth = draw.uniform(0.0, 0.003)
    shirt = open_tube(straight([0, 0, -0.15], [0, 0, 0.15], 31), 0.1 - depth + rippled(draw, 31, 60, 0.005), 60)
    return Scene((worn("Shirt", shirt),), (trunk(0.1),), SETTINGS)


def layer_in_layer(draw: np.random.Generator) -> Scene:
    """A shirt and a jacket over a body that go through each other."""
    shirt = open_tube(straight([0, 0, -0.14], [0, 0, 0.16], 21), 0.112 + rippled(draw, 21, 40, 0.006), 40)
    size = draw.uniform(0.005, 0.008)
    jacket = open_tube(straight([0, 0, -0.16], [0, 0, 0.13], 22), 0.115 + rippled(draw, 22, 44, size), 44)
    return Scene((worn("Shirt", shirt), worn("Jacket", jacket)), (trunk(0.1),), SETTINGS)


def sleeve_through_trunk(draw: np.random.Generator) -> Scene:
    """A sleeve of a shirt runs through its trunk: by one wall, or by both."""
    body = open_tube(straight([0, 0, -0.2], [0, 0, 0.2], 33), 0.12, 60)
    lean, height = np.radians(draw.uniform(-35, 35)), draw.uniform(-0.05, 0.05)
    end = draw.uniform(0.0, 0.22)
    way = rotation((0, 1, 0), lean) @ [1.0, 0, 0]
    sleeve = open_tube(straight([0, 0, height] - 0.25 * way, [0, 0, height] + end * way, 36), 0.04, 24)
    return Scene((worn("Shirt", merged(body, sleeve)),), (), SETTINGS)


def self_tangled(draw: np.random.Generator) -> Scene:
    """A sheet folded through itself, in a loop."""
    across, along = np.linspace(-0.15, 0.15, 31), np.linspace(-0.3, 0.3, 61)
    flat = grid(along, across)
    turn = draw.uniform(1.3, 1.8) * np.pi  # by which each end is turned: beyond π they cross
    width = draw.uniform(0.06, 0.12)
    fine = np.linspace(-0.3, 0.3, 6001)
    angle = turn * np.tanh(fine / width)
    x, z = (np.cumsum(of(angle)) * (fine[1] - fine[0]) for of in (np.cos, np.sin))
    points = np.column_stack([np.interp(flat.positions[:, 0], fine, x), flat.positions[:, 1],
                              np.interp(flat.positions[:, 0], fine, z)])  # fmt: skip
    points[:, 0] += draw.uniform(-0.2, 0.2) * points[:, 1]
    points[:, 2] += 0.004 * np.sin(draw.uniform(10, 30, 2) @ flat.positions[:, :2].T + draw.uniform(0, 6))
    floor = standing("Floor", grid([-1, 1], [-1, 1]).shifted(0, 0, float(points[:, 2].min()) - 0.05))
    return Scene((worn("Sheet", Mesh(points, flat.triangles)),), (floor,), SETTINGS)


def coincident(draw: np.random.Generator) -> Scene:
    """A sheet and its copy lie in one place over a ball; of odd seeds both are one mesh."""
    flat = grid(np.linspace(-0.2, 0.2, 31), np.linspace(-0.2, 0.2, 31)).turned((0, 0, 1), draw.uniform(0, 90))
    points = flat.shifted(0, 0, 0.11)
    points.positions[:, 2] += 0.01 * np.sin(draw.uniform(10, 30, 2) @ flat.positions[:, :2].T)
    ball = standing("Ball", sphere(0.08))
    if draw.random() < 0.5:
        return Scene((worn("Sheets", merged(points, points)),), (ball,), SETTINGS)
    noise = draw.uniform(0, 3e-4) * draw.normal(size=points.positions.shape)
    copy = Mesh(points.positions + noise, points.triangles)
    return Scene((worn("Sheet", points), worn("Copy", copy)), (ball,), SETTINGS)


def unwelded_seam(draw: np.random.Generator) -> Scene:
    """A skirt of panels as an import leaves it: their borders lie on each other, and nobody welded them."""
    panels, columns = int(draw.integers(3, 6)), 12
    angle = 2 * np.pi * np.arange(panels * columns + 1) / (panels * columns)
    flare, noise = draw.uniform(0.0, 0.08), draw.uniform(0.0, 2e-5)
    parts = []
    for number in range(panels):
        own = angle[number * columns : (number + 1) * columns + 1]
        flat = grid(np.arange(25.0), np.arange(float(len(own))))
        row, column = flat.positions[:, 0] / 24, own[flat.positions[:, 1].astype(int)]
        radius = 0.11 + flare * row
        points = np.column_stack([radius * np.cos(column), radius * np.sin(column), 0.15 - 0.3 * row])
        parts.append(Mesh(points + noise * draw.uniform(-1, 1, points.shape), flat.triangles))
    skirt = worn("Skirt", merged(*parts))
    seams = lying_seams(skirt.triangles, skirt.positions, NEAR * skirt.thickness)  # Weld Borders, which is the default
    return Scene((replace(skirt, seams=seams),), (trunk(0.1),), SETTINGS)


KINDS: dict[str, Callable[[np.random.Generator], Scene]] = {
    "inside a body": inside_a_body,
    "layer in layer": layer_in_layer,
    "sleeve through trunk": sleeve_through_trunk,
    "self-tangled": self_tangled,
    "coincident": coincident,
    "unwelded seam": unwelded_seam,
}
SEEDS = range(5)


def scene_of(kind: str, seed: int) -> Scene:
    return KINDS[kind](np.random.default_rng([list(KINDS).index(kind), seed]))

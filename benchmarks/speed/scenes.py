# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes that are timed, by name; sizes in metres. They need no Blender."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...gpu_core.scene import fabrics
from ...gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, Settings
from ...gpu_core.scene.settings import SolverPreset
from ..stress.shapes import lathe, rotation, sheet, sphere
from .paper import TABLE, PaperRow

COTTON = fabrics.COTTON.material
RADIUS, CENTRE, DROP = 0.25, 0.75, 0.02  #: of the sphere, as in sample_blends/drape_on_sphere.py, m
WAIST, HEM, LENGTH = 0.14, 0.45, 0.6  #: radii and length of the skirt, m
TURN = 120.0  #: of the skirt's waist and hips, degrees a second

Build = Callable[[int, int], Scene]  # (vertices, frames)


@dataclass(frozen=True)
class SpeedScene:
    """One row of the table. The paper's row stands beside it where collider, size and step are the same."""

    name: str
    build: Build
    vertices: int  #: that it is meant for
    paper: PaperRow | None = None
    same: str = ""  #: what is the same as in the paper's scene, and what is not


def _drape(vertices: int, material: Material, settings: Settings) -> Scene:
    """A square of 1 m falls 2 cm onto a sphere."""
    fallen = sheet(vertices, 1.0).shifted(0.0, 0.0, CENTRE + RADIUS + DROP)
    ball = sphere(RADIUS, 64).shifted(0.0, 0.0, CENTRE)
    cloth = Cloth("Cloth", fallen.triangles, fallen.positions, fallen.positions, material)
    return Scene((cloth,), (Collider("Sphere", ball.triangles, ball.positions[None]),), settings)


def drape(vertices: int, frames: int) -> Scene:
    return _drape(vertices, COTTON, Settings(1, frames))


def paper_drape(vertices: int, frames: int) -> Scene:
    """ρ = 0.3 kg/m², h = 1/200 s exactly (25 frames a second of 8 steps)."""
    return _drape(vertices, replace(COTTON, density=0.3), Settings(1, frames, fps=25.0, step_rate=200.0))


def skirt(vertices: int, frames: int) -> Scene:
    """A flared skirt, its waist held by turning hips, h = 1/200 s."""
    middle = np.pi * (WAIST + HEM)  # mean circumference
    segments = max(8, round(np.sqrt(vertices * middle / LENGTH)))
    share = np.linspace(0.0, 1.0, max(3, round(vertices / segments)))
    flared = lathe(np.column_stack([WAIST + (HEM - WAIST) * share, -LENGTH * share]), segments)
    hips = lathe([[0.0, -0.35], [0.1, -0.33], [0.15, -0.2], [0.97 * WAIST, 0.0], [0.9 * WAIST, 0.05], [0.0, 0.05]], 48)
    turns = np.stack([rotation((0, 0, 1), np.radians(TURN) * k / 25.0) for k in range(frames)])
    held = np.arange(segments, dtype=np.int32)
    pins = Pins(held, np.einsum("fij,vj->fvi", turns, flared.positions[held]))
    material = replace(COTTON, density=0.3)
    cloth = Cloth("Skirt", flared.triangles, flared.positions, flared.positions, material, pins=pins)
    collider = Collider("Hips", hips.triangles, np.einsum("fij,vj->fvi", turns, hips.positions))
    return Scene((cloth,), (collider,), Settings(1, frames, fps=25.0, step_rate=200.0))


SCENES = {
    scene.name: scene
    for scene in (
        SpeedScene("drape", drape, 40000),
        SpeedScene(
            "paper_drape", paper_drape, 40000,
            TABLE["drape_on_sphere"],
            "mesh size, sphere drape, step and density; fabric, sphere and height of fall are ours",
        ),
        SpeedScene(
            "skirt", skirt, 340000,
            TABLE["fashion_show"],
            "size, step and density of the midi skirt of Fig. 1; garment and motion are ours",
        ),
    )
}  # fmt: skip


def built(name: str, vertices: int, frames: int, preset: SolverPreset = "default") -> Scene:
    """The scene `name` with about `vertices` vertices. Raises KeyError."""
    scene = SCENES[name].build(vertices, frames)
    return replace(scene, settings=replace(scene.settings, preset=preset))

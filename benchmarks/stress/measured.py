# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes whose size, place or mesh is hard on float32 and on everything with a length built in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...gpu_core.scene.scene import Cloth, Collider, Scene
from .shapes import Mesh, grid, sheet, sphere
from .stress import Stress, cloth, collider, jittered, scene


def _drape(mesh: Mesh, thickness: float, scale: float = 1.0) -> tuple[Cloth, Collider]:
    """A sheet 0.4 · scale m wide, a little above a ball."""
    falling = jittered(mesh, 1e-4 * scale).shifted(0.003 * scale, 0.002 * scale, 0.105 * scale)
    ball = sphere(0.1 * scale)
    return cloth("Sheet", falling, thickness=thickness), collider("Ball", ball, thickness=thickness)


def tiny(vertices: int, frames: int) -> Scene:
    """A scene of 1 cm, cloth of 20 µm: lengths that are built in show here."""
    falling, ball = _drape(sheet(vertices, 0.01), 2.0e-5, 0.025)
    return scene([falling], [ball], frames, fps=96.0, step_rate=768.0)


def huge(vertices: int, frames: int) -> Scene:
    """A scene of 50 m: a metre falls in the time in which a small cloth comes to rest."""
    falling, ball = _drape(sheet(vertices, 50.0), 0.02, 125.0)
    return scene([falling], [ball], frames)


def far_away(vertices: int, frames: int) -> Scene:
    """A drape 1 km off the origin, where float32 ends at 0.06 mm."""
    return _shifted(*_drape(sheet(vertices, 0.4), 1e-3), (1000.0, -800.0, 600.0), frames)


def _shifted(falling: Cloth, ball: Collider, shift: tuple[float, float, float], frames: int) -> Scene:
    far = replace(falling, positions=falling.positions + shift)
    return scene([far], [replace(ball, positions=(ball.positions + np.array(shift)).astype(np.float32))], frames)


def far_apart(vertices: int, frames: int) -> Scene:
    """Two drapes 1 km apart in one scene: no centre is near to both."""
    near = _drape(sheet(vertices // 2, 0.4), 1e-3)
    away = _shifted(*_drape(sheet(vertices // 2, 0.4), 1e-3), (1000.0, 0.0, 0.0), frames)
    cloths = [near[0], replace(away.cloths[0], name="Far sheet")]
    return scene(cloths, [near[1], replace(away.colliders[0], name="Far ball")], frames)


def graded(vertices: int, frames: int) -> Scene:
    """Triangles whose sizes differ a hundredfold: one stiffness and one margin must serve all."""
    gaps = max(3, round(np.sqrt(vertices) / 2))
    half = np.cumsum(np.geomspace(1.0, 100.0, gaps))
    lines = 0.2 / half[-1] * np.concatenate([-half[::-1], [0.0], half])
    falling = grid(lines, lines)
    smallest = np.diff(lines).min()
    return scene(
        [cloth("Sheet", jittered(falling, 0.05 * smallest).shifted(0.003, 0.002, 0.105))],
        [collider("Ball", sphere(0.1))],
        frames,
    )


def slivers(vertices: int, frames: int) -> Scene:
    """Triangles a hundred times as long as high: heights as short as the cloth is thick."""
    rows = max(3, round(np.sqrt(vertices / 100.0)) + 1)
    columns = vertices // rows
    length = 0.4 / (rows - 1)
    falling = grid(np.linspace(-0.2, 0.2, rows), 0.01 * length * (np.arange(columns) - columns / 2))
    return scene([cloth("Sheet", falling.shifted(0.003, 0.002, 0.105))], [collider("Ball", sphere(0.1))], frames)


MEASURED = (
    Stress(tiny, 36),
    Stress(huge, 60),
    Stress(far_away, 24),
    Stress(far_apart, 24),
    Stress(graded, 24),
    Stress(slivers, 24),
)

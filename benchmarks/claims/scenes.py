# SPDX-License-Identifier: GPL-3.0-or-later
"""The paper's scenes for its figures on the solver: a strip, a table cloth, a drape, a twist. SI units."""

from __future__ import annotations

import numpy as np

from ...gpu_core.scene.scene import Cloth, Material, Pins, Scene, Settings
from ..stress.shapes import Mesh, sheet, sphere
from ..stress.stress import cloth, collider, jittered

#: Table 1: ρ 0.3, κ 160 and 3e-4. ‖F − R‖² alone (shear = Y/2), no strain limit, D = 3 κ_bend
#: (docs/theory/method.md §3, §4).
PAPER = Material(
    density=0.3, stretch_warp=160.0, stretch_weft=160.0, shear=80.0, bend=9.0e-4, strain_limit=0.0, softening=1.0,
    air_drag=0.0,
)  # fmt: skip
STIFF = 100.0  #: times the bending of `PAPER`: a strip that Jacobi cannot solve undamped (Fig. 2, "quite strong")


def settings(frames: int, *, rate: float = 150.0, tolerance: float = Settings.tolerance) -> Settings:
    """25 frames a second."""
    return Settings(1, 1 + frames, fps=25.0, step_rate=rate, tolerance=tolerance, backend="cpu")


def strip(vertices: int, frames: int, *, stiffness: float = STIFF) -> Scene:
    """A strip, 1 m × 0.16 m, held at one end, that gravity bends; nothing touches it."""
    mesh = sheet(vertices, 1.0, 0.16)
    held = np.flatnonzero(mesh.positions[:, 0] < mesh.positions[:, 0].min() + 1e-9).astype(np.int32)
    material = Material(**{**vars(PAPER), "bend": PAPER.bend * stiffness})
    pinned = Pins(held, mesh.positions[None, held])
    piece = Cloth("Strip", mesh.triangles, mesh.positions, mesh.positions, material, pins=pinned)
    return Scene((piece,), (), settings(frames))


def lumpy(radius: float, segments: int) -> Mesh:
    """A ball with bumps, as a stand-in for the paper's Armadillo."""
    ball = sphere(radius, segments)
    x, y, z = (ball.positions / radius).T
    bumps = 0.08 * np.sin(7.0 * x + 1.0) * np.cos(6.0 * y) + 0.06 * np.sin(9.0 * y + 5.0 * z) + 0.05 * np.cos(11.0 * x)
    return Mesh(ball.positions * (1.0 + bumps)[:, None], ball.triangles)


def tablecloth(vertices: int, frames: int) -> Scene:
    """A table cloth of 1 m falls on a lumpy body three times as wide as the cloth, so that most of it comes to lie."""
    lump = lumpy(1.5, 64).shifted(0.0, 0.0, -1.5)
    falling = jittered(sheet(vertices, 1.0), 1e-5).shifted(0.003, 0.002, 0.25)
    return Scene((cloth("Cloth", falling, material=PAPER),), (collider("Body", lump),), settings(frames))


def drape(vertices: int, frames: int) -> Scene:
    """Fig. 13: a cloth of 1 m on a ball of half its width."""
    ball = sphere(0.25, 48).shifted(0.0, 0.0, -0.25)
    falling = jittered(sheet(vertices, 1.0), 1e-5).shifted(0.003, 0.002, 0.01)
    return Scene((cloth("Cloth", falling, material=PAPER),), (collider("Ball", ball),), settings(frames, rate=200.0))

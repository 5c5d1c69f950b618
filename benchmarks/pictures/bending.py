# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics by their own weight: strips beside the elastica, discs on a table (docs/theory/bending.md)."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_bvp

from ...gpu_core.scene import fabrics
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.scene import Cloth, Pins
from ..physics.drape import SPECIMEN, TABLE, disc, elastic, settled, specimen
from ..physics.motion import GRAVITY, simulate
from ..physics.result import DEFAULT
from ..physics.shapes import grid
from ..stress.shapes import box, cylinder, tube
from .part import Part, Picture

STRIPS = ("Silk", "Cotton", "Denim", "Canvas")
LENGTH, WIDTH, CELL = 0.06, 0.02, 2.0e-3  #: m
DISCS = ("silk", "cotton", "wool", "denim")


def elastica(gamma: float, places: int) -> Array:
    """(places, 2) (x, drop) per length along a heavy cantilever: D θ″ = −ρg(L − s) cos θ, Γ = ρgL³/D."""
    s = np.linspace(0.0, 1.0, 401)
    guess = 0.5 * np.pi * (1.0 - np.exp(-s * gamma ** (1 / 3)))
    solved = solve_bvp(
        lambda s, y: np.stack([y[1], -gamma * (1.0 - s) * np.cos(y[0])]),
        lambda root, tip: np.array([root[0], tip[1]]), s, np.stack([guess, np.gradient(guess, s)]), tol=1e-6,
    )  # fmt: skip
    if not solved.success:
        raise ArithmeticError(solved.message)
    fine = np.linspace(0.0, 1.0, 4001)
    angle = solved.sol(fine)[0]
    step = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    curve = np.concatenate([[[0.0, 0.0]], np.cumsum(0.5 * (step[1:] + step[:-1]), axis=0) / (len(fine) - 1)])
    return np.asarray(curve[np.linspace(0, len(fine) - 1, places).astype(int)])


def cantilevers(vertices: int) -> list[Part]:
    """Strips of four fabrics clamped at one end, at rest, each between two lines along its elastica: no yarns rub."""
    cells = max(6, round(np.sqrt(vertices / len(STRIPS) * LENGTH / WIDTH)))
    parts: list[Part] = []
    for row, fabric in enumerate(STRIPS):
        material, at = elastic(fabrics.named(fabric).material), [0.0, -row * 2.2 * WIDTH, 0.0]
        points, triangles = grid(cells + 2, max(2, round(cells * WIDTH / LENGTH)) + 1, LENGTH * (1 + 1 / cells), WIDTH)
        points[:, 0] += 0.5 * LENGTH * (1 - 1 / cells)
        held = np.flatnonzero(points[:, 0] < 1e-9).astype(np.int32)
        strip = Cloth(fabric, triangles, points, points, material, pins=Pins(held, points[None, held]))
        motion = simulate(strip, solve=DEFAULT, seconds=4.0, keep_every=96)
        final = motion.positions[-1]
        gamma = material.density * GRAVITY * LENGTH**3 / material.bend
        curve = LENGTH * elastica(gamma, 60)
        tip = final[points[:, 0] > LENGTH - 1e-9].mean(axis=0)
        print(
            f"{fabric}: Γ {gamma:.1f}, drop {-1e3 * tip[2]:.2f} mm, elastica {1e3 * curve[-1, 1]:.2f} mm, "
            f"reach {1e3 * tip[0]:.2f} mm, elastica {1e3 * curve[-1, 0]:.2f} mm, "
            f"rms speed {1e3 * motion.rms_speed()[-1]:.2f} mm/s",
            flush=True,
        )
        parts.append(Part(fabric, final, triangles, "cloth", row, points).shifted(*at))
        for side in (-1.0, 1.0):
            path = np.column_stack([curve[:, 0], np.full(60, side * (0.5 * WIDTH + 1.2e-3)), -curve[:, 1]])
            wire = tube(path, 0.35e-3, 8)
            parts.append(Part(f"Elastica, {fabric}", wire.positions, wire.triangles, "line").shifted(*at))
    across = (2.2 * (len(STRIPS) - 1) + 1.6) * WIDTH
    clamp = box(0.02, across, 0.014).shifted(-0.01, -1.1 * (len(STRIPS) - 1) * WIDTH, 0.0)
    return [*parts, Part("Clamp", clamp.positions, clamp.triangles)]


def drape_discs(vertices: int) -> list[Part]:
    """Cusick's discs, 30 cm on a table of 18 cm, of four fabrics, lowered on a plate, at rest."""
    parts: list[Part] = []
    mesh = disc(vertices // len(DISCS))
    table = cylinder(TABLE - 2e-3, 0.1, 96, 1).shifted(0.0, 0.0, -0.051)
    for row, fabric in enumerate(DISCS):
        drape = settled(fabrics.named(fabric).material, mesh, specimen(mesh, seed=0, face=1.0), on_plate=True)
        print(f"{fabric}: drape coefficient {drape.coefficient:.1f} %, {drape.folds} folds", flush=True)
        parts += [
            part.shifted(row * 1.85 * SPECIMEN, 0.0, 0.0)
            for part in (
                Part(fabric, drape.positions, mesh[1], "cloth", row, mesh[0]),
                Part(f"Table {row}", table.positions, table.triangles),
            )
        ]
    return parts


PICTURES = (
    Picture(cantilevers, 600, -40.0, 14.0, raised=0.1),
    Picture(drape_discs, 10000, -90.0, 44.0, film=(960, 280)),
)

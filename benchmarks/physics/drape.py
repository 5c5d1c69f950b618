"""Cusick's drape coefficient (validation.md §8): a disc of 30 cm on a table of 18 cm, and the shadow it throws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import Delaunay

from ...gpu_core import fabrics
from ...gpu_core.scene import Cloth, Material, Pins
from .motion import GRAVITY, Positions, simulate
from .result import Result, Solve
from .shapes import Mesh, Triangles

SPECIMEN, TABLE = 0.15, 0.09  #: radii, m
PIXEL = 0.4e-3  #: m
#: Measured coefficients in %, lowest and highest (validation.md §8, secondary sources there).
MEASURED = {"cotton": (60.0, 76.0), "silk": (20.0, 40.0), "wool": (40.0, 70.0), "denim": (70.0, 90.0)}


def specimen(count: int, seed: int = 0) -> Mesh:
    """About `count` vertices without preferred direction; one ring of them lies on the table's rim."""
    edge = np.sqrt(np.pi * SPECIMEN**2 / count * 2.0 / np.sqrt(3.0))
    rings = [_ring(radius, edge) for radius in (TABLE, SPECIMEN)]
    inner = _spiral(0.0, TABLE - 0.75 * edge, edge)
    outer = _spiral(TABLE + 0.75 * edge, SPECIMEN - 0.75 * edge, edge)
    flat = np.concatenate([inner, rings[0], outer, rings[1]])
    triangles = Delaunay(flat).simplices
    a, b, c = (flat[triangles[:, k]] for k in range(3))
    twice = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    triangles[twice < 0] = triangles[twice < 0][:, ::-1]
    points = np.column_stack([flat, np.zeros(len(flat))])
    return points, triangles[np.abs(twice) > 0.05 * edge**2].astype(np.int32)


def _ring(radius: float, edge: float) -> Positions:
    angle = np.linspace(0.0, 2.0 * np.pi, round(2.0 * np.pi * radius / edge), endpoint=False)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _spiral(first: float, last: float, edge: float) -> Positions:
    """Equal areas at golden angles between two radii."""
    count = round(np.pi * (last**2 - first**2) / (edge**2 * np.sqrt(3.0) / 2.0))
    k = np.arange(count) + 0.5
    radius, angle = np.sqrt(first**2 + (last**2 - first**2) * k / count), k * np.pi * (3.0 - np.sqrt(5.0))
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def shadow(points: Positions, triangles: Triangles) -> float:
    """Area of the union of the triangles' projections on z = 0, by pixels, m²."""
    corners = points[triangles][:, :, :2]
    size = 2 * int(np.ceil(1.1 * SPECIMEN / PIXEL))
    dark = np.zeros((size, size), bool)
    longest = max(float(np.ptp(corners, axis=1).max()), PIXEL)
    steps = int(np.ceil(2.0 * longest / PIXEL))
    i, j = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    inside = i + j <= steps
    u, v = i[inside] / steps, j[inside] / steps
    for a, b, c in corners:
        at = np.floor((a + u[:, None] * (b - a) + v[:, None] * (c - a)) / PIXEL).astype(int) + size // 2
        dark[at[:, 0], at[:, 1]] = True
    return float(dark.sum()) * PIXEL**2


def coefficient(fabric: str, count: int, solve: Solve, seconds: float = 3.0, seed: int = 0) -> tuple[float, int, float]:
    """(drape coefficient in %, folds, rms speed at the end in mm/s)."""
    points, triangles = specimen(count)
    noise = np.random.default_rng(seed).normal(0.0, 1.0e-5, points.shape)
    held = np.flatnonzero(np.hypot(points[:, 0], points[:, 1]) < TABLE + 1e-9).astype(np.int32)
    noise[held] = 0.0
    cloth = Cloth("Disc", triangles, points, points + noise, _material(fabric), pins=Pins(held, points[None, held]))
    motion = simulate(cloth, solve=solve, seconds=seconds, keep_every=6)
    final = motion.positions[-1]
    table, whole = shadow(points, triangles[np.isin(triangles, held).all(axis=1)]), shadow(points, triangles)
    value = 100.0 * (shadow(final, triangles) - table) / (whole - table)
    return value, _folds(points, final), 1e3 * float(motion.rms_speed()[-1])


def _folds(points: Positions, final: Positions) -> int:
    """Waves of the rim's radius around the circle: the strongest Fourier number above 1."""
    rim = np.flatnonzero(np.hypot(points[:, 0], points[:, 1]) > SPECIMEN - 1e-9)
    rim = rim[np.argsort(np.arctan2(points[rim, 1], points[rim, 0]))]
    radius = np.hypot(final[rim, 0], final[rim, 1])
    return int(np.argmax(np.abs(np.fft.rfft(radius - radius.mean()))[2:20])) + 2


def limpness(fabric: str) -> float:
    """(a/c)³ = ρ g a³/D with a the overhang: what decides the coefficient of a sheet that does not stretch."""
    material = _material(fabric)
    return material.density * GRAVITY * (SPECIMEN - TABLE) ** 3 / material.bend


def _material(fabric: str) -> Material:
    return next(f for f in fabrics.FABRICS if f.name.lower().startswith(fabric)).material


def cusick(solve: Solve, counts: tuple[int, ...] = (1000, 2000)) -> Iterator[Result]:
    """Each fabric at the first count; cotton at all of them."""
    first = {}
    for fabric, (low, high) in MEASURED.items():
        value, folds, speed = first[fabric] = coefficient(fabric, counts[0], solve)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        yield Result(
            f"drape coefficient, {fabric}, {counts[0]} vertices, {folds} folds", value, middle, half + 5.0, "%"
        )
        yield Result(f"drape coefficient, {fabric}: rms speed when read", speed, 0.0, None, "mm/s")
        yield Result(f"drape coefficient, {fabric}: its (a/c)³", limpness(fabric), 0.0, None)
    before = first["cotton"][0]
    for count in counts[1:]:
        value, folds, _ = coefficient("cotton", count, solve)
        yield Result(f"drape coefficient, cotton, {count} vertices, {folds} folds", value, before, 3.0, "%")
        before = value

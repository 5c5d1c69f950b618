# SPDX-License-Identifier: GPL-3.0-or-later
"""Cusick's drape coefficient (Cusick 1968): a disc of 30 cm on a table of 18 cm, and the shadow it throws.

A disc has many equilibria. How many folds it falls into depends on its state before, and the coefficient on the folds;
real cloth does the same ("A Study of Fabric-drape Behaviour with Image Analysis, Part I: Measurement, Characterisation,
and Instability", abstract: measure many times). So a coefficient is a mean over specimens and both faces, with its
spread. A specimen is dropped, or lowered on a plate as on the instrument, which leaves it no speed to fold with. Time
only leads to the equilibrium here: steps of 1/48 s, whose numerical damping is strong, each solved far enough that what
is left does not keep the cloth moving.

Yarns rub as they do in the presets. Where such a cloth rests depends on its way there, which a drape that is carried to
another mesh does not bring along: refinements of one specimen are of cotton whose yarns do not rub.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
from scipy.interpolate import CloughTocher2DInterpolator, NearestNDInterpolator
from scipy.spatial import Delaunay

from ...gpu_core.scene import fabrics
from ...gpu_core.scene.scene import Cloth, Collider, Material, Pins
from ...gpu_core.solvers.parameters import NdbParameters
from .motion import GRAVITY, Positions, simulate
from .result import TIGHT, Result, Solve
from .shapes import Mesh, Triangles

SPECIMEN, TABLE = 0.15, 0.09  #: radii, m
DOUBLING = 0.09  #: distance from the table's rim over which a disc's edges grow to twice their length, m
PIXEL = 0.4e-3  #: m
UNEVEN = 1.0e-3  #: by how much a specimen is not flat at its rim, rms, m
SPECIMENS = (0, 1)  #: seeds; each on both faces
COUNTS = (1000, 2500, 5000, 10000, 20000, 40000)  #: vertices of a refinement
STILL = 3.0e-4  #: rms speed of a settled specimen, m/s
LOWERED, LOWERING = 0.075, 1.5  #: how far the plate under a specimen goes down, m, and in how long, s
FOLDS = (5.0, 8.0)  #: of measured discs (docs/theory/physics.md)
SETTLING = Solve(
    "settling",
    0.01,
    NdbParameters().replaced(inner_iterations=60, outer_iterations=20, max_gradients=2000, accuracy=0.01),
)
#: Measured coefficients in %, lowest and highest (secondary sources).
MEASURED = {"cotton": (60.0, 76.0), "silk": (20.0, 40.0), "wool": (40.0, 70.0), "denim": (70.0, 90.0)}


def disc(count: int) -> Mesh:
    """About `count` vertices without preferred direction; one ring of them lies on the table's rim.

    Folds begin there, in tips that an even mesh of 5000 vertices, edges of 4 mm, bends by 50° an edge: edges are
    shortest at the table's rim. (N, 3) m, and (T, 3).
    """
    radius = np.linspace(0.0, SPECIMEN, 20001)
    middle = 0.5 * (radius[1:] + radius[:-1])
    within = np.append(0.0, np.cumsum(2.0 * np.pi * middle * np.diff(radius) / _growth(middle) ** 2))
    edge = float(np.sqrt(within[-1] / count * 2.0 / np.sqrt(3.0)))  # at the table's rim
    within /= edge**2 * np.sqrt(3.0) / 2.0  # points within each radius

    def spiral(first: float, last: float) -> Positions:
        """As many points per area as wanted, at golden angles, between two radii."""
        low, high = np.interp([first, last], radius, within)
        k = np.arange(round(high - low)) + 0.5
        at, angle = np.interp(low + k * (high - low) / len(k), within, radius), k * np.pi * (3.0 - np.sqrt(5.0))
        return at[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)

    rim = edge * float(_growth(np.array(SPECIMEN)))
    rings = [_ring(TABLE, edge), _ring(SPECIMEN, rim)]
    inner, outer = spiral(0.0, TABLE - 0.75 * edge), spiral(TABLE + 0.75 * edge, SPECIMEN - 0.75 * rim)
    flat = np.concatenate([inner, rings[0], outer, rings[1]])
    triangles = Delaunay(flat).simplices
    a, b, c = (flat[triangles[:, k]] for k in range(3))
    twice = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    triangles[twice < 0] = triangles[twice < 0][:, ::-1]
    points = np.column_stack([flat, np.zeros(len(flat))])
    return points, triangles[np.abs(twice) > 0.05 * edge**2].astype(np.int32)


def _growth(radius: Positions) -> Positions:
    """Length of an edge at a radius over that at the table's rim."""
    return np.asarray(1.0 + np.abs(radius - TABLE) / DOUBLING)


def _ring(radius: float, edge: float) -> Positions:
    angle = np.linspace(0.0, 2.0 * np.pi, round(2.0 * np.pi * radius / edge), endpoint=False)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


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


@dataclass(frozen=True)
class Drape:
    """A disc at rest."""

    mesh: Mesh
    positions: Positions  #: (N, 3) m
    coefficient: float  #: %
    speed: float  #: rms, m/s

    @property
    def folds(self) -> int:
        return _folds(self.mesh[0], self.positions)


def specimen(mesh: Mesh, seed: int, face: float) -> Positions:
    """(N, 3) where specimen `seed` starts: flat but for waves around its rim, the same on every mesh. face: ±1."""
    points, random = mesh[0], np.random.default_rng(seed)
    radius, angle = np.hypot(points[:, 0], points[:, 1]), np.arctan2(points[:, 1], points[:, 0])
    waves = np.zeros(len(points))
    for number in range(1, 13):
        a, b = random.normal(size=2)
        waves += a * np.cos(number * angle) + b * np.sin(number * angle)
    overhang = np.clip((radius - TABLE) / (SPECIMEN - TABLE), 0.0, 1.0)
    return points + (face * UNEVEN / np.sqrt(12.0) * overhang**2 * waves)[:, None] * [0.0, 0.0, 1.0]


def carried(drape: Drape, mesh: Mesh) -> Positions:
    """(N, 3) the shape of a drape on another mesh of the disc."""
    flat, moved = drape.mesh[0][:, :2], drape.positions - drape.mesh[0]
    smooth = CloughTocher2DInterpolator(flat, moved)(mesh[0][:, :2])
    nearest = NearestNDInterpolator(flat, moved)(mesh[0][:, :2])  # for the rim, a little outside the coarser polygon
    return np.asarray(mesh[0] + np.where(np.isnan(smooth), nearest, smooth))


def plate(specimen: Positions) -> Collider:
    """Smooth, under a specimen (N, 3), and then lowered out of its way."""
    corners = 1.3 * SPECIMEN * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    height = specimen[:, 2].min() - 2.5e-3 - np.linspace(0.0, LOWERED, 1 + round(24 * LOWERING))
    path = corners + height[:, None, None] * [0.0, 0.0, 1.0]
    return Collider("Plate", np.array([[0, 1, 2], [0, 2, 3]], np.int32), path.astype(np.float32), friction=0.0)


def settled(
    material: Material, mesh: Mesh, start: Positions, seconds: float = 3.0, *, on_plate: bool = False,
    collides: bool = True,
) -> Drape:  # fmt: skip
    """After `seconds`, or once it is still; first the plate, if it lies `on_plate`, goes down."""
    points, triangles = mesh
    held = np.flatnonzero(np.hypot(points[:, 0], points[:, 1]) < TABLE + 1e-9).astype(np.int32)
    start = start.copy()
    start[held] = points[held]
    cloth = Cloth("Disc", triangles, points, start, material, pins=Pins(held, points[None, held]))
    free = LOWERING if on_plate else 0.0  # s, when nothing bears it any more
    motion = simulate(
        cloth, [plate(start)] if on_plate else [], solve=SETTLING, seconds=free + seconds, rate=48.0,
        self_collision=collides,
        stop=lambda _, report: report.frame > 24 * free + 6 and report.rms_speed < STILL,
    )  # fmt: skip
    final = motion.positions[-1]
    table, whole = shadow(points, triangles[np.isin(triangles, held).all(axis=1)]), shadow(points, triangles)
    value = 100.0 * (shadow(final, triangles) - table) / (whole - table)
    return Drape(mesh, final, value, float(motion.rms_speed()[-1]))


def _folds(points: Positions, final: Positions) -> int:
    """Waves of the rim's radius around the circle: the strongest Fourier number above 1."""
    rim = np.flatnonzero(np.hypot(points[:, 0], points[:, 1]) > SPECIMEN - 1e-9)
    rim = rim[np.argsort(np.arctan2(points[rim, 1], points[rim, 0]))]
    radius = np.hypot(final[rim, 0], final[rim, 1])
    return int(np.argmax(np.abs(np.fft.rfft(radius - radius.mean()))[2:20])) + 2


def limpness(fabric: str) -> float:
    """(a/c)³ = ρ g a³/D with a the overhang: what decides the coefficient of a sheet that does not stretch."""
    material = fabrics.named(fabric).material
    return material.density * GRAVITY * (SPECIMEN - TABLE) ** 3 / material.bend


def elastic(material: Material) -> Material:
    """The same with yarns that do not rub."""
    return replace(material, bend_friction=0.0)


def dropped(solve: Solve) -> Iterator[Result]:
    """Each fabric let go where it lies flat."""
    yield from _cusick(solve, "dropped", 2500, on_plate=False)


def lowered(solve: Solve) -> Iterator[Result]:
    """Each fabric on a plate that goes down under it, as on the instrument. Edges from 2 to 4 mm; 5 would do (§8)."""
    yield from _cusick(solve, "lowered", 10000, on_plate=True)


def lowered_elastic(solve: Solve) -> Iterator[Result]:
    """The same with yarns that do not rub: what D alone bears."""
    yield from _cusick(solve, "no friction, lowered", 10000, on_plate=True, judged=False, change=elastic)


def _cusick(
    solve: Solve, way: str, count: int, *, on_plate: bool, judged: bool = True,
    change: Callable[[Material], Material] = lambda material: material,
) -> Iterator[Result]:  # fmt: skip
    """Means over specimens and both faces. Settled in one way, so there is nothing to repeat for TIGHT."""
    if solve is TIGHT:
        return
    mesh = disc(count)
    for fabric, (low, high) in MEASURED.items():
        drapes = [
            settled(change(fabrics.named(fabric).material), mesh, specimen(mesh, seed, face), on_plate=on_plate)
            for seed, face in product(SPECIMENS, (1.0, -1.0))
        ]
        values, folds = [drape.coefficient for drape in drapes], float(np.mean([drape.folds for drape in drapes]))
        name = f"drape coefficient, {fabric}, {way}, {count} vertices"
        wanted, bound = _about(low, high, 5.0)
        yield Result(f"{name}: mean of {len(values)}", float(np.mean(values)), wanted, bound if judged else None, "%")
        yield Result(f"{name}: standard deviation", float(np.std(values, ddof=1)), 0.0, 3.0 if judged else None, "%")
        wanted, bound = _about(*FOLDS, 0.0)
        yield Result(f"{name}: folds, mean", folds, wanted, bound if on_plate and judged else None)
        yield Result(f"{name}: fastest when read", 1e3 * max(drape.speed for drape in drapes), 0.0, None, "mm/s")
        if not on_plate:
            yield Result(f"drape coefficient, {fabric}: its (a/c)³", limpness(fabric), 0.0, None)


def _about(low: float, high: float, beyond: float) -> tuple[float, float]:
    """(reference, bound) of a value from `low` to `high`, or `beyond` them."""
    return 0.5 * (low + high), 0.5 * (high - low) + beyond


def refinement(solve: Solve) -> Iterator[Result]:
    """One specimen of cotton on ever finer meshes, dropped on the first."""
    yield from _refined(solve, "dropped", on_plate=False)


def refinement_on_plate(solve: Solve) -> Iterator[Result]:
    """The same, lowered on the first."""
    yield from _refined(solve, "lowered", on_plate=True)


def _refined(solve: Solve, way: str, *, on_plate: bool) -> Iterator[Result]:
    """Each mesh starts from the shape at rest on the one before, and the whole way from 5000 vertices to 40 000.

    No part of it comes near another, so that contact, which costs most of the time, is left out after the first.
    """
    if solve is TIGHT:
        return
    cotton, mesh, drapes = elastic(fabrics.COTTON.material), disc(COUNTS[0]), {}
    drapes[COUNTS[0]] = settled(cotton, mesh, specimen(mesh, 0, 1.0), on_plate=on_plate)
    name = f"drape coefficient, one cotton, {way}"
    for before, count in pairwise(COUNTS):
        mesh = disc(count)
        drape = drapes[count] = settled(cotton, mesh, carried(drapes[before], mesh), collides=False)
        step = f"{name}, {before} to {count} vertices"
        yield Result(f"{step}, {drape.folds} folds", drape.coefficient, drapes[before].coefficient, 3.0, "%")
        yield Result(f"{step}: rms speed when read", 1e3 * drape.speed, 0.0, None, "mm/s")
    yield Result(f"{name}, 5000 to 40000 vertices", drape.coefficient, drapes[5000].coefficient, 3.0, "%")


def refinement_of_means(solve: Solve) -> Iterator[Result]:
    """Means over specimens and both faces of cotton: lowered on 5000 vertices, and on 10 000 and carried to 40 000."""
    if solve is TIGHT:
        return
    cotton, (coarse, finer, finest) = elastic(fabrics.COTTON.material), map(disc, (5000, 10000, 40000))
    found: list[list[float]] = [[], []]
    for seed, face in product(SPECIMENS, (1.0, -1.0)):
        first, second = (settled(cotton, mesh, specimen(mesh, seed, face), on_plate=True) for mesh in (coarse, finer))
        last = settled(cotton, finest, carried(second, finest), collides=False)
        for values, drape in zip(found, (first, last), strict=True):
            values.append(drape.coefficient)
    before, after = (float(np.mean(values)) for values in found)
    name = f"drape coefficient, cotton, lowered, mean of {len(found[0])}"
    yield Result(f"{name}, 5000 to 40000 vertices", after, before, 3.0, "%")


def refinement_of_rubbing(solve: Solve) -> Iterator[Result]:
    """The mean of both faces of a cotton whose yarns rub: lowered on 5000 vertices, and the whole way on 40 000."""
    if solve is TIGHT:
        return
    found = []
    for mesh in (disc(5000), disc(40000)):
        starts = (specimen(mesh, 0, face) for face in (1.0, -1.0))
        drapes = [settled(fabrics.COTTON.material, mesh, start, on_plate=True) for start in starts]
        found.append(float(np.mean([drape.coefficient for drape in drapes])))
    before, after = found
    yield Result("drape coefficient, cotton that rubs, lowered, 5000 to 40000 vertices", after, before, 3.0, "%")

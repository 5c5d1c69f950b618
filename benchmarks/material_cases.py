# SPDX-License-Identifier: GPL-3.0-or-later
"""The material tests: each function measures one number that has a closed form (docs/theory/material.md).

All but `settled_tip` are static and in float64, see statics.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ..gpu_core.backend import select
from ..gpu_core.elasticity.assembly import Assembly, assemble
from ..gpu_core.elasticity.bending import bending
from ..gpu_core.elasticity.choices import BendingForm, ElasticityChoices
from ..gpu_core.elasticity.plate import plate_rows
from ..gpu_core.scene.mesh import triangle_areas
from ..gpu_core.scene.scene import Cloth, Material, Pins, Scene, Settings
from ..gpu_core.simulator import Simulator
from ..gpu_core.solvers.parameters import NdbParameters
from .statics import Statics, equilibrium
from .strips import Strip

Array = npt.NDArray[np.float64]

GRAVITY = 9.81
GREENHILL = 7.837347  #: Γ at which an upright strip buckles
DENSITY = 0.2  #: kg/m²
STEP = 0.01  #: s; enters no static result


def elastica_tip(gamma: float) -> tuple[float, float]:
    """(x, drop) of the tip of a heavy cantilever per length: D θ″ = −ρg(L − s) cos θ, Γ ≤ 200."""

    def shoot(tip: float) -> Array:
        def slope(u: float, y: Array) -> list[float]:
            return [y[1], -gamma * u * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

        return np.asarray(solve_ivp(slope, (0, 1), [tip, 0, 0, 0], "DOP853", rtol=1e-10, atol=1e-13).y[:, -1])

    angles = 0.5 * np.pi * (1.0 - np.exp(-np.linspace(0.0, 14.0, 60)))  # the physical root is the first from above
    ends = [shoot(angle)[0] for angle in angles[::-1]]
    k = next(k for k, end in enumerate(ends) if end < 0.0)
    tip = brentq(lambda angle: shoot(angle)[0], angles[::-1][k], angles[::-1][k - 1], xtol=1e-14)
    return float(shoot(tip)[2]), float(shoot(tip)[3])


def elastic_catenary(span: float, beta: float) -> float:
    """Sag per rest length; span per rest length, β = wL/EA."""
    pull = brentq(lambda h: 2 * (0.5 * h * beta + h * np.arcsinh(0.5 / h)) - span, 1e-6, 1e6)
    return float(beta / 8 + pull * (np.sqrt(1 + (0.5 / pull) ** 2) - 1))


def isotropic(stretch: float, bend: float) -> Material:
    """Poisson ratio 0, no strain limit, vacuum."""
    return Material(DENSITY, stretch, stretch, 0.5 * stretch, bend, 0.0, softening=1.0, air_drag=0.0)


def sheet(shape: Strip, material: Material, held: npt.NDArray[np.int32], warp: float = 0.0) -> Cloth:
    """held: hard pins. warp: degrees from x."""
    direction = [np.cos(np.radians(warp)), np.sin(np.radians(warp)), 0.0]
    pins = Pins(held, shape.positions[held][None]) if len(held) else None
    warps = np.tile(direction, (len(shape.triangles), 1))
    return Cloth("Strip", shape.triangles, shape.positions, shape.positions, material, warp=warps, pins=pins)


def assembled(cloth: Cloth, form: BendingForm) -> Assembly:
    return assemble((cloth,), STEP, ElasticityChoices(bending=form))


def _free_length(shape: Strip) -> float:
    return float(shape.positions[:, 0].max())


def _tip(shape: Strip) -> npt.NDArray[np.bool_]:
    return np.asarray(shape.positions[:, 0] > _free_length(shape) - 1e-9)


def rigidity_of_field(shape: Strip, form: BendingForm, field: Array) -> float:
    """Energy that the inner part of the mesh gives to a quadratic z = ½ xᵀBx, over that of a plate with ν = 0.

    field: (2, 2) B. Rows are weighted by a smooth window that vanishes at the border."""
    part = bending(sheet(shape, isotropic(1.0, 1.0), shape.clamp[:0]), form)
    place = shape.positions[:, :2]
    low, size = place.min(axis=0), np.ptp(place, axis=0)

    def window(at: Array) -> Array:
        share = np.clip((at - low - 0.2 * size) / (0.6 * size), 0.0, 1.0)
        return np.asarray(np.prod(np.sin(np.pi * share) ** 4, axis=1))

    height = 0.5 * ((place @ field) * place).sum(axis=1)
    middle = place[part.hinge].mean(axis=1)
    if form == "plate":  # the rows of a triangle make up its energy together, so they need one weight
        owner = plate_rows(
            shape.positions[shape.triangles],
            shape.triangles,
            len(shape.positions),
            np.zeros(len(shape.triangles), bool),
        ).triangle
        middle = place[shape.triangles[owner]].mean(axis=1)
    inside = window(middle)
    energy = (inside * part.stiffness * (part.rows @ height) ** 2).sum()
    area = triangle_areas(shape.positions, shape.triangles)
    return float(energy / (area * window(place[shape.triangles].mean(axis=1))).sum() / (field**2).sum())


def border_loss(shape: Strip, form: BendingForm, field: Array) -> float:
    """1 − energy of the whole mesh over the plate's, for the same field: what the border's rows leave out."""
    part = bending(sheet(shape, isotropic(1.0, 1.0), shape.clamp[:0]), form)
    place = shape.positions[:, :2]
    height = 0.5 * ((place @ field) * place).sum(axis=1)
    exact = triangle_areas(shape.positions, shape.triangles).sum() * (field**2).sum()
    return float(1.0 - (part.stiffness * (part.rows @ height) ** 2).sum() / exact)


def rigidity_of_strip(shape: Strip, form: BendingForm) -> float:
    """D over the one asked for, from the small deflection ρgL⁴/8D of a cantilever: interior, border and clamp."""
    assembly = assembled(sheet(shape, isotropic(1.0, 1.0), shape.clamp), form)
    matrix = _bending_matrix(assembly)
    free = assembly.free > 0
    height = np.zeros(assembly.vertices)
    height[free] = linalg.spsolve(matrix[free][:, free].tocsc(), assembly.mass[free] / DENSITY)
    return float(_free_length(shape) ** 4 / 8.0 / height[_tip(shape)].mean())


def cantilever(shape: Strip, form: BendingForm, gamma: float, stretch: float | None = None) -> tuple[float, float]:
    """(x, drop) of the tip per length, with ρgL over `stretch` one in a thousand unless given."""
    length = _free_length(shape)
    material = isotropic(stretch or 1e3 * DENSITY * GRAVITY * length, DENSITY * GRAVITY * length**3 / gamma)
    return _tip_place(shape, material, form)


def cantilever_of(shape: Strip, form: BendingForm, material: Material) -> tuple[float, float]:
    """The same for a fabric: (x, drop) of the tip per length."""
    return _tip_place(shape, replace(material, strain_limit=0.0, air_drag=0.0), form)


def _tip_place(shape: Strip, material: Material, form: BendingForm) -> tuple[float, float]:
    assembly = assembled(sheet(shape, material, shape.clamp), form)
    statics = Statics(assembly, _weight(assembly, (0.0, 0.0, -GRAVITY)))
    tip = equilibrium(statics, shape.positions).positions[_tip(shape)].mean(axis=0) / _free_length(shape)
    return float(tip[0]), float(-tip[2])


def buckling(shape: Strip, form: BendingForm) -> float:
    """Γ at which the strip, standing on its clamp, gives way sideways: the lowest D that carries its weight."""
    length = _free_length(shape)
    assembly = assembled(sheet(shape, isotropic(1e4 * DENSITY * GRAVITY * length, 1e-12), shape.clamp), form)
    statics = Statics(assembly, _weight(assembly, (-GRAVITY, 0.0, 0.0)))
    pressed = equilibrium(statics, shape.positions).positions
    upright = np.flatnonzero(assembly.free > 0)
    geometric = statics.hessian(pressed)[3 * upright + 2][:, 3 * upright + 2]
    matrix = (_bending_matrix(assembly) / 1e-12)[upright][:, upright].tocsc()
    # −K v = D Q v, solved as Q v = (1/D)(−K) v turned round: the largest D
    largest = linalg.eigsh(-geometric, k=1, M=matrix, which="LA", v0=np.ones(len(upright)), return_eigenvectors=False)
    return float(DENSITY * GRAVITY * length**3 / largest[0])


def traction(shape: Strip, material: Material, warp: float, load: tuple[float, float, float, float]) -> Array:
    """F (2, 2), mean over the area, of a sheet under the nominal stress `load` (xx, xy, yx, yy), N/m, on its border.

    warp: degrees from x. Every mesh must give the same F everywhere: a patch test. Raises AssertionError where it does
    not."""
    assembly = assembled(sheet(shape, material, shape.clamp[:0], warp), "plate")
    force = np.zeros_like(shape.positions)
    stress = np.array(load).reshape(2, 2)
    edges = np.sort(shape.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    border, count = np.unique(edges, axis=0, return_counts=True)
    border = border[count == 1]
    first, second = shape.positions[border[:, 0], :2], shape.positions[border[:, 1], :2]
    normal = (second - first)[:, ::-1] * [1.0, -1.0]
    middle = 0.5 * (shape.positions[:, :2].min(axis=0) + shape.positions[:, :2].max(axis=0))
    normal *= np.sign((normal * (0.5 * (first + second) - middle)).sum(axis=1))[:, None]
    for end in range(2):
        np.add.at(force[:, :2], border[:, end], 0.5 * normal @ stress.T)
    statics = Statics(assembly, force)
    found = equilibrium(statics, shape.positions).positions
    corner = found[shape.triangles][:, :, :2]
    rest = shape.positions[shape.triangles][:, :, :2]
    now, before = (np.stack([c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]], axis=2) for c in (corner, rest))
    every = now @ np.linalg.inv(before)
    mean = every.mean(axis=0)
    assert np.abs(every - mean).max() < 1e-4 * np.abs(mean - np.eye(2)).max(), "the patch test fails"
    return np.asarray(mean)


def catenary_sag(shape: Strip, span: float, stretch: float) -> float:
    """Sag per length of a strip hung by both ends, `span` per length apart."""
    length = _free_length(shape)
    far = np.flatnonzero(_tip(shape)).astype(np.int32)
    material = isotropic(stretch, 1e-8)
    assembly = assembled(sheet(shape, material, np.concatenate([shape.clamp, far])), "plate")
    statics = Statics(assembly, _weight(assembly, (0.0, 0.0, -GRAVITY)))
    rest = brentq(lambda u: np.sinh(u) / u - 1.0 / span, 1e-6, 50.0)  # start on the inextensible catenary
    scale = span * length / (2.0 * rest)
    start = shape.positions.copy()
    along = np.arcsinh((start[:, 0] - 0.5 * length) / scale) * scale
    start[:, 0] = along + 0.5 * span * length
    start[:, 2] = scale * (np.cosh(along / scale) - np.cosh(rest))
    start[shape.clamp] = shape.positions[shape.clamp]
    found = equilibrium(statics, start).positions
    return float(-found[:, 2].min() / length)


def settled_tip(shape: Strip, material: Material, seconds: float, tolerance: float) -> tuple[float, float, float]:
    """(x, drop, rms speed) of the tip per length after a run of the product's own simulator, in float32, on the CPU."""
    cloth = sheet(shape, material, shape.clamp)
    settings = Settings(frame_end=1 + round(seconds * 24), step_rate=72.0, tolerance=tolerance, backend="cpu")
    simulator = Simulator(Scene((replace(cloth, self_collision=False),), (), settings), select("cpu"), NdbParameters())
    speed = 0.0
    for _ in range(settings.frames - 1):
        speed = simulator.advance_frame().rms_speed
    tip = simulator.positions()[0][_tip(shape)].mean(axis=0) / _free_length(shape)
    return float(tip[0]), float(-tip[2]), speed


def _weight(assembly: Assembly, gravity: tuple[float, float, float]) -> Array:
    return np.asarray(assembly.mass[:, None] * np.array(gravity))


def _bending_matrix(assembly: Assembly) -> sparse.csr_array:
    return (assembly.bending.rows.T @ sparse.diags_array(assembly.bending.stiffness) @ assembly.bending.rows).tocsr()

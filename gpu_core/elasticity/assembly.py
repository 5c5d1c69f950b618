# SPDX-License-Identifier: GPL-3.0-or-later
"""All cloths of a scene as one system: mass, pins, elastic data and the matrix H (docs/theory/method.md §1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..scene.arrays import Array, FloatArray, IntArray
from ..scene.fields import of_vertices
from ..scene.mesh import corner_areas
from ..scene.scene import Cloth
from .bending import BendingData, BendingEnergy
from .choices import ElasticityChoices
from .energies import ENERGIES
from .membrane import Membrane, MembraneEnergy

DEFAULT = ElasticityChoices()
AIR_DENSITY = 1.2  #: kg/m³
SOFT_PIN_SHARE = 0.1  #: stiffness of a pin of weight one half, relative to the elastic diagonal of its vertex


@dataclass(frozen=True)
class Assembly:
    """Arrays of all cloths side by side, in float64 on the host. N vertices, T triangles."""

    offsets: IntArray  #: (cloths + 1,) first vertex of each cloth
    triangles: IntArray  #: (T, 3)
    rest: Array  #: (N, 3) m
    mass: Array  #: (N,) kg
    free: Array  #: (N,) 1 = moves by itself, 0 = hard pin
    pin_stiffness: Array  #: (N,) of soft pins, N/m
    parts: dict[str, Any]  #: the energies' data, by their names (energies.py)
    of_cloths: dict[str, list[Any]]  #: the same of each cloth, by the energies' names
    hessian: sparse.csr_array  #: (N, N) M/h² + Σ w AᵀA: the free–free block, with ones on the pinned diagonal
    constant: sparse.csr_array  #: (N, N) of that, what is the same at any x: what Newton's matrix keeps

    @property
    def vertices(self) -> int:
        return len(self.mass)

    @property
    def membrane(self) -> Membrane:
        found: Membrane = self.parts[MembraneEnergy.name]
        return found

    @property
    def bending(self) -> BendingData:
        found: BendingData = self.parts[BendingEnergy.name]
        return found


def assemble(
    cloths: tuple[Cloth, ...], step: float, choices: ElasticityChoices = DEFAULT, known: Assembly | None = None
) -> Assembly:
    """step: h, s. known: of the same cloths with other numbers, or with other pins."""
    offsets = np.concatenate([[0], np.cumsum([len(cloth.positions) for cloth in cloths])]).astype(np.int32)
    parts: dict[str, Any] = {}
    of_cloths: dict[str, list[Any]] = {}
    for energy in ENERGIES:
        before = known.of_cloths[energy.name] if known else [None] * len(cloths)
        own = [energy.part(cloth, choices, part) for cloth, part in zip(cloths, before, strict=True)]
        same = known is not None and all(a is b for a, b in zip(own, before, strict=True))
        parts[energy.name] = known.parts[energy.name] if known and same else energy.joined(own, cloths, offsets)
        of_cloths[energy.name] = own
    mass, free, soft = _mass(cloths), *_pins(cloths)
    varying = reduce(add, [parts[energy.name].hessian for energy in ENERGIES if not energy.constant])
    constant = reduce(add, [parts[energy.name].hessian for energy in ENERGIES if energy.constant])
    pin_stiffness = SOFT_PIN_SHARE * (varying + constant).diagonal() * soft / (1.0 - soft)
    for energy in ENERGIES:
        if (viscosity := parts[energy.name].viscosity) is not None:
            varying, constant = (
                (varying, constant + viscosity / step) if energy.constant else (varying + viscosity / step, constant)
            )
    constant = constant + sparse.diags_array(mass / step**2 + pin_stiffness)
    triangles = [cloth.triangles + first for cloth, first in zip(cloths, offsets, strict=False)]
    return Assembly(
        offsets=offsets,
        triangles=np.concatenate(triangles).astype(np.int32),
        rest=np.concatenate([cloth.rest_positions for cloth in cloths]),
        mass=mass,
        free=free,
        pin_stiffness=pin_stiffness,
        parts=parts,
        of_cloths=of_cloths,
        hessian=_eliminate(varying + constant, free),
        constant=_eliminate(constant, free),
    )


def drag(cloths: tuple[Cloth, ...]) -> Array:
    """(N,) ½ρ_a C / areal density, 1/m."""
    return np.concatenate(
        [0.5 * AIR_DENSITY * of_vertices(cloth, "air_drag") / of_vertices(cloth, "density") for cloth in cloths]
    )


def lightness(cloths: tuple[Cloth, ...]) -> Array:
    """(N,) 1 / areal density, m²/kg."""
    return np.concatenate([1.0 / of_vertices(cloth, "density") for cloth in cloths])


def kept_velocity(cloths: tuple[Cloth, ...], step: float) -> Array:
    """(N,) the share of its velocity that a vertex keeps in a step of h, s."""
    damping = np.concatenate([of_vertices(cloth, "velocity_damping") for cloth in cloths])
    return np.exp(-step * damping)


def _mass(cloths: tuple[Cloth, ...]) -> Array:
    """(N,) the density there times a third of the area of each triangle around it, and cords, kg."""
    return np.concatenate([_mass_of(cloth) for cloth in cloths])


def _mass_of(cloth: Cloth) -> Array:
    """(n,) of one cloth, and half of each cord at a vertex."""
    count, thirds = len(cloth.positions), np.repeat(corner_areas(cloth.patterns) / 3.0, 3)
    mass = of_vertices(cloth, "density") * np.bincount(cloth.triangles.ravel(), thirds, minlength=count)
    if cloth.cords is not None:
        halves = np.repeat(0.5 * cloth.cord_density * cloth.cords.lengths, 2)
        mass = mass + np.bincount(cloth.cords.ends.ravel(), halves, minlength=count)
    return np.asarray(mass)


def _pins(cloths: tuple[Cloth, ...]) -> tuple[Array, Array]:
    """((N,) 0 where a hard pin holds or nothing is, else 1; (N,) the weight of soft pins)."""
    weight = np.concatenate([_pin_weights(cloth) for cloth in cloths])
    return (weight < 1.0).astype(float), np.where(weight < 1.0, weight, 0.0)


def _pin_weights(cloth: Cloth) -> Array:
    weight = np.zeros(len(cloth.positions))
    if cloth.pins is not None:
        weight[cloth.pins.vertices] = 1.0 if cloth.pins.weights is None else cloth.pins.weights
    weight[cloth.loose] = 1.0  # a spring would pull at no mass
    return weight


def _eliminate(hessian: sparse.csr_array, free: Array) -> sparse.csr_array:
    keep = sparse.diags_array(free)
    result = (keep @ hessian @ keep + sparse.diags_array(1.0 - free)).tocsr()
    result.eliminate_zeros()
    result.sort_indices()
    return result


def off_diagonal(hessian: sparse.csr_array) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """(start, column, value, diagonal) of a matrix for the relaxation kernels."""
    diagonal = hessian.diagonal()
    rest = (hessian - sparse.diags_array(diagonal)).tocsr()
    rest.eliminate_zeros()
    rest.sort_indices()
    return (
        rest.indptr.astype(np.int32),
        rest.indices.astype(np.int32),
        rest.data.astype(np.float32),
        diagonal.astype(np.float32),
    )


def vectors(positions: npt.NDArray[np.floating]) -> FloatArray:
    """(N, 3) → (N, 4) float32 with a zero fourth component, as the kernels read points."""
    result = np.zeros((len(positions), 4), np.float32)
    result[:, :3] = positions
    return result

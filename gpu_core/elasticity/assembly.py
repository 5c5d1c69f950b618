"""All cloths of a scene as one system: mass, pins, elastic data and the matrix H (method.md §1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..scene.arrays import Array, FloatArray, IntArray
from ..scene.mesh import incidence
from ..scene.scene import Cloth
from .bending import BendingForm, bending
from .membrane import LIMIT_RATIO, membrane

AIR_DENSITY = 1.2  #: kg/m³
SOFT_PIN_SHARE = 0.1  #: stiffness of a pin of weight one half, relative to the elastic diagonal of its vertex


@dataclass(frozen=True)
class Assembly:
    """Arrays of all cloths side by side, in float64 on the host. N vertices, T triangles, R bending rows."""

    offsets: IntArray  #: (cloths + 1,) first vertex of each cloth
    triangles: IntArray  #: (T, 3)
    rest: Array  #: (N, 3) m
    mass: Array  #: (N,) kg
    free: Array  #: (N,) 1 = moves by itself, 0 = hard pin
    pin_stiffness: Array  #: (N,) of soft pins, N/m
    drag: Array  #: (N,) ½ρ_a C / areal density, 1/m
    rest_inverse: Array  #: (T, 4)
    membrane_stiffness: Array  #: (T, 4)
    limit: Array  #: (T,)
    rows: sparse.csr_array  #: (R, N) bending rows
    row_stiffness: Array  #: (R,)
    row_rubbing: Array  #: (R,) share of yarns that do not slide in that
    row_hinge: IntArray  #: (R, 2)
    row_rest: Array  #: (R, 4)
    plate_start: IntArray  #: (P + 1,) first row of each group of rows with one curvature between them
    plate_most: Array  #: (P,) moment per width at which its yarns slide, N
    hessian: sparse.csr_array  #: (N, N) M/h² + Σ w AᵀA: the free–free block, with ones on the pinned diagonal
    constant: sparse.csr_array  #: (N, N) as `hessian`, without the membrane: what Newton's matrix keeps at any x

    @property
    def vertices(self) -> int:
        return len(self.mass)


def assemble(
    cloths: tuple[Cloth, ...],
    step: float,
    form: BendingForm,
    *,
    limit_in_hessian: bool,
    limit_ratio: float = LIMIT_RATIO,
) -> Assembly:
    """step: h, s. form: the family of bending rows. limit_in_hessian: count the strain limit's stiffness in H.
    limit_ratio: stiffness of the strain limit relative to the stretch below it.
    """
    offsets = np.concatenate([[0], np.cumsum([len(cloth.positions) for cloth in cloths])]).astype(np.int32)
    membranes = [membrane(cloth, limit_in_hessian=limit_in_hessian, limit_ratio=limit_ratio) for cloth in cloths]
    bendings = [bending(cloth, form) for cloth in cloths]
    mass = np.concatenate(
        [
            cloth.material.density
            * np.bincount(cloth.triangles.ravel(), np.repeat(part.area / 3.0, 3), minlength=len(cloth.positions))
            for cloth, part in zip(cloths, membranes, strict=True)
        ]
    )
    weight = np.concatenate([_pin_weights(cloth) for cloth in cloths])
    free = (weight < 1.0).astype(float)
    soft = np.where(weight < 1.0, weight, 0.0)
    stretch = sparse.block_diag([part.hessian for part in membranes], format="csr")
    bend = sparse.block_diag([part.hessian for part in bendings], format="csr")
    pin_stiffness = SOFT_PIN_SHARE * (stretch + bend).diagonal() * soft / (1.0 - soft)
    constant = bend + sparse.diags_array(mass / step**2 + pin_stiffness)
    plates = [np.flatnonzero(np.diff(part.plate, prepend=-1)) for part in bendings]
    first_rows = np.concatenate([[0], np.cumsum([len(part.stiffness) for part in bendings])])
    return Assembly(
        offsets=offsets,
        triangles=_shifted([cloth.triangles for cloth in cloths], offsets),
        rest=np.concatenate([cloth.rest_positions for cloth in cloths]),
        mass=mass,
        free=free,
        pin_stiffness=pin_stiffness,
        drag=np.concatenate(
            [np.full(len(c.positions), 0.5 * AIR_DENSITY * c.material.air_drag / c.material.density) for c in cloths]
        ),
        rest_inverse=np.concatenate([part.rest_inverse for part in membranes]),
        membrane_stiffness=np.concatenate([part.stiffness for part in membranes]),
        limit=np.concatenate([part.limit for part in membranes]),
        rows=sparse.block_diag([part.rows for part in bendings], format="csr"),
        row_stiffness=np.concatenate([part.stiffness for part in bendings]),
        row_rubbing=np.concatenate([part.rubbing for part in bendings]),
        row_hinge=_shifted([part.hinge for part in bendings], offsets),
        row_rest=np.concatenate([part.rest for part in bendings]),
        plate_start=np.append(_shifted(plates, first_rows), first_rows[-1]).astype(np.int32),
        plate_most=np.concatenate(
            [np.full(len(part), cloth.material.bend_friction) for cloth, part in zip(cloths, plates, strict=True)]
        ),
        hessian=_eliminate(stretch + constant, free),
        constant=_eliminate(constant, free),
    )


def _shifted(parts: list[IntArray], offsets: IntArray) -> IntArray:
    return np.concatenate([part + first for part, first in zip(parts, offsets, strict=False)]).astype(np.int32)


def _pin_weights(cloth: Cloth) -> Array:
    weight = np.zeros(len(cloth.positions))
    if cloth.pins is not None:
        weight[cloth.pins.vertices] = 1.0 if cloth.pins.weights is None else cloth.pins.weights
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


def transpose_rows(rows: sparse.csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """(start, row, coefficient) by vertex: the gather side of the bending rows."""
    by_vertex = rows.T.tocsr()
    by_vertex.sort_indices()
    return by_vertex.indptr.astype(np.int32), by_vertex.indices.astype(np.int32), by_vertex.data.astype(np.float32)


def triangle_incidence(triangles: IntArray, vertices: int) -> tuple[IntArray, IntArray]:
    """(start, 3t + corner) by vertex."""
    return incidence(triangles, vertices)


def vectors(positions: npt.NDArray[np.floating]) -> FloatArray:
    """(N, 3) → (N, 4) float32 with a zero fourth component, as the kernels read points."""
    result = np.zeros((len(positions), 4), np.float32)
    result[:, :3] = positions
    return result

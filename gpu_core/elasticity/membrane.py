"""Stretch, shear and strain limit (method.md §2), kernel `membrane_project`.

Orthotropic law from PD constraints: a rotation constraint of stiffness 2G gives the shear modulus G and the Young's
modulus 2G both ways; unit-length constraints along warp and weft add what is missing to Y. In knits 2G exceeds Y and
the addition is negative: the energy stays positive, for ‖F − R‖² ≥ Σ(|f| − 1)² over the columns f of F, so it is at
least ½ Y Σ(|f| − 1)². H leaves negative additions out, else an iteration steps too far in shear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..scene.mesh import triangle_areas
from ..scene.scene import Cloth, Material

#: Stiffness of the strain limit relative to the softened stretch it takes over from: hard, as Newton can take it.
LIMIT_RATIO = 500.0


class Membrane(NamedTuple):
    rest_inverse: npt.NDArray[np.float64]  #: (T, 4) D⁻¹ row by row, warp–weft frame, 1/m
    stiffness: npt.NDArray[np.float64]  #: (T, 4) area × (rotation, warp, weft, limit), N·m
    limit: npt.NDArray[np.float64]  #: (T,) largest allowed singular value
    hessian: sparse.csr_array  #: (N, N) N/m
    area: npt.NDArray[np.float64]  #: (T,) m²


def membrane(cloth: Cloth, *, limit_in_hessian: bool, limit_ratio: float = LIMIT_RATIO) -> Membrane:
    """Data of the membrane of one cloth; indices are the cloth's own.

    limit_in_hessian: whether H counts the strain limit's stiffness everywhere, as if it always acted (the textbook's
    projective dynamics). It slows every iteration for a constraint that seldom acts.
    """
    area = triangle_areas(cloth.rest_positions, cloth.triangles)
    rest_inverse = np.linalg.inv(_rest_edges(cloth))
    per_area = np.array(constraint_stiffness(cloth.material, limit_ratio))
    stiffness = area[:, None] * per_area
    limit = np.full(len(area), 1.0 + cloth.material.strain_limit)
    constant = np.maximum(stiffness, 0.0) * [1.0, 1.0, 1.0, float(limit_in_hessian)]
    return Membrane(rest_inverse.reshape(-1, 4), stiffness, limit, _hessian(cloth, rest_inverse, constant), area)


def constraint_stiffness(material: Material, limit_ratio: float = LIMIT_RATIO) -> tuple[float, float, float, float]:
    """(rotation, warp, weft, limit) in N/m.

    Softening spares the shear stiffness as far as the softened sheet stays softer in shear than an isotropic one.
    """
    warp, weft = material.softening * material.stretch_warp, material.softening * material.stretch_weft
    rotation = 2.0 * min(material.shear, max(material.softening * material.shear, 0.5 * min(warp, weft)))
    limit = limit_ratio * max(warp, weft) if material.strain_limit > 0 else 0.0
    return rotation, warp - rotation, weft - rotation, limit


def _rest_edges(cloth: Cloth) -> npt.NDArray[np.float64]:
    """(T, 2, 2): columns are the rest edges x1−x0 and x2−x0 in the frame (warp, weft)."""
    a, b, c = (cloth.rest_positions[cloth.triangles[:, k]] for k in range(3))
    first, second = b - a, c - a
    normal = np.cross(first, second)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    warp = _warp_direction(cloth, normal)
    weft = np.cross(normal, warp)
    rows = [np.stack([(axis * first).sum(1), (axis * second).sum(1)], axis=1) for axis in (warp, weft)]
    return np.stack(rows, axis=1)


def _warp_direction(cloth: Cloth, normal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Unit warp in each triangle's plane: the cloth's own, else the x axis, else (where that is normal) the y axis."""
    wanted = np.tile([1.0, 0.0, 0.0], (len(normal), 1)) if cloth.warp is None else np.array(cloth.warp, float)
    for fallback in ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]):
        flat = wanted - (wanted * normal).sum(1, keepdims=True) * normal
        poor = np.linalg.norm(flat, axis=1) < 0.05 * np.maximum(np.linalg.norm(wanted, axis=1), 1e-12)
        poor |= ~np.isfinite(wanted).all(1)
        wanted[poor] = fallback
    flat = wanted - (wanted * normal).sum(1, keepdims=True) * normal
    return np.asarray(flat / np.linalg.norm(flat, axis=1, keepdims=True))


def _hessian(
    cloth: Cloth, rest_inverse: npt.NDArray[np.float64], stiffness: npt.NDArray[np.float64]
) -> sparse.csr_array:
    """Σ_t G_tᵀ diag(stiffness) G_t with G_t the gradient of F's columns, constant."""
    count = len(cloth.positions)
    gradient = np.stack([-rest_inverse.sum(axis=1), rest_inverse[:, 0], rest_inverse[:, 1]], axis=1)  # (T, 3, 2)
    column = np.stack([stiffness[:, [0, 1, 3]].sum(1), stiffness[:, [0, 2, 3]].sum(1)], axis=1)
    blocks = np.einsum("tid,td,tjd->tij", gradient, column, gradient)
    rows = np.repeat(cloth.triangles, 3, axis=1).ravel()
    columns = np.tile(cloth.triangles, (1, 3)).ravel()
    return sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(count, count)).tocsr()

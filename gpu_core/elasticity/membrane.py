# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch, shear and strain limit (docs/theory/method.md §3), kernels `membrane.h`.

Orthotropic law from PD constraints: a rotation constraint of stiffness 2G gives the shear modulus G and the Young's
modulus 2G both ways; unit-length constraints along warp and weft add what is missing to Y. In knits 2G exceeds Y and
the addition is negative: the energy stays positive, for ‖F − R‖² ≥ Σ(|f| − 1)² over the columns f of F, so it is at
least ½ Y Σ(|f| − 1)². H leaves negative additions out, else an iteration steps too far in shear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..scene.arrays import Array, IntArray
from ..scene.fields import of_triangles, rest_scale
from ..scene.mesh import corner_areas
from ..scene.scene import Cloth
from .choices import LIMIT_RATIO, ElasticityChoices
from .energy import LinearSystem, viscosity_of
from .plasticity import Stretches
from .sheet import Sheet

HARDEST = 16.0  #: how many times stiffer than at first a strain limit becomes


class Membrane(NamedTuple):
    rest_inverse: npt.NDArray[np.float64]  #: (T, 4) D⁻¹ row by row, warp–weft frame, shrunk, 1/m
    stiffness: npt.NDArray[np.float64]  #: (T, 4) area × (rotation, warp, weft, limit), N·m
    limit: npt.NDArray[np.float64]  #: (T,) largest allowed singular value
    hessian: sparse.csr_array  #: (N, N) N/m
    area: npt.NDArray[np.float64]  #: (T,) of the rest positions, m²
    unshrunk: npt.NDArray[np.float64]  #: (T, 4) D⁻¹ of the rest positions, 1/m
    damping: npt.NDArray[np.float64]  #: (T, 4) time constants times stiffness, by the columns of that, N·m·s
    viscosity: sparse.csr_array | None  #: (N, N) N·s/m; None where nothing damps
    yields: npt.NDArray[np.float64]  #: (T,) stretch that springs back; 0: all of it


class MembraneEnergy:
    """On the device. T triangles of all cloths, N vertices."""

    name: ClassVar[str] = "membrane"
    constant: ClassVar[bool] = False
    external: ClassVar[bool] = False

    def __init__(self, backend: Backend, data: Membrane, sheet: Sheet, choices: ElasticityChoices) -> None:
        xp, triangles = backend.xp, sheet.triangles
        self.backend, self.sheet = backend, sheet
        self._limit_share = float(choices.limit == "added")  #: 1: the limit enters ΔH where it acts; 0: H holds it
        self.hardest_excess = float("inf")  #: stretch beyond a limit that makes it harder in the next step
        self._rest_inverse, self._elastic = backend.array(data.rest_inverse), backend.array(data.rest_inverse)
        self.stretches = Stretches(backend, sheet, data.yields)
        self._stiffness, self._limit = backend.array(data.stiffness), backend.array(data.limit)
        self._force, self._limited = xp.zeros((2 * triangles, 4), xp.float32), xp.zeros(triangles, xp.float32)
        self._excess, self._gain = xp.zeros(triangles, xp.float32), xp.zeros(triangles, xp.float32)
        self._hardness = xp.ones(triangles, xp.float32)  #: of the strain limits, 1 or more
        self._law = {
            "corners": sheet.corners, "rest_inverse": self._rest_inverse, "stiffness": self._stiffness,
            "limit": self._limit,
        }  # fmt: skip
        self._damping = backend.array(data.damping / sheet.h)
        self.damps = bool(data.damping.any())  #: stretch or shear

    @staticmethod
    def part(cloth: Cloth, choices: ElasticityChoices, known: Membrane | None = None) -> Membrane:
        return membrane(cloth, choices, known)

    @staticmethod
    def joined(parts: Sequence[Membrane], cloths: Sequence[Cloth], offsets: IntArray) -> Membrane:
        return Membrane(
            np.concatenate([part.rest_inverse for part in parts]),
            np.concatenate([part.stiffness for part in parts]),
            np.concatenate([part.limit for part in parts]),
            sparse.block_diag([part.hessian for part in parts], format="csr"),
            np.concatenate([part.area for part in parts]),
            np.concatenate([part.unshrunk for part in parts]),
            np.concatenate([part.damping for part in parts]),
            viscosity_of(parts),
            np.concatenate([part.yields for part in parts]),
        )

    def renew(self, data: Membrane) -> None:
        for array, values in (
            (self._elastic, data.rest_inverse), (self._stiffness, data.stiffness), (self._limit, data.limit),
        ):  # fmt: skip
            array[:] = self.backend.array(values)
        self.stretches.renew(data.yields)
        self.stretches.shape(self._elastic, self._rest_inverse)
        self._damping[:], self.damps = self.backend.array(data.damping / self.sheet.h), bool(data.damping.any())

    def residual_launches(self, x: Any, system: LinearSystem) -> list[Launch]:
        sheet = self.sheet
        law = {"x": x, **self._law, "hardness": self._hardness, "force": self._force, "limited": self._limited}
        project = launch("membrane_project", sheet.triangles, **law)
        if system.triangle_block is not None:
            project = launch("membrane_curvature", sheet.triangles, **law, blocks=system.triangle_block)
        damp = [self._damp(x, system)] if self.damps else []
        gather = launch(
            "membrane_residual", sheet.vertices, triangle_start=sheet.start, triangle_corner=sheet.corner,
            force=self._force, rest_inverse=self._rest_inverse, limited=self._limited, limit_share=self._limit_share,
            residual=system.residual, added=system.added,
        )  # fmt: skip
        return [project, *damp, gather]

    def _damp(self, x: Any, system: LinearSystem) -> Launch:
        law = {
            "x": x, "before": self.sheet.before, "corners": self.sheet.corners, "rest_inverse": self._rest_inverse,
            "damping": self._damping, "force": self._force,
        }  # fmt: skip
        if system.triangle_block is None:
            return launch("membrane_damping", self.sheet.triangles, **law)
        return launch("membrane_damping_curvature", self.sheet.triangles, **law, blocks=system.triangle_block)

    def gain(self, start: Any, x: Any, of: Any) -> float:
        sheet = self.sheet
        self.backend.launch("membrane_gain", sheet.triangles, x0=start, x1=x, **self._law, gain=self._gain)
        return float(self._gain[of[sheet.corners[:, 0]]].sum(dtype=self.backend.xp.float64))

    def strain_excess(self, x: Any) -> float:
        """By how much any triangle at x (V, 4) is stretched beyond its strain limit; not above 0: nowhere."""
        self._strain(x)
        return float(self._excess.max()) if self.sheet.triangles else 0.0

    def memory(self, x: Any) -> dict[str, Any]:
        return {"hardness": self.backend.xp.ones_like(self._hardness), "stretches": self.stretches.none()}

    def resume(self, memory: dict[str, Any], x: Any) -> None:
        self._hardness[:] = memory["hardness"]
        if self.stretches.resume(memory["stretches"]):
            self.stretches.shape(self._elastic, self._rest_inverse)

    def remember(self, x: Any, converged: bool) -> dict[str, Any]:
        """Strain limits that bear much get harder. All give way where a step found no end: contact comes first."""
        never = float("inf")
        least, most = (0.0, self.hardest_excess) if converged else (never, never)
        self._strain(x)
        self.backend.launch(
            "limit_hardness", self.sheet.triangles, excess=self._excess, least=least, most=most, hardest=HARDEST,
            hardness=self._hardness,
        )  # fmt: skip
        return {"hardness": self._hardness.copy(), "stretches": self.stretches.remember(x, self._rest_inverse)}

    def _strain(self, x: Any) -> None:
        self.backend.launch("strain_excess", self.sheet.triangles, x=x, **self._law, excess=self._excess)


def membrane(cloth: Cloth, choices: ElasticityChoices, known: Membrane | None = None) -> Membrane:
    """Data of the membrane of one cloth; indices are the cloth's own. known: the same with other numbers.

    With `choices.limit` "constant" H counts the strain limit's stiffness everywhere, as if it always acted (the
    textbook's projective dynamics). It slows every iteration for a constraint that seldom acts.
    """
    if known is None:
        area = corner_areas(cloth.patterns)
        unshrunk = np.linalg.inv(_rest_edges(cloth)).reshape(-1, 4)
    else:
        area, unshrunk = known.area, known.unshrunk
    scale = rest_scale(cloth)
    rest_inverse = unshrunk / scale[:, None]
    numbers: dict[str, npt.ArrayLike] = {
        name: of_triangles(cloth, name) for name in ("stretch_warp", "stretch_weft", "shear", "strain_limit")
    }
    numbers["softening"] = cloth.material.softening
    times = {name: of_triangles(cloth, name) for name in ("stretch_damping", "shear_damping")}
    stiffness = (area * scale * scale)[:, None] * constraint_stiffness(numbers, choices.limit_ratio)
    damping = damping_of(stiffness, times["stretch_damping"], times["shear_damping"])
    limit, yields = 1.0 + of_triangles(cloth, "strain_limit"), of_triangles(cloth, "stretch_yield")
    if known is not None and all(
        np.array_equal(now, before)
        for now, before in (
            (stiffness, known.stiffness), (limit, known.limit), (rest_inverse, known.rest_inverse),
            (damping, known.damping), (yields, known.yields),
        )
    ):  # fmt: skip
        return known
    constant = np.maximum(stiffness, 0.0) * [1.0, 1.0, 1.0, float(choices.limit == "constant")]
    hessian = _hessian(cloth, rest_inverse.reshape(-1, 2, 2), constant)
    viscosity = _hessian(cloth, rest_inverse.reshape(-1, 2, 2), np.maximum(damping, 0.0)) if damping.any() else None
    return Membrane(rest_inverse, stiffness, limit, hessian, area, unshrunk, damping, viscosity, yields)


def constraint_stiffness(material: Mapping[str, npt.ArrayLike], limit_ratio: float = LIMIT_RATIO) -> Array:
    """(…, 4) rotation, warp, weft, limit in N/m, of numbers or of arrays (…) by the names of `Material`.

    Softening spares the shear stiffness as far as the softened sheet stays softer in shear than an isotropic one.
    """
    softening, shear = (np.asarray(material[name], np.float64) for name in ("softening", "shear"))
    warp, weft = (softening * np.asarray(material[name]) for name in ("stretch_warp", "stretch_weft"))
    rotation = 2.0 * np.minimum(shear, np.maximum(softening * shear, 0.5 * np.minimum(warp, weft)))
    limit = np.where(np.asarray(material["strain_limit"]) > 0.0, limit_ratio * np.maximum(warp, weft), 0.0)
    return np.stack([rotation, warp - rotation, weft - rotation, limit], axis=-1)


def damping_of(stiffness: Array, stretch: Array, shear: Array) -> Array:
    """(T, 4) as `stiffness` (T, 4), for time constants (T,): of Young's moduli warp and weft, and of the shear modulus.

    As in that law the columns of warp and weft may be negative, and the sum is not.
    """
    rotation = stiffness[:, 0]
    sheared = shear * rotation
    lengths = [stretch * (rotation + stiffness[:, k]) - sheared for k in (1, 2)]
    return np.stack([sheared, *lengths, np.zeros_like(sheared)], axis=-1)


def _rest_edges(cloth: Cloth) -> npt.NDArray[np.float64]:
    """(T, 2, 2): columns are the rest edges x1−x0 and x2−x0 in the frame (warp, weft)."""
    a, b, c = (cloth.patterns[:, k] for k in range(3))
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Quadratic bending (docs/theory/bending.md), kernels `bending.h`: constant rows K with E = Σ k/2 ‖Kx − F s‖².

Three families of rows, compared in docs/theory/bending.md:
- plate: `plate.py`, three rows a triangle. The user's D in every direction, on every mesh, up to the border.
- hinge (Bergou 2006, the paper's): one row an interior edge. D = 3 k_b, and three times stiffer across the diagonals
  of a grid whose quads are all cut the same way (docs/theory/bending.md).
- vertex: one row an interior vertex, the cotangent Laplacian. D = k_b in every direction, but no resistance to twist,
  and no row at the border: hinges that touch it keep theirs, else corners would flap freely.

Yarns that rub on each other (kernel `bending_slide`) are a second spring beside D, whose rest shape slides along once
its moment is `Material.bend_friction`: a Prandtl element, the hysteresis loop that Kawabata's bending tester draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..scene.arrays import Array, IntArray
from ..scene.fields import of_triangles, of_vertices
from ..scene.mesh import corner_areas, hinges, places
from ..scene.scene import Cloth
from .choices import BendingForm, ElasticityChoices
from .energy import LinearSystem, viscosity_of
from .folds import Neighbourhoods, folded_curvature, in_frame, neighbourhoods, unit
from .lag import SOFTEST, Lag
from .plasticity import NEVER, Creases, Yielding, yielding_of
from .plate import plate_rows
from .sheet import Sheet

ROUNDING = 1.0e-12  #: of the largest entries: smaller ones are what sums to 0 has left of itself
RUBBING = 4.0  #: stiffness of yarns that do not slide, relative to D
FLAT = 2.5e-5  #: bulge of the vertices around an edge, relative to its length, up to which a whole cloth counts as flat


class Bending(NamedTuple):
    rows: sparse.csr_array  #: (R, N) K, each row sums to 0
    area: npt.NDArray[np.float64]  #: (R,) that D is divided by, m²; infinite where pins hold the row
    stiffness: npt.NDArray[np.float64]  #: (R,) of D and of yarns that do not slide
    rubbing: npt.NDArray[np.float64]  #: (R,) share of those yarns in it
    plate: npt.NDArray[np.int32]  #: (R,) in ascending order; rows of one plate have one curvature between them
    most: npt.NDArray[np.float64]  #: (R,) moment per width at which its yarns slide, N; one for all rows of a plate
    hinge: npt.NDArray[np.int32]  #: (R, 2) vertices whose normals give the row's normal
    rest: npt.NDArray[np.float64]  #: (R, 4) s = K times the rest shape, in the frame of edge and normal; the last is 0
    hessian: sparse.csr_array  #: (N, N) N/m
    unshrunk: npt.NDArray[np.float64]  #: (R, 4) s of the rest positions
    damping: npt.NDArray[np.float64]  #: (R,) time constant times the stiffness of D, N·s/m
    viscosity: sparse.csr_array | None  #: (N, N) N·s/m; None where nothing damps
    yielding: Yielding  #: of each row
    folds: Neighbourhoods | None  #: None: there are none, or they have no angle yet
    clamped: npt.NDArray[np.bool_]  #: (T,) triangles with three hard pins: the rows are of these


class BendingData(NamedTuple):
    """Of all cloths; R rows, P plates."""

    rows: sparse.csr_array  #: (R, N)
    stiffness: npt.NDArray[np.float64]  #: (R,)
    rubbing: npt.NDArray[np.float64]  #: (R,)
    hinge: npt.NDArray[np.int32]  #: (R, 2)
    rest: npt.NDArray[np.float64]  #: (R, 4)
    plate_start: npt.NDArray[np.int32]  #: (P + 1,) first row of each plate
    plate_most: npt.NDArray[np.float64]  #: (P,) moment per width at which its yarns slide, N
    hessian: sparse.csr_array  #: (N, N) N/m
    damping: npt.NDArray[np.float64]  #: (R,) N·s/m
    viscosity: sparse.csr_array | None  #: (N, N) N·s/m
    yielding: Yielding  #: of each plate


class BendingEnergy:
    """On the device. R rows of all cloths, N vertices."""

    name: ClassVar[str] = "bending"
    constant: ClassVar[bool] = True
    external: ClassVar[bool] = False

    def __init__(self, backend: Backend, data: BendingData, sheet: Sheet, choices: ElasticityChoices) -> None:
        xp, rows = backend.xp, data.rows
        integers = lambda values: backend.array(values, np.int32)  # noqa: E731
        self.backend, self.sheet, self.count = backend, sheet, rows.shape[0]
        self._rows = {
            "start": integers(rows.indptr), "column": integers(rows.indices), "coefficient": backend.array(rows.data),
        }  # fmt: skip
        by_vertex = rows.T.tocsr()
        by_vertex.sort_indices()
        self._gather = {
            "row_start": integers(by_vertex.indptr), "row": integers(by_vertex.indices),
            "coefficient": backend.array(by_vertex.data),
        }  # fmt: skip
        self._stiffness, self._hinge = backend.array(data.stiffness), integers(data.hinge)
        self._rest, self._given = backend.array(data.rest), backend.array(data.rest)
        self.creases = Creases(backend, rows.shape[0], data.yielding)
        self._rubbing, self._most = backend.array(data.rubbing), backend.array(data.plate_most)
        self._plates = {
            "first": integers(data.plate_start), "stiffness": xp.zeros(len(data.plate_most), xp.float32),
        }  # fmt: skip
        self._slid = xp.zeros((0, 4), xp.float32)
        self._law = {"stiffness": self._stiffness, "rest": self._rest, "held": xp.zeros_like(self._rest)}
        self._lag, self._frame = Lag(backend, self._law), {"hinge": self._hinge, "normal": sheet.normal}
        self._turns: tuple[Any, Callable[[], None]] | None = None  #: bound to the positions that were turned last
        self.renew(data)
        self.force = xp.zeros((max(1, self.count), 4), xp.float32)  #: (R, 4) of the rows, before their coefficients

    @staticmethod
    def part(cloth: Cloth, choices: ElasticityChoices, known: Bending | None = None) -> Bending:
        return bending(cloth, choices.bending, known)

    @staticmethod
    def joined(parts: Sequence[Bending], cloths: Sequence[Cloth], offsets: IntArray) -> BendingData:
        plates = [np.flatnonzero(np.diff(part.plate, prepend=-1)) for part in parts]
        first = np.cumsum([0, *(len(part.stiffness) for part in parts)])
        starts = [plate + row for plate, row in zip(plates, first, strict=False)]
        edges = [part.hinge + vertex for part, vertex in zip(parts, offsets, strict=False)]
        return BendingData(
            rows=sparse.block_diag([part.rows for part in parts], format="csr"),
            stiffness=np.concatenate([part.stiffness for part in parts]),
            rubbing=np.concatenate([part.rubbing for part in parts]),
            hinge=np.concatenate(edges).astype(np.int32),
            rest=np.concatenate([part.rest for part in parts]),
            plate_start=np.append(np.concatenate(starts), first[-1]).astype(np.int32),
            plate_most=np.concatenate([part.most[plate] for part, plate in zip(parts, plates, strict=True)]),
            hessian=sparse.block_diag([part.hessian for part in parts], format="csr"),
            damping=np.concatenate([part.damping for part in parts]),
            viscosity=viscosity_of(parts),
            yielding=yielding_of([part.yielding for part in parts], plates),
        )

    def renew(self, data: BendingData) -> None:
        array, first = self.backend.array, data.plate_start[:-1]
        self._stiffness[:], self._rubbing[:] = array(data.stiffness), array(data.rubbing)
        self._given[:], self._bent = array(data.rest), bool(np.any(data.rest))
        self.creases.renew(data.yielding)
        self._most[:] = array(data.plate_most)
        self._plates["stiffness"][:] = array(data.stiffness[first] * data.rubbing[first])
        damped, self._rubs = self._lag.acts, bool(np.any(data.plate_most))
        self._lag.renew(data.stiffness, data.damping / self.sheet.h)
        self._shape()
        if self._rubs != bool(len(self._slid)):  # none did before, or none does any more
            self._slid = self.backend.xp.zeros((self.count if self._rubs else 0, 4), self.backend.xp.float32)
            self._law["held"][:], self._turns = 0.0, None
        if self._lag.acts != damped:
            self._turns = None

    def _shape(self) -> None:
        """What the rows strive for: the rest shape, and what they have taken on."""
        taken = self.creases.taken
        shape = self._given + taken if len(taken) else self._given
        self._rest[:] = shape * (1.0 - self._rubbing)[:, None]
        self._lag.shape()

    @property
    def damps(self) -> bool:
        return self._lag.acts

    @property
    def curved(self) -> bool:
        """Whether the rows strive for another shape than a flat one, or may."""
        return self._bent or self.creases.acts or len(self.creases.taken) > 0

    def residual_launches(self, x: Any, system: LinearSystem) -> list[Launch]:
        gather = launch(
            "bending_residual", self.sheet.vertices, **self._gather, force=self.force, residual=system.residual
        )
        return [*self.force_launches(x), gather]

    def force_launches(self, x: Any) -> list[Launch]:
        """Kernels that set `force` at x (V, 4)."""
        return self._projected(x, self._lag.law)

    def _projected(self, x: Any, law: Mapping[str, Any]) -> list[Launch]:
        normals = [self.sheet.normals(x)] if self.curved else []
        project = launch("bending_project", self.count, x=x, **self._rows, **law, **self._frame, force=self.force)
        return [*normals, project]

    def start_launches(self) -> list[Launch]:
        """Kernels that look at the cloth at `Sheet.before`, whose normals are there."""
        return self._lag.start_launches(self.sheet.before, self._rows, self._frame)

    def gain(self, start: Any, x: Any, of: Any) -> float:
        bent = of[self._hinge[:, 0]]
        before, after = self._energy(start, bent), self._energy(x, bent)
        return float(after - before)

    def turn(self, x: Any) -> None:
        """Turn what yarns that rub, and damping, hold on to as the cloth is turned at x (V, 4)."""
        if self._rubs or self._lag.acts:
            if self._turns is None or self._turns[0] is not x:
                self._turns = x, self.backend.sequence([self.sheet.normals(x), *self._turn_launches(x)])
            self._turns[1]()

    def _turn_launches(self, x: Any) -> list[Launch]:
        held = launch(
            "bending_turn", len(self._slid), x=x, **self._frame, share=self._rubbing, slid=self._slid,
            held=self._law["held"],
        )  # fmt: skip
        return [*([held] if self._rubs else []), *self._lag.turn_launches(x, self._frame)]

    def memory(self, x: Any) -> dict[str, Any]:
        """The yarns bear nothing: (R, 4) where they are held; (0, 4) where none rub. No creases."""
        return {"slid": self._slide(x, self.backend.xp.zeros_like(self._most)), "creases": self.creases.none()}

    def resume(self, memory: dict[str, Any], x: Any) -> None:
        known = memory["slid"]
        self._slid[:] = known if len(known) == len(self._slid) else self.memory(x)["slid"]
        if self.creases.resume(memory["creases"]):
            self._shape()

    def remember(self, x: Any, converged: bool) -> dict[str, Any]:
        """Where yarns have slid to, (R, 4); (0, 4) where none rub. And the creases."""
        frame = {"x": x, **self._rows, **self._frame}
        shape = self._given + self.creases.taken if len(self.creases.taken) else self._given
        taken = self.creases.remember(shape, self._plates["first"], frame, [self.sheet.normals(x)])
        return {"slid": self._slide(x, self._most), "creases": taken}

    def _slide(self, x: Any, most: Any) -> Any:
        slid = self._slid.copy()
        if self._rubs:
            slide = launch(
                "bending_slide", len(most), **self._plates, most=most, x=x, **self._rows, hinge=self._hinge,
                normal=self.sheet.normal, slid=slid,
            )  # fmt: skip
            self.backend.run([self.sheet.normals(x), slide])
        return slid

    def _energy(self, x: Any, of: Any) -> Any:
        """J, of the rows `of` (R,) at x (V, 4)."""
        xp = self.backend.xp
        self.turn(x)
        self.backend.run(self._projected(x, self._law))
        force, stiffness = self.force[: len(of)][of].astype(xp.float64), self._stiffness[of]
        return 0.5 * ((force * force).sum(axis=1) / xp.maximum(stiffness, SOFTEST)).sum()


def bending(cloth: Cloth, form: BendingForm, known: Bending | None = None) -> Bending:
    """Rows of one cloth for the flexural rigidity D of its material; indices are the cloth's own.

    known: the same with other numbers, or with other pins.
    """
    clamped = _clamped(cloth)
    if known is not None and not np.array_equal(clamped, known.clamped):
        known = None
    if known is None:
        rows, area, hinge, plate = _rows(cloth, form, clamped)
        rows = _significant(rows, abs(rows).max(axis=1).toarray().ravel(), np.ones(rows.shape[1]))
        unshrunk = _rest_curvature(cloth, rows, hinge)
    else:
        rows, area, hinge, plate, unshrunk = known.rows, known.area, known.hinge, known.plate, known.unshrunk
    names = ("bend", "bend_friction", "shrink", "bend_damping", "bend_yield")
    if form == "plate":
        rigidity, most, shrink, times, yields = (of_triangles(cloth, name)[plate] for name in names)
        corners = cloth.triangles[plate]
    else:
        rigidity, most, shrink, times, yields = (_of_edges(cloth, name, hinge) for name in names)
        corners = hinge
    if cloth.sewn is not None and cloth.seam_stiffness != 1.0:
        rigidity = np.where(cloth.sewn[corners].sum(axis=1) > 1, cloth.seam_stiffness, 1.0) * rigidity
    scale, near, bent = 1.0 - shrink, known.folds if known else None, unshrunk
    if cloth.folds is not None and cloth.fold_angle != 0.0 and form == "plate":
        near, bent = near or neighbourhoods(cloth, cloth.folds), unshrunk.copy()
        of_folds, found = folded_curvature(cloth, cloth.folds, near, rows, plate, hinge)
        bent[of_folds] = found
    rest = scale[:, None] * bent
    yarns = np.where(most > 0.0, RUBBING, 0.0)
    elastic = rigidity / (area * scale * scale)
    yielding = Yielding(np.where(yields > 0.0, yields, NEVER), 1.0 / (area * scale * scale))
    stiffness, damping, rubbing = (1.0 + yarns) * elastic, times * elastic, yarns / (1.0 + yarns)
    if known is not None and all(
        np.array_equal(now, before)
        for now, before in (
            (stiffness, known.stiffness), (most, known.most), (rest, known.rest), (damping, known.damping),
            (yielding.curvature, known.yielding.curvature),
        )
    ):  # fmt: skip
        return known
    hessian, viscosity = _squared(rows, stiffness), _squared(rows, damping) if damping.any() else None
    return Bending(
        rows, area, stiffness, rubbing, plate, most, hinge.astype(np.int32), rest, hessian, unshrunk, damping,
        viscosity, yielding, near, clamped,
    )  # fmt: skip


def _squared(rows: sparse.csr_array, weight: npt.NDArray[np.float64]) -> sparse.csr_array:
    """(N, N) Kᵀ diag(weight) K"""
    matrix = (rows.T @ sparse.diags_array(weight) @ rows).tocsr()
    size = np.sqrt(matrix.diagonal())
    return _significant(matrix, size, size)


def _rows(
    cloth: Cloth, form: BendingForm, clamped: npt.NDArray[np.bool_]
) -> tuple[sparse.csr_array, npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """(rows, what each one's D is divided by, their hinges, their plates)."""
    if form == "plate":
        return _plate_rows(cloth, clamped)
    rows, area, hinge = _hinge_rows(cloth)
    if form == "vertex":
        rows, area, hinge = _vertex_rows(cloth, rows, area, hinge)
    return rows, area, hinge, np.arange(len(area), dtype=np.int32)


def _significant(
    matrix: sparse.csr_array, row_size: npt.NDArray[np.float64], column_size: npt.NDArray[np.float64]
) -> sparse.csr_array:
    """The entries above rounding: nearly half of what products of sparse matrices hold on a regular grid is below."""
    entries = matrix.tocoo()
    kept = np.abs(entries.data) > ROUNDING * row_size[entries.row] * column_size[entries.col]
    part = entries.data[kept], (entries.row[kept], entries.col[kept])
    return sparse.coo_array(part, shape=matrix.shape).tocsr()


def _clamped(cloth: Cloth) -> npt.NDArray[np.bool_]:
    """(T,) triangles with three hard pins."""
    held = np.zeros(len(cloth.positions), bool)
    if cloth.pins is not None:
        held[cloth.pins.vertices] = True if cloth.pins.weights is None else cloth.pins.weights >= 1.0
    return np.asarray(held[cloth.triangles].all(axis=1))


def _plate_rows(
    cloth: Cloth, clamped: npt.NDArray[np.bool_]
) -> tuple[sparse.csr_array, npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    found = plate_rows(cloth.patterns, cloth.triangles, len(cloth.positions), clamped, cloth.rest_positions)
    area = np.where(clamped, np.inf, corner_areas(cloth.patterns))  # what pins hold bears nothing
    return found.rows, area[found.triangle], found.hinge, found.triangle


def _of_edges(cloth: Cloth, name: str, ends: npt.NDArray[np.int32]) -> Array:
    """(E,) a number of the cloth in the middle of edges with these ends (E, 2)."""
    a, b = of_vertices(cloth, name)[ends].T
    return np.asarray(a + 0.5 * (b - a))


def _hinge_rows(cloth: Cloth) -> tuple[sparse.csr_array, npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Bergou's K: cotangents at the ends of the edge; stiffness 3 k_b/(A₀+A₁) with k_b = D/3: D over that area."""
    found = hinges(cloth.triangles, cloth.rest_positions)
    area = corner_areas(cloth.patterns)
    cotangents = []
    for side in range(2):
        a, b, apex = (
            places(cloth.patterns, cloth.triangles, found.triangles[:, side], found.corners[:, k])
            for k in (0, 1, 2 + side)
        )
        cotangents.append((_cotangent(b - a, apex - a), _cotangent(a - b, apex - b)))
    (a_first, b_first), (a_second, b_second) = cotangents
    coefficient = np.column_stack([b_first + b_second, a_first + a_second, -a_first - b_first, -a_second - b_second])
    count = len(found.corners)
    index = np.repeat(np.arange(count), 4)
    shape = (count, len(cloth.positions))
    rows = sparse.coo_array((coefficient.ravel(), (index, found.corners.ravel())), shape=shape).tocsr()
    return rows, area[found.triangles].sum(axis=1), found.corners[:, :2]


def _vertex_rows(
    cloth: Cloth,
    hinge_rows: sparse.csr_array,
    hinge_area: npt.NDArray[np.float64],
    hinge: npt.NDArray[np.int32],
) -> tuple[sparse.csr_array, npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    count = len(cloth.positions)
    area = corner_areas(cloth.patterns)
    vertex_area = np.bincount(cloth.triangles.ravel(), np.repeat(area / 3.0, 3), minlength=count)
    laplacian = _cotangent_laplacian(cloth)
    border = _border_vertices(cloth)
    inner = np.flatnonzero(~border)
    kept = border[hinge].any(axis=1)
    rows = sparse.vstack([laplacian[inner], hinge_rows[kept]]).tocsr()
    areas = np.concatenate([vertex_area[inner], hinge_area[kept]])
    return rows, areas, np.concatenate([np.column_stack([inner, inner]), hinge[kept]])


def _cotangent_laplacian(cloth: Cloth) -> sparse.csr_array:
    """(N, N): (Lx)_v = Σ_j ½(cot α + cot β)(x_j − x_v), the mean-curvature vector times the vertex area × 2."""
    count = len(cloth.positions)
    weights = sparse.csr_array((count, count))
    for k in range(3):
        left, right = (cloth.triangles[:, (k + step) % 3] for step in (1, 2))
        apex, to_left, to_right = (cloth.patterns[:, (k + step) % 3] for step in range(3))
        half = 0.5 * _cotangent(to_left - apex, to_right - apex)
        one = sparse.coo_array((half, (left, right)), shape=(count, count))
        weights = weights + (one + one.T).tocsr()
    return (weights - sparse.diags_array(weights.sum(axis=1))).tocsr()


def _border_vertices(cloth: Cloth) -> npt.NDArray[np.bool_]:
    edges = np.sort(cloth.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique, count = np.unique(edges, axis=0, return_counts=True)
    border = np.zeros(len(cloth.positions), bool)
    border[unique[count == 1].ravel()] = True
    return border


def _rest_curvature(cloth: Cloth, rows: sparse.csr_array, hinge: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """(R, 4) along (edge, normal × edge, normal), as `bending_project` sets them up: a rest shape is free of force.

    Rows across a seam bend from flat: its sides have no one shape.
    """
    rest = cloth.rest_positions
    normal = np.zeros_like(rest)
    a, b, c = (rest[cloth.triangles[:, k]] for k in range(3))
    np.add.at(normal, cloth.triangles, np.cross(b - a, c - a)[:, None, :])
    unit_normal = unit(normal)[hinge].sum(axis=1)
    curvature = in_frame(rows @ rest, rest[hinge[:, 1]] - rest[hinge[:, 0]], unit_normal)
    if cloth.rest_corners is not None:
        sewn = np.zeros(len(rest), bool)
        sewn[cloth.triangles[(rest[cloth.triangles] != cloth.rest_corners).any(axis=2)]] = True
        curvature[abs(rows) @ sewn > 0.0] = 0.0
    size = np.sqrt(corner_areas(cloth.patterns).mean()) if len(cloth.triangles) else 0.0
    reach = np.linalg.norm(curvature, axis=1) / np.maximum(abs(rows).sum(axis=1), 1e-30)
    return curvature if reach.max(initial=0.0) > FLAT * size else np.zeros_like(curvature)


def _cotangent(u: npt.NDArray[np.float64], v: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray((u * v).sum(axis=1) / np.linalg.norm(np.cross(u, v), axis=1))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure inside cloth that is closed, or nearly so (docs/theory/shape.md), kernels `pressure.h`.

E = −c ∫ p(V) dV for each island with the volume V: p is a constant, a gas that has the pressure of the outside at the
target volume, or both. Of the second derivative −p ∇²V − p′ ∇V⊗∇V only the second part is never negative, and it alone
enters Newton's matrix: one dense vector an island, which conjugate gradients take as it is (`breath_launches`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, Launch, launch
from ..scene.arrays import Array, IntArray
from ..scene.enclosure import Enclosure, enclosure
from ..scene.fields import of_vertices
from ..scene.mesh import incidence
from ..scene.scene import Cloth
from .choices import ElasticityChoices
from .energy import LinearSystem
from .sheet import Sheet

CHUNK = 256  #: vertices per partial sum
SQUEEZED = 0.05  #: share of the target volume below which a gas does not get harder


class Filling(NamedTuple):
    """Of one cloth."""

    law: Array  #: (3,) pressure, ambient pressure, Pa; target volume, m³
    fluid: float  #: kg/m³
    factor: Array  #: (n,)
    inside: Enclosure | None  #: None: no pressure yet
    hessian: sparse.csr_array  #: (n, n) nothing
    viscosity: None = None

    @property
    def acts(self) -> bool:
        pressure, ambient, _ = self.law
        return bool((pressure != 0.0 or ambient != 0.0 or self.fluid != 0.0) and self.factor.any())

    def says(self, other: Filling) -> bool:
        """Whether both have the same numbers."""
        same = np.array_equal(self.law, other.law) and np.array_equal(self.factor, other.factor)
        return same and self.fluid == other.fluid

    @property
    def balanced(self) -> bool:
        """Whether its forces have neither sum nor torque: a fluid has weight, and paint pushes to one side."""
        return not self.acts or (self.fluid == 0.0 and bool((self.factor == self.factor[0]).all()))


class FillingData(NamedTuple):
    """Of all cloths: I islands, N vertices."""

    parts: Sequence[Filling]
    law: Array  #: (I, 4) as the kernel `island_pressure` has it
    fluid: Array  #: (I,) kg/m³
    factor: Array  #: (N,) negative where the mesh is inside out
    inside: Enclosure | None  #: None where nothing acts
    hessian: sparse.csr_array
    viscosity: None = None


class Work(NamedTuple):
    """What the kernels write into where no system is solved."""

    residual: Any
    added: Any


class PressureEnergy:
    """On the device."""

    name: ClassVar[str] = "pressure"
    constant: ClassVar[bool] = False
    external: ClassVar[bool] = False  #: `balanced` says it of each cloth

    def __init__(self, backend: Backend, data: FillingData, sheet: Sheet, choices: ElasticityChoices) -> None:
        self.backend, self.sheet = backend, sheet
        self._gravity = np.zeros(3)
        self._built = False
        self.renew(data)

    @staticmethod
    def part(cloth: Cloth, choices: ElasticityChoices, known: Filling | None = None) -> Filling:
        shape, count = cloth.shape, len(cloth.positions)
        law = np.array([shape.pressure, shape.ambient_pressure, shape.target_volume])
        inside = known.inside if known else None
        hessian = known.hessian if known else sparse.csr_array((count, count))
        made = Filling(law, shape.fluid_density, of_vertices(cloth, "pressure_factor"), inside, hessian)
        if made.acts and inside is None:
            made = made._replace(inside=enclosure(cloth.rest_positions, cloth.triangles))
        return known if known is not None and made.says(known) else made

    @staticmethod
    def joined(parts: Sequence[Filling], cloths: Sequence[Cloth], offsets: IntArray) -> FillingData:
        hessian = sparse.block_diag([part.hessian for part in parts], format="csr")
        if not any(part.acts for part in parts):
            return FillingData(parts, np.zeros((0, 4)), np.zeros(0), np.zeros(0), None, hessian)
        known = [
            part.inside or enclosure(cloth.rest_positions, cloth.triangles)
            for part, cloth in zip(parts, cloths, strict=True)
        ]
        islands = np.cumsum([0, *(len(inside.volume) for inside in known)])
        rims = np.cumsum([0, *(int(inside.rim.max(initial=-1)) + 1 for inside in known)])
        laws = [_laws(part, inside) for part, inside in zip(parts, known, strict=True)]
        whole = Enclosure(
            np.concatenate([inside.island + at for inside, at in zip(known, islands, strict=False)]),
            np.concatenate([inside.volume for inside in known]),
            np.concatenate([inside.area for inside in known]),
            np.concatenate([inside.ends + at for inside, at in zip(known, offsets, strict=False)]),
            np.concatenate([inside.rim + at for inside, at in zip(known, rims, strict=False)]),
        )
        law = np.concatenate(laws)
        factor = np.concatenate([part.factor for part in parts]) * law[whole.island, 3]
        fluid = np.repeat([part.fluid for part in parts], np.diff(islands))
        return FillingData(parts, law, fluid, factor, whole, hessian)

    def renew(self, data: FillingData) -> None:
        self.acts = data.inside is not None
        #: (cloths,) whether nothing outside is felt in a cloth's pressure
        self.balanced = [part.balanced for part in data.parts]
        self._fluid = data.fluid
        if data.inside is None:
            return
        if not self._built:
            self._build(data.inside)
        self._law[:], self._factor[:] = self.backend.array(data.law), self.backend.array(data.factor)
        self.weigh(self._gravity)

    def weigh(self, gravity: Sequence[float] | npt.NDArray[np.float64]) -> None:
        """gravity: (3,) m/s², of the fluid."""
        self._gravity = np.asarray(gravity, np.float64)
        if self._built and self.acts:
            weight = np.zeros((len(self._fluid), 4))
            weight[:, :3] = self._fluid[:, None] * self._gravity
            self._weight[:] = self.backend.array(weight)

    def residual_launches(self, x: Any, system: LinearSystem | Work) -> list[Launch]:
        if not self.acts:
            return []
        push = launch(
            "pressure_residual", self.sheet.vertices, x=x, island=self._island, state=self._state, weight=self._weight,
            factor=self._factor, gradient=self._gradient, push=self._push, residual=system.residual,
            added=system.added,
        )  # fmt: skip
        return [*self._volume_launches(x), push]

    def breath_launches(self, p: Any, product: Any, free: Any, dot: Mapping[str, Any]) -> list[Launch]:
        """Kernels that add to product (N, 4) what the second derivative at the last residual makes of p (N, 4); dot:
        p times that (`DotProduct.product`)."""
        if not self.acts:
            return []
        return [
            launch("breath_partial", self._chunks, **self._members, push=self._push, p=p, partial=self._partial),
            launch(
                "breath_total", len(self._breath), island_chunk=self._island_chunk, partial=self._partial,
                state=self._state, breath=self._breath,
            ),
            launch(
                "breath_add", self.sheet.vertices, island=self._island, breath=self._breath, push=self._push,
                free=free, p=p, product=product, **dot,
            ),
        ]  # fmt: skip

    def gain(self, start: Any, x: Any, of: Any) -> float:
        """Less the work that the pressure at x does on the way there, as a step has it: where it blows cloth up its
        energy is concave, and the difference of two places would say that a step that loses nothing gains some."""
        if not self.acts:
            return 0.0
        xp = self.backend.xp
        self._work.residual[:] = 0.0
        self.backend.run(self.residual_launches(x, self._work))
        force, way = (values.astype(xp.float64) for values in (self._work.residual, x - start))
        return -float((force * way[: len(force)]).sum(axis=1)[of].sum())

    def memory(self, x: Any) -> dict[str, Any]:
        return {}

    def resume(self, memory: Mapping[str, Any], x: Any) -> None:
        pass

    def remember(self, x: Any, converged: bool) -> dict[str, Any]:
        return {}

    def _volume_launches(self, x: Any) -> list[Launch]:
        sheet = self.sheet
        middle = launch("rim_middle", self._rim_count, x=x, **self._rims, middle=self._middle, cone=self._cone)
        gradient = launch(
            "volume_gradient", sheet.vertices, x=x, corners=sheet.corners, start=sheet.start, incident=sheet.corner,
            at_rim_start=self._at_rim_start, at_rim=self._at_rim, rim_of=self._rim_of, **self._rims,
            middle=self._middle, cone=self._cone, island=self._island, first=self._first, gradient=self._gradient,
            share=self._share,
        )  # fmt: skip
        partial = launch(
            "volume_partial", self._chunks, **self._members, x=x, gradient=self._gradient, share=self._share,
            volume=self._volume, area=self._area, place=self._place,
        )  # fmt: skip
        state = launch(
            "island_pressure", len(self._breath), island_chunk=self._island_chunk, volume=self._volume,
            area=self._area, place=self._place, law=self._law, weight=self._weight, squeezed=SQUEEZED,
            state=self._state,
        )  # fmt: skip
        return [*([middle] if self._rim_count else []), gradient, partial, state]

    def _build(self, inside: Enclosure) -> None:
        """The arrays, once there is a pressure."""
        self._built = True
        xp, count = self.backend.xp, self.sheet.vertices
        integers = lambda values: self.backend.array(values, np.int32)  # noqa: E731
        vectors = lambda rows: xp.zeros((rows, 4), xp.float32)  # noqa: E731
        numbers = lambda rows: xp.zeros(rows, xp.float32)  # noqa: E731
        islands = len(inside.volume)
        member = np.argsort(inside.island, kind="stable")
        size = np.bincount(inside.island, minlength=islands)
        of_island = -(-size // CHUNK)
        island_chunk = np.concatenate([[0], np.cumsum(of_island)])
        self._chunks = int(island_chunk[-1])
        begin = np.repeat(np.cumsum(size) - size, of_island)
        within = np.arange(self._chunks) - np.repeat(island_chunk[:-1], of_island)
        self._members = {"chunk_start": integers([*(begin + CHUNK * within), count]), "member": integers(member)}
        self._island, self._island_chunk = integers(inside.island), integers(island_chunk)
        self._first = integers(member[np.cumsum(size) - size])
        self._rim_count = int(inside.rim.max(initial=-1)) + 1
        start, side = incidence(inside.ends, count)
        self._at_rim_start, self._at_rim, self._rim_of = integers(start), integers(side), integers(inside.rim)
        rim_start = np.searchsorted(inside.rim, np.arange(self._rim_count + 1))
        self._rims = {"rim_start": integers(rim_start), "ends": integers(inside.ends)}
        self._middle, self._cone = vectors(self._rim_count), vectors(self._rim_count)
        self._gradient, self._push, self._share = vectors(count), vectors(count), numbers(count)
        self._volume, self._area, self._place = numbers(self._chunks), numbers(self._chunks), vectors(self._chunks)
        self._partial, self._breath = numbers(self._chunks), numbers(islands)
        self._law, self._weight, self._state = vectors(islands), vectors(islands), vectors(islands)
        self._factor = numbers(count)
        self._work = Work(vectors(count), numbers(count))


def _laws(part: Filling, inside: Enclosure) -> Array:
    """(I, 4) of the islands of one cloth; they share a target volume as they share the volume at rest."""
    pressure, ambient, target = part.law
    size = np.abs(inside.volume)
    if target > 0.0:
        share = size if size.any() else inside.area
        size = target * share / share.sum()
    outward = np.where(inside.volume < 0.0, -1.0, 1.0)
    return np.column_stack([np.full((len(size), 2), (pressure, ambient)), size, outward])

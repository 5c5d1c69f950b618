# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts with non-distance barriers: weights that grow while a pair stays pressed (docs/theory/method.md §7, §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import Backend, Launch, launch
from .pairs import Pairs
from .tangles import pair_key


@dataclass(frozen=True)
class BarrierLaw:
    """How weights start, grow and are forgotten. Defaults: docs/theory/method.md §7; the paper's: `PAPER_LAW`."""

    start: float = 0.02  #: k, relative to the diagonal of H under the pair (docs/theory/ndb.md)
    base: float = 2.0  #: K
    most: int = 16  #: cap of the exponent a
    growth: float = 0.25  #: a grows only while the gap is below ξ + growth · d̂
    forget: int = 1  #: what an inactive pair loses of a
    persistent: bool = True  #: a lives on over outer iterations and steps
    recovery: float = 1.0  #: share of a contact's missing gap that one step makes up for
    samples: int = 1  #: of partial CCD: 0, 1, 3 or 6
    distance: bool = False  #: weights by the distance at x⁻ (eq. 6) instead of by age (solvers/pd_ipc.py)
    by_mass: bool = False  #: targets ∝ c/m with equal weights (§3) instead of weights ∝ |c|


PAPER_LAW = BarrierLaw(start=0.1, growth=1.0, forget=1 << 20, recovery=1.0, persistent=False, samples=3, by_mass=True)


@dataclass(frozen=True)
class Ages:
    """What earlier contacts leave, by pair: exponents, and the tangential force that friction bore (`contact_target`).

    keys: (n,) sorted int64; ages: (n,) int32; holds: (n, 4) float32, N.
    """

    keys: Any
    ages: Any
    holds: Any


def no_ages(backend: Backend) -> Ages:
    return Ages(backend.array([], np.int64), backend.array([], np.int32), backend.array(np.zeros((0, 4))))


@dataclass
class VertexData:
    """What contacts read of the vertices, on the device. V all vertices, N cloth vertices."""

    cloth: int  #: N
    free: Any  #: (N,)
    mass: Any  #: (N,)
    friction: Any  #: (V,)
    rest_diagonal: Any  #: (N,) of H
    ring: tuple[Any, Any]  #: (start, neighbours) of all V vertices


class Contacts:
    """C pairs near contact, with their geometry at the feasible state x⁻ (`feasible`)."""

    def __init__(
        self,
        backend: Backend,
        law: BarrierLaw,
        pairs: Pairs,
        feasible: Any,
        start: Any,
        vertices: VertexData,
        earlier: Ages,
        anchors: Ages,
    ) -> None:
        """feasible, start: (V, 4) the last feasible state x⁻ and the step's start. anchors: of the step's start."""
        xp = backend.xp
        self.backend, self.law, self.pairs, self.count, self.feasible = backend, law, pairs, pairs.count, feasible
        self.barycentric, self.normal, self.share, self.diagonal, self.correction = self._vectors(5)
        # (C, 4) each (`contact_target`): stiffness N/m, direction and length of the slip m, K p N, friction's force N
        self.curvature, self.slide, self.force, self.kept = self._vectors(4)
        self.stiffness, self.goal = (xp.zeros(self.count, xp.float32) for _ in range(2))
        self.age = self._recall(earlier, earlier.ages, -1)
        self.hold = self._recall(anchors, anchors.holds, 0.0)
        backend.launch(
            "contact_geometry", self.count, feature=pairs.feature, corner=pairs.corner, x=feasible, start=start,
            offset=pairs.offset, activation=pairs.activation, diagonal=vertices.rest_diagonal, free=vertices.free,
            ring_start=vertices.ring[0], ring=vertices.ring[1], cloth_vertices=vertices.cloth, recovery=law.recovery,
            barycentric=self.barycentric, normal=self.normal, stiffness=self.stiffness, goal=self.goal,
        )  # fmt: skip
        if law.distance:
            backend.launch(
                "distance_weight", self.count, corner=pairs.corner, feasible=feasible, offset=pairs.offset,
                activation=pairs.activation, barycentric=self.barycentric, normal=self.normal,
                stiffness=self.stiffness,
            )  # fmt: skip
        self._vertices = vertices
        self.start, self.incident = self._incidence(vertices.cloth)

    def partial_ccd(self, x: Any, *, first: bool = False) -> Callable[[], None]:
        """Bound kernel that ages the weights from the positions x (V, 4)."""
        law, pairs = self.law, self.pairs
        kernel = launch(
            "partial_ccd", self.count, feature=pairs.feature, corner=pairs.corner, feasible=self.feasible, x=x,
            offset=pairs.offset, activation=pairs.activation, goal=self.goal, samples=law.samples, first=int(first),
            growth=law.growth, forget=law.forget, most=law.most, barycentric=self.barycentric, normal=self.normal,
            age=self.age,
        )  # fmt: skip
        return self.backend.sequence([kernel])

    def residual_launches(self, x: Any, start: Any, residual: Any, added: Any, total: Any) -> list[Launch]:
        """Kernels that add the contacts to the residual (N, 4), to ΔH (`added`) and to diag(H + ΔH) (`total`)."""
        law, vertices = self.law, self._vertices
        target = launch(
            "contact_target", self.count, corner=self.pairs.corner, x=x, start=start, goal=self.goal,
            barycentric=self.barycentric, normal=self.normal, stiffness=self.stiffness, age=self.age,
            free=vertices.free, mass=vertices.mass, friction=vertices.friction, cloth_vertices=vertices.cloth,
            weight_start=law.start, weight_base=law.base, by_mass=int(law.by_mass), hold=self.hold, kept=self.kept,
            share=self.share, diagonal=self.diagonal, correction=self.correction, curvature=self.curvature,
            slide=self.slide,
        )  # fmt: skip
        gather = launch(
            "contact_residual", vertices.cloth, start=self.start, incident=self.incident, share=self.share,
            diagonal=self.diagonal, correction=self.correction, residual=residual, added=added, total=total,
        )  # fmt: skip
        return [target, gather]

    def ages(self) -> Ages:
        """The exponents, to be recalled by the next contacts."""
        if not self.law.persistent:
            return no_ages(self.backend)
        xp = self.backend.xp
        live = xp.flatnonzero(self.age >= 0)
        keys = self._keys()[live]
        order = xp.argsort(keys)
        return Ages(keys[order], self.age[live][order], self.kept[live][order])

    @property
    def active(self) -> int:
        return int((self.age >= 0).sum())

    def _keys(self) -> Any:
        return pair_key(self.pairs.feature[:, 0], self.pairs.feature[:, 1])

    def _recall(self, earlier: Ages, values: Any, otherwise: float) -> Any:
        """The `values` of `earlier` at these pairs, `otherwise` where a pair is new."""
        xp = self.backend.xp
        found = xp.full((self.count, *values.shape[1:]), otherwise, values.dtype)
        if len(earlier.keys):
            keys = self._keys()
            at = xp.minimum(xp.searchsorted(earlier.keys, keys), len(earlier.keys) - 1)
            known = earlier.keys[at] == keys
            found[known] = values[at[known]]
        return found

    def _vectors(self, count: int) -> Iterator[Any]:
        return (self.backend.xp.zeros((self.count, 4), self.backend.xp.float32) for _ in range(count))

    def _incidence(self, cloth: int) -> tuple[Any, Any]:
        """(start, 4 contact + corner) by cloth vertex."""
        xp = self.backend.xp
        corner = self.pairs.corner.ravel()
        entries = xp.flatnonzero(corner < cloth)
        owner = corner[entries]
        order = xp.argsort(owner, kind="stable")
        counts = xp.bincount(owner, minlength=cloth) if len(owner) else xp.zeros(cloth, xp.int64)
        start = xp.concatenate([xp.zeros(1, xp.int64), xp.cumsum(counts)]).astype(xp.int32)
        return start, entries[order].astype(xp.int32)

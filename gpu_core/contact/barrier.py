# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts with non-distance barriers: weights that grow while a pair stays pressed (docs/theory/method.md §7, §8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend, Launch, launch
from .pairs import Pairs

LEAST_ROOM = 256  #: contacts
SPARE_ROOM = 8  #: times the most contacts of late; more is given back, for kernels pass over all of it
LATELY = 64  #: times that contacts are set up: a few steps


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

    Sorted by the pair as one 64-bit number; an age below 0 means that there was no contact.
    """

    feature: Any  #: (n, 2) int32
    ages: Any  #: (n,) int32
    holds: Any  #: (n, 4) float32, N

    def to_host(self, backend: Backend) -> tuple[npt.NDArray[Any], ...]:
        """The contacts among them: feature, ages, holds."""
        feature, ages, holds = (backend.host(array) for array in (self.feature, self.ages, self.holds))
        return feature[ages >= 0], ages[ages >= 0], holds[ages >= 0]


def no_ages(backend: Backend) -> Ages:
    integers = lambda *shape: backend.array(np.zeros(shape), np.int32)  # noqa: E731
    return Ages(integers(0, 2), integers(0), backend.array(np.zeros((0, 4))))


@dataclass
class VertexData:
    """What contacts read of the vertices, on the device. V all vertices, N cloth vertices."""

    cloth: int  #: N
    free: Any  #: (N,)
    mass: Any  #: (N,)
    friction: Any  #: (V,)
    party: Any  #: (V,) int32
    parties: int  #: P; 0 where no two of them have a friction of their own
    party_friction: Any  #: (P · P,) that; below 0 = not so
    rest_diagonal: Any  #: (N,) of H
    ring: tuple[Any, Any]  #: (start, neighbours) of all V vertices


class Contacts:
    """Pairs near contact, with their geometry at the feasible state x⁻.

    The arrays stay where they are from one set of contacts to the next, so that launches on them are bound once: there
    is room for `capacity` contacts, of which the first `count` are live. Only when there is too little of it, or for a
    while far too much, are they made anew: then `generation` is another.
    """

    def __init__(self, backend: Backend, law: BarrierLaw, vertices: VertexData, feasible: Any, start: Any) -> None:
        """feasible, start: (V, 4) where the last feasible state x⁻ and the step's start will be."""
        self.backend, self.law, self.vertices, self.feasible, self.start = backend, law, vertices, feasible, start
        self.count, self.capacity, self.generation = 0, 0, 0
        self._most, self._set_up = 0, 0  #: contacts, and how often they were set up, since room was last looked at
        self.live = backend.xp.zeros(1, backend.xp.int32)  #: the count, on the device
        self.of_vertex = backend.xp.zeros(vertices.cloth + 1, backend.xp.int32)  #: where in `incident` a vertex begins
        self.touching_end = backend.xp.zeros(vertices.cloth, backend.xp.int32)  #: and ends in `touching`

    def set_up(self, pairs: Pairs, near: Any, earlier: Ages, anchors: Ages) -> None:
        """Make the pairs `near` (C,) of these the contacts. anchors: what was known at the step's start."""
        xp, self.count = self.backend.xp, len(near)
        self._see_to_room()
        self.live[:] = self.count
        self.backend.launch(
            "contact_pair", self.capacity, live=self.live, near=near, pair_feature=pairs.feature,
            pair_corner=pairs.corner, pair_offset=pairs.offset, pair_activation=pairs.activation,
            cloth_vertices=self.vertices.cloth, feature=self.feature, corner=self.corner, offset=self.offset,
            activation=self.activation, owner=self._owner,
        )  # fmt: skip
        self.backend.launch(
            "contact_recall", self.capacity, live=self.live, feature=self.feature, known=len(earlier.ages),
            known_feature=earlier.feature, known_age=earlier.ages, anchored=len(anchors.ages),
            anchor_feature=anchors.feature, anchor_age=anchors.ages, anchor_hold=anchors.holds, age=self.age,
            hold=self.hold,
        )  # fmt: skip
        corners = 4 * self.count
        self.incident[:corners] = xp.argsort(self._owner[:corners], kind="stable")
        self._place()

    def partial_ccd(self, x: Any, *, first: bool = False, accepted: Any = None) -> Launch:
        """Kernel that ages the weights from the positions x (V, 4). accepted: (1,) int32, 0: not; None: always."""
        law = self.law
        return launch(
            "partial_ccd", self.capacity, live=self.live, accepted=self.live if accepted is None else accepted,
            feature=self.feature, corner=self.corner,
            feasible=self.feasible, x=x, offset=self.offset, activation=self.activation, goal=self.goal,
            samples=law.samples, first=int(first), growth=law.growth, forget=law.forget, most=law.most,
            barycentric=self.barycentric, normal=self.normal, age=self.age,
        )  # fmt: skip

    def residual_launches(self, x: Any, start: Any, residual: Any, added: Any, total: Any) -> list[Launch]:
        """Kernels that add the contacts to the residual (N, 4), to ΔH (`added`) and to diag(H + ΔH) (`total`)."""
        law, vertices = self.law, self.vertices
        target = launch(
            "contact_target", self.capacity, live=self.live, corner=self.corner, x=x, start=start, goal=self.goal,
            barycentric=self.barycentric, normal=self.normal, stiffness=self.stiffness, age=self.age,
            free=vertices.free, mass=vertices.mass, friction=vertices.friction, party=vertices.party,
            parties=vertices.parties, party_friction=vertices.party_friction, cloth_vertices=vertices.cloth,
            weight_start=law.start, weight_base=law.base, by_mass=int(law.by_mass), hold=self.hold, kept=self.kept,
            share=self.share, diagonal=self.diagonal, correction=self.correction, curvature=self.curvature,
            slide=self.slide,
        )  # fmt: skip
        gather = launch(
            "contact_residual", vertices.cloth, start=self.of_vertex, incident=self.incident, share=self.share,
            diagonal=self.diagonal, correction=self.correction, residual=residual, added=added, total=total,
        )  # fmt: skip
        return [target, gather]

    def ages(self) -> Ages:
        """The exponents, to be recalled by the next contacts."""
        if not self.law.persistent:
            return no_ages(self.backend)
        xp = self.backend.xp
        feature, age, hold = (array[: self.count] for array in (self.feature, self.age, self.kept))
        order = xp.argsort(feature.view(xp.int64).ravel()).astype(xp.int32)
        known = Ages(*map(xp.empty_like, (feature, age, hold)))
        self.backend.launch(
            "contact_remember", self.count, order=order, feature=feature, age=age, hold=hold,
            known_feature=known.feature, known_age=known.ages, known_hold=known.holds,
        )  # fmt: skip
        return known

    @property
    def active(self) -> int:
        return int((self.age[: self.count] >= 0).sum())

    def _see_to_room(self) -> None:
        """One motion that went astray can need a thousand times the room of all others."""
        self._most, self._set_up = max(self._most, self.count), self._set_up + 1
        room = max(LEAST_ROOM, 1 << (self._most - 1).bit_length())
        if self.count > self.capacity or (self._set_up >= LATELY and self.capacity > SPARE_ROOM * room):
            self._make_room(room)
        if self._set_up >= LATELY:
            self._most, self._set_up = 0, 0

    def _make_room(self, capacity: int) -> None:
        xp, vertices = self.backend.xp, self.vertices
        vectors = lambda count: (xp.zeros((capacity, 4), xp.float32) for _ in range(count))  # noqa: E731
        floats = lambda count: (xp.zeros(capacity, xp.float32) for _ in range(count))  # noqa: E731
        self.capacity, self.generation = capacity, self.generation + 1
        self.feature, self.corner = xp.zeros((capacity, 2), xp.int32), xp.zeros((capacity, 4), xp.int32)
        #: touching: those of `incident` that push, as Newton's matrix finds them
        self._owner, self.incident, self.touching = (xp.zeros(4 * capacity, xp.int32) for _ in range(3))
        self.age = xp.zeros(capacity, xp.int32)
        self.offset, self.activation, self.stiffness, self.goal = floats(4)
        self.barycentric, self.normal, self.share, self.diagonal, self.correction, self.hold = vectors(6)
        # (C, 4) each (`contact_target`): stiffness N/m, direction and length of the slip m, K p N, friction's force N
        self.curvature, self.slide, self.force, self.kept = vectors(4)
        launches = [
            launch(
                "owner_start", vertices.cloth + 1, live=self.live, owner=self._owner, order=self.incident,
                start=self.of_vertex,
            ),
            launch("clear_vector", capacity, to=self.slide),
            launch(
                "contact_geometry", capacity, live=self.live, feature=self.feature, corner=self.corner,
                x=self.feasible, start=self.start, offset=self.offset, activation=self.activation,
                diagonal=vertices.rest_diagonal, free=vertices.free, ring_start=vertices.ring[0],
                ring=vertices.ring[1], cloth_vertices=vertices.cloth, recovery=self.law.recovery,
                barycentric=self.barycentric, normal=self.normal, stiffness=self.stiffness, goal=self.goal,
            ),
        ]  # fmt: skip
        if self.law.distance:
            weight = launch(
                "distance_weight", capacity, live=self.live, corner=self.corner, feasible=self.feasible,
                offset=self.offset, activation=self.activation, barycentric=self.barycentric, normal=self.normal,
                stiffness=self.stiffness,
            )  # fmt: skip
            launches.append(weight)
        self._place: Callable[[], None] = self.backend.sequence(launches)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid motion of cloth that nothing outside holds.

Inner forces have neither sum nor torque, so inertia alone decides it: backward Euler keeps Σ m (x − z) = 0 and
Σ m x × (x − z) = 0 at the step's end. An iteration that stops early leaves a part of it out, and cloth would hover or
turn in mid-air; what the last filter stops would be missing from the velocity. The part is six numbers, so it is put
back exactly: after the iterations in x, after the last filter in the velocity alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..backend import Backend
from ..contact.barrier import Contacts, VertexData

FLAT = 1e-6  #: moment of inertia, relative to the largest, about which a group is not turned


class Momentum:
    """Groups of cloths that touch each other, and whether a pin or a collider holds them."""

    def __init__(
        self,
        backend: Backend,
        vertices: VertexData,
        pin_stiffness: Any,
        cloths: Sequence[int],
        balanced: Sequence[bool] | None = None,
    ) -> None:
        """pin_stiffness: (N,) of soft pins. cloths: first vertex of each cloth, and N. balanced: as for `push`."""
        self.backend, self.cloths = backend, cloths
        count = len(cloths) - 1
        object_ = np.full(len(vertices.friction), count)
        object_[: cloths[-1]] = np.repeat(np.arange(count), np.diff(cloths))
        self._object = backend.array(object_, np.int32)  #: (V,) which cloth; the count of them for all colliders
        self._touch = backend.xp.zeros((1 + count) ** 2, backend.xp.int32)
        self.weigh(vertices.mass)
        #: the vertices of each group of cloths that touch each other and that neither pins nor colliders hold
        self.loose: list[Any] = []
        self._free = vertices.free
        self._balanced = [True] * count if balanced is None else list(balanced)
        self.pin(pin_stiffness)

    def weigh(self, mass: Any) -> None:
        """mass: (N,) kg."""
        self.mass = mass.astype(self.backend.xp.float64)[:, None]

    def pin(self, stiffness: Any) -> None:
        """What soft pins and pulls hold has changed: stiffness (N,), N/m."""
        held = self.backend.host(((self._free == 0) & (self.mass[:, 0] > 0)) | (stiffness > 0))
        self._held = [bool(held[a:b].any()) for a, b in pairwise(self.cloths)]
        self.push(self._balanced)

    def push(self, balanced: Sequence[bool]) -> None:
        """balanced: (cloths,) whether the forces on each from outside have neither sum nor torque."""
        self._balanced = list(balanced)
        self.pinned = [held or not even for held, even in zip(self._held, self._balanced, strict=True)]

    def look(self, contacts: Contacts | None) -> None:
        """Find the groups that nothing holds, as the contacts are now."""
        xp = self.backend.xp
        self.loose = [
            xp.concatenate([xp.arange(self.cloths[k], self.cloths[k + 1]) for k in group])
            for group in self._loose(contacts)
        ]

    def lacking(self, inertial: Any, x: Any, motion: Any) -> Any | None:
        """(N, 4) float64: by what rigid motion every loose group falls short, 0 for all else; None where none is loose.

        inertial, motion: (N, 4) displacements in the step, m, or velocities, m/s; by inertia, gravity and air alone,
        and as they are. x: (V, 4) where that is, m.
        """
        if not self.loose:
            return None
        xp = self.backend.xp
        lacking = xp.zeros(inertial.shape, xp.float64)
        for rows in self.loose:
            lacking[rows, :3] = self._rigid(rows, x, inertial - motion)
        return lacking

    def _rigid(self, rows: Any, x: Any, lack: Any) -> Any:
        """(G, 3) the rigid motion of vertices `rows` with the momentum and the spin of `lack` (N, 4)."""
        xp = self.backend.xp
        mass, at, lack = (values[rows, :3].astype(xp.float64) for values in (self.mass, x, lack))
        whole = mass.sum()
        arm = at - (mass * at).sum(axis=0) / whole
        shift = (mass * lack).sum(axis=0) / whole
        spin = self.backend.host((mass * xp.cross(arm, lack)).sum(axis=0))
        # Sums, not CuPy's @: that needs cuBLAS, half a gigabyte which nobody installs for nine numbers.
        spread = self.backend.host(((mass * arm)[:, :, None] * arm[:, None, :]).sum(axis=0))
        turn = np.linalg.pinv(np.trace(spread) * np.eye(3) - spread, rcond=FLAT, hermitian=True) @ spin
        return shift + xp.cross(xp.asarray(turn)[None], arm)

    def _loose(self, contacts: Contacts | None) -> list[list[int]]:
        """The groups as numbers of cloths."""
        count = len(self.pinned)
        group, held = list(range(count)), list(self.pinned)
        if all(held):
            return []
        for first, second in self._touching(contacts):
            a, b = group[first], group[second] if second < count else None
            if b is None:
                held[a] = True
            elif a != b:
                held[a] = held[a] or held[b]
                group = [a if g == b else g for g in group]
        return [[k for k in range(count) if group[k] == g] for g in sorted(set(group)) if not held[g]]

    def _touching(self, contacts: Contacts | None) -> list[tuple[int, int]]:
        """Distinct pairs of cloths, lower number first, with an active contact; a collider's number is the count."""
        if contacts is None:
            return []
        objects = 1 + len(self.pinned)
        self._touch[:] = 0
        self.backend.launch(
            "touching_objects", contacts.capacity, live=contacts.live, corner=contacts.corner, age=contacts.age,
            object=self._object, objects=objects, touching=self._touch,
        )  # fmt: skip
        found = np.argwhere(self.backend.host(self._touch).reshape(objects, objects))
        return sorted({(min(pair), max(pair)) for pair in found.tolist()})

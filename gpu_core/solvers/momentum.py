"""The rigid motion of cloth that nothing outside holds.

Inner forces have neither sum nor torque, so inertia alone decides it: backward Euler keeps Σ m (x − z) = 0 and
Σ m x × (x − z) = 0 at the step's end. An iteration that stops early leaves a part of it out, and cloth would hover or
turn in mid-air. The part is six numbers, so it is put back exactly.
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
    """Groups of cloths that touch each other, and whether a pin or a body holds them."""

    def __init__(self, backend: Backend, vertices: VertexData, pin_stiffness: Any, cloths: Sequence[int]) -> None:
        """pin_stiffness: (N,) of soft pins. cloths: first vertex of each cloth, and N."""
        self.backend, self.cloths = backend, cloths
        self.mass = vertices.mass.astype(backend.xp.float64)[:, None]
        held = backend.host((vertices.free == 0) | (pin_stiffness > 0))
        self.pinned = [bool(held[a:b].any()) for a, b in pairwise(cloths)]

    def restore(self, contacts: Contacts | None, inertial: Any, x: Any, displacement: Any) -> None:
        """Move every group that nothing holds rigidly, by what x lacks.

        inertial: (N, 4) displacement z − x*, of inertia and gravity alone. x, displacement: (V, 4), (N, 4), changed.
        """
        for group in self._loose(contacts):
            rows = [slice(self.cloths[k], self.cloths[k + 1]) for k in group]
            self._move(rows, inertial, x, displacement)

    def _move(self, rows: list[slice], inertial: Any, x: Any, displacement: Any) -> None:
        xp = self.backend.xp
        mass, at, lack = (
            xp.concatenate([values[part].astype(xp.float64) for part in rows])
            for values in (self.mass, x[:, :3], (inertial - displacement)[:, :3])
        )
        whole = mass.sum()
        arm = at - (mass * at).sum(axis=0) / whole
        shift = (mass * lack).sum(axis=0) / whole
        spin = self.backend.host((mass * xp.cross(arm, lack)).sum(axis=0))
        spread = self.backend.host((mass * arm).T @ arm)
        turn = np.linalg.pinv(np.trace(spread) * np.eye(3) - spread, rcond=FLAT, hermitian=True) @ spin
        motion = shift + xp.cross(xp.asarray(turn)[None], arm)
        first = 0
        for part in rows:
            last = first + part.stop - part.start
            displacement[part, :3] += motion[first:last]
            x[part, :3] += motion[first:last]
            first = last

    def _loose(self, contacts: Contacts | None) -> list[list[int]]:
        """Groups of cloths that neither pins nor bodies hold."""
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
        """Distinct pairs of cloths, lower number first, with an active contact; a body's number is the count."""
        if contacts is None:
            return []
        xp, count = self.backend.xp, len(self.pinned)
        corner = contacts.pairs.corner[contacts.age >= 0]
        side = xp.searchsorted(xp.asarray(self.cloths), corner[:, (0, 3)], side="right") - 1
        side.sort(axis=1)
        found = self.backend.host(xp.unique(side[:, 0] * (count + 1) + side[:, 1]))
        return [(int(pair) // (count + 1), int(pair) % (count + 1)) for pair in found]

# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a scene crosses while it is simulated: which pairs are left alone for it, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..scene.arrays import IntArray
from ..scene.meetings import Table, let_through
from .pairs import Proximity
from .passages import passages
from .patches import Surface
from .tangles import Meeting, Tangles, meetings, pair_of, tangles, unexplained


class Crossings:
    """Owns `proximity.freed`: only pairs that cross are left alone, and each of them until it has separated.

    Of what the user lets through (`apart`) nothing is known here until it is to collide.
    """

    def __init__(
        self,
        backend: Backend,
        proximity: Proximity,
        surface: Surface,
        names: list[str],
        centre: npt.NDArray[np.float64],
        self_collision: npt.NDArray[np.bool_],
        party: IntArray,
        apart: Table,
    ) -> None:
        """names: of the objects. centre: (3,) of the coordinates in world space, m. self_collision: (objects,).
        party: (V,). apart: (P, P) which parties the user lets through each other now."""
        self.backend, self.proximity, self.surface = backend, proximity, surface
        self.names, self.centre, self.self_collision = names, centre, self_collision
        self.crossed: set[str] = set()  #: which objects cross, "Sleeve and Arm", where that was last looked at
        self.party, self.apart = party, apart

    @property
    def count(self) -> int:
        """Pairs that are left alone."""
        return len(self.proximity.freed)

    def renew(self, x: Any, late: npt.ArrayLike = ()) -> tuple[list[Meeting], list[str]]:
        """Leave alone the pairs that cross at x (V, 4), and only those.

        Returns which objects they join, and the faults: crossings that neither the pairs left alone so far nor the
        vertices `late` explain.
        """
        here = self.backend.host(x)[:, :3].astype(np.float64)
        self.found = found = self._found(here)
        faults = self._faults(found, here, np.asarray(late, np.int64))
        self.proximity.freed = self.backend.array(np.unique(found.keys), np.int64)
        return self._met(found, here), faults

    def part(self, apart: Table, x: Any) -> tuple[list[str], list[str]]:
        """From x (V, 4) on the user lets other parties through each other. What begins to collide while it crosses is
        left alone.

        Returns which objects that joins, and the faults, as of `renew`.
        """
        if apart is self.apart or np.array_equal(apart, self.apart):
            return [], []
        before, self.apart = self.apart, apart
        if not (before & ~apart).any():
            return [], []
        here = self.backend.host(x)[:, :3].astype(np.float64)
        found = self._found(here)
        begun = self._let_through(found, before)
        faults = self._faults(found.subset(~begun), here, np.zeros(0, np.int64))
        self.proximity.freed = self.backend.array(np.unique(found.keys), np.int64)
        self._met(found, here)
        crossed = meetings(found.subset(begun), self.names, here + self.centre)
        return [meeting.pair for meeting in crossed], faults

    def _met(self, found: Tangles, here: npt.NDArray[np.float64]) -> list[Meeting]:
        crossed = meetings(found, self.names, here + self.centre)
        self.crossed = {meeting.pair for meeting in crossed}
        return crossed

    def _found(self, here: npt.NDArray[np.float64]) -> Tangles:
        """What crosses at positions (V, 3) and is not let through."""
        found = tangles(here, self.surface)
        return found.subset(~self._let_through(found, self.apart))

    def _let_through(self, found: Tangles, apart: Table) -> npt.NDArray[np.bool_]:
        return let_through(self.party, apart, found.corners[:, :2], found.corners[:, 2:])

    def _faults(self, found: Tangles, here: npt.NDArray[np.float64], late: npt.NDArray[np.integer]) -> list[str]:
        new = unexplained(found, self.backend.host(self.proximity.freed), late)
        first, second = new.objects[:, 0], new.objects[:, 1]
        new = new.subset((first != second) | self.self_collision[first])
        crossed = meetings(new, self.names, here + self.centre)
        return [f"{meeting.pair}, in {meeting.where}" for meeting in crossed]

    def release(self, before: Any, x: Any, late: npt.NDArray[np.integer]) -> tuple[list[str], list[str]]:
        """Colliders or pins (vertices `late`) had no room to arrive on their way from `before` to x (V, 4): leave alone
        what they now cross.

        Returns what was released, the objects that are late, those that now cross and those that are through already,
        and the faults.
        """
        crossed, faults = self.renew(x, late)
        objects = np.unique(self.surface.object[late])
        pairs = [meeting.pair for meeting in crossed]
        through = [pair for pair in self._through(before, x, late) if pair not in pairs]
        return [*(self.names[k] for k in objects), *pairs, *through], faults

    def _through(self, before: Any, x: Any, late: npt.NDArray[np.integer]) -> list[str]:
        """Whom those of the late objects went through entirely that cross nothing now."""
        carried = np.zeros(self.surface.vertices, bool)
        carried[late] = ~np.isin(self.surface.object[late], self.found.objects)
        if not carried.any():
            return []
        here, there = (self.backend.host(places)[:, :3].astype(np.float64) for places in (before, x))
        vertex, triangle = passages(here, there, self.surface, carried)
        known = ~let_through(self.party, self.apart, vertex[:, None], triangle)
        objects = np.sort(self.surface.object[np.column_stack([vertex, triangle[:, 0]])[known]], axis=1)
        collides = (objects[:, 0] != objects[:, 1]) | self.self_collision[objects[:, 0]]
        pairs = np.unique(objects[collides], axis=0).tolist()
        return [pair_of(self.names[a], "itself" if a == b else self.names[b]) for a, b in pairs]

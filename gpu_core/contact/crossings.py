# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a scene crosses while it is simulated: which pairs are left alone for it, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from .pairs import Proximity
from .patches import Surface
from .tangles import Meeting, meetings, tangles, unexplained


class Crossings:
    """Owns `proximity.freed`: only pairs that cross are left alone, and each of them until it has separated."""

    def __init__(
        self,
        backend: Backend,
        proximity: Proximity,
        surface: Surface,
        names: list[str],
        centre: npt.NDArray[np.float64],
        self_collision: npt.NDArray[np.bool_],
    ) -> None:
        """names: of the objects. centre: (3,) of the coordinates in world space, m. self_collision: (objects,)."""
        self.backend, self.proximity, self.surface = backend, proximity, surface
        self.names, self.centre, self.self_collision = names, centre, self_collision
        self.crossed: set[str] = set()  #: which objects cross, "Sleeve and Arm", where that was last looked at

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
        self.found = found = tangles(here, self.surface)
        new = unexplained(found, self.backend.host(self.proximity.freed), np.asarray(late, np.int64))
        first, second = new.objects[:, 0], new.objects[:, 1]
        new = new.subset((first != second) | self.self_collision[first])
        faults = [f"{a} and {b}, in {where}" for a, b, where in meetings(new, self.names, here + self.centre)]
        self.proximity.freed = self.backend.array(np.unique(found.keys), np.int64)
        crossed = meetings(found, self.names, here + self.centre)
        self.crossed = {f"{first} and {second}" for first, second, _ in crossed}
        return crossed, faults

    def release(self, x: Any, late: npt.NDArray[np.integer]) -> tuple[list[str], list[str]]:
        """Colliders or pins (vertices `late`) had no room to arrive: leave alone what they now cross.

        Returns what was released, the objects that are late and those that now cross, and the faults.
        """
        crossed, faults = self.renew(x, late)
        objects = [self.names[k] for k in np.unique(self.surface.object[late])]
        return [*objects, *(f"{first} and {second}" for first, second, _ in crossed)], faults

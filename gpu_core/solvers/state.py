# SPDX-License-Identifier: GPL-3.0-or-later
"""What one step of `ndb` hands to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..contact.barrier import Ages
from .pause import Pause
from .solver import Arrays


@dataclass
class NdbState:
    """On the device. V vertices, the first N of them cloth."""

    x: Any  #: (V, 4) positions, m
    velocity: Any  #: (N, 4) m/s
    gravity_share: Any  #: (N,) how much of gravity each vertex followed in the last step, air apart, in [0, 1]
    forwarded: Any  #: (N, 4) displacement of residual forwarding, m
    ages: Ages  #: exponents of the barriers
    memory: dict[str, Any]  #: of the energies, by name: what yarns have slid to, how hard strain limits are
    unsolved: int = 0  #: so many steps in a row did not find their end
    late: bool = False  #: something that is held did not arrive
    pause: Pause = field(default_factory=Pause)  #: of the attempts with H, where there are some

    def to_host(self, backend: Backend) -> dict[str, npt.NDArray[Any]]:
        """Copies of all arrays, by the names that a checkpoint has."""
        arrays = {
            "x": self.x,
            "velocity": self.velocity,
            "gravity_share": self.gravity_share,
            "forwarded": self.forwarded,
            **self.memory,
        }
        known = dict(zip(("age_features", "ages", "holds"), self.ages.to_host(backend), strict=True))
        known["pause"] = self.pause.to_host()
        known |= {"unsolved": np.array(self.unsolved), "late": np.array(self.late)}
        return {name: backend.host(array).copy() for name, array in arrays.items()} | known

    def from_host(self, backend: Backend, arrays: Arrays) -> NdbState:
        """The state of these arrays. This one says which the energies have, and what those are that an older version
        did not write."""
        array = backend.array
        return NdbState(
            array(arrays["x"]),
            array(arrays["velocity"]),
            array(arrays["gravity_share"]),
            array(arrays["forwarded"]),
            Ages(array(arrays["age_features"], np.int32), array(arrays["ages"], np.int32), array(arrays["holds"])),
            {name: array(arrays[name]) if name in arrays else known for name, known in self.memory.items()},
            int(arrays["unsolved"]),
            bool(arrays["late"]),
            Pause.from_host(arrays["pause"]),
        )

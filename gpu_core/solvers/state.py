"""What one step of `ndb` hands to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..contact.barrier import Ages
from .solver import Arrays


@dataclass
class NdbState:
    """On the device. V vertices, the first N of them cloth."""

    x: Any  #: (V, 4) positions, m
    velocity: Any  #: (N, 4) m/s
    gravity_share: Any  #: (N,) how much of gravity each vertex followed in the last step, air apart, in [0, 1]
    forwarded: Any  #: (N, 4) displacement of residual forwarding, m
    ages: Ages  #: exponents of the barriers
    hardness: Any  #: (T,) of the triangles' strain limits, 1 or more
    slid: Any  #: (R, 4) of the bending rows, where yarns that rub have slid to; (0, 4) where none do

    def to_host(self, backend: Backend) -> dict[str, npt.NDArray[Any]]:
        """Copies of all arrays, by the names that a checkpoint has."""
        arrays = {
            "x": self.x,
            "velocity": self.velocity,
            "gravity_share": self.gravity_share,
            "forwarded": self.forwarded,
            "age_keys": self.ages.keys,
            "ages": self.ages.ages,
            "holds": self.ages.holds,
            "hardness": self.hardness,
            "slid": self.slid,
        }
        return {name: backend.host(array).copy() for name, array in arrays.items()}

    @staticmethod
    def from_host(backend: Backend, arrays: Arrays) -> NdbState:
        array = backend.array
        return NdbState(
            array(arrays["x"]),
            array(arrays["velocity"]),
            array(arrays["gravity_share"]),
            array(arrays["forwarded"]),
            Ages(array(arrays["age_keys"], np.int64), array(arrays["ages"], np.int32), array(arrays["holds"])),
            array(arrays["hardness"]),
            array(arrays["slid"]),
        )

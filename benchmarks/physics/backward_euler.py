# SPDX-License-Identifier: GPL-3.0-or-later
"""Backward Euler in float64, each step solved to rounding; shares only the assembled arrays with the solver.

What a scheme does to a motion that its steps do not resolve is the scheme's own; this tells it from the solver's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ...gpu_core.elasticity.assembly import assemble
from ...gpu_core.scene.scene import Cloth
from ..statics import Statics, equilibrium
from .motion import GRAVITY, Positions

EXACT = 1e-6  #: largest force that is left, relative to the largest weight of a vertex


class BackwardEuler(Statics):
    """The incremental potential of one step. One cloth, which falls freely but for its pins; no contact, no air."""

    def __init__(self, cloth: Cloth, h: float) -> None:
        """h: s. Raises ValueError for a cloth with a strain limit or a curved rest shape."""
        data = assemble((cloth,), h)
        super().__init__(data, data.mass[:, None] * [0.0, 0.0, -GRAVITY])
        self.mass, self.h, self.moves = data.mass, h, data.free[:, None]
        self.inertial = np.zeros_like(self.force)  #: x* + h v

    def energy(self, x: Positions) -> float:
        return super().energy(x) + float(0.5 / self.h**2 * (self.mass @ (x - self.inertial) ** 2).sum())

    def forces(self, x: Positions) -> Positions:
        return super().forces(x) - self.mass[:, None] / self.h**2 * (x - self.inertial)

    def hessian(self, x: Positions) -> sparse.csc_array:
        return (super().hessian(x) + sparse.diags_array(np.repeat(self.mass / self.h**2, 3))).tocsc()

    def step(self, x: Positions, velocity: Positions) -> Positions:
        """x (N, 3) after a step, m. velocity: m/s."""
        self.inertial = x + self.h * velocity * self.moves
        return equilibrium(self, self.inertial, EXACT).positions


def centre_after(cloth: Cloth, seconds: float, rate: float) -> Positions:
    """(3,) centre of mass, m; from rest. rate: steps a second."""
    euler, x = BackwardEuler(cloth, 1.0 / rate), np.asarray(cloth.positions, np.float64)
    velocity = np.zeros_like(x)
    for _ in range(round(seconds * rate)):
        reached = euler.step(x, velocity)
        x, velocity = reached, rate * (reached - x)
    return np.asarray(euler.mass @ x / euler.mass.sum())


def orders(ends: Sequence[npt.NDArray[np.float64]]) -> list[float]:
    """p = log₂(|u_h − u_h/2| / |u_h/2 − u_h/4|) of the ends u_h of runs, each with steps half as long as the last's."""
    apart = [float(np.linalg.norm(a - b)) for a, b in pairwise(ends)]
    return [float(np.log2(first / second)) for first, second in pairwise(apart)]

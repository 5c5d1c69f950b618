# SPDX-License-Identifier: GPL-3.0-or-later
"""One measured number beside the number that it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...gpu_core.scene.scene import Settings
from ...gpu_core.solvers.parameters import NdbParameters, subspace_reuse


@dataclass(frozen=True)
class Solve:
    """How far each step is solved: the default, or so far that what is left is the formulation's own error."""

    name: str
    tolerance: float  #: m/s
    parameters: NdbParameters = field(default_factory=NdbParameters)


DEFAULT = Solve("default", Settings.tolerance)
SUBSPACE = Solve("subspace", Settings.tolerance, subspace_reuse())  #: the method *Subspace Reuse*
#: Preconditioned by each vertex's own block, which favours no direction: aggregates are no mirror images of each other.
TIGHT = Solve(
    "tight",
    0.002,
    NdbParameters().replaced(multilevel=False, accuracy=0.1, inner_iterations=60, outer_iterations=20),
)


@dataclass(frozen=True)
class Result:
    """`bound` is the largest |error| that the issue accepts; None = reported, not judged."""

    quantity: str
    measured: float
    reference: float
    bound: float | None
    unit: str = ""
    relative: bool = False  #: error = measured/reference − 1 instead of measured − reference

    @property
    def error(self) -> float:
        return self.measured / self.reference - 1.0 if self.relative else self.measured - self.reference

    @property
    def holds(self) -> bool | None:
        """None where there is no bound. Not a number never holds."""
        return None if self.bound is None else bool(abs(self.error) <= self.bound)


Scenario = Callable[[Solve], Iterable[Result]]

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a term of the elastic energy Ψ is to the solvers, and what it writes into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import scipy.sparse as sparse

from ..backend import Backend, Launch
from ..scene.arrays import IntArray
from ..scene.scene import Cloth
from .choices import ElasticityChoices
from .sheet import Sheet


class LinearSystem(Protocol):
    """What the residual kernels write into; N cloth vertices, T triangles."""

    residual: Any  #: (N, 4) N
    rest_diagonal: Any  #: (N,) of the rest-shape H, N/m
    added: Any  #: (N,) ΔH
    total_diagonal: Any  #: (N,) of H + ΔH
    triangle_block: Any  #: (9T, 4) the energies' second derivative by triangle, or None
    cord_block: Any  #: (3C, 4) that by cord, or None


class Part(Protocol):
    """What an energy is for one cloth, in float64 on the host."""

    @property
    def hessian(self) -> sparse.csr_array:
        """(n, n) what it adds to H: AᵀA of its constraints at rest, N/m."""

    @property
    def viscosity(self) -> sparse.csr_array | None:
        """(n, n) what it adds to H besides, over the step's length h: of its damping, N·s/m. None: nothing."""


class Energy(Protocol):
    """One term: energy, gradient, curvature, and what it adds to H."""

    name: ClassVar[str]  #: of its data in `Assembly.parts`
    constant: ClassVar[bool]  #: its second derivative is the same at any x, so Newton's matrix holds it as H does
    external: ClassVar[bool]  #: its forces have a sum or a torque, so cloth does not move as if nothing held it

    @staticmethod
    def part(cloth: Cloth, choices: ElasticityChoices, known: Any = None) -> Any:
        """Its `Part` of one cloth; indices are the cloth's own.

        known: that of the same cloth with other numbers, where it need not be found anew; itself if nothing differs.
        """

    @staticmethod
    def joined(parts: Sequence[Any], cloths: Sequence[Cloth], offsets: IntArray) -> Any:
        """The data of all cloths, whose first vertices are `offsets`."""

    def __init__(self, backend: Backend, data: Any, sheet: Sheet, choices: ElasticityChoices) -> None: ...

    def renew(self, data: Any) -> None:
        """Take other numbers of the same cloths; what was launched on its arrays stays bound."""

    def residual_launches(self, x: Any, system: LinearSystem) -> list[Launch]:
        """Kernels that add −∇E at x (V, 4) to the system's residual, and what acts only now to its ΔH.

        Where the system has a `triangle_block` and the energy is not constant, its second derivative is added there;
        the membrane, which comes first, sets it.
        """

    def gain(self, start: Any, x: Any, of: Any) -> float:
        """J: by how much more the cloth `of` (N,) bool holds at x than at `start` (V, 4)."""

    def memory(self, x: Any) -> dict[str, Any]:
        """What a step hands to the next, by the name it has in a checkpoint: for a cloth at x (V, 4) without a past."""

    def resume(self, memory: dict[str, Any], x: Any) -> None:
        """Take up what the step before has left, which ended at x (V, 4)."""

    def remember(self, x: Any, converged: bool) -> dict[str, Any]:
        """What the step that ends at x (V, 4) leaves."""


def viscosity_of(parts: Sequence[Part]) -> sparse.csr_array | None:
    """The parts' viscosities as one matrix."""
    if all(part.viscosity is None for part in parts):
        return None
    every = [sparse.csr_array(part.hessian.shape) if part.viscosity is None else part.viscosity for part in parts]
    return sparse.block_diag(every, format="csr")

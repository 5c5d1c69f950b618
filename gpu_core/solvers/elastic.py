# SPDX-License-Identifier: GPL-3.0-or-later
"""Inertia and the elastic energies of all cloths: where inertia would take them, and what is left at x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..backend import Backend, Launch, launch
from ..elasticity.assembly import Assembly, drag, kept_velocity
from ..elasticity.bending import BendingEnergy
from ..elasticity.choices import ElasticityChoices
from ..elasticity.cord import CordEnergy
from ..elasticity.energies import ENERGIES
from ..elasticity.energy import LinearSystem
from ..elasticity.membrane import MembraneEnergy
from ..elasticity.pressure import PressureEnergy
from ..elasticity.seam import SeamEnergy
from ..elasticity.sheet import Sheet
from ..scene.scene import Cloth
from ..scene_space import Moment
from .air import STILL_AIR, Air

#: Takes the increment if the system's `accepted` says so; gives what the host then sees of its `scalar`.
Take = Callable[[], npt.NDArray[np.float32]]


class Solve(NamedTuple):
    """One linear solve, bound to where x will be."""

    #: (take, number in its loop, unlimited): sets the matrix up at x, and may solve and take on trust; returns r·M⁻¹r
    #: there, J (0: not known). Unless `unlimited`, nothing is taken where that is more than `growth` times what it was
    #: in the last solve that was.
    begin: Callable[[Take, int, bool], float]
    finish: Callable[[Take], None]  #: solves, and takes unless that is done


class Elastic:
    """The incremental potential without contact. V vertices, the first N of them cloth."""

    def __init__(
        self,
        backend: Backend,
        assembly: Assembly,
        step: float,
        gravity: tuple[float, float, float],
        choices: ElasticityChoices,
        *,
        strain_excess: float = float("inf"),
        air: Air | None = None,
    ) -> None:
        """step: h, s. gravity: m/s². strain_excess: stretch beyond a limit that a converged step may leave.
        air: where it moves; None = it is still, and no field acts."""
        self.backend, self.vertices, self.h = backend, assembly.vertices, step
        self.gravity = backend.array([[*gravity, 0.0]])
        self.sheet = Sheet(backend, assembly.triangles, self.vertices, step)
        self.energies = [kind(backend, assembly.parts[kind.name], self.sheet, choices) for kind in ENERGIES]
        self.external = any(energy.external for energy in self.energies)  #: cloth is held by more than pins and contact
        self.membrane = next(energy for energy in self.energies if isinstance(energy, MembraneEnergy))
        self.cord = next(energy for energy in self.energies if isinstance(energy, CordEnergy))
        self.bending = next(energy for energy in self.energies if isinstance(energy, BendingEnergy))
        self.seam = next(energy for energy in self.energies if isinstance(energy, SeamEnergy))
        self.pressure = next(energy for energy in self.energies if isinstance(energy, PressureEnergy))
        self.pressure.weigh(gravity)
        self._kept: Any = None
        self._offsets, self._choices = assembly.offsets, choices
        self._filled = assembly.of_cloths[PressureEnergy.name]
        self.membrane.hardest_excess = choices.hardening * strain_excess
        self.inertia, self.free = backend.array(assembly.mass / step**2), backend.array(assembly.free)
        self.drag, self._air = backend.xp.zeros(assembly.vertices, backend.xp.float32), air  #: 1/m, see `surround`
        self._pinned = backend.array(assembly.pin_stiffness)
        self.pin_stiffness = self._pinned.copy()
        self._pulls = backend.xp.zeros_like(self._pinned)
        self.pin_target = backend.xp.zeros((self.vertices, 4), backend.xp.float32)

    def pull(self, stiffness: npt.NDArray[np.float64]) -> None:
        """Springs (N,) to `pin_target` besides those of the soft pins, N/m, in place of the last call's."""
        self._pulls[:] = self.backend.array(stiffness)
        self.pin_stiffness[:] = self._pinned + self._pulls

    def renew(self, assembly: Assembly, step: float) -> None:
        """Take other numbers of the same cloths. step: h, s."""
        self.h = self.sheet.h = step
        self.inertia[:] = self.backend.array(assembly.mass / step**2)
        self._pinned[:] = self.backend.array(assembly.pin_stiffness)
        self.pin_stiffness[:] = self._pinned + self._pulls
        for energy in self.energies:
            energy.renew(assembly.parts[energy.name])
        self._filled = assembly.of_cloths[PressureEnergy.name]

    def surround(self, moment: Moment) -> None:
        """Take the numbers of a moment that no matrix has in it: of gravity, air, pressure, and damping of velocity."""
        cloths, drags = moment.cloths, drag(moment.cloths)
        self.gravity[:], self.drag[:] = self.backend.array([[*moment.gravity, 0.0]]), self.backend.array(drags)
        known, kind = self._filled, PressureEnergy
        self._filled = [kind.part(cloth, self._choices, part) for cloth, part in zip(cloths, known, strict=True)]
        if any(now is not before for now, before in zip(self._filled, known, strict=True)):
            self.pressure.renew(kind.joined(self._filled, cloths, self._offsets))
        self.pressure.weigh(moment.gravity)
        self._keep(cloths)
        if self._air:
            self._air.renew(moment, drags)

    @property
    def air(self) -> Air | None:
        """What it does in this step; None where it is still and no field acts."""
        return self._air if self._air and self._air.blows else None

    @property
    def acceleration(self) -> Any:
        """(N or 1, 4) what does work on cloth that nothing holds, m/s²: gravity, and air that moves."""
        return self.gravity + self.air.acceleration if self.air else self.gravity

    def _keep(self, cloths: tuple[Cloth, ...]) -> None:
        kept = kept_velocity(cloths, self.h)
        self._kept = self.backend.array(kept)[:, None] if (kept < 1.0).any() else None

    def kept(self, velocity: Any) -> Any:
        """(N, 4) what velocity damping leaves of a velocity (N, 4) for a step."""
        return velocity if self._kept is None else velocity * self._kept

    @property
    def acting(self) -> tuple[bool, ...]:
        """What launches depend on, besides their arrays: whether there is a pressure, what damps, is curved."""
        return self.pressure.acts, self.membrane.damps, self.bending.damps, self.bending.curved

    def inertia_target(
        self, start: Any, velocity: Any, forwarded: Any, gravity_share: Any, adaptive: bool,
        displacement: Any, inertial: Any, guess: Any, z: Any,
    ) -> None:  # fmt: skip
        """z (N, 4) ← where inertia, gravity and air alone would take the cloth; the rest: see the kernel."""
        before, drag, air = [self.sheet.normals(start)], self.drag, self.air
        if air:
            before.append(air.push(start, velocity, self.sheet.normal, forwarded, self.h))
            forwarded, drag = air.pushed, air.no_drag
        target = launch(
            "inertia_target", self.vertices, start=start, velocity=velocity, normal=self.sheet.normal, drag=drag,
            forwarded=forwarded, still_air=STILL_AIR, h=self.h, gravity=self.gravity, gravity_share=gravity_share,
            adaptive=float(adaptive), displacement=displacement, inertial=inertial, guess=guess, z=z,
        )  # fmt: skip
        if self.membrane.damps or self.bending.damps:
            self.sheet.before[:] = start[: self.vertices]
        self.backend.run([*before, target, *self.bending.start_launches()])

    def residual_launches(self, x: Any, z: Any, system: LinearSystem) -> list[Launch]:
        """Kernels that fill the system's residual (N, 4) = −∇(inertia + Ψ) at x, its ΔH and diag(H + ΔH); and the
        energies' second derivative at x, for a system that has use for it."""
        residual, added = system.residual, system.added
        return [
            launch("inertia_residual", self.vertices, x=x, z=z, inertia=self.inertia, residual=residual, added=added),
            *(item for energy in self.energies for item in energy.residual_launches(x, system)),
            launch(
                "pin_residual", self.vertices, x=x, stiffness=self.pin_stiffness, target=self.pin_target,
                residual=residual,
            ),
            launch(
                "constrained_residual", self.vertices, free=self.free, rest_diagonal=system.rest_diagonal,
                residual=residual, added=added, total=system.total_diagonal,
            ),
        ]  # fmt: skip

    def gain(self, start: Any, x: Any, of: Any) -> float:
        """J: by how much more the energies of cloth `of` (N,) hold at x than at `start` (V, 4)."""
        return sum(energy.gain(start, x, of) for energy in self.energies)

    def memory(self, x: Any) -> dict[str, Any]:
        """What the energies of cloth at x (V, 4) hand from step to step, by name, before any step."""
        return {name: array for energy in self.energies for name, array in energy.memory(x).items()}

    def resume(self, memory: dict[str, Any], x: Any) -> None:
        """Take up what the step before has left, which ended at x (V, 4)."""
        for energy in self.energies:
            energy.resume(memory, x)

    def remember(self, x: Any, converged: bool) -> dict[str, Any]:
        """What the step that ends at x (V, 4) leaves."""
        return {name: array for energy in self.energies for name, array in energy.remember(x, converged).items()}

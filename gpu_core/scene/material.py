# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sheet is made of."""

from __future__ import annotations

from dataclasses import dataclass

from .limits import require_numbers


@dataclass(frozen=True)
class Material:
    """A fabric. Stretch and shear in N/m, bend (flexural rigidity) in N·m, as in scene/fabrics.py."""

    density: float = 0.12  #: kg/m²
    stretch_warp: float = 4500.0  #: tensile stiffness along warp, N/m
    stretch_weft: float = 2800.0  #: tensile stiffness along weft, N/m
    shear: float = 80.0  #: shear stiffness, N/m per radian
    bend: float = 5.0e-6  #: flexural rigidity, N·m
    strain_limit: float = 0.06  #: largest stretch beyond rest, 0.06 = 6 %; 0 switches the limit off
    softening: float = 0.1  #: factor on stretch below the strain limit, against membrane locking (Li 2021, §6)
    friction: float = 0.4  #: Coulomb μ of this surface
    air_drag: float = 1.0  #: drag coefficient of the sheet in still air, 0 = vacuum
    bend_friction: float = 0.0  #: moment per width at which its yarns slide, N; 0 = they do not rub
    stretch_damping: float = 0.0  #: time constant: stress is this times the stiffness times the rate of strain, s
    shear_damping: float = 0.0  #: the same of shear, s
    bend_damping: float = 0.0  #: the same of bending, s
    stretch_yield: float = 0.0  #: stretch beyond rest that springs back, more is taken on; 0 = all springs back
    bend_yield: float = 0.0  #: curvature that springs back, 1/m, more is taken on; 0 = all springs back
    velocity_damping: float = 0.0  #: rate at which it loses its velocity, whatever it does, 1/s

    def validate(self, name: str) -> None:
        require_numbers(name, vars(self))

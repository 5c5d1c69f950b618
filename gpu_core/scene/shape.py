# SPDX-License-Identifier: GPL-3.0-or-later
"""The form that a cloth strives for, besides the rest positions of its mesh."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """As it is here: the rest positions as they are, and nothing inside."""

    shrink: float = 0.0  #: share of the rest lengths that is taken away: 0.3 leaves 0.7; below 0 the cloth grows
    pressure: float = 0.0  #: by which the inside exceeds the outside whatever the volume, Pa
    ambient_pressure: float = 0.0  #: of a gas inside, and of what is outside, at the target volume, Pa; 0 = no gas
    target_volume: float = 0.0  #: at which the gas is in balance, m³; 0 = the volume of the rest positions
    fluid_density: float = 0.0  #: of a fluid inside, kg/m³; below 0 the cloth is immersed in one and drives upwards
    pressure_factor: float = 1.0  #: share of all this pressure that acts

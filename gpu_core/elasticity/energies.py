# SPDX-License-Identifier: GPL-3.0-or-later
"""The terms of the elastic energy Ψ, registered once: a new one is a module with such a class, and a line here.

docs/architecture.md says what else a new force needs: its kernels, what the user sets of it, its tests.
"""

from __future__ import annotations

from .bending import BendingEnergy
from .cord import CordEnergy
from .energy import Energy
from .membrane import MembraneEnergy
from .pressure import PressureEnergy
from .seam import SeamEnergy

ENERGIES: tuple[type[Energy], ...] = (MembraneEnergy, BendingEnergy, SeamEnergy, CordEnergy, PressureEnergy)

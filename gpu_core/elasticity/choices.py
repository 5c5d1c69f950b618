# SPDX-License-Identifier: GPL-3.0-or-later
"""How the elastic energies are discretised and weighed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BendingForm = Literal["plate", "hinge", "vertex"]  #: the family of bending rows (bending.py)

#: Stiffness of the strain limit relative to the softened stretch it takes over from: hard, as Newton can take it.
LIMIT_RATIO = 500.0


@dataclass(frozen=True)
class ElasticityChoices:
    bending: BendingForm = "plate"
    limit: Literal["added", "constant"] = "added"  #: strain limit in ΔH while it acts, or everywhere in H
    limit_ratio: float = LIMIT_RATIO  #: stiffness of the strain limit relative to the stretch below it
    hardening: float = 0.5  #: share of `strain_excess` beyond which a limit is harder in the next step

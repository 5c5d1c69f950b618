# SPDX-License-Identifier: GPL-3.0-or-later
"""What ends it where contact leads to and fro.

Contact that is set up at one feasible state can lead to a second one, and from there back to the first, as at the tip
of a fold. So late in a step all go half the way only; where cloth oscillates even so, it goes shorter and shorter ways;
and where that does not help, the barriers' weights oscillate, and from then on none is forgotten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..contact.barrier import BarrierLaw
from .iterate import Iterate
from .parameters import OscillationDamping
from .progress import Seen
from .solver import StepReport


class Oscillation:
    """Counts the full CCDs of a step that took back what the one before had done."""

    def __init__(self, choices: OscillationDamping, iterate: Iterate) -> None:
        xp = iterate.backend.xp
        self.choices, self.iterate = choices, iterate
        self.count = 0
        self._shares = [  #: (V, 1) that is left after so many halvings more than the first
            xp.where(iterate.free, 0.5 ** (1 + halvings), 1.0).astype(xp.float32)
            for halvings in range(choices.max_halvings + 1)
        ]

    def begin(self) -> None:
        self.count = 0

    def damped(self, report: StepReport) -> bool:
        """Whether the step is so late that all go shorter ways."""
        return report.outer >= self.choices.damped_after

    def law(self, law: BarrierLaw, report: StepReport) -> BarrierLaw:
        """The barrier's law for the next contacts: without forgetting once the shortest ways did not help."""
        worst = self.choices.oscillations_per_halving * self.choices.max_halvings
        return replace(law, forget=0) if self.damped(report) and self.count >= worst else law

    def shorten(self, report: StepReport) -> Any:
        """Take back a part of the way from the feasible state to x; returns the share (V, 1) that is left, or None."""
        if not self.damped(report):
            return None
        halvings = min(self.count // self.choices.oscillations_per_halving, self.choices.max_halvings)
        share = self._shares[halvings]
        self.iterate.take_back((1.0 - share) * (self.iterate.x - self.iterate.feasible))
        return share

    def observe(self, seen: Seen, report: StepReport) -> None:
        """Count one if the free vertices went back, against the way before: by the sum of the two ways' products."""
        self.count += report.outer > 0 and seen.back

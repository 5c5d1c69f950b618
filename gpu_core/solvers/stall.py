# SPDX-License-Identifier: GPL-3.0-or-later
"""What ends a step that finds no end because there is none: where bodies fold, no state within the limits may exist.

For as long as nothing crosses, a step whose end is kept has all full CCDs that a step may have: ended early, it may
leave cloth where the next one has no room. Once something had to be released, a step after one that was not solved ends
as soon as its own full CCDs bring nothing more. And a step that is taken in halves where a body stays late ends as soon
as that body comes no farther: its own end is thrown away.
"""

from __future__ import annotations

from .progress import Seen

PATIENCE = 6  #: full CCDs that may pass without a gain
GAIN = 0.8  #: share of what was unsolved at the last gain, that it must come below to be one
EXCESS_GAIN = 0.9  #: the same of the strain's excess


class Stall:
    """Watches a step's full CCDs: all of them where something was released and the step before stayed unsolved, else
    those in which a body is late, if halves may help."""

    def __init__(self) -> None:
        self.begin(after_unsolved=False)

    def begin(self, after_unsolved: bool, halves: bool = False) -> None:
        """after_unsolved: the step before ran out of full CCDs, or ended by this. halves: it is taken in halves where
        something is late at its end."""
        self.watching, self._halves = after_unsolved, halves
        self._least, self._least_excess, self._idle = float("inf"), float("inf"), 0

    def seen(self, change: float, seen: Seen, moved: float, excess: float) -> bool:
        """Whether to end here. change: the last ‖Δx‖, m; moved: what contact moved, m; excess: of the strain limit."""
        if self.watching:
            unsolved = max(change, seen.cut, moved)
        elif self._halves and seen.late:
            unsolved, excess = seen.cut, float("inf")
        else:
            return False
        less, less_excess = unsolved < GAIN * self._least, excess < EXCESS_GAIN * self._least_excess
        self._least = unsolved if less else self._least
        self._least_excess = excess if less_excess else self._least_excess
        self._idle = 0 if less or less_excess else self._idle + 1
        return self._idle >= PATIENCE

# SPDX-License-Identifier: GPL-3.0-or-later
"""What ends a step that finds no end because there is none: where bodies fold or press, no state within the limits may
exist.

Only a step after one that was not solved ends early. Once something had to be released, it does as soon as its own full
CCDs bring nothing more. For as long as nothing crosses, ended early it may leave cloth where the next one has no room.
So it does only in a gentle motion, where the next step has nearly the same to solve and goes on with what this one
leaves, and with cloth that is hardly beyond its limit. A blow is its step's alone, which has all full CCDs. And a step
that is taken in halves where a body stays late ends as soon as that body comes no farther: its own end is thrown away.
"""

from __future__ import annotations

from .progress import Seen

PATIENCE = 6  #: full CCDs that may pass without a gain
GAIN = 0.8  #: share of what was unsolved at the last gain, that it must come below to be one
EXCESS_GAIN = 0.9  #: the same of the strain's excess
GENTLE = 0.6  #: way of bodies and cloth in a step, in edges, up to which the next one goes on with this one's end
ENOUGH = 12  #: full CCDs of a step in a gentle motion
BEARABLE = 0.04  #: stretch beyond a strain limit, with which such a step may end


class Stall:
    """Watches a step's full CCDs: all of them where it may end early, else those in which a body is late, if halves may
    help."""

    def __init__(self) -> None:
        self.begin(watching=False)

    def begin(self, watching: bool, guarded: bool = True, halves: bool = False) -> None:
        """watching: the step before ran out of full CCDs, or ended by this, and something was released or all moves
        gently. guarded: nothing crosses. halves: the step is taken in halves where something is late at its end."""
        self.watching, self._guarded, self._halves = watching, guarded, halves
        self._least, self._least_excess, self._idle, self._full = float("inf"), float("inf"), 0, 0

    def seen(self, change: float, seen: Seen, moved: float, excess: float) -> bool:
        """Whether to end here. change: the last ‖Δx‖, m; moved: what contact moved, m; excess: of the strain limit."""
        own = self.watching and not (self._guarded and seen.late)  # else this end is thrown away, or not the last
        if own:
            unsolved = max(change, seen.cut, moved)
        elif self._halves and seen.late:
            unsolved, excess = seen.cut, float("inf")
        else:
            return False
        less, less_excess = unsolved < GAIN * self._least, excess < EXCESS_GAIN * self._least_excess
        self._least = unsolved if less else self._least
        self._least_excess = excess if less_excess else self._least_excess
        self._idle = 0 if less or less_excess else self._idle + 1
        self._full += own
        if own and self._guarded:
            return (self._idle >= PATIENCE or self._full >= ENOUGH) and self._least_excess <= BEARABLE
        return self._idle >= PATIENCE

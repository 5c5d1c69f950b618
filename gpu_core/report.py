# SPDX-License-Identifier: GPL-3.0-or-later
"""What the simulator says of a frame, from what the solver says of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .solvers.solver import StepReport


@dataclass
class FrameReport:
    """What happened between two frames."""

    frame: int
    steps: int = 0
    iterations: int = 0  #: linear solves of all steps
    detections: int = 0  #: broad phases
    contacts: int = 0  #: active pairs at the end
    unfinished_steps: int = 0  #: steps that ran out of iterations
    given_up_steps: int = 0  #: of them, those that the budget of the frame ended
    halved_steps: int = 0  #: steps taken in two halves: for a collider to arrive, a limit to hold, energy not to rise
    late_steps: int = 0  #: steps at whose end a collider or hard pin had not reached its pose
    strained_steps: int = 0  #: steps that end with cloth stretched beyond its strain limit
    heated_steps: int = 0  #: steps that give cloth which nothing holds more energy than it had
    tangled: int = 0  #: pairs that are left alone because they intersect since the start
    largest_stretch: float = 1.0  #: longest edge relative to its rest length
    smallest_gap: float = 0.0  #: of any pair, m; the reach of contact where nothing is nearer
    rms_speed: float = 0.0  #: m/s
    seconds: float = 0.0
    #: colliders and pins that had no room to arrive, and objects that cross since
    released: list[str] = field(default_factory=list)
    untangled: list[str] = field(default_factory=list)  #: objects that crossed for long, and were brought apart
    begun: list[str] = field(default_factory=list)  #: objects that crossed when they began to collide
    faults: list[str] = field(default_factory=list)  #: objects that cross although no release explains it, and where

    def add(self, done: StepReport) -> None:
        """A step of the frame that was taken."""
        self.steps += 1
        self.unfinished_steps += not done.converged
        self.given_up_steps += done.given_up
        self.late_steps += not done.arrived
        self.strained_steps += done.strained
        self.heated_steps += done.heated

    def say(self, said: list[str], texts: Iterable[str]) -> None:
        """Add to a list of this report what it does not say yet."""
        said += [text for text in texts if text not in said]

    def halves_may_help(self, done: StepReport, halvings: int) -> bool:
        """Whether to take a step that was `done` in two halves: a collider is late, or cloth is too long or too fast.

        Not in a frame in which that has not helped before: there is no room. But what is late gets its halves even
        where only strain or energy was left: if it stays late, what is in its way is released.
        """
        if self.late_steps or done.given_up:
            return False
        if not done.arrived:
            return True
        if self.strained_steps or self.heated_steps:
            return False
        return done.heated or (done.strained and not halvings and not done.stalled)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a `Simulator` knows of a solver: it builds one by name, steps it, and asks it for nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy.typing as npt

from ..contact.pairs import Proximity
from ..scene_space import Moment, SceneSpace

Arrays = Mapping[str, npt.NDArray[Any]]


class DivergenceError(ArithmeticError):
    """The step left the numbers."""


@dataclass
class StepReport:
    """What one step did."""

    iterations: int = 0  #: linear solves
    outer: int = 0  #: full CCDs after the first
    touching: Any = None  #: the contacts at the end, until the next step; None where there are none
    converged: bool = False
    arrived: bool = True  #: colliders and hard pins reached their pose
    given_up: bool = False  #: ended because the budget of its frame was spent
    stalled: bool = False  #: ended early, for the step before it was not solved, and nothing got better in this one
    strained: bool = False  #: some triangle is far beyond its strain limit
    heated: bool = False  #: cloth that nothing holds has more energy than before
    late: Any = None  #: indices of the vertices of colliders and pins that had no room to arrive; None where all had
    stopped: Any = None  #: the same of the others that were stopped with them

    @property
    def contacts(self) -> int:
        """Active pairs at the end. Waits for the device."""
        return self.touching.active if self.touching else 0


class State(Protocol):
    """All that one step hands to the next, on the device. V vertices, the first N of them cloth."""

    @property
    def x(self) -> Any:
        """(V, 4) positions relative to the scene's centre, m."""

    @property
    def velocity(self) -> Any:
        """(N, 4) m/s."""

    @property
    def unsolved(self) -> int:
        """How many steps in a row did not find their end."""

    @property
    def late(self) -> bool:
        """Whether something that is held did not arrive in it."""


class Solver(Protocol):
    """Takes steps of one length of one scene."""

    proximity: Proximity  #: candidates, and the pairs that are left alone
    soft: npt.NDArray[Any]  #: (N,) stiffness of a pull of weight one half, N/m; 0 where a pin holds

    @property
    def can_halve(self) -> bool:
        """Whether `halved` is cheap enough to be used where a step fails."""

    @property
    def last_x(self) -> Any:
        """(V, 4) the positions of the last iteration, also of a step that diverged, m."""

    def holding(self, space: SceneSpace) -> Self:
        """The solver of the same meshes with other hard pins, in a fraction of the time that one from nothing takes."""

    def initial_state(self, x: Any, velocity: Any) -> State:
        """At x (V, 4), m, with velocity (N, 4), m/s, and without a past."""

    def to_host(self, state: Any) -> dict[str, npt.NDArray[Any]]:
        """A state as arrays, to go on from with the same bits."""

    def from_host(self, arrays: Arrays, like: Any) -> State:
        """The state that `to_host` gave as arrays, of the same scene as the state `like`."""

    def step(self, state: Any, target: Any) -> tuple[State, StepReport]:
        """One step. target: (V, 4) where hard pins and colliders go, m; free vertices' rows are not read.

        Raises DivergenceError, LinAlgError, and TooManyPairsError.
        """

    def allow(self, solves: int | None, halves: bool = False) -> None:
        """The next steps may take so many linear solves each where nothing is late; None = as many as they need.
        halves: where something stays late they are taken once more, in halves, so they need not try for long."""

    def renew(self, moment: Moment) -> None:
        """Take the numbers of another moment, from the next step on."""

    def halved(self) -> Self:
        """The same solver with half the step. Both share `proximity`, and so what is left alone."""

    def hold(self, vertices: npt.NDArray[Any], targets: npt.NDArray[Any]) -> None:
        """Soft pins and pulls of `vertices` (G,) go to `targets` (G, 3), m, from the next step on."""

    def sew(self, seconds: float) -> None:
        """The next step ends so long after the simulation's start, s: the threads of seams are as long as then."""

    def pull(self, stiffness: npt.NDArray[Any]) -> None:
        """Springs (N,) besides those of the soft pins, N/m, in place of the last call's."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene says of time, space and method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .error import SceneError
from .limits import require_number

SolverName = Literal["ndb", "pd_ipc"]
SolverPreset = Literal["default", "subspace", "paper"]
BackendName = Literal["auto", "cpu", "cuda"]
StartPolicy = Literal["resolve", "tolerate", "refuse"]

MOST_FRAMES = 1048574  #: Blender's own
MOST_SAMPLES = 64  #: a frame: with those a body that turns once a frame is round within 0.2 %
MOST_BUDGET = 1_000_000  #: linear solves a frame
MOST_STEPS = 10000  #: a frame: in a shorter step cloth at 1 m/s moves less than float32 resolves some metres away


@dataclass(frozen=True)
class Settings:
    """Time, space and method."""

    frame_start: int = 1
    frame_end: int = 48
    preroll: int = 0  #: frames that are simulated before the first one, and not stored
    samples_per_frame: int = 1  #: places of what moves from each frame to the next; linear from place to place
    fps: float = 24.0
    step_rate: float = 192.0  #: solver steps per second of scene time; rounded to whole steps per frame
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  #: m/s²
    time_scale: float = 1.0  #: seconds that pass for the cloth in a second of the animation
    start: StartPolicy = "tolerate"  #: what becomes of crossings at the start
    frame_budget: int = 0  #: linear solves that a frame may take where nothing is late; 0 = as many as it needs
    tolerance: float = 0.2  #: velocity below which a step counts as converged, m/s (docs/theory/ndb.md)
    solver: SolverName = "ndb"
    preset: SolverPreset = "default"
    backend: BackendName = "auto"

    @property
    def frames(self) -> int:
        """Of the range, which are stored."""
        return self.frame_end - self.frame_start + 1

    @property
    def begins(self) -> int:
        """The frame that the simulation begins with; arrays by frame and keys begin there."""
        return self.frame_start - self.preroll

    @property
    def simulated(self) -> range:
        """The frames of arrays and keys: those of the pre-roll, and those of the range."""
        return range(self.begins, self.frame_end + 1)

    @property
    def places(self) -> int:
        """Entries of an array of what moves: those of the first frame, and each frame's samples after it."""
        return (len(self.simulated) - 1) * self.samples_per_frame + 1

    @property
    def steps_per_frame(self) -> int:
        return max(1, round(self.step_rate / self.fps))

    @property
    def step(self) -> float:
        """Length of one step h at time scale 1, s."""
        return 1.0 / (self.fps * self.steps_per_frame)

    def validate(self) -> None:
        if self.frame_end < self.frame_start:
            raise SceneError(
                "Scene",
                f"the frame range {self.frame_start}..{self.frame_end} is empty",
                "Set the end frame to the start frame or later",
            )
        if self.preroll < 0:
            raise SceneError("Scene", f"the pre-roll has {self.preroll} frames", "Set it to 0 or more")
        if self.frames + self.preroll > MOST_FRAMES:
            problem = f"the frame range {self.begins}..{self.frame_end} has more than {MOST_FRAMES} frames"
            raise SceneError("Scene", problem, "Set a shorter range")
        if not 1 <= self.samples_per_frame <= MOST_SAMPLES:
            problem = f"what moves is sampled {self.samples_per_frame} times a frame"
            raise SceneError("Scene", problem, f"Set Samples per Frame to 1 to {MOST_SAMPLES}")
        if not 0 <= self.frame_budget <= MOST_BUDGET:
            problem = f"the budget of a frame is {self.frame_budget} iterations"
            raise SceneError("Scene", problem, f"Set Frame Budget to 0 to {MOST_BUDGET}")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise SceneError("Scene", f"fps is {self.fps}", "Set a frame rate above 0")
        if not (np.isfinite(self.step_rate) and self.step_rate > 0):
            raise SceneError("Scene", f"the step rate is {self.step_rate}", "Set a step rate above 0")
        if self.step_rate / self.fps > MOST_STEPS:
            problem = f"{self.step_rate:g} steps a second at {self.fps:g} fps are more than {MOST_STEPS} steps a frame"
            raise SceneError("Scene", problem, "Lower the step rate")
        if not (np.isfinite(self.tolerance) and self.tolerance > 0):
            raise SceneError("Scene", f"the tolerance is {self.tolerance}", "Set a tolerance above 0 m/s")
        for key in ("gravity", "time_scale"):
            require_number("Scene", key, getattr(self, key))

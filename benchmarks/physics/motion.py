# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a scene and reading its motion; the CPU backend, so that every machine measures the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...gpu_core.backend import select
from ...gpu_core.elasticity.assembly import assemble
from ...gpu_core.report import FrameReport
from ...gpu_core.scene.scene import Cloth, Collider, Scene, Settings
from ...gpu_core.simulator import Simulator
from .result import Solve

GRAVITY = 9.81  #: m/s²
Positions = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """Every frame of a run. N vertices of all cloths in one row."""

    positions: Positions  #: (F, N, 3) m
    velocities: Positions  #: (F, N, 3) m/s, of the last step before each frame
    mass: npt.NDArray[np.float64]  #: (N,) kg
    reports: list[FrameReport]  #: F − 1
    interval: float  #: between frames, s

    def centre(self) -> Positions:
        """(F, 3) of mass."""
        return np.asarray(np.einsum("fnk,n->fk", self.positions, self.mass) / self.mass.sum())

    def centre_velocity(self) -> Positions:
        """(F, 3) of mass."""
        return np.asarray(np.einsum("fnk,n->fk", self.velocities, self.mass) / self.mass.sum())

    def rms_speed(self) -> npt.NDArray[np.float64]:
        """(F,) over the vertices."""
        return np.asarray(np.sqrt((self.velocities**2).sum(2).mean(1)))


def simulate(
    cloths: Cloth | Sequence[Cloth],
    colliders: Sequence[Collider] = (),
    *,
    solve: Solve,
    seconds: float,
    rate: float = 192.0,
    fps: float = 24.0,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
    self_collision: bool = True,
    stop: Callable[[Simulator, FrameReport], bool] | None = None,
    keep_every: int = 1,
) -> Motion:
    """stop: asked after each frame whether the run may end. keep_every: of how many frames one is kept."""
    several = (cloths,) if isinstance(cloths, Cloth) else cloths
    cloths = tuple(replace(cloth, self_collision=self_collision) for cloth in several)
    frames = 1 + round(seconds * fps)
    settings = Settings(
        1, frames, fps=fps, step_rate=rate, gravity=gravity,
        tolerance=solve.tolerance, backend="cpu",
    )  # fmt: skip
    scene = Scene(cloths, tuple(_lasting(collider, frames) for collider in colliders), settings)
    simulator = Simulator(scene, select("cpu"), solve.parameters)
    mass = assemble(cloths, settings.step, solve.parameters.elasticity).mass
    count = len(mass)

    def velocities() -> Positions:
        return simulator.state()["velocity"][:count, :3].astype(np.float64)

    positions, speeds, reports = [np.concatenate(simulator.positions())], [velocities()], []
    for frame in range(1, frames):
        reports.append(simulator.advance_frame())
        if frame % keep_every == 0:
            positions.append(np.concatenate(simulator.positions()))
            speeds.append(velocities())
        if stop is not None and stop(simulator, reports[-1]):
            break
    return Motion(np.array(positions), np.array(speeds), mass, reports, keep_every / fps)


def _lasting(collider: Collider, frames: int) -> Collider:
    """An animation that is shorter than the run stays where it ends."""
    given = len(collider.positions)
    if given in (1, frames):
        return collider
    return replace(collider, positions=collider.positions[np.minimum(np.arange(frames), given - 1)])

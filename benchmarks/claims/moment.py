# SPDX-License-Identifier: GPL-3.0-or-later
"""The global solves of one step of a scene in motion, as they come up in the product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...gpu_core.backend import select
from ...gpu_core.elasticity.assembly import assemble
from ...gpu_core.scene.scene import Scene
from ...gpu_core.simulator import Simulator
from ...gpu_core.solvers.global_step import GlobalStep
from ...gpu_core.solvers.ndb import Ndb
from ...gpu_core.solvers.parameters import NdbParameters
from ...gpu_core.subspace.subspace import subspace
from .linear import GlobalSolve

State = Mapping[str, Any]

#: The paper's global step in a loop that works: constant H, its bending and membrane, our contact and sweeps.
CONSTANT = NdbParameters().replaced(system="constant", bending="hinge", sweeps=20)


def state_after(scene: Scene, frames: int) -> State:
    """The state after so many frames with the default solver (`CONSTANT`'s bending)."""
    simulator = Simulator(scene, select("cpu"), NdbParameters().replaced(bending="hinge"))
    for _ in range(frames):
        simulator.advance_frame()
    return simulator.state()


def ndb_of(simulator: Simulator) -> Ndb:
    """Its solver, to be looked into."""
    assert isinstance(simulator.solver, Ndb)
    return simulator.solver


def one_step(scene: Scene, state: State, parameters: NdbParameters, cache: Path | None = None) -> Simulator:
    """A simulator at `state` whose frame is one step. The colliders of the scene must stand still."""
    settings = replace(scene.settings, fps=1.0 / scene.settings.step, step_rate=1.0 / scene.settings.step, frame_end=2)
    simulator = Simulator(replace(scene, settings=settings), select("cpu"), parameters, cache)
    simulator.restore({**state, "frame": np.array(1)})
    return simulator


def global_solves(
    scene: Scene, state: State, most: int, parameters: NdbParameters = CONSTANT, rank: int = 120
) -> list[GlobalSolve]:
    """Up to `most` global solves of the next step, in their order. rank: modes to have of H."""
    parameters = parameters.replaced(large_rank=rank)
    assembly = assemble(scene.cloths, scene.settings.step, parameters.elasticity)
    with TemporaryDirectory() as cache:
        simulator = one_step(scene, state, parameters, Path(cache))
        modes = subspace(assembly.hessian, assembly.free, rank, Path(cache))
    system = ndb_of(simulator).system
    assert isinstance(system, GlobalStep)
    found: list[GlobalSolve] = []
    reuse, free = system.reuse, assembly.free

    def recorded(x: Any, rest: Any) -> None:
        if len(found) < most:
            added, residual = (np.asarray(a, np.float64) for a in (system.added, system.residual[:, :3]))
            away = (np.asarray(x, np.float64)[: len(free), :3] - np.asarray(rest, np.float64)[:, :3]) * free[:, None]
            found.append(GlobalSolve(assembly.hessian, added * free, residual * free[:, None], modes, away))
        reuse(x, rest)

    system.reuse = recorded  # type: ignore[method-assign]
    simulator.advance_frame()
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers of a scene, by the name that `Settings.solver` has. A new one is a line here (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..backend import Backend
from ..scene.settings import SolverName
from ..scene_space import SceneSpace
from .ndb import Ndb
from .parameters import NdbParameters, preset
from .pd_ipc import pd_ipc
from .solver import Solver

Build = Callable[[SceneSpace, Backend, NdbParameters | None, Path | None], Solver]


def _ndb(space: SceneSpace, backend: Backend, parameters: NdbParameters | None, cache: Path | None) -> Ndb:
    settings = space.scene.settings
    return Ndb(space, backend, parameters or preset(settings.preset), settings.step, cache=cache)


def _pd_ipc(space: SceneSpace, backend: Backend, parameters: NdbParameters | None, cache: Path | None) -> Ndb:
    return _ndb(space, backend, parameters or pd_ipc(preset(space.scene.settings.preset)), cache)


SOLVERS: dict[SolverName, Build] = {"ndb": _ndb, "pd_ipc": _pd_ipc}


def solver_of(
    space: SceneSpace, backend: Backend, parameters: NdbParameters | None = None, cache: Path | None = None
) -> Solver:
    """The solver that the scene's settings name, for its full time step.

    parameters: None = those of the scene's preset. cache: folder that keeps what is costly to compute again, or None.
    """
    return SOLVERS[space.scene.settings.solver](space, backend, parameters, cache)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers by name, and their choices."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import get_args

import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene.settings import SolverName
from taffeta.gpu_core.scene_space import SceneSpace
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers import registry
from taffeta.gpu_core.solvers.ndb import Ndb
from taffeta.gpu_core.solvers.parameters import GROUP_OF, NdbParameters, paper
from taffeta.gpu_core.solvers.registry import SOLVERS, solver_of
from taffeta.tests.gpu_core.small_scene import small_scene

cpu = select("cpu")


def test_every_name_that_a_scene_may_have_is_a_solver():
    assert set(get_args(SolverName)) == set(SOLVERS)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_half_a_solver_shares_what_is_left_alone(name):
    scene = small_scene(frames=2, side=5)
    space = SceneSpace(replace(scene, settings=replace(scene.settings, solver=name)))
    whole = solver_of(space, cpu)
    half = whole.halved()
    assert half.proximity is whole.proximity
    assert isinstance(whole, Ndb)
    assert half.elastic.h == 0.5 * whole.elastic.h == 0.5 * scene.settings.step


def test_a_simulator_knows_of_a_solver_only_what_the_protocol_has(monkeypatch):
    """One that hands every call on to `ndb`, and nothing else."""
    asked = set()

    class Handed:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            asked.add(name)
            return getattr(self.inner, name)

        def halved(self):
            return Handed(self.inner.halved())

    monkeypatch.setitem(registry.SOLVERS, "ndb", lambda *arguments: Handed(registry._ndb(*arguments)))
    simulator = Simulator(small_scene(frames=4, side=7), cpu)
    for _ in range(3):
        simulator.advance_frame()
    simulator.restore(simulator.state())
    simulator.pull([0], [0.5], simulator.positions()[0][[0]])
    declared = set(registry.Solver.__annotations__) | {name for name in vars(registry.Solver) if name[0] != "_"}
    assert asked <= declared


def test_no_two_choices_have_one_name():
    groups = [group for group in fields(NdbParameters) if group.name in set(GROUP_OF.values())]
    names = [choice.name for group in groups for choice in fields(getattr(paper(), group.name))]
    assert sorted(names) == sorted(GROUP_OF)


def test_choices_are_replaced_by_name_and_unknown_ones_refused():
    changed = NdbParameters().replaced(sweeps=8, accuracy=0.5, guess="inertial")
    assert (changed.subspace.sweeps, changed.newton.accuracy, changed.guess) == (8, 0.5, "inertial")
    assert changed.replaced(sweeps=20, accuracy=0.05, guess="adaptive") == NdbParameters()
    with pytest.raises(TypeError, match="speed"):
        NdbParameters().replaced(speed=1)

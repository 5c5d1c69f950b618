# SPDX-License-Identifier: GPL-3.0-or-later
"""One increment in a thousand goes astray and needs room for a million contacts: once, not ever after."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact.barrier import LATELY, LEAST_ROOM, SPARE_ROOM, Contacts, no_ages
from taffeta.gpu_core.contact.pairs import Pairs
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import small_scene

cpu = select("cpu")


@pytest.fixture
def contacts():
    solver = Simulator(small_scene(), cpu).solver
    return lambda: Contacts(cpu, solver.parameters.contact.law, solver.vertices, solver.iterate.x, solver.iterate.x)


def some_pairs(count):
    """All of one vertex and one triangle, under different numbers."""
    feature = np.column_stack([np.arange(count)[::-1], np.zeros(count)]).astype(np.int32)
    corner = np.tile(np.array([0, 5, 6, 7], np.int32), (count, 1))
    return Pairs(count, feature, corner, *(np.full(count, 1e-3, np.float32) for _ in range(2)))


def set_up(made, count, ages):
    made.set_up(some_pairs(count), np.arange(count, dtype=np.int32), ages, ages)


def test_room_that_was_needed_once_is_given_back(contacts):
    made, none = contacts(), no_ages(cpu)
    set_up(made, 40 * LEAST_ROOM, none)
    assert made.capacity >= 40 * LEAST_ROOM
    for _ in range(2 * LATELY):
        set_up(made, LEAST_ROOM // 2, none)
    assert made.capacity <= SPARE_ROOM * LEAST_ROOM
    room = made.generation
    for _ in range(4 * LATELY):
        set_up(made, LEAST_ROOM // 2, none)
    assert made.generation == room, "launches on arrays that stay are bound once"


def test_contacts_are_the_same_in_much_room_and_in_little(contacts):
    wide, narrow, ages = contacts(), contacts(), no_ages(cpu)
    set_up(wide, 40 * LEAST_ROOM, ages)
    for count in (200, 60, 130):
        found = []
        for made in (wide, narrow):
            set_up(made, count, ages)
            known = made.ages()
            found.append((made.of_vertex, made.incident[: 4 * count], made.age[:count], known.feature, known.ages))
        for a, b in zip(*found, strict=True):
            assert np.array_equal(a, b)
        assert (np.diff(known.feature[:, 0]) > 0).all(), "sorted, to be found again"
        ages = known
    assert wide.capacity > narrow.capacity

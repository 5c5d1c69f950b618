# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of candidates that are too long to be made at once."""

from __future__ import annotations

import numpy as np

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact import broad_phase
from taffeta.gpu_core.contact.broad_phase import BroadPhase
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import small_scene

cpu = select("cpu")


def test_a_list_that_is_made_in_parts_is_the_same_and_each_part_holds_only_what_is_kept(monkeypatch):
    def baked():
        simulator = Simulator(small_scene(8, 12), cpu)
        return [(simulator.advance_frame().contacts, np.concatenate(simulator.positions())) for _ in range(6)]

    whole, collected, most = baked(), BroadPhase._collect, 0

    def collecting(broad, pairs):
        nonlocal most
        parts = collected(broad, pairs)
        if len(parts) > 1:
            assert all(found.count == len(kept) == len(found.feature) for found, kept in parts)
        most = max(most, len(parts))
        return parts

    monkeypatch.setattr(broad_phase, "CHUNK", 37)
    monkeypatch.setattr(BroadPhase, "_collect", collecting)
    for (contacts, x), (expected, there) in zip(baked(), whole, strict=True):
        assert contacts == expected
        assert np.array_equal(x, there)
    assert most > 3

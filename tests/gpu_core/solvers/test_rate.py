# SPDX-License-Identifier: GPL-3.0-or-later
"""What two increments of a linearly convergent iteration tell of its end, and when H is tried again."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.solvers.pause import LONGEST, Pause
from taffeta.gpu_core.solvers.rate import Rate


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.999])
def test_the_error_of_a_geometric_series_is_what_is_missing_of_its_sum(ratio):
    rate, errors, missing = Rate(1e-4), [], 1.0
    for k in range(6):
        increment = (1.0 - ratio) * ratio**k
        missing -= increment
        errors.append((rate.see(increment, 100), missing))
    assert errors[0][0] == np.inf, "one increment tells nothing"
    for seen, true in errors[1:]:
        assert seen == pytest.approx(true, rel=1e-6)


def test_it_is_hopeless_where_what_is_left_would_not_do_and_where_nothing_shrinks():
    slow, fast, stuck = Rate(1e-3), Rate(1e-3), Rate(1e-3)
    for rate, ratio in ((slow, 0.9), (fast, 0.2), (stuck, 1.0)):
        rate.see(1.0, 6)
        assert not rate.hopeless, "not known yet"
        rate.see(ratio, 5)
    assert slow.hopeless  # 9 · 0.9⁵
    assert not fast.hopeless  # 0.05 · 0.2⁵
    assert stuck.hopeless
    slow.begin()
    assert not slow.hopeless


def test_what_does_not_move_at_all_has_found_its_end():
    rate = Rate(1e-3)
    assert rate.see(0.0, 3) == 0.0
    assert not rate.hopeless


def test_pauses_double_to_the_longest_and_come_to_an_end():
    pause, lengths = Pause(), []
    for _ in range(7):
        pause = pause.after(tried=True)
        lengths.append(pause.left)
        while pause.left:
            pause = pause.after(tried=False)
    assert lengths == [1, 2, 4, 8, 16, 32, LONGEST]
    assert Pause.from_host(pause.to_host()) == pause

# SPDX-License-Identifier: GPL-3.0-or-later
"""A step ends early only after one that was not solved, and only once nothing gets better."""

from __future__ import annotations

from taffeta.gpu_core.solvers.progress import Seen
from taffeta.gpu_core.solvers.stall import PATIENCE, Stall


def seen(cut, late=False):
    return Seen(cut=cut, moved=0.0, late=late, back=False)


def ended(stall, cuts, excess=0.05):
    """After how many full CCDs a step ends that leaves these cuts; None if it does not."""
    ends = [stall.seen(0.0, seen(cut), 0.0, excess) for cut in cuts]
    return ends.index(True) + 1 if any(ends) else None


def test_a_step_after_one_that_was_solved_has_all_its_full_ccds():
    assert ended(Stall(), [1.0] * 40) is None


def test_a_step_after_one_that_was_not_ends_when_nothing_gets_better():
    stall = Stall()
    stall.begin(after_unsolved=True)
    assert ended(stall, [1.0] * 40) == 1 + PATIENCE


def test_it_goes_on_for_as_long_as_something_does():
    stall = Stall()
    stall.begin(after_unsolved=True)
    assert ended(stall, [0.75**k for k in range(40)]) is None
    stall.begin(after_unsolved=True)
    excess = iter(0.85**k for k in range(40))
    assert not any(stall.seen(1.0, seen(1.0), 0.0, next(excess)) for _ in range(40))


def test_a_body_that_gains_little_of_its_way_is_no_reason_to_go_on():
    stall = Stall()
    stall.begin(after_unsolved=True)
    assert any(stall.seen(0.0, seen(0.98**k, late=True), 0.0, float("inf")) for k in range(20))


def test_a_step_that_would_be_halved_ends_when_a_body_comes_no_farther():
    stall = Stall()
    stall.begin(after_unsolved=False, halves=True)
    assert ended(stall, [1.0] * 40) is None  # nothing is late
    assert [stall.seen(0.0, seen(1.0, late=True), 0.0, float("inf")) for _ in range(1 + PATIENCE)] == [False] * 6 + [
        True
    ]
    stall.begin(after_unsolved=False, halves=True)
    assert not any(stall.seen(1.0, seen(0.75**k, late=True), 1.0, float("inf")) for k in range(40))
    stall.begin(after_unsolved=False)
    assert not any(stall.seen(0.0, seen(1.0, late=True), 0.0, float("inf")) for k in range(40))

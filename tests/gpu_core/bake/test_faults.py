# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever strikes a bake, doing what the messages say ends in the bytes of the unbroken one (`benchmarks.faults`)."""

from __future__ import annotations

import os

import pytest

from taffeta.benchmarks.faults import FAULTS, Tally, Trial, strike, unbroken
from taffeta.gpu_core.files.job import save
from taffeta.tests.gpu_core.small_scene import small_scene

SEEDS = range(1000, 1024)  #: others than those of the full run
NIGHTLY = pytest.mark.nightly("a minute and a half on a slow machine, and the others have every fault")
BY_DAY = (1004, 1008, 1012)
FIRST = [first if first in BY_DAY else pytest.param(first, marks=NIGHTLY) for first in SEEDS[::4]]


@pytest.fixture(scope="module")
def bake(tmp_path_factory):
    job = tmp_path_factory.mktemp("faults") / "job"
    save(small_scene(16), job)
    return job, *unbroken(job)


@pytest.mark.skipif(os.name != "posix", reason="signals and limits")
@pytest.mark.parametrize("first", FIRST)
def test_after_any_fault_the_messages_lead_to_the_same_bytes(bake, first):
    job, expected, seconds = bake
    for seed in range(first, first + 4):
        strike(seed, job, expected, seconds, Tally())


def test_the_judge_sees_a_lost_byte_and_a_lost_file_of_the_user(bake, tmp_path):
    job, expected, seconds = bake
    tally = Tally()
    strike(SEEDS[0], job, expected, seconds, tally)
    assert sum(tally.faults.values()) == 1
    with pytest.raises(AssertionError, match="other bytes"):
        strike(SEEDS[0], job, expected[:-1], seconds, tally)
    assert len(set(FAULTS)) == len([name for name in vars(Trial) if Trial.__dict__[name] in FAULTS])

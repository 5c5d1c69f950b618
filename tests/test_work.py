# SPDX-License-Identifier: GPL-3.0-or-later
"""Error against work: what the benchmark counts, and that it measures a step's error."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from taffeta.benchmarks import drape as both
from taffeta.benchmarks import marked, work
from taffeta.benchmarks.tally import TallyingBackend


@pytest.fixture(scope="module")
def drape():
    """By way, what has been done after 1, 2, … iterations."""
    found = {}
    for row in work.measure("drape", 300, 12):
        found.setdefault(row.way, []).append(row)
    return found


def test_newton_reaches_the_steps_minimiser_and_nothing_is_free(drape):
    rows = drape["Newton"]
    assert rows[-1].share < 0.02
    assert rows[0].contacts > 20
    for counted in ("milliseconds", "launches", "waits", "megabytes"):
        assert np.all(np.diff([0, *(getattr(row, counted) for row in rows)]) > 0), counted


def test_an_iteration_with_h_launches_as_much_each_time_and_less_than_newtons(drape):
    launches = np.diff([0, *(row.launches for row in drape["subspace"])])
    assert set(launches) == {launches[0]}
    assert launches[0] < drape["Newton"][0].launches


def test_the_mix_is_h_first_and_newton_after(drape):
    mixed, reuse = drape["2 × subspace, then Newton"], drape["subspace"]
    assert [row.error for row in mixed[:2]] == [row.error for row in reuse[:2]]
    assert mixed[2].error != reuse[2].error


def test_a_launch_counts_the_arrays_that_it_is_given():
    backend, count = TallyingBackend(1), 100
    scalar, z, p = (backend.array(np.ones(shape)) for shape in (3, (count, 4), (count, 4)))
    backend.launch("next_direction", count, scalar=scalar, preconditioned=z, p=p)
    assert backend.tally.launches == 1
    assert backend.tally.bytes == scalar.nbytes + z.nbytes + 2 * p.nbytes  # p is read and written


def test_the_table_goes_between_the_pages_marks(drape):
    rows = [
        {"processor": "a CPU", "threads": 1, "commit": "0000000", **asdict(row)}
        for rows in drape.values()
        for row in rows
    ]
    page = marked.filled("before\n<!-- table work -->\nold\n<!-- end -->\nafter\n", "work", work.table(rows))
    assert page.startswith("before\n<!-- table work -->\na CPU, 1 thread(s)")
    assert page.endswith("<!-- end -->\nafter\n")
    assert "old" not in page
    assert page.count("\n| ") == 1 + sum(row["iterations"] in work.SHOWN for row in rows)
    with pytest.raises(ValueError, match="0 places"):
        marked.filled(page, "other", "")


def test_both_methods_lay_the_same_cloth_down_in_one_table():
    newton, subspace = both.measure(400, 4)
    assert [newton.method, subspace.method] == ["Newton", "Subspace Reuse"]
    assert len(newton.seconds) == len(subspace.seconds) == 3
    assert (newton.crossings, subspace.crossings) == (0, 0)
    assert abs(newton.height - subspace.height) < 1e-3
    rows = both.table([newton, subspace]).splitlines()
    assert len({row.count("|") for row in rows[2:]}) == 1

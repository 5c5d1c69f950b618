# SPDX-License-Identifier: GPL-3.0-or-later
"""As Published, read otherwise: what the benchmark runs, and what its table says."""

from __future__ import annotations

from dataclasses import asdict

from taffeta.benchmarks import reading
from taffeta.gpu_core.solvers.parameters import paper


def test_each_reading_changes_what_it_says_and_nothing_else():
    published = asdict(paper())
    for name, other in reading.READINGS.items():
        changed = asdict(paper().replaced(**other.choices))
        assert changed != published, name
        for choice, value in other.choices.items():
            assert next(g[choice] for g in (changed, *_groups(changed)) if choice in g) in (value, _plain(value))
    assert set(reading.LETTER) <= reading.READINGS.keys()


def _groups(choices):
    return [group for group in choices.values() if isinstance(group, dict)]


def _plain(value):
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value


def test_the_current_shape_as_base_lets_a_drape_converge_that_the_rest_shape_does_not():
    """Eq. 16 with X the rest shape drops what x has outside the subspace in every iteration."""
    published = reading.measure(paper(), 300, 8, 120.0)
    letter = reading.measure(paper().replaced(base="rest"), 300, 8, 120.0)
    assert published.unfinished == 0.0
    assert letter.unfinished > 0.1
    assert letter.unnamed == published.unnamed == 0
    row = reading.line("base", reading.READINGS["base"], letter)
    assert row.count("|") == reading.HEAD.splitlines()[0].count("|")

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a claim is: the paper's words, a measurement, and a verdict that follows from its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Word = Literal["confirmed", "confirmed in part", "not confirmed"]


@dataclass(frozen=True)
class Table:
    """head: names of the columns. rows: as many cells each; texts, numbers, or None where there is nothing."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Curve:
    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One diagram of a plot. logarithmic: which axes are, of "x", "y", "xy" and ""."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    logarithmic: Literal["", "x", "y", "xy"] = ""


@dataclass(frozen=True)
class Measured:
    """What a run has found; JSON holds exactly this."""

    ran: str  #: what was run, sizes included
    numbers: dict[str, float]  #: what the verdict is made of
    tables: Sequence[Table]
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Verdict:
    word: Word
    why: str  #: Markdown, with the numbers


@dataclass(frozen=True)
class Claim:
    """`judge` reads the numbers alone, so that a verdict can be drawn again from the JSON."""

    name: str
    title: str
    paper: str  #: what the paper says, with its numbers
    measure: Callable[[bool], Measured]  #: of quick: a size for the tests instead of the page's
    judge: Callable[[dict[str, float]], Verdict]
    remarks: str = field(default="")  #: Markdown after the tables: what the numbers do not say


def word(holds: Sequence[bool]) -> Word:
    """The verdict on a claim of several parts."""
    return "confirmed" if all(holds) else "confirmed in part" if any(holds) else "not confirmed"


def thinned(values: Sequence[float], most: int = 60) -> tuple[list[float], list[float]]:
    """(index, value) of at most `most` values of a long curve, denser at its beginning, to four digits."""
    last = len(values) - 1
    chosen = sorted({round(last * (k / (most - 1)) ** 2) for k in range(most)}) if last > most else range(last + 1)
    return [float(k) for k in chosen], [float(f"{values[k]:.4g}") for k in chosen]

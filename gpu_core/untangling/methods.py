# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of what is tried on a tangle, and what is taken: whatever leaves fewer crossings than before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..scene.arrays import Array
from ..scene.mesh import edge_lengths
from .contours import apart, longest, shorter
from .copies import laid_apart
from .fabric import Fabric
from .restoring import restore
from .retreat import Retreat
from .smoothing import GROWTH, smoothed
from .unfolding import unfolded

ROUNDS = 40  #: of a method that goes step by step
SLIP = 4.0  #: edges that clothes may go as wholes on the body that wears them
PATIENCE = 8  #: rounds without an improvement
GOOD = 2.0  #: length over length at rest of an edge, at which nothing better is looked for


def untangle(fabric: Fabric, rest: Array, lengths: Array) -> int:
    """Bring the cloth of a fabric out of itself and of others; returns how many crossings are left. It stays as it is
    where nothing helps. rest: (N, 3) the shape without stress, lengths: (E,) of edges in it, m."""
    begin = fabric.places
    ends: list[tuple[int, float, int, Array]] = []
    for number, way in enumerate((_step_by_step, _unfolding)):
        fabric.move(begin)
        way(fabric, rest, lengths)
        if fabric.places is not begin:
            restore(fabric, lengths)
        ends.append((len(fabric.crossings().corners), _worst(fabric, lengths), number, fabric.places))
        if not ends[-1][0] and ends[-1][1] < GOOD:
            break
    fabric.move(min(ends)[-1])
    for attempt in (_smoothings, _retreats, _contours):
        _best(fabric, attempt(fabric), len(fabric.crossings().corners) - 1)
    return len(fabric.crossings().corners)


def lay_copies_apart(fabric: Fabric) -> None:
    """Sheets that lie in one place keep their thickness from each other, if that leaves half of the crossings."""
    _best(fabric, _copies(fabric), len(fabric.crossings().corners) // 2)


def _step_by_step(fabric: Fabric, rest: Array, lengths: Array) -> None:
    _best(fabric, _smoothings(fabric), len(fabric.crossings().corners) - fabric.tangled()[1])
    for attempt in (_retreats, _departures, _contours):
        _best(fabric, attempt(fabric), len(fabric.crossings().corners) // 2)


def _unfolding(fabric: Fabric, rest: Array, lengths: Array) -> None:
    for sheet in fabric.tangled()[0]:
        _unfold(fabric, unfolded(fabric, sheet, rest, lengths), lengths)
    for attempt in (_retreats, _departures, _contours):
        _best(fabric, attempt(fabric), len(fabric.crossings().corners) - 1)


def _worst(fabric: Fabric, lengths: Array) -> float:
    """The longest edge, by its length at rest."""
    return float((edge_lengths(fabric.places, fabric.edges) / np.maximum(lengths, 1e-30)).max(initial=1.0))


def _best(fabric: Fabric, trials: Iterator[Array], most: int) -> None:
    """Move the fabric to the best of what is tried, if that leaves so many crossings at most."""
    best, left = fabric.places, most + 1
    if not len(fabric.crossings().corners):
        return
    for places in trials:
        fabric.move(places)
        count = len(fabric.crossings().corners)
        if count < left:
            best, left = places, count
        if not left:
            break
    fabric.move(best)


def _unfold(fabric: Fabric, trials: Iterator[Array], lengths: Array) -> None:
    """As `_best`, but of all that leave little the one that bends edges least: a sheet may be wound around itself."""
    best, least = fabric.places, np.inf
    most = len(fabric.crossings().corners) // 2
    for places in trials:
        fabric.move(places)
        if len(fabric.crossings().corners) > most:
            continue
        restore(fabric, lengths)
        worst = _worst(fabric, lengths)
        count = len(fabric.crossings().corners)
        if count < most or worst < least:
            best, most, least = fabric.places, count, worst
        if not count and worst < GOOD:
            break
    fabric.move(best)


def _copies(fabric: Fabric) -> Iterator[Array]:
    places = laid_apart(fabric, fabric.crossings())
    if places is not None:
        yield places


def _retreats(fabric: Fabric) -> Iterator[Array]:
    retreat = Retreat(fabric)
    for _ in range(ROUNDS):
        places = retreat.round()
        if places is None:
            return
        yield places


def _departures(fabric: Fabric) -> Iterator[Array]:
    """Where the way changes from round to round without an end, straight on along the first. No farther than the
    longest of their lines is: beyond that nothing comes out; and what is worn hardly at all, or it comes off."""
    begin, straight = fabric.places, None
    far = longest(fabric, fabric.crossings()) + fabric.length
    if fabric.worn[fabric.sheet[fabric.crossing()]].any():
        far = min(far, SLIP * fabric.length)
    for _ in range(ROUNDS):
        places = apart(fabric, fabric.crossings())
        if places is None or _farthest(places - begin) > far:
            break
        straight = places - begin if straight is None else straight
        yield places
    if straight is not None:
        for count in range(2, ROUNDS):
            if count * _farthest(straight) > far:
                break
            yield begin + count * straight


def _farthest(ways: Array) -> float:
    return float(np.linalg.norm(ways, axis=1).max(initial=0.0))


def _contours(fabric: Fabric) -> Iterator[Array]:
    """For as long as that helps."""
    least, late = len(fabric.crossings().corners), 0
    for _ in range(ROUNDS):
        places = shorter(fabric, fabric.crossings())
        if places is None:
            return
        yield places
        now = len(fabric.crossings().corners)
        least, late = (now, 0) if now < least else (least, late + 1)
        if late > PATIENCE:
            return


def _smoothings(fabric: Fabric) -> Iterator[Array]:
    begin, found, reach = fabric.places, fabric.crossings(), 2.0
    while True:
        fabric.move(begin)
        places = smoothed(fabric, found, reach)
        if places is None:
            return
        yield places
        reach *= GROWTH

# SPDX-License-Identifier: GPL-3.0-or-later
"""Segment against triangle in exact arithmetic, for the few pairs that float64 cannot decide.

Every float64 is a whole number times a power of two. Scaling the five points of a pair by one common power of two turns
them into Python integers, in which sums and products are exact: no tolerance, no case left open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import frexp

Point = tuple[int, int, int]

DIGITS = 2**53  #: a float64's mantissa times this is whole


def segment_meets_triangle(segment: Sequence[Sequence[float]], triangle: Sequence[Sequence[float]]) -> bool:
    """Whether a closed segment (2, 3) and a closed triangle (3, 3) share a point. Both may be degenerate."""
    p, q, a, b, c = _on_one_lattice([*segment, *triangle])
    normal = _cross(_difference(b, a), _difference(c, a))
    if normal == (0, 0, 0):
        return any(_segments_meet(p, q, start, end) for start, end in ((a, b), (b, c), (c, a)))
    height_p, height_q = _dot(normal, _difference(p, a)), _dot(normal, _difference(q, a))
    if height_p * height_q > 0:
        return False
    if height_p == height_q == 0:
        return _inside(p, a, b, c, normal) or any(
            _segments_meet(p, q, start, end) for start, end in ((a, b), (b, c), (c, a))
        )
    sides = (_volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a))
    return min(sides) >= 0 or max(sides) <= 0


def _on_one_lattice(points: Sequence[Sequence[float]]) -> list[Point]:
    parts = [frexp(value) for point in points for value in point]
    finest = min((exponent for mantissa, exponent in parts if mantissa), default=0)
    whole = [int(mantissa * DIGITS) << exponent - finest if mantissa else 0 for mantissa, exponent in parts]
    return list(zip(whole[::3], whole[1::3], whole[2::3], strict=True))


def _segments_meet(p: Point, q: Point, a: Point, b: Point) -> bool:
    along, other, across = _difference(q, p), _difference(b, a), _difference(a, p)
    normal = _cross(along, other)
    if normal == (0, 0, 0):
        on_one_line = not any(_cross(along, across) + _cross(along, _difference(b, p)) + _cross(other, across))
        return on_one_line and all(
            max(min(p[k], q[k]), min(a[k], b[k])) <= min(max(p[k], q[k]), max(a[k], b[k])) for k in range(3)
        )
    if _dot(normal, across) != 0:
        return False
    drop = _first_nonzero(normal)
    return _turn(p, q, a, drop) * _turn(p, q, b, drop) <= 0 and _turn(a, b, p, drop) * _turn(a, b, q, drop) <= 0


def _inside(p: Point, a: Point, b: Point, c: Point, normal: Point) -> bool:
    """Whether p, in the plane of the triangle, lies in it or on its rim."""
    drop = _first_nonzero(normal)
    turns = (_turn(a, b, p, drop), _turn(b, c, p, drop), _turn(c, a, p, drop))
    return min(turns) >= 0 or max(turns) <= 0


def _turn(a: Point, b: Point, c: Point, drop: int) -> int:
    """Twice the signed area of a, b, c seen along axis `drop`."""
    u, v = (drop + 1) % 3, (drop + 2) % 3
    return (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u])


def _volume(p: Point, q: Point, a: Point, b: Point) -> int:
    return _dot(_cross(_difference(q, p), _difference(a, p)), _difference(b, p))


def _first_nonzero(values: Iterable[int]) -> int:
    return next(axis for axis, value in enumerate(values) if value != 0)


def _difference(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _dot(a: Point, b: Point) -> int:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs in motion that are hard for float32, and their distance and first contact in float64, in code of its own.

Shapes: p, q (n, 4, 3) corners at the start and the end; edges (n,) True for edge–edge (corners 0, 1 against 2, 3), else
vertex–triangle (corner 0 against 1, 2, 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KINDS = (
    "plain", "parallel", "coplanar", "grazing", "tiny gap", "ratio", "sliver", "far", "degenerate", "below ξ",
    "below 0.2 ξ", "fast", "turning",
)  # fmt: skip


@dataclass
class Queries:
    p: np.ndarray  #: float32
    q: np.ndarray  #: float32
    edges: np.ndarray
    offset: np.ndarray  #: (n,) ξ, float32
    kind: np.ndarray  #: (n,) index into KINDS


def hard_queries(count: int, seed: int) -> Queries:
    """Pairs of all KINDS in turn; most of them meet within the motion or pass at about ξ."""
    rng = np.random.default_rng(seed)
    kind = np.arange(count) % len(KINDS)
    edges = rng.random(count) < 0.5
    is_kind = {name: kind == k for k, name in enumerate(KINDS)}
    shape = _shapes(rng, is_kind, edges, count)
    size = np.linalg.norm(shape - shape.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    offset = size * 10.0 ** rng.uniform(-4, -0.5, count)

    weight = _weights(rng, edges, count)
    gap = np.einsum("nk,nkd->nd", weight, shape)
    normal = _unit(_normal(shape, edges) + 1e-12 * rng.normal(size=(count, 3)))
    sideways = rng.random(count) < 0.3
    normal[sideways] = _unit(rng.normal(size=(sideways.sum(), 3)))
    wanted = np.where(
        rng.random(count) < 0.7, 0.0, offset * (1 + rng.normal(size=count) * 10.0 ** rng.uniform(-6, 0, count))
    )
    wanted[is_kind["tiny gap"]] *= 1e-3
    first = np.where(edges[:, None], [[1, 1, 0, 0]], [[1, 0, 0, 0]])[..., None]
    meeting = shape + first * (wanted[:, None] * normal - gap)[:, None]

    speed = size * 10.0 ** rng.uniform(-2, 1, count)
    speed[is_kind["fast"]] *= 100
    motion = rng.normal(size=(count, 4, 3)) * 10.0 ** rng.uniform(-3, 0, (count, 1, 1)) - first * normal[:, None]
    graze = is_kind["grazing"]
    along = _unit(np.cross(normal, rng.normal(size=(count, 3))))
    motion[graze] = (first * along[:, None])[graze] * 3
    turn = is_kind["turning"]
    motion[turn] = (
        np.cross(normal[turn][:, None], meeting[turn]) / size[turn][:, None, None] * 2 - (first * normal[:, None])[turn]
    )
    motion *= speed[:, None, None]
    time = rng.uniform(0.02, 1.3, count)[:, None, None]
    start = meeting - time * motion

    for name, low, high in (("below ξ", -0.7, 0.0), ("below 0.2 ξ", -5.0, -0.7)):
        near = is_kind[name]
        share = offset * 10.0 ** rng.uniform(low, high, count)
        start[near] = (shape + first * (share[:, None] * normal - gap)[:, None])[near]
        motion[near] *= 10.0 ** rng.uniform(-6, 0, (near.sum(), 1, 1))
    flat = is_kind["coplanar"]
    start[flat, :, 2], motion[flat, :, 2] = 0, 0
    end = start + motion

    scale = 10.0 ** rng.uniform(-3, 1, count)
    start, end = start * scale[:, None, None], end * scale[:, None, None]
    place = rng.normal(size=(count, 1, 3)) * (10.0 ** rng.uniform(0, 3.5, count) * is_kind["far"])[:, None, None]
    return Queries(np.float32(start + place), np.float32(end + place), edges, np.float32(offset * scale), kind)


def _shapes(rng, is_kind, edges, count):
    shape = rng.normal(size=(count, 4, 3))
    axis = np.where(edges[:, None], shape[:, 1] - shape[:, 0], shape[:, 2] - shape[:, 1])
    k = is_kind["parallel"]
    lean = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-9, -1, (count, 1)) * (rng.random((count, 1)) < 0.7)
    shape[k & edges, 3] = (shape[:, 2] + axis * rng.uniform(0.3, 3, (count, 1)) + lean)[k & edges]
    k = (is_kind["sliver"] | is_kind["parallel"]) & ~edges
    beyond = rng.uniform(-0.5, 1.5, (count, 1))
    shape[k, 3] = (shape[:, 1] + beyond * axis + rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-7, -1, (count, 1)))[
        k
    ]
    k = is_kind["sliver"] & edges
    shape[k, 3] = (shape[:, 2] + axis + lean)[k]
    k = is_kind["ratio"]
    shape[k, 2:] = (shape * 10.0 ** rng.uniform(0, 4, (count, 1, 1)))[k, 2:]
    k = is_kind["degenerate"]
    same = rng.integers(0, 3, count)
    shape[k & (same == 0), 3] = shape[k & (same == 0), 2]
    shape[k & (same == 1) & ~edges, 3] = shape[k & (same == 1) & ~edges, 1]
    shape[k & (same == 1) & edges, 1] = shape[k & (same == 1) & edges, 0]
    every = k & (same == 2)
    shape[every, 2] = shape[every, 1 + edges[every]]
    shape[every, 3] = shape[every, 2]
    shape[is_kind["coplanar"], :, 2] = 0
    return shape


def _weights(rng, edges, count):
    """Where the sides meet: inside, on a border, at a corner. (n, 4), +1 on the first side and −1 on the second."""
    s, t = np.clip(rng.uniform(-0.3, 1.3, (2, count)), 0, 1)
    corner = rng.dirichlet([0.7] * 3, count) * (rng.random((count, 3)) < 0.8) + 1e-9
    corner /= corner.sum(axis=1, keepdims=True)
    vertex = np.column_stack([np.ones(count), -corner])
    return np.where(edges[:, None], np.column_stack([1 - s, s, t - 1, -t]), vertex)


def _normal(shape, edges):
    triangle = np.cross(shape[:, 2] - shape[:, 1], shape[:, 3] - shape[:, 1])
    return np.where(edges[:, None], np.cross(shape[:, 1] - shape[:, 0], shape[:, 3] - shape[:, 2]), triangle)


def _unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)


def _dot(a, b):
    return np.einsum("nd,nd->n", a, b)


def _safe(a):
    return np.where(a > 0, a, 1.0)


def _to_segment(p, a, b):
    """Squared distance of points to segments."""
    ab, ap = b - a, p - a
    s = np.clip(_dot(ap, ab) / _safe(_dot(ab, ab)), 0, 1)
    r = ap - s[:, None] * ab
    return _dot(r, r)


def distance(corners: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Distance (n,) of the pairs. Interiors by common normals, not by the kernels' normal equations. float64."""
    result = np.empty(len(corners))
    for which, of in ((edges, _edge_edge), (~edges, _vertex_triangle)):
        result[which] = of(*np.moveaxis(corners[which], 1, 0))
    return result


def _vertex_triangle(p, a, b, c):
    best = np.minimum(np.minimum(_to_segment(p, a, b), _to_segment(p, b, c)), _to_segment(p, c, a))
    n = np.cross(b - a, c - a)
    square = _dot(n, n)
    inside = square > 0
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= _dot(np.cross(v - u, p - u), n) >= 0
    return np.sqrt(np.where(inside, np.minimum(best, _dot(n, p - a) ** 2 / _safe(square)), best))


def _edge_edge(a, b, c, d):
    best = np.minimum(
        np.minimum(_to_segment(a, c, d), _to_segment(b, c, d)), np.minimum(_to_segment(c, a, b), _to_segment(d, a, b))
    )
    n, w = np.cross(b - a, d - c), c - a
    square = _dot(n, n)
    s, t = (_dot(np.cross(w, e), n) / _safe(square) for e in (d - c, b - a))
    inside = (square > 0) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    return np.sqrt(np.where(inside, np.minimum(best, _dot(n, w) ** 2 / _safe(square)), best))


def _coplanarity(start, motion, edges):
    """Coefficients (n, 4) of the cubic that vanishes where the four corners lie in one plane, lowest first."""
    triple = lambda a, b, c: _dot(a, np.cross(b, c))  # noqa: E731
    e = [x[:, 1:] - x[:, :1] for x in (start, motion)]
    u, v, w = ([x[:, k] for x in e] for k in range(3))
    return np.column_stack(
        [
            triple(u[0], v[0], w[0]),
            triple(u[1], v[0], w[0]) + triple(u[0], v[1], w[0]) + triple(u[0], v[0], w[1]),
            triple(u[1], v[1], w[0]) + triple(u[1], v[0], w[1]) + triple(u[0], v[1], w[1]),
            triple(u[1], v[1], w[1]),
        ]
    )


def _value(c, t):
    return c[:, 0] + t * (c[:, 1] + t * (c[:, 2] + t * c[:, 3]))


def coplanar_times(start: np.ndarray, motion: np.ndarray, edges: np.ndarray, until: np.ndarray):
    """All times in [0, until] at which the sides can touch, for pairs that start apart: (times (n, 7), undecided (n,)).

    Roots by bisection between the cubic's extrema; extrema where rounding could hide a double root count as roots.
    undecided: the cubic vanishes, to rounding, over a whole interval (coplanar motion).
    """
    c = _coplanarity(start, motion, edges)
    size = np.abs(np.concatenate([start - start[:, :1], start + motion - (start + motion)[:, :1]], 1)).max(axis=(1, 2))
    noise = 1e-13 * size**3
    a, b, d = 3 * c[:, 3], 2 * c[:, 2], c[:, 1]
    root = np.sqrt(np.maximum(b * b - 4 * a * d, 0))
    half = -0.5 * (b + np.where(b < 0, -root, root))
    with np.errstate(divide="ignore", invalid="ignore"):
        extrema = np.sort(np.nan_to_num([half / a, d / half], nan=0.0, posinf=2.0, neginf=0.0), axis=0)
    breaks = np.clip(np.stack([0 * until, *extrema, until]), 0, until)
    values = np.stack([_value(c, t) for t in breaks])
    low, high = breaks[:-1].copy(), breaks[1:].copy()
    for _ in range(50):
        middle = 0.5 * (low + high)
        left = np.stack([_value(c, t) for t in middle]) * np.sign(values[:-1]) > 0
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    crosses = np.sign(values[:-1]) * np.sign(values[1:]) < 0
    small = np.abs(values) <= noise
    times = np.concatenate([np.where(crosses, high, until), np.where(small, breaks, until)])
    undecided = (small[:-1] & small[1:] & (breaks[1:] > breaks[:-1])).any(axis=0)
    return times.T, undecided


def approach_bound(motion: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How fast the distance can change at most, (n,)."""
    length = np.linalg.norm(motion - motion.mean(axis=1, keepdims=True), axis=2)
    second = np.where(edges, 0, length[:, 1])
    return np.maximum(length[:, 0], np.where(edges, length[:, 1], 0)) + np.maximum(second, length[:, 2:].max(axis=1))


def first_contact(start, motion, edges, reach, until, rounds=400):
    """First time at which the distance falls to `reach`, to 0.1 % of it, by conservative advancement in float64.

    inf where it does not before `until`; nan where `rounds` do not tell.
    """
    time, result = np.zeros(len(start)), np.full(len(start), np.nan)
    bound, live = approach_bound(motion, edges), np.arange(len(start))
    for _ in range(rounds):
        d = distance(start[live] + time[live, None, None] * motion[live], edges[live])
        hit = d <= 1.001 * reach[live]
        result[live[hit]] = time[live[hit]]
        with np.errstate(divide="ignore"):
            time[live] += np.where(hit, 0, (d - reach[live]) / bound[live])
        over = ~hit & (time[live] >= until[live])
        result[live[over]] = np.inf
        live = live[~hit & ~over]
        if len(live) == 0:
            break
    return result

# SPDX-License-Identifier: GPL-3.0-or-later
"""float32 finds every collision: a million pairs that are hard for it, against float64 (docs/theory/float32.md)."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact.filter import Filter
from taffeta.gpu_core.contact.pairs import Pairs
from taffeta.tests.gpu_core.contact.hard_pairs import (
    KINDS,
    Queries,
    coplanar_times,
    distance,
    first_contact,
    hard_queries,
)

cpu = select("cpu")
MARGIN = 2.0**-18  #: of the pair's size, as in separation.h
CHUNK = 130_000
CHUNKS = 8
LOOKED_AT = 8_000  #: queries of each chunk whose true time of impact is computed


def as_vectors(corners):
    result = np.zeros((4 * len(corners), 4), np.float32)
    result[:, :3] = corners.reshape(-1, 3)
    return result


def as_pairs(queries: Queries) -> Pairs:
    """Pairs whose corners are 4i … 4i+3."""
    count = len(queries.p)
    feature = np.where(queries.edges[:, None], [[-1, 1]], [[0, 0]]).astype(np.int32)
    corner = np.arange(4 * count, dtype=np.int32).reshape(count, 4)
    return Pairs(count, feature, corner, queries.offset, queries.offset)


def both_sides(pairs):
    return {"feature": pairs.feature, "corner": pairs.corner}


def impacts(queries: Queries):
    pairs, time = as_pairs(queries), np.zeros(len(queries.p), np.float32)
    x, x1 = as_vectors(queries.p), as_vectors(queries.q)
    cpu.launch("pair_impact", pairs.count, **both_sides(pairs), x=x, x1=x1, offset=pairs.offset, time=time)
    return time


class Truth:
    """The queries in float64, relative to corner 0, which is exact for float32 corners of any sensible size."""

    def __init__(self, queries: Queries) -> None:
        start, end = (np.float64(x) - np.float64(x[:, :1]) for x in (queries.p, queries.q))
        self.edges, self.start, self.motion = queries.edges, start, end - start
        size = lambda x: np.linalg.norm(x, axis=2).max(axis=1)  # noqa: E731
        self.margin = MARGIN * np.maximum(size(start), size(end))
        self.at_start = distance(start, self.edges)
        self.apart = self.at_start > 1e-12 * size(start)
        pairs, separation = as_pairs(queries), np.zeros(len(start), np.float32)
        cpu.launch("pair_separation", pairs.count, **both_sides(pairs), x=as_vectors(queries.p), gap=separation)
        self.separation = separation
        certain = separation + MARGIN * size(start) - self.margin  # as CCD sees it, with the size at both ends
        # CCD keeps 0.95 of its own value of `certain`. A kernel compiled with other contractions may take the other
        # branch of `separate`, which finds at least 0.98 of the distance, and its last digits differ.
        share = 0.95 * 0.98 * (certain - self.margin / 8)
        self.kept = np.minimum(queries.offset, np.maximum(share, self.margin / 16))
        self.floor = certain < np.minimum(0.2 * queries.offset, 10 * self.margin)
        self.moves = (queries.p != queries.q).any(axis=(1, 2))

    def position(self, time):
        return self.start + time[:, None, None] * self.motion

    def least_distance(self, until):
        """Smallest distance in [0, until] where the sides can touch at all, and at some times beside; undecided."""
        times, undecided = coplanar_times(self.start, self.motion, self.edges, until)
        least = self.at_start
        for time in (*times.T, *(share * until for share in (0.25, 0.5, 0.75, 0.9, 1.0))):
            least = np.minimum(least, distance(self.position(time), self.edges))
        return least, undecided

    def subset(self, chosen):
        part = object.__new__(Truth)
        part.__dict__ = {name: value[chosen] for name, value in self.__dict__.items()}
        return part


def assert_nothing_comes_too_near(truth: Truth, until, what: str) -> None:
    """Through the time `until`, no pair touches, and none comes nearer than what its thickness lets it."""
    moving = np.flatnonzero(truth.apart & truth.moves & (until > 0))
    truth, until = truth.subset(moving), until[moving]
    least, undecided = truth.least_distance(until)
    wrong = least < truth.kept * (1 - 1e-6)
    assert not wrong.any(), (what, moving[wrong][:5])
    flat, until = truth.subset(undecided), until[undecided]
    found = first_contact(flat.start, flat.motion, flat.edges, 0.5 * flat.kept, until, rounds=10_000)
    assert np.isinf(found).all(), (what, "in a plane", moving[undecided][~np.isinf(found)])


def test_the_reference_distance_is_that_of_ipctk():
    queries = hard_queries(13 * 200, 99)
    p = np.float64(queries.p) - np.float64(queries.p[:, :1])
    wanted = [
        ipctk.edge_edge_distance(*q) if e else ipctk.point_triangle_distance(*q)
        for q, e in zip(p, queries.edges, strict=True)
    ]
    error = np.abs(distance(p, queries.edges) - np.sqrt(wanted)) / np.linalg.norm(p, axis=2).max(axis=1)
    assert np.quantile(error, 0.99) < 1e-12
    assert error.max() < 1e-7, (error.argmax(), KINDS[queries.kind[error.argmax()]])


def test_no_collision_is_missed_in_a_million_hard_queries():
    looked, early, false = 0, [], 0
    for seed in range(CHUNKS):
        queries = hard_queries(CHUNK, seed)
        truth, time = Truth(queries), impacts(queries)
        assert (truth.separation <= truth.at_start * (1 + 1e-12)).all(), "a lower bound above the distance"
        assert_nothing_comes_too_near(truth, np.minimum(np.float64(time), 1), f"seed {seed}")

        some = np.flatnonzero(truth.apart & ~truth.floor & (queries.offset > 4 * truth.margin))[:LOOKED_AT]
        part = truth.subset(some)
        real = first_contact(part.start, part.motion, part.edges, part.kept, np.ones(len(some)))
        told, collides = time[some] <= 1, real <= 1
        known = ~np.isnan(real)
        looked += known.sum()
        false += (told & np.isinf(real)).sum()
        early.append((real - time[some])[told & collides])
    early = np.concatenate(early)
    print(
        f"{CHUNK * CHUNKS} queries; of {looked} with a known outcome {len(early)} collide; false positives "
        f"{false} ({100 * false / looked:.2f} %); early by {early.mean():.4f} of the step (median "
        f"{np.median(early):.4f}, 99 % below {np.quantile(early, 0.99):.4f})"
    )
    assert len(early) > looked // 3
    assert false < 0.05 * looked


def test_the_filter_hands_out_positions_that_were_checked():
    """Whatever the rounding of the fractions: here up to 3 km from the origin, where a digit is a quarter of a mm."""
    queries = hard_queries(CHUNK, 1234)
    x, x1 = as_vectors(queries.p), as_vectors(queries.q)
    for name in ("per_vertex", "whole"):
        filter_ = Filter(cpu, np.zeros(len(x), np.int32), np.full(len(x), -1, np.int32), 0)
        taken = getattr(filter_, name)(as_pairs(queries), x, x1)[:, :3].reshape(-1, 4, 3)
        assert filter_.fallbacks == 0
        reached = Queries(queries.p, taken, queries.edges, queries.offset, queries.kind)
        assert_nothing_comes_too_near(Truth(reached), np.ones(CHUNK), name)
        if name == "per_vertex":
            moved = np.abs(taken - queries.p).max(axis=(1, 2)) > 0
            assert moved.mean() > 0.5, "the filter lets nothing move"


def room_of(queries: Queries, reach: float, free: int, enough: float):
    """By how much the sides stay beyond `reach`; the queries have been scaled to it."""
    pairs, room = as_pairs(queries), np.zeros(len(queries.p), np.float32)
    x, x1 = as_vectors(queries.p), as_vectors(queries.q)
    frees = np.full(len(x), free, np.int32)
    apart = np.arange(len(x), dtype=np.int32)  # each corner is an object of its own
    cpu.launch(
        "candidate_room", pairs.count, **both_sides(pairs), x=x, x1=x1, free=frees, rest=x, piece=apart,
        thickness=np.full(len(x), reach / 2, np.float32), activation_least=0.0, rest_share=0.3, most_range=reach,
        enough=enough, room=room, near=np.zeros(len(room), np.int32), seam=0 * apart - 1, seam_distance=np.zeros(
        len(x), np.float32), seam_gap=0.0,
    )  # fmt: skip
    return room


def reaching(queries: Queries, reach: float, free: int = 1):
    """Which candidates matter to `reach`."""
    return room_of(queries, reach, free, 0.0) <= 0


def test_no_candidate_is_dropped_that_comes_within_reach():
    """Whatever fraction of its motion each corner takes."""
    rng = np.random.default_rng(5)
    queries = hard_queries(CHUNK, 77)
    scale = (1e-3 / queries.offset)[:, None, None]
    queries.p, queries.q = np.float32(queries.p * scale), np.float32(queries.q * scale)
    truth, matters = Truth(queries), reaching(queries, 1e-3)
    least = truth.at_start
    still = truth.start + 0 * truth.motion
    whole = np.float64(queries.q) - np.float64(queries.p)
    for trial in range(24):
        fraction = rng.random((CHUNK, 4, 1)) if trial % 2 else rng.integers(0, 2, (CHUNK, 4, 1))
        least = np.minimum(least, distance(still + fraction * whole, truth.edges))
    assert not ((least <= 1e-3) & ~matters).any()
    assert (least <= 1e-3).sum() > CHUNK // 4
    assert (~matters).sum() > CHUNK // 20


def test_no_candidate_is_dropped_that_comes_within_reach_while_all_go_at_one_pace():
    queries = hard_queries(CHUNK, 79)
    scale = (1e-3 / queries.offset)[:, None, None]
    queries.p, queries.q = np.float32(queries.p * scale), np.float32(queries.q * scale)
    truth, matters = Truth(queries), reaching(queries, 1e-3, free=0)
    least = np.minimum(truth.at_start, distance(truth.start + truth.motion, truth.edges))
    for time in np.linspace(0, 1, 48):
        least = np.minimum(least, distance(truth.start + time * truth.motion, truth.edges))
    assert not ((least <= 1e-3) & ~matters).any()
    assert (least <= 1e-3).sum() > CHUNK // 4
    assert (~matters).sum() > (~reaching(queries, 1e-3)).sum() > CHUNK // 20


@pytest.mark.parametrize("free", [0, 1])
def test_no_candidate_is_passed_over_that_strays_into_reach(free):
    """The sides go towards each other from where their ways are, by about as much as there was room between them."""
    rng, count = np.random.default_rng(6), CHUNK // 4
    queries = hard_queries(count, 80)
    scale = (1e-3 / queries.offset)[:, None, None]
    queries.p, queries.q = np.float32(queries.p * scale), np.float32(queries.q * scale)
    part = 10.0 ** rng.uniform(-4, 0, (count, 1, 1))  # most whole ways meet
    queries.q = np.float32(queries.p + part * (np.float64(queries.q) - queries.p))
    room = room_of(queries, 1e-3, free, float("inf"))
    stray = np.float32(np.abs(room) * rng.uniform(0, 1.2, count))[:, None] * np.float32(rng.random((count, 4)))
    alike = rng.random(count) < 0.8  # all corners of a pair by the same
    stray[alike] = stray[alike][:, :1]
    pairs, nears = as_pairs(queries), np.zeros(count, np.int32)
    x, apart = as_vectors(queries.p), np.arange(4 * count, dtype=np.int32)
    cpu.launch(  # a range beyond all of them: what is passed over is so for its strays
        "candidate_nears", count, **both_sides(pairs), room=room, stray=np.ravel(stray), x=x, x1=x, free=0 * apart,
        rest=x, piece=apart, thickness=np.full(4 * count, 1e9, np.float32), activation_least=0.0, rest_share=0.3,
        most_range=1e9, nears=nears, seam=0 * apart - 1, seam_distance=np.zeros(4 * count, np.float32), seam_gap=0.0,
    )  # fmt: skip
    truth, entered = Truth(queries), np.zeros(count, bool)
    sides = np.where(queries.edges[:, None], [[1, 1, -1, -1]], [[1, -1, -1, -1]])[..., None]
    whole = np.float64(queries.q) - np.float64(queries.p)
    for _ in range(8):
        fraction = rng.integers(0, 2, (count, 4 if free else 1, 1))
        state = truth.start + fraction * (whole if free else truth.motion)
        state -= stray[..., None] * sides * direction_between(state, truth.edges, sides > 0)[:, None]
        entered |= distance(state, truth.edges) <= 1e-3
    assert not (entered & (nears == 0)).any()
    assert (entered & (room > 0)).sum() > count // 50
    assert (nears == 0).sum() > count // 20


def direction_between(state, edges, first):
    """(n, 3) unit vectors along which the distance grows when the first side goes, by differences."""
    step = 1e-6 * np.maximum(distance(state, edges), 1e-6)[:, None, None]
    grows = [
        distance(state + first * step * axis, edges) - distance(state - first * step * axis, edges)
        for axis in np.eye(3)
    ]
    slope = np.stack(grows, axis=1)
    return slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-300)


@pytest.mark.parametrize("nearer", [1 - 1e-6, 1.0, 1 + 1e-7])
def test_a_candidate_at_rest_counts_to_the_last_digit_of_its_reach(nearer):
    """Distance and reach differ by less than rounding."""
    queries = hard_queries(CHUNK, 78)
    p = np.float64(queries.p) - np.float64(queries.p[:, :1])
    scale = 1e-3 * nearer / np.maximum(distance(p, queries.edges), 1e-9)
    queries.p = queries.q = np.float32(p * scale[:, None, None])
    within = distance(np.float64(queries.p), queries.edges) <= 1e-3
    assert within.mean() > 0.1
    assert reaching(queries, 1e-3)[within].all()


REGRESSIONS = {
    # name: (start, end, edge–edge, ξ): found by these queries in the first kernels, which trusted closest points
    "the closest point of a sliver is off by more than the gap": (
        [[0.0110359555, 0.021937532, -0.021593897], [-0.0010273377, 0.016035473, -0.03272229],
         [0.030635752, 0.03169413, -0.0033359453], [0.0316932, 0.032410227, -0.0025712084]],
        [[0.010146519, 0.021742593, -0.022271616], [-0.0010293593, 0.016034791, -0.032726917],
         [0.030638808, 0.03169592, -0.0033407165], [0.031695247, 0.032416414, -0.0025730126]],
        False, 5.463472e-06,
    ),
    "a pair at the floor slides along a normal that is off": (
        [[-0.001827733, -0.0006069349, 0.0025648335], [-0.00064641505, -0.000118381606, 0.000173499],
         [-0.0023819546, -0.00084494374, 0.003675181], [-0.0027849562, -0.0009861136, 0.0044863927]],
        [[-0.0018520218, -0.00063759927, 0.0025866085], [-0.000646472, -0.00011824048, 0.00017348967],
         [-0.0023822342, -0.00084515964, 0.0036753188], [-0.0027849062, -0.0009861862, 0.0044859704]],
        False, 6.312605e-05,
    ),
    "a vertex grazes a large thin triangle below the floor": (
        [[-0.7554432, 1.1499404, -1.1818397], [-1.3074183, -4.4784937, -0.993474],
         [-1.6415386, 1.4686626, -0.85995716], [-0.69422543, 1.1962775, -1.2034252]],
        [[-0.7216563, 1.2832178, -1.1926507], [-1.3074183, -4.4784937, -0.993474],
         [-1.6415386, 1.4686626, -0.85995716], [-0.69422543, 1.1962775, -1.2034252]],
        False, 0.013323495,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REGRESSIONS)
def test_a_collision_that_was_missed_once_is_found(name):
    start, end, edges, offset = REGRESSIONS[name]
    one = Queries(np.float32([start]), np.float32([end]), np.array([edges]), np.float32([offset]), np.array([0]))
    time = impacts(one)
    assert time[0] < 1
    assert_nothing_comes_too_near(Truth(one), time.astype(float), name)


def test_a_pair_too_near_to_tell_rests_but_does_not_pass():
    """A gap of 1e-7 of the size: the pair may stay; it does not move until it starts farther apart."""
    start = np.array([[[0, 0, 1e-7], [-1, -1, 0], [1, -1, 0], [0, 1, 0]]])
    for move, free in ((0, True), (-1, False), (1, False)):
        end = start + np.array([[0, 0, move], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
        one = Queries(np.float32(start), np.float32(end), np.array([False]), np.float32([1e-3]), np.array([0]))
        assert (impacts(one)[0] > 1) == free
    start[0, 0, 2] = 5e-6  # told apart, though nearer than the margin: it may open
    for move, free in ((-1e-3, False), (1e-3, True)):
        end = start + np.array([[0, 0, move], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
        one = Queries(np.float32(start), np.float32(end), np.array([False]), np.float32([1e-3]), np.array([0]))
        assert (impacts(one)[0] > 1) == free


def test_a_pair_under_a_fifth_of_its_thickness_gives_way_until_rounding_is_near():
    """Not at all below 0.2 ξ held a blade up, for a motion that left the pair 94 % of its gap (fuzz seed 3861)."""
    corners = np.array([[[0, 0, 1.9e-4], [-1, -1, 0], [1, -1, 0], [0, 1, 0]]]) * [0.02, 0.02, 1]
    gap = 1.9e-4
    for _ in range(1000):
        end = corners.copy()
        end[0, 0, 2] = -1e-3
        one = Queries(np.float32(corners), np.float32(end), np.array([False]), np.float32([1e-3]), np.array([0]))
        time = float(impacts(one)[0])
        assert time < 1
        if time == 0.0:
            break
        corners = corners + time * (end - corners)
        assert 0.93 * gap < corners[0, 0, 2] < gap  # 0.95 of a bound that is at least 0.98 of the gap
        gap = corners[0, 0, 2]
    assert 10 < gap / (MARGIN * 0.02 * 2**0.5) < 12

# SPDX-License-Identifier: GPL-3.0-or-later
"""The broad phase finds what brute force finds in float64, on meshes made to be hard for it; it never drops a pair."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact.broad_phase import INEXACT, MOST_PAIRS, BroadPhase, Time, TooManyPairsError, joined
from taffeta.gpu_core.contact.pairs import AHEAD, MARGIN_REACH, MARGIN_SHARES, margin_of
from taffeta.gpu_core.contact.patches import Surface, patches
from taffeta.gpu_core.elasticity.assembly import vectors
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.tests.gpu_core.contact.hard_meshes import all_collide, between, brute_force, meshes, together
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
UNTOUCHED = -(1 << 30)


def features(found):
    listed = [tuple(pair) for pair in found.feature[: found.count].tolist()]
    assert len(listed) == len(set(listed)), "a pair was found twice"
    return set(listed)


def phase_of(surface, x0):
    return BroadPhase(cpu, surface, x0, surface.object, all_collide(surface))


@pytest.mark.parametrize("name", meshes())
def test_the_broad_phase_finds_what_brute_force_finds(name):
    """Nothing less; and nothing more than boxes wider by their coordinates' last digits hold."""
    x0, surface, motion, reach, margin = meshes()[name]
    x1 = x0 + np.random.default_rng(3).normal(size=x0.shape) * motion
    x0, x1 = np.float32(x0), np.float32(x1)
    phase = phase_of(surface, x0)
    found = features(phase.detect(vectors(x0), vectors(x1), reach, margin))
    exact = np.float64(x0), np.float64(x1)
    inflation = 0.5 * reach + margin
    assert found >= brute_force(surface, *exact, inflation)
    spare = 2.0**-19 * (np.abs(exact).max() + inflation)
    assert found <= brute_force(surface, *exact, inflation + spare)
    assert found
    if name == "all in one point":
        assert len(found) == len(brute_force(surface, *exact, 1e9)), "not all pairs"


@pytest.mark.parametrize("name", meshes())
def test_candidates_are_complete_while_no_vertex_strays_beyond_the_margin(name):
    x0, surface, motion, reach, margin = meshes()[name]
    rng = np.random.default_rng(4)
    x0 = np.float32(x0)
    x1 = np.float32(x0 + rng.normal(size=x0.shape) * motion)
    phase = phase_of(surface, x0)
    found = features(phase.detect(vectors(x0), vectors(x1), reach, margin))
    own = float(phase.stray(vectors(x0), vectors(x1))[0].max())
    assert own <= 2.0**-17 * np.abs(x1 - x0).max()
    stray, strayed = phase.stray(vectors(x0), vectors(x1 + np.float32(2 * margin + reach + 1e-2)), margin)
    assert stray.max() > margin
    assert np.array_equal(phase.strayed, stray > margin)
    assert strayed == phase.strayed.sum()
    for _ in range(20):
        start = np.float32(x0 + rng.uniform(0, 1, (len(x0), 1)) * (x1 - x0))
        other = np.float32(x1 + rng.uniform(-0.6, 0.6, x1.shape) * margin * (rng.random((len(x1), 1)) < 0.1))
        stray, strayed = phase.stray(vectors(start), vectors(other), margin)
        less = np.count_nonzero(stray < true_stray(x0, x1, start, other))
        assert less == 0
        assert strayed == np.count_nonzero(stray > margin)
        if not strayed:
            lacking = brute_force(surface, np.float64(start), np.float64(other), 0.5 * reach) - found
            assert not lacking


def true_stray(x0, x1, start, end):
    """(V,) how far the ways start → end lie from the ways x0 → x1, in float64."""
    x0, x1, start, end = (np.float64(a) for a in (x0, x1, start, end))
    way = x1 - x0
    square = np.maximum((way * way).sum(axis=1), 1e-300)
    share = [np.clip(((a - x0) * way).sum(axis=1) / square, 0, 1)[:, None] for a in (start, end)]
    return np.max([np.linalg.norm(a - x0 - s * way, axis=1) for a, s in zip((start, end), share, strict=True)], axis=0)


@pytest.mark.parametrize("known", [False, True], ids=["at its pace", "as between two motions"])
@pytest.mark.parametrize("name", meshes())
def test_candidates_are_complete_along_ways_that_were_drawn_out(name, known):
    """Over the steps after a detection, each of which takes its vertices on and then corrects where they end."""
    x, surface, motion, reach, margin = meshes()[name]
    rng, none, step = np.random.default_rng(9), np.zeros(len(x), np.int32), 1.0 / AHEAD
    x0 = np.float32(x)
    pace = np.float32(rng.normal(size=x.shape) * motion + 0.3 * np.max(motion))
    x1, phase = np.float32(x0 + pace), phase_of(surface, x0)
    phase.before = vectors(x1 - pace * rng.uniform(0.8, 1.2, (len(x), 1))) if known else None
    found = features(phase.detect(vectors(x0), vectors(x1), reach, margin, none, Time(0.0, step, 0.0)))
    assert (phase.strays <= INEXACT * margin).all()
    complete = 0
    for k in [*range(AHEAD), 0, 1]:
        if complete and k == 0:
            phase.settle()
        first, last = k * step, (k + 1) * step
        for time in (Time(first, last, first), Time(last, last, first)):
            ends = [drawn_out(phase, x0, at) for at in time[:2]]
            noise = rng.uniform(-0.5, 0.5, (2, *x.shape)) * margin * (rng.random((2, len(x), 1)) < 0.5)
            start, end = (np.float32(at + off) for at, off in zip(ends, noise, strict=True))
            stray, strayed = phase.stray(vectors(start), vectors(end), margin, time)
            true = np.max([np.linalg.norm(x - at, axis=1) for x, at in zip((start, end), ends, strict=True)], axis=0)
            held = phase.free == 0
            assert (stray >= true)[held].all()
            assert strayed == np.count_nonzero(stray > margin)
            if strayed:
                fresh = phase.strayed.copy()
                found |= features(joined(cpu, phase.renew(vectors(start), vectors(end), fresh, none, time)))
                assert (phase.strays[fresh != 0] <= INEXACT * margin).all()
            for share in np.linspace(0, 1, 5):
                now = between(start, end, share)
                assert brute_force(surface, now, now, 0.5 * reach) <= found
                complete += 1
    assert complete == 2 * (AHEAD + 2) * 5


def drawn_out(phase, x0, time):
    """(V, 3) where the ways of a phase say that each is, in float64; what is free may stay at x0."""
    start, end = np.float64(phase.start[:, :3]), np.float64(phase.end[:, :3])
    return np.where(phase.free[:, None] != 0, x0, start + time * (end - start))


@pytest.mark.parametrize("name", meshes())
def test_what_strayed_is_renewed_to_the_pairs_of_a_whole_detection(name):
    x0, surface, motion, reach, margin = meshes()[name]
    rng = np.random.default_rng(5)
    x0 = np.float32(x0)
    x1 = np.float32(x0 + rng.normal(size=x0.shape) * motion)
    fresh = rng.random(len(x0)) < 0.1
    other = np.float32(x1 + rng.normal(size=x1.shape) * (motion + margin) * fresh[:, None])
    phase = phase_of(surface, x0)
    before = features(phase.detect(vectors(x0), vectors(x1), reach, margin))
    renewed = joined(cpu, phase.renew(vectors(x0), vectors(other), fresh.astype(np.int32)))
    whole = features(phase_of(surface, x0).detect(vectors(x0), vectors(other), reach, margin))
    of_fresh = set(features_with(renewed, fresh))
    others = whole - of_fresh
    assert len(of_fresh) == renewed.count, "a pair of two others was found again"
    assert not of_fresh - whole
    assert not others - before


def features_with(found, chosen):
    """Features of the pairs that have a chosen (V,) vertex."""
    corners = found.corner[: found.count]
    return map(tuple, found.feature[: found.count][chosen[corners].any(axis=1)].tolist())


@pytest.mark.parametrize("name", meshes())
def test_at_one_pace_every_pair_is_found_whose_boxes_overlap_at_some_time(name):
    """And nothing that is not found when each vertex takes any part of its way."""
    x0, surface, motion, reach, margin = meshes()[name]
    x0 = np.float32(x0)
    x1 = np.float32(x0 + (np.random.default_rng(6).normal(size=x0.shape) + [3, 0, 0]) * motion)
    none = np.zeros(len(x0), np.int32)
    found = features(phase_of(surface, x0).detect(vectors(x0), vectors(x1), reach, margin, none))
    for time in np.linspace(0, 1, 9):
        x = np.float64(x0) + time * (np.float64(x1) - np.float64(x0))
        assert found >= brute_force(surface, x, x, 0.5 * reach + margin)
    assert found <= features(phase_of(surface, x0).detect(vectors(x0), vectors(x1), reach, margin))


@pytest.mark.parametrize(("edge", "kept_out"), [(6e-3, True), (2.9e-3, True), (2e-3, False)])
def test_a_margin_keeps_a_vertex_s_neighbours_out_of_its_boxes_where_a_useful_one_can(edge, kept_out):
    reach = 2e-3
    margin = margin_of(reach, edge)
    assert MARGIN_SHARES[0] * edge <= margin <= MARGIN_SHARES[1] * edge
    assert margin <= MARGIN_REACH * reach
    assert (reach + 2.0 * margin <= 0.8 * edge * (1.0 + 1e-9)) == kept_out
    assert kept_out or margin == MARGIN_SHARES[1] * edge  # neighbours are in them anyway


def test_what_falls_together_has_as_few_pairs_as_at_rest():
    flat, grid = sheet(20)
    x, surface = together((flat, grid))
    x, none = np.float32(x), np.zeros(len(x), np.int32)
    fallen = np.float32(x - [0.3, 0.2, 0.5])
    phase = phase_of(surface, x)
    still = phase.detect(vectors(x), vectors(x), 1e-3, 0.0, none).count
    assert phase.detect(vectors(x), vectors(fallen), 1e-3, 0.0, none).count <= 1.1 * still
    assert phase.detect(vectors(x), vectors(fallen), 1e-3, 0.0).count > 10 * still


def test_boxes_are_never_rounded_inwards():
    """And a motion that leaves its box by one digit counts as left, from millimetres to kilometres from the origin."""
    rng = np.random.default_rng(8)
    count = 3000
    x0 = np.float32(rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-3, 4, (count, 1)))
    x1 = np.float32(x0 + rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-6, 0, (count, 1)))
    box, index = np.zeros((4 * count, 4), np.float32), np.arange(count, dtype=np.int32)
    wide, every, free = np.float32(7e-4), np.ones(count, np.int32), np.int32(np.arange(count) % 2)
    cpu.launch(
        "swept_box", count, x0=vectors(x0), x1=vectors(x1), fresh=every, stale=every, free=free, corners=index, size=1,
        inflation=wide, box=box,
    )  # fmt: skip
    for end, x in ((0, x0), (2, x1)):
        low, high = np.float64(box[end::4, :3]), np.float64(box[end + 1 :: 4, :3])
        whole = free[:, None] != 0
        assert (low <= np.float64(np.where(whole, np.minimum(x0, x1), x)) - np.float64(wide)).all()
        assert (high >= np.float64(np.where(whole, np.maximum(x0, x1), x)) + np.float64(wide)).all()


@pytest.mark.parametrize("name", meshes())
def test_boxes_are_those_of_the_ways_of_the_moment(name):
    """To the last bit, though only the boxes of what has changed are made again."""
    x, surface, motion, reach, margin = meshes()[name]
    rng, x = np.random.default_rng(7), np.float32(x)
    phase, other = phase_of(surface, x), phase_of(surface, x)
    phase.detect(vectors(x), vectors(x + rng.normal(size=x.shape) * (motion + margin)), reach, margin)
    for turn in range(12):
        if turn % 3 == 0:
            phase.settle()
        fresh, free = rng.random(len(x)) < 0.1, np.int32(rng.random(len(x)) < 0.3)
        x0, x1 = (np.float32(x + rng.normal(size=x.shape) * (motion + margin)) for _ in range(2))
        if turn % 4:  # some motions renew nothing
            phase.renew(vectors(x0), vectors(x1), fresh.astype(np.int32), free)
            other.detect(phase.start, phase.end, reach, margin, phase.free)
            for made, whole in ((phase.vertex_box, other.vertex_box), (phase.edge_box, other.edge_box)):
                assert np.array_equal(made[:, :3], whole[:, :3])
            assert np.array_equal(phase.triangle_box[:, :3], other.triangle_box[:, :3])
            assert (phase.vertex_box[::4, 3] == -1).sum() == fresh[np.unique(surface.triangles)].sum()


class GuardedBackend(type(cpu)):
    """Hands both passes longer buffers than they asked for and looks at what lies behind."""

    written = 0

    def __init__(self) -> None:
        super().__init__()
        self.notes = {}  #: by where the buffer lies that the counting pass was given

    def launch(self, kernel, count, /, **arguments):
        if kernel not in ("candidates", "overlapping_patches"):
            return super().launch(kernel, count, **arguments)
        names = ("pairs",) if kernel == "overlapping_patches" else ("feature", "corner")
        buffers = [arguments[name] for name in names]
        guarded = [np.full((len(b) + 64, b.shape[1]), UNTOUCHED, np.int32) for b in buffers]
        notes, writing, place = len(arguments["noted"]), arguments["writing"], arguments["noted"].ctypes.data
        if not writing:
            self.notes[place] = np.full(notes + 64, UNTOUCHED, np.int32)
        noted = self.notes[place]
        replaced = dict(zip(names, guarded, strict=True), noted=noted)
        super().launch(kernel, count, **{**arguments, **replaced})
        assert (noted[notes:] == UNTOUCHED).all(), "noted behind the buffer"
        for buffer, copy in zip(buffers, guarded, strict=True):
            assert (copy[len(buffer) :] == UNTOUCHED).all(), "written behind the buffer"
            if writing:
                rows = (copy[: len(buffer)] != UNTOUCHED).all(axis=1)
                assert rows.sum() == arguments["counts"].sum(), "counted but not written"
                self.written += rows.any()
                buffer[rows] = copy[: len(buffer)][rows]
            else:
                assert (copy == UNTOUCHED).all(), "written while counting"
        return None


def test_buffers_grow_with_the_pairs_and_none_is_dropped():
    """The same trees for a scene without contact and for all of it in one point: 1 000 times the candidates."""
    flat, grid = sheet(12)
    x, surface = together((flat, grid), (flat + [0, 0, 10], grid))
    backend = GuardedBackend()
    phase = BroadPhase(backend, surface, x, surface.object, all_collide(surface))
    calm = features(phase.detect(vectors(x), vectors(x), 1e-3, 0.0))
    crowded = features(phase.detect(vectors(x), vectors(0 * x), 1e-3, 0.0))
    again = features(phase.detect(vectors(x), vectors(x), 1e-3, 0.0))
    assert crowded == brute_force(surface, x, 0 * x, 5e-4)
    assert calm == again
    assert len(crowded) > 100 * len(calm)
    assert backend.written >= 6


class CountingBackend(type(cpu)):
    """Claims that one counting pass in a scene found `total` things."""

    total = 0

    def ends(self, counts):
        end, total = super().ends(counts)
        return end, max(total, self.total)


def test_more_pairs_than_can_be_indexed_are_refused():
    flat, grid = sheet(5)
    x, surface = together((flat, grid))
    backend = CountingBackend()
    phase = BroadPhase(backend, surface, x, surface.object, all_collide(surface))
    phase.detect(vectors(x), vectors(x), 1e-3, 0.0)
    backend.total = MOST_PAIRS + 1
    with pytest.raises(TooManyPairsError, match=f"{MOST_PAIRS + 1} pairs"):
        phase.detect(vectors(x), vectors(x), 1e-3, 0.0)
    assert np.iinfo(np.int32).max < 4 * (MOST_PAIRS + 1)


def test_counts_are_summed_in_64_bits():
    _, total = cpu.ends(np.full(5, 1 << 30, np.int32))
    assert total == 5 << 30


def test_self_collision_off_leaves_the_pairs_between_objects():
    vertices, triangles = sheet(5)
    both = np.concatenate([triangles, triangles + 25]).astype(np.int32)
    x = np.concatenate([vertices, vertices + [0, 0, 0.001]])
    surface = Surface(50, both, len(both), np.repeat([0, 1], 25).astype(np.int32))
    phase = BroadPhase(cpu, surface, x, surface.object, np.eye(2, dtype=bool))
    found = phase.detect(vectors(x), vectors(x), 0.01, 0.0)
    first, second = found.corner[: found.count, 0] // 25, found.corner[: found.count, 3] // 25
    assert found.count > 0
    assert (first != second).all()


def test_every_primitive_belongs_to_one_patch():
    vertices, triangles = sheet(23)
    surface = Surface(len(vertices), triangles, len(triangles), np.zeros(len(vertices), np.int32))
    found = patches(surface, vertices)
    for table, count in (
        (found.triangles, len(triangles)),
        (found.vertices, len(vertices)),
        (found.edges, len(found.edge_corners)),
    ):
        assert np.array_equal(np.sort(table.entries), np.arange(count))
        assert table.start[-1] == count
    assert np.diff(found.triangles.start).max() <= 8


def corners_of(surface, pairs):
    """Of (vertex, triangle) and (~edge, edge): the corners of both sides."""
    edges = unique_edges(surface.triangles)
    for first, second in pairs:
        yield ([first], surface.triangles[second]) if first >= 0 else (edges[~first], edges[second])


def test_pairs_are_left_out_where_any_corner_of_one_side_is_apart_from_any_of_the_other():
    """Parties that lie in patches over a crumpled sheet, and a body: triangles and edges at borders have several."""
    x, surface, *_ = meshes()["crumpled"]
    rng = np.random.default_rng(8)
    party = np.where(surface.object == 0, rng.integers(0, 3, surface.vertices), 3).astype(np.int32)
    apart = np.zeros((4, 4), bool)
    apart[0, 3] = apart[3, 0] = apart[1, 2] = apart[2, 1] = True
    phase = BroadPhase(cpu, surface, x, party, apart)
    every = features(phase_of(surface, x).detect(vectors(x), vectors(x), 0.02, 0.0))
    found = features(phase.detect(vectors(x), vectors(x), 0.02, 0.0))
    guarded = {
        pair for pair, (one, other) in zip(every, corners_of(surface, every), strict=True)
        if not apart[np.ix_(party[one], party[other])].any()
    }  # fmt: skip
    assert found == guarded
    assert 100 < len(found) < len(every) - 100
    assert phase.classes.part(np.zeros((4, 4), bool))
    assert features(phase.detect(vectors(x), vectors(x), 0.02, 0.0)) == every
    assert not phase.classes.part(np.zeros((4, 4), bool))

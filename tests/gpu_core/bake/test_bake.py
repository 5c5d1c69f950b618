# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake in this process: each frame on disk as it is done, always the same bytes, and failures that cost none."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import BackendError
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.bake.events import Frame, Working, to_json
from taffeta.gpu_core.check.scene_check import to_world
from taffeta.gpu_core.files.cache import CacheError, CacheState, inspect, read_contents, read_frames
from taffeta.gpu_core.files.disk import DiskError
from taffeta.gpu_core.files.job import JobError, digest, save
from taffeta.gpu_core.files.lock import locked
from taffeta.gpu_core.simulator import SolverError
from taffeta.tests.gpu_core.small_scene import assert_frames_are_free_of_intersections, small_scene
from taffeta.tests.gpu_core.test_simulator import squeezed_scene

FRAMES = 6


def never() -> bool:
    return False


def run(job, cache, **options):
    events = []
    bake(
        job,
        cache,
        **{"on_event": lambda event: events.append(to_json(event)), "cancelled": never, "check": False, **options},
    )
    return events


@pytest.fixture
def job(tmp_path):
    save(small_scene(FRAMES), tmp_path / "job")
    return tmp_path / "job"


def test_a_bake_fills_the_cache_and_tells_of_every_frame(job, tmp_path):
    events = run(job, tmp_path / "deep" / "cache")
    assert [event["event"] for event in events] == ["start", *["frame"] * FRAMES, "done"]
    assert events[0]["frames"] == FRAMES
    assert events[0]["backend"] == "cpu"
    assert events[0]["device"]
    frames = events[1:-1]
    assert [event["frame"] for event in frames] == list(range(11, 11 + FRAMES))
    assert [event["done"] for event in frames] == list(range(1, 1 + FRAMES))
    assert all(event["seconds"] > 0 and event["iterations"] > 0 for event in frames[1:])
    assert json.loads(json.dumps(events, allow_nan=False)) == events
    cache = tmp_path / "deep" / "cache"
    assert inspect(cache, digest(job)) == (CacheState.READY, "6 frames", FRAMES)
    assert read_contents(cache).backend == "cpu"
    assert len((cache / "frames.jsonl").read_text().splitlines()) == FRAMES
    assert len(list(cache.glob("checkpoint*"))) == FRAMES  # so short a bake keeps the state after each


def test_the_first_frame_is_the_start_and_then_the_cloth_falls(job, tmp_path):
    run(job, tmp_path / "cache")
    cached = read_frames(tmp_path / "cache" / "sheet.pc2")
    (cloth,) = small_scene(FRAMES).cloths
    world = [to_world(cloth, frame, index) for index, frame in enumerate(cached)]
    assert np.allclose(world[0], cloth.positions, atol=1e-6)
    fallen = world[0][:, 2] - world[1][:, 2]
    expected = 0.5 * 9.81 / 24**2 * (1 + 1 / 8)  # eight steps of implicit Euler, nothing touched yet
    assert np.allclose(fallen, expected, rtol=0.02)
    assert world[-1][:, 2].mean() < world[1][:, 2].mean()


def test_no_frame_intersects(job, tmp_path):
    run(job, tmp_path / "cache")
    assert_frames_are_free_of_intersections(small_scene(FRAMES), tmp_path / "cache", FRAMES)


def test_two_bakes_give_the_same_bytes(job, tmp_path):
    for name in ("one", "two"):
        run(job, tmp_path / name)
    assert (tmp_path / "one" / "sheet.pc2").read_bytes() == (tmp_path / "two" / "sheet.pc2").read_bytes()


def test_frames_play_while_the_bake_runs(job, tmp_path):
    seen = []

    def look(event):
        if isinstance(event, Frame):
            seen.append((inspect(tmp_path / "cache")[0], len(read_frames(tmp_path / "cache" / "sheet.pc2"))))

    bake(job, tmp_path / "cache", check=False, on_event=look, cancelled=never)
    assert seen == [(CacheState.PARTIAL, done) for done in range(1, FRAMES + 1)]


def test_cancelling_keeps_the_frames(job, tmp_path):
    done = []
    events = run(
        job,
        tmp_path / "cache",
        on_event=lambda event: done.append(to_json(event)["event"]),
        cancelled=lambda: done.count("frame") == 3,
    )
    assert events == []
    assert done == ["start", "frame", "frame", "frame", "cancelled"]
    assert inspect(tmp_path / "cache", digest(job)) == (CacheState.PARTIAL, "cancelled: 3 of 6 frames", 3)


def test_a_new_bake_replaces_the_old_one(job, tmp_path):
    run(job, tmp_path / "cache")
    save(small_scene(4), job)
    assert inspect(tmp_path / "cache", digest(job))[0] is CacheState.STALE
    run(job, tmp_path / "cache")
    assert inspect(tmp_path / "cache", digest(job)) == (CacheState.READY, "4 frames", 4)


def test_bodies_that_leave_no_room_are_named_with_the_frame(tmp_path):
    save(squeezed_scene(), tmp_path / "job")
    events = []
    bake(
        tmp_path / "job",
        tmp_path / "cache",
        check=False,
        on_event=lambda event: events.append(to_json(event)),
        cancelled=never,
    )
    warnings = [event["text"] for event in events if event["event"] == "warning"]
    assert any(text.startswith("Frame ") and "Upper" in text for text in warnings)
    assert events[-1] == {"event": "done"}


def test_a_diverging_solver_leaves_the_frames_before(tmp_path):
    scene = small_scene(FRAMES)
    wild = replace(scene.cloths[0], velocities=np.full_like(scene.cloths[0].positions, 1e30))
    save(replace(scene, cloths=(wild,)), tmp_path / "job")
    with pytest.raises(SolverError, match="Sheet"):
        run(tmp_path / "job", tmp_path / "cache")
    state, reason, done = inspect(tmp_path / "cache")
    assert (state, done) == (CacheState.PARTIAL, 1)
    assert reason.startswith("failed")


def test_a_backend_that_is_not_there_is_refused_before_the_old_cache_is_touched(job, tmp_path):
    run(job, tmp_path / "cache")
    scene = small_scene(FRAMES)
    save(replace(scene, settings=replace(scene.settings, backend="abacus", step_rate=240.0)), job)
    with pytest.raises(BackendError, match="abacus"):
        run(job, tmp_path / "cache")
    assert inspect(tmp_path / "cache")[0] is CacheState.READY


def test_what_cannot_work_is_refused_by_name(job, tmp_path):
    with pytest.raises(JobError, match="There is no job"):
        run(tmp_path / "nothing", tmp_path / "cache")
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="file"):
        run(job, tmp_path / "file" / "cache")
    (tmp_path / "cache").mkdir()
    with locked(tmp_path / "cache"), pytest.raises(CacheError, match="Another bake"):
        run(job, tmp_path / "cache")
    (tmp_path / "cache" / "sheet.pc2").write_bytes(b"precious")
    with pytest.raises(CacheError, match=r"sheet\.pc2 was not written by Taffeta"):
        run(job, tmp_path / "cache")
    assert (tmp_path / "cache" / "sheet.pc2").read_bytes() == b"precious"


def test_of_a_frame_that_takes_long_is_said_where_it_is(job, tmp_path, monkeypatch):
    """Each question takes a fifth of a second here, and a second is long."""
    monkeypatch.setattr("taffeta.gpu_core.bake.bake.SILENCE", 1.0)
    events = []

    def slow():
        time.sleep(0.2)
        return len(events) > 6

    bake(job, tmp_path / "cache", check=False, on_event=events.append, cancelled=slow)
    said = [event for event in events if isinstance(event, Working)]
    assert [(event.step, event.steps) for event in said][:1] == [(6, 8)]
    assert {event.frame for event in said} <= {12, 13, 14}


def test_a_damaged_cache_of_ours_is_baked_anew(job, tmp_path):
    run(job, tmp_path / "cache")
    (tmp_path / "cache" / "sheet.pc2").write_bytes(b"rubbish")
    assert inspect(tmp_path / "cache")[0] is CacheState.CORRUPT
    run(job, tmp_path / "cache")
    assert inspect(tmp_path / "cache")[0] is CacheState.READY

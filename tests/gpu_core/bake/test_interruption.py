# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopping within a frame, pausing, and going on from the middle of a cache."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.bake.bake import BakeProcess, bake
from taffeta.gpu_core.bake.events import to_json
from taffeta.gpu_core.files.cache import CacheError, CacheState, inspect, read_contents, read_frames
from taffeta.gpu_core.files.job import digest, save
from taffeta.tests.gpu_core.small_scene import assert_frames_are_free_of_intersections, bake_unbroken, small_scene

FRAMES = 6
MANY = 400


def never() -> bool:
    return False


def run(job, cache, cancelled=never, **options):
    events = []
    bake(job, cache, check=False, on_event=lambda event: events.append(to_json(event)), cancelled=cancelled, **options)
    return events


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return bake_unbroken(FRAMES, tmp_path_factory.mktemp("unbroken"))


def after(questions):
    """Cancels at this question: there are eight a frame, one before each step."""
    asked = iter(range(questions))
    return lambda: next(asked, None) is None


@pytest.mark.parametrize("questions", [0, 1, 7, 8, 9, 20, 39])
def test_cancelled_between_any_two_steps_the_bake_resumes_to_the_same_bytes(unbroken, tmp_path, questions):
    job, expected = unbroken
    events = run(job, tmp_path, after(questions))
    assert events[-1] == {"event": "cancelled"}
    state, reason, done = inspect(tmp_path, digest(job))
    assert (state, done) == (CacheState.PARTIAL, 1 + questions // 8)
    assert reason.startswith("cancelled")
    assert not list(tmp_path.glob("*.new"))
    run(job, tmp_path, resume=True)
    assert (tmp_path / "sheet.pc2").read_bytes() == expected


def test_a_cancel_does_not_wait_for_a_long_frame(tmp_path):
    """Two thousand steps a frame: a whole one takes many seconds here."""
    scene = small_scene(FRAMES)
    save(replace(scene, settings=replace(scene.settings, step_rate=48000.0)), tmp_path / "job")
    worker = BakeProcess(tmp_path / "job", tmp_path / "cache")
    while worker.done < 1:
        worker.poll()
        time.sleep(0.01)
    time.sleep(0.5)  # somewhere in the first frame
    worker.cancel()
    list(worker.follow())
    assert (worker.state, worker.exit_code, worker.done) == ("cancelled", 5, 1)  # it stopped by itself


def test_a_paused_worker_waits_and_goes_on_to_the_same_bytes(unbroken, tmp_path):
    job, expected = unbroken
    worker = BakeProcess(job, tmp_path)
    while worker.done < 1:
        worker.poll()
        time.sleep(0.001)
    worker.pause()
    time.sleep(1.0)
    worker.poll()
    held = worker.done
    time.sleep(1.0)
    worker.poll()
    assert worker.done == held < FRAMES
    worker.proceed()
    list(worker.follow())
    assert worker.state == "done"
    assert (tmp_path / "sheet.pc2").read_bytes() == expected
    assert not (tmp_path / "pause").exists()


def test_a_pause_is_no_time_of_the_solvers(unbroken, tmp_path):
    job, _ = unbroken

    def slow():
        time.sleep(0.2)
        return False

    events = run(job, tmp_path, slow)
    began = [event["seconds"] for event in events if event["event"] == "frame"]
    assert max(began) < 8 * 0.2


def test_a_paused_worker_can_be_cancelled(tmp_path):
    save(small_scene(MANY), tmp_path / "job")
    worker = BakeProcess(tmp_path / "job", tmp_path / "cache")
    while worker.done < 1:
        worker.poll()
        time.sleep(0.01)
    worker.pause()
    worker.cancel()
    list(worker.follow())
    assert (worker.state, worker.exit_code) == ("cancelled", 5)
    assert not (tmp_path / "cache" / "pause").exists()


# From the middle on


def heavier(scene):
    (cloth,) = scene.cloths
    return replace(scene, cloths=(replace(cloth, material=replace(cloth.material, density=0.4)),))


def test_kept_frames_stay_as_they_are_and_the_rest_is_of_the_new_scene(unbroken, tmp_path):
    job, expected = unbroken
    cache = tmp_path / "cache"
    run(job, cache)
    scene = heavier(small_scene(FRAMES))
    save(scene, tmp_path / "new")
    events = run(tmp_path / "new", cache, keep=4)
    assert [event["done"] for event in events if event["event"] == "frame"] == [5, 6]
    frames = read_frames(cache / "sheet.pc2")
    assert frames[:4].tobytes() == expected[32 : 32 + 4 * 1200]
    assert frames.tobytes() != expected[32:]
    assert inspect(cache, digest(scene)) == (CacheState.READY, "6 frames, the first 4 of an earlier bake", 6)
    assert_frames_are_free_of_intersections(scene, cache, FRAMES)
    lines = [json.loads(line)["frame"] for line in (cache / "frames.jsonl").read_text().splitlines()]
    assert lines == list(range(11, 17))


def test_the_cloth_goes_on_as_fast_as_it_moved(tmp_path):
    """In free fall the mean speed over a frame lags behind the last by g/2 of a frame, and that is all."""
    scene = small_scene(FRAMES)
    (cloth,) = scene.cloths
    high = replace(cloth, positions=cloth.positions + np.array([0, 0, 2.0]), world_to_object=None)
    save(replace(scene, cloths=(high,)), tmp_path / "job")
    run(tmp_path / "job", tmp_path / "cache")
    whole = np.array(read_frames(tmp_path / "cache" / "sheet.pc2"))
    run(tmp_path / "job", tmp_path / "cache", keep=3)
    difference = read_frames(tmp_path / "cache" / "sheet.pc2")[3] - whole[3]
    lag = 0.5 * 9.81 / 24**2
    assert np.allclose(difference[:, 2], lag, rtol=0.15)  # a step of eight is the resolution
    assert np.abs(difference[:, :2]).max() < 1e-4


def test_a_bake_from_the_middle_resumes_to_the_same_bytes(unbroken, tmp_path):
    job, _ = unbroken
    for name in ("whole", "broken"):
        run(job, tmp_path / name)
    run(job, tmp_path / "whole", keep=2)
    run(job, tmp_path / "broken", after(20), keep=2)
    assert read_contents(tmp_path / "broken").kept == 2
    assert inspect(tmp_path / "broken")[2] == 4
    run(job, tmp_path / "broken", resume=True)
    assert (tmp_path / "broken" / "sheet.pc2").read_bytes() == (tmp_path / "whole" / "sheet.pc2").read_bytes()


@pytest.mark.parametrize("bad", [2, 3, 4])
def test_a_damaged_frame_after_kept_ones_is_baked_anew_to_the_same_bytes(unbroken, tmp_path, bad):
    """The states of the bake that the kept frames are of would lead elsewhere."""
    job, _ = unbroken
    run(job, tmp_path)
    run(job, tmp_path, keep=3)
    path = tmp_path / "sheet.pc2"
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[32 + bad * 1200 + 5] ^= 1
    path.write_bytes(damaged)
    if bad < 3:
        with pytest.raises(CacheError, match="damaged at frame 13, which an earlier bake made"):
            run(job, tmp_path, resume=True)
    else:
        run(job, tmp_path, resume=True)
        assert path.read_bytes() == whole


def test_the_range_may_grow(unbroken, tmp_path):
    job, expected = unbroken
    run(job, tmp_path / "cache")
    longer = small_scene(FRAMES + 3)
    save(longer, tmp_path / "new")
    run(tmp_path / "new", tmp_path / "cache", keep=FRAMES)
    assert inspect(tmp_path / "cache", digest(longer))[::2] == (CacheState.READY, FRAMES + 3)
    assert (tmp_path / "cache" / "sheet.pc2").read_bytes()[32:].startswith(expected[32:])


def test_more_frames_than_there_are_cannot_be_kept(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path, after(8))
    with pytest.raises(CacheError, match="does not reach there"):
        run(job, tmp_path, keep=4)
    assert inspect(tmp_path)[2] == 2

# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever stopped a bake, resuming ends in the same bytes as if nothing had."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.bake.bake import BakeProcess, bake
from taffeta.gpu_core.bake.events import Frame, to_json
from taffeta.gpu_core.files import checkpoint
from taffeta.gpu_core.files.cache import CacheError, CacheState, inspect, read_frames
from taffeta.gpu_core.files.job import JobError, digest, save
from taffeta.gpu_core.files.point_cache import append
from taffeta.tests.gpu_core.small_scene import assert_frames_are_free_of_intersections, bake_unbroken, small_scene

FRAMES = 12


class InterruptionError(Exception):
    """Stands for anything that breaks a bake between two frames."""


def run(job, cache, frames=None, resume=False):
    """Bake, cancelled after so many frames; returns the events."""
    events = []
    count = [0]

    def on_event(event):
        events.append(to_json(event))
        count[0] += isinstance(event, Frame)

    bake(
        job,
        cache,
        resume=resume,
        check=False,
        on_event=on_event,
        cancelled=lambda: frames is not None and count[0] >= frames,
    )
    return events


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return bake_unbroken(FRAMES, tmp_path_factory.mktemp("unbroken"))


def assert_whole(cache, unbroken):
    job, expected = unbroken
    assert inspect(cache, digest(job)) == (CacheState.READY, f"{FRAMES} frames", FRAMES)
    assert (cache / "sheet.pc2").read_bytes() == expected
    assert len((cache / "frames.jsonl").read_text().splitlines()) == FRAMES


def test_after_a_kill_the_bake_resumes_to_the_same_bytes(unbroken, tmp_path):
    job, expected = unbroken
    worker = BakeProcess(job, tmp_path)
    for event in worker.follow(0.001):
        if isinstance(event, Frame) and event.done == 4:
            os.kill(worker._process.pid, signal.SIGKILL)
    assert worker.state == "failed"
    assert worker.error_kind == "crash"
    assert f"signal 9 (SIGKILL) after frame {worker.frame}" in worker.error
    state, _, done = inspect(tmp_path, digest(job))
    assert state is CacheState.PARTIAL
    assert 4 <= done < FRAMES
    playable = read_frames(tmp_path / "sheet.pc2")
    assert playable.tobytes() == expected[32 : 32 + playable.nbytes]
    again = BakeProcess(job, tmp_path, resume=True)
    resumed = [event.done for event in again.follow() if isinstance(event, Frame)]
    assert again.state == "done"
    assert resumed[0] in (done, done + 1)
    assert resumed[-1] == FRAMES
    assert_whole(tmp_path, unbroken)
    assert_frames_are_free_of_intersections(small_scene(FRAMES), tmp_path, FRAMES)


@pytest.mark.parametrize("frames", [1, 2, 7, FRAMES - 1])
def test_cancelled_after_any_frame_the_bake_resumes_to_the_same_bytes(unbroken, tmp_path, frames):
    job, _ = unbroken
    assert run(job, tmp_path, frames)[-1] == {"event": "cancelled"}
    events = run(job, tmp_path, resume=True)
    assert [event["done"] for event in events if event["event"] == "frame"] == list(range(frames + 1, FRAMES + 1))
    assert_whole(tmp_path, unbroken)


def test_a_bake_may_be_broken_again_and_again(unbroken, tmp_path):
    job, _ = unbroken
    for _ in range(4):
        assert run(job, tmp_path, 2, resume=True)[-1] == {"event": "cancelled"}
    run(job, tmp_path, resume=True)
    assert_whole(tmp_path, unbroken)


@pytest.mark.parametrize("counted", [True, False])
def test_a_frame_that_has_no_checkpoint_yet_is_baked_again(unbroken, tmp_path, counted):
    """The kill fell between the frame and its checkpoint, or into the middle of the frame."""
    job, _ = unbroken
    run(job, tmp_path, 5)
    if counted:
        append(tmp_path / "sheet.pc2", np.full((100, 3), 7.0, np.float32))
    with open(tmp_path / "sheet.pc2", "ab") as file:
        file.write(b"\x07" * 601)
    with open(tmp_path / "frames.jsonl", "ab") as file:
        file.write(b'{"frame": 16, "sec')
    run(job, tmp_path, resume=True)
    assert_whole(tmp_path, unbroken)


def test_an_error_in_mid_bake_can_be_resumed(unbroken, tmp_path):
    job, _ = unbroken

    def on_event(event):
        if isinstance(event, Frame) and event.done == 6:
            raise InterruptionError

    with pytest.raises(InterruptionError):
        bake(job, tmp_path, check=False, on_event=on_event, cancelled=lambda: False)
    assert inspect(tmp_path)[1] == f"failed: 6 of {FRAMES} frames"
    run(job, tmp_path, resume=True)
    assert_whole(tmp_path, unbroken)


def test_resuming_nothing_bakes_from_the_start(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path / "new", resume=True)
    assert_whole(tmp_path / "new", unbroken)


def test_without_a_checkpoint_the_bake_begins_again(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path, 3)
    checkpoint.remove(tmp_path)
    events = run(job, tmp_path, resume=True)
    assert sum(event["event"] == "frame" for event in events) == FRAMES
    assert_whole(tmp_path, unbroken)


def test_resuming_a_whole_bake_changes_nothing(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path)
    stamp = (tmp_path / "sheet.pc2").stat().st_mtime_ns
    assert [event["event"] for event in run(job, tmp_path, resume=True)] == ["start", "done"]
    assert (tmp_path / "sheet.pc2").stat().st_mtime_ns == stamp


def test_a_changed_scene_is_not_resumed(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path / "cache", 3)
    scene = small_scene(FRAMES)
    save(replace(scene, settings=replace(scene.settings, step_rate=240.0)), tmp_path / "job")
    with pytest.raises(JobError, match=r"The scene has changed since this bake\. Bake from the start"):
        run(tmp_path / "job", tmp_path / "cache", resume=True)
    assert len(read_frames(tmp_path / "cache" / "sheet.pc2")) == 3


def test_a_damaged_cache_is_not_resumed(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path, 3)
    path = tmp_path / "checkpoint.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.raises(CacheError, match=r"checkpoint\.npz is damaged"):
        run(job, tmp_path, resume=True)
    path.write_bytes(whole)
    os.truncate(tmp_path / "sheet.pc2", 32 + 3 * 1200 - 1)
    with pytest.raises(CacheError, match=r"sheet\.pc2 is cut off"):
        run(job, tmp_path, resume=True)


def test_a_checkpoint_beyond_the_frames_is_refused(unbroken, tmp_path):
    """Frames that somebody took away cannot be made up."""
    job, _ = unbroken
    run(job, tmp_path, 4)
    later = (tmp_path / "checkpoint.npz").read_bytes()
    run(job, tmp_path, 2)
    (tmp_path / "checkpoint.npz").write_bytes(later)
    with pytest.raises(CacheError, match=r"has 2 frames, not 4\. Bake from the start"):
        run(job, tmp_path, resume=True)


def test_going_on_with_another_backend_is_said(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path, 3)
    text = (tmp_path / "cache.json").read_text()
    (tmp_path / "cache.json").write_text(text.replace('"cpu"', '"cuda"'))
    warnings = [event["text"] for event in run(job, tmp_path, resume=True) if event["event"] == "warning"]
    assert len(warnings) == 1
    assert "baked on cuda" in warnings[0]

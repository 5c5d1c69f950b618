# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever stopped a bake, resuming ends in the same bytes as if nothing had."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.gpu_core.bake.bake import BakeProcess, bake
from taffeta.gpu_core.bake.events import Frame, to_json
from taffeta.gpu_core.files import json_lines
from taffeta.gpu_core.files.cache import CacheState, inspect, packed, read_contents, read_frames
from taffeta.gpu_core.files.errors import CacheError, CompleteError, StaleError
from taffeta.gpu_core.files.job import digest, save
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
    for path in tmp_path.glob("checkpoint*"):
        path.unlink()
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
    with pytest.raises(StaleError, match=r"The scene has changed since this bake\. Bake from the start"):
        run(tmp_path / "job", tmp_path / "cache", resume=True)
    assert len(read_frames(tmp_path / "cache" / "sheet.pc2")) == 3


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("frames", [7, FRAMES])
@pytest.mark.parametrize("bad", [0, 1, 4, 6])
def test_frames_from_the_first_damaged_one_on_are_baked_anew(unbroken, tmp_path, frames, bad):
    """A bake of twelve frames keeps the states after every second."""
    job, _ = unbroken
    run(job, tmp_path, frames if frames < FRAMES else None)
    flip(tmp_path / "sheet.pc2", 32 + bad * 1200 + 17)
    events = run(job, tmp_path, resume=True)
    (warning,) = [event["text"] for event in events if event["event"] == "warning"]
    before = bad - bad % 2
    assert f"sheet.pc2 is damaged at frame {11 + bad}: the bake goes on from" in warning
    assert warning.endswith(f"frame {10 + before}" if before else "the start")
    assert [event["done"] for event in events if event["event"] == "frame"] == list(range(before + 1, FRAMES + 1))
    assert_whole(tmp_path, unbroken)


@pytest.mark.parametrize("name", ["sheet.pc2", "frames.jsonl", "checkpoint*", "taffeta.txt"])
@pytest.mark.parametrize("frames", [7, FRAMES])
def test_a_file_that_is_gone_is_made_up_for(unbroken, tmp_path, name, frames):
    job, _ = unbroken
    run(job, tmp_path, frames if frames < FRAMES else None)
    for path in tmp_path.glob(name):
        path.unlink()
    run(job, tmp_path, resume=True)
    assert_whole(tmp_path, unbroken)


def test_a_damaged_checkpoint_costs_the_frames_since_the_one_before(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path, 7)
    os.truncate(tmp_path / "checkpoint_0000007.npz", 900)
    events = run(job, tmp_path, resume=True)
    assert next(event["done"] for event in events if event["event"] == "frame") == 7
    assert_whole(tmp_path, unbroken)


def test_a_checkpoint_beyond_the_frames_is_of_no_use(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path, 5)
    later = (tmp_path / "checkpoint_0000005.npz").read_bytes()
    run(job, tmp_path, 3)
    (tmp_path / "checkpoint_0000005.npz").write_bytes(later)
    run(job, tmp_path, resume=True)
    assert_whole(tmp_path, unbroken)


def test_a_lost_or_damaged_list_of_contents_is_said_and_a_bake_from_the_start_mends_it(unbroken, tmp_path):
    job, _ = unbroken
    for spoil in (Path.unlink, lambda path: flip(path, 40)):
        run(job, tmp_path, 7)
        spoil(tmp_path / "cache.json")
        with pytest.raises(CacheError, match=r"cache\.json is (missing|damaged)\. Bake from the start"):
            run(job, tmp_path, resume=True)
        run(job, tmp_path)
        assert_whole(tmp_path, unbroken)


def test_certificates_that_are_damaged_or_gone_are_made_again(unbroken, tmp_path):
    job, _ = unbroken
    bake(job, tmp_path, on_event=lambda event: None, cancelled=lambda: False)
    whole = [line["intersections"] for line in json_lines.read(tmp_path / "certificates.jsonl")]
    for spoil in (Path.unlink, lambda path: flip(path, 200)):
        spoil(tmp_path / "certificates.jsonl")
        bake(job, tmp_path, resume=True, on_event=lambda event: None, cancelled=lambda: False)
        assert [line["intersections"] for line in json_lines.read(tmp_path / "certificates.jsonl")] == whole
    with pytest.raises(CompleteError, match=f"The cache is complete: {FRAMES} frames"):
        bake(job, tmp_path, resume=True, on_event=lambda event: None, cancelled=lambda: False)


def test_going_on_with_another_backend_is_said(unbroken, tmp_path):
    job, _ = unbroken
    run(job, tmp_path, 3)
    contents = replace(read_contents(tmp_path), backend="cuda")
    (tmp_path / "cache.json").write_bytes(packed(contents))
    warnings = [event["text"] for event in run(job, tmp_path, resume=True) if event["event"] == "warning"]
    assert len(warnings) == 1
    assert "baked on cuda" in warnings[0]

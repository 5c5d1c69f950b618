"""The bake's state as a pure function: no bpy is needed for any of it."""

from __future__ import annotations

from functools import reduce

import pytest

from taffeta.addon.bake_progress import Phase, Progress, transition

START = {"event": "start", "frames": 4, "backend": "cpu", "device": "CPU"}


def frame(done: int) -> dict:
    return {"event": "frame", "frame": done, "done": done, "frames": 4}


def after(*events: dict) -> Progress:
    return reduce(transition, events, Progress(phase=Phase.READING))


def test_an_unbroken_bake_reads_starts_runs_and_is_done():
    events = [
        {"event": "read", "share": 0.5},
        {"event": "read", "share": 1.0},
        START,
        frame(1),
        frame(4),
        {"event": "done"},
    ]
    phases = [after(*events[:count]).phase for count in range(len(events) + 1)]
    assert phases == [Phase.READING] * 2 + [Phase.STARTING, Phase.RUNNING, Phase.RUNNING, Phase.RUNNING, Phase.DONE]


def test_the_share_is_that_of_the_frames():
    assert after({"event": "read", "share": 1}, START, frame(3)).share == 0.75


def test_a_frame_that_lands_while_cancelling_does_not_undo_the_cancel():
    progress = after(START, frame(1), {"event": "cancelling"}, frame(2))
    assert (progress.phase, progress.done) == (Phase.CANCELLING, 2)
    assert transition(progress, {"event": "cancelled"}).headline == "Cancelled: 2 of 4 frames are in the cache"


def test_a_failure_keeps_what_and_who():
    progress = after(START, {"event": "error", "kind": "solver", "text": "diverged at frame 3", "object": "Skirt"})
    assert progress.phase is Phase.FAILED
    assert (progress.kind, progress.culprit, progress.headline) == ("solver", "Skirt", "diverged at frame 3")


def test_a_worker_that_dies_without_a_word_is_a_failure():
    progress = after(START, frame(2), {"event": "ended", "text": "signal 9"})
    assert (progress.phase, progress.kind, progress.done) == (Phase.FAILED, "crash", 2)


@pytest.mark.parametrize("end", ["done", "cancelled"])
def test_nothing_changes_after_the_end(end):
    over = after(START, {"event": end})
    assert transition(over, frame(4)) is over
    assert not over.busy


def test_warnings_gather():
    assert after({"event": "warning", "text": "a"}, START, {"event": "warning", "text": "b"}).warnings == ("a", "b")


def test_an_unknown_event_changes_nothing():
    progress = after(START)
    assert transition(progress, {"event": "certificate"}) is progress

# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake's state as a pure function: no bpy is needed for any of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from taffeta.addon.bake.state import BakeState, Effect, Ended, Event, Happening, Phase, Read, transition
from taffeta.gpu_core.bake.events import Cancelled, Done, Failed, Frame, Prerolled, Start, Warn

START = Start(4, "cpu", "CPU")
READ = Happening.SCENE_READ
CANCEL, PAUSE, CONTINUE = Happening.CANCEL, Happening.PAUSE, Happening.CONTINUE
CLOSING, GONE = Happening.FILE_CLOSING, Happening.SCENE_GONE
WINDOW_CLOSING = Happening.WINDOW_CLOSING
UNDO_BEGINS, UNDONE = Happening.UNDO_BEGINS, Happening.UNDONE
RENDER_BEGINS, RENDER_ENDED = Happening.RENDER_BEGINS, Happening.RENDER_ENDED
DONE, CANCELLED, ENDED = Done(), Cancelled(), Ended("signal 9")
DISK_FULL = Failed("disk", "The disk is full")


def rolled(done: int) -> Prerolled:
    return Prerolled({"frame": done - 8, "iterations": 7}, done, 8)


def frame(done: int) -> dict:
    return Frame({"frame": done}, done, 4)


def follow(*events: Event) -> tuple[BakeState, list[Effect]]:
    """The state after the events, beginning with reading, and all effects on the way."""
    state, effects = BakeState(phase=Phase.READING), []
    for event in events:
        state, now = transition(state, event)
        effects += now
    return state, effects


def after(*events: Event) -> BakeState:
    return follow(*events)[0]


def test_an_unbroken_bake_reads_starts_runs_and_is_done():
    events = [Read(0.5), READ, START, frame(1), frame(4), DONE]
    phases = [after(*events[:count]).phase for count in range(len(events) + 1)]
    assert phases == [Phase.READING] * 2 + [Phase.STARTING, Phase.RUNNING, Phase.RUNNING, Phase.RUNNING, Phase.DONE]
    assert follow(*events)[1] == [Effect.START_WORKER, Effect.PLAY, Effect.PLAY]


def test_the_share_is_that_of_the_frames():
    assert after(READ, START, frame(3)).share == 0.75


def test_the_last_frames_report_is_kept_for_the_panel():
    assert after(READ, START, Frame({"frame": 3, "iterations": 70}, 3, 4)).latest["iterations"] == 70


# Pre-roll


def test_a_pre_roll_counts_its_own_frames_and_plays_nothing():
    state, effects = follow(READ, START, rolled(2))
    assert (state.phase, state.share, state.done, state.headline) == (Phase.RUNNING, 0.25, 0, "0 / 4, pre-roll 2/8")
    assert (effects, state.latest["iterations"]) == ([Effect.START_WORKER], 7)
    assert after(READ, START, rolled(8), frame(1)).headline == "1 / 4 frames"


def test_until_the_first_frame_is_there_the_headline_says_what_takes_so_long():
    """A tangled start may take a minute to be put in order."""
    assert after(READ, START).headline == "Setting up"
    assert after(READ, START, frame(1)).headline == "1 / 4 frames"


def test_a_pause_and_a_cancel_hold_in_a_pre_roll():
    assert after(READ, START, PAUSE, rolled(2)).phase is Phase.PAUSED
    state, effects = follow(READ, START, rolled(2), CANCEL, rolled(3), CANCELLED)
    assert (state.phase, Effect.PLAY in effects) == (Phase.CANCELLED, False)


# Cancel


def test_a_cancel_while_reading_gives_the_scene_back_and_starts_nothing():
    state, effects = follow(CANCEL, READ, START)
    assert (state.phase, effects) == (Phase.CANCELLED, [Effect.STOP_READING])
    assert state.headline == "Cancelled: nothing was baked."


def test_a_frame_that_lands_while_cancelling_does_not_undo_the_cancel():
    state, effects = follow(READ, START, frame(1), CANCEL, CANCEL, frame(2), CANCELLED)
    assert (state.phase, state.done) == (Phase.CANCELLED, 2)
    assert effects == [Effect.START_WORKER, Effect.PLAY, Effect.CANCEL_WORKER, Effect.PLAY]
    assert state.headline == "Cancelled: 2 of 4 frames are in the cache."


# Pause


def test_a_pause_holds_until_the_user_continues_whatever_lands_meanwhile():
    state, effects = follow(READ, START, frame(1), PAUSE, PAUSE, frame(2))
    assert (state.phase, state.done) == (Phase.PAUSED, 2)
    assert effects[2:] == [Effect.PAUSE_WORKER]
    state, effects = transition(state, CONTINUE)
    assert (state.phase, effects) == (Phase.RUNNING, (Effect.CONTINUE_WORKER,))


def test_a_pause_before_the_solver_has_started_goes_back_to_starting():
    assert after(READ, PAUSE, CONTINUE).phase is Phase.STARTING
    assert after(READ, PAUSE, START).phase is Phase.PAUSED
    assert after(PAUSE).phase is Phase.READING


def test_a_paused_bake_can_be_cancelled():
    state, effects = follow(READ, START, frame(1), PAUSE, CANCEL)
    assert (state.phase, effects[-1]) == (Phase.CANCELLING, Effect.CANCEL_WORKER)
    assert transition(state, CONTINUE)[0].phase is Phase.CANCELLING


# Failures


def test_a_failure_keeps_what_and_who():
    state = after(READ, START, Failed("solver", "diverged at frame 3", "Skirt"))
    assert state.phase is Phase.FAILED
    assert (state.kind, state.culprit, state.headline) == ("solver", "Skirt", "diverged at frame 3")


@pytest.mark.parametrize(("event", "kind"), [(ENDED, "crash"), (DISK_FULL, "disk")])
def test_whatever_ends_the_worker_the_frames_so_far_play(event, kind):
    state, effects = follow(READ, START, frame(2), event)
    assert (state.phase, state.kind, state.done) == (Phase.FAILED, kind, 2)
    assert effects[-1] is Effect.PLAY
    state, effects = follow(READ, START, event)
    assert (state.phase, effects) == (Phase.FAILED, [Effect.START_WORKER])


def test_an_error_while_reading_gives_the_scene_back():
    state, effects = follow(Failed("scene", "no pin group", "Skirt"))
    assert (state.phase, effects) == (Phase.FAILED, [Effect.STOP_READING])


# What the user does in Blender meanwhile


@pytest.mark.parametrize(
    ("events", "effect"),
    [((), Effect.STOP_READING), ((READ,), Effect.KILL_WORKER), ((READ, START, frame(1), PAUSE), Effect.KILL_WORKER)],
)
def test_opening_another_file_ends_everything_at_once(events, effect):
    state, effects = follow(*events, CLOSING)
    assert (state.phase, effects[-1], state.busy) == (Phase.CANCELLED, effect, False)


@pytest.mark.parametrize(("events", "effect"), [((), Effect.STOP_READING), ((READ, START), Effect.KILL_WORKER)])
def test_a_bake_whose_window_closes_ends_and_says_why(events, effect):
    state, effects = follow(*events, WINDOW_CLOSING)
    assert (state.phase, effects[-1], state.busy) == (Phase.CANCELLED, effect, False)
    assert state.headline.endswith("Its window was closed")


def test_undo_while_reading_stops_before_the_objects_are_gone():
    state, effects = follow(UNDO_BEGINS, UNDONE)
    assert (state.phase, effects) == (Phase.CANCELLED, [Effect.STOP_READING])
    assert "Undo" in state.headline


def test_undo_while_frames_land_leaves_the_bake_and_gives_the_modifiers_back():
    state, effects = follow(READ, START, frame(1), UNDO_BEGINS, UNDONE)
    assert (state.phase, effects[-1]) == (Phase.RUNNING, Effect.PLAY)
    assert follow(READ, START, UNDO_BEGINS, UNDONE)[1] == [Effect.START_WORKER]


def test_a_scene_that_is_deleted_stops_its_bake():
    state, effects = follow(READ, START, frame(1), GONE, GONE)
    assert (state.phase, effects[-1]) == (Phase.CANCELLING, Effect.CANCEL_WORKER)
    assert "deleted" in transition(state, CANCELLED)[0].headline
    assert follow(GONE)[1] == [Effect.STOP_READING]


def test_while_blender_renders_nothing_touches_the_scene_and_afterwards_it_catches_up():
    state, effects = follow(READ, START, RENDER_BEGINS, frame(1), UNDONE, DONE)
    assert (state.phase, effects, state.busy, state.active) == (Phase.DONE, [Effect.START_WORKER], True, False)
    state, effects = transition(state, RENDER_ENDED)
    assert (effects, state.busy) == ((Effect.PLAY,), False)


def test_a_render_that_finds_nothing_new_owes_nothing():
    state, effects = follow(READ, START, frame(1), RENDER_BEGINS, frame(2), RENDER_ENDED)
    assert (state.phase, effects) == (Phase.RUNNING, [Effect.START_WORKER, Effect.PLAY])


def test_reading_waits_for_a_render():
    assert after(RENDER_BEGINS).headline == "Waiting for the render"


# In general


@pytest.mark.parametrize("end", [DONE, CANCELLED, ENDED])
def test_nothing_changes_after_the_end(end):
    over = after(READ, START, end)
    assert not over.busy
    for event in (frame(4), CANCEL, PAUSE, CONTINUE, UNDONE, GONE, CLOSING, WINDOW_CLOSING, DISK_FULL):
        assert transition(over, event) == (over, ())


def test_warnings_gather():
    a, b = (Warn(text) for text in "ab")
    assert after(READ, a, START, b).warnings == ("a", "b")


def test_every_event_in_every_phase_has_an_answer():
    events = [
        READ,
        START,
        rolled(1),
        frame(1),
        CANCEL,
        PAUSE,
        CONTINUE,
        CLOSING,
        WINDOW_CLOSING,
        GONE,
        UNDO_BEGINS,
        UNDONE,
        RENDER_BEGINS,
    ]
    events += [RENDER_ENDED, DONE, CANCELLED, ENDED, DISK_FULL, Read(0.1)]
    for phase in Phase:
        for event in events:
            state, effects = transition(BakeState(phase=phase, frames=4), event)
            assert isinstance(state.headline, str)
            assert all(isinstance(effect, Effect) for effect in effects)


def test_it_needs_no_blender():
    program = "import sys; sys.modules['bpy'] = None\nimport taffeta.addon.bake.state"
    subprocess.run([sys.executable, "-c", program], check=True)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Live's state as a pure function: no bpy is needed for any of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from taffeta.addon.live.state import Drag, Effect, Event, Grab, LiveState, Occurrence, Phase, transition
from taffeta.gpu_core.bake.events import Failed
from taffeta.gpu_core.live.events import Advanced, Ended, Ready

DUE, RESTART, STOP = Occurrence.DUE, Occurrence.RESTART, Occurrence.STOP
PAUSE, CONTINUE, RELEASE = Occurrence.PAUSE, Occurrence.CONTINUE, Occurrence.RELEASE
GRAB, DRAG = Grab("Cloth", (0.0, 0.0, 1.0)), Drag((0.0, 0.0, 2.0))
UNDONE, SAVING, SAVED = Occurrence.UNDONE, Occurrence.SAVING, Occurrence.SAVED
RENDER_BEGINS, RENDER_ENDED = Occurrence.RENDER_BEGINS, Occurrence.RENDER_ENDED
ERROR = Failed("solver", "Cloth: diverged", "Cloth")
ENDED = Ended("The worker ended with signal 9 (SIGKILL).")


def ready(turn: int = 0) -> dict:
    return Ready("cpu", "CPU", ["thin"], turn)


def frame(turn: int) -> dict:
    return Advanced({"seconds": 0.1}, turn)


def follow(*events: Event) -> tuple[LiveState, list[Effect]]:
    """The state after the events, beginning with a worker that was asked to begin, and all effects on the way."""
    state, effects = LiveState(Phase.STARTING, waiting=True), []
    for event in events:
        state, now = transition(state, event)
        effects += now
    return state, effects


def after(*events: Event) -> LiveState:
    return follow(*events)[0]


def test_a_frame_is_asked_for_when_the_last_one_is_there_and_never_before():
    assert follow(DUE)[1] == []
    assert follow(ready(), DUE, DUE, DUE)[1] == [Effect.SHOW, Effect.ADVANCE]
    shown = [Effect.FOLLOW, Effect.SHOW]
    assert follow(ready(), DUE, frame(1), DUE, frame(0))[1] == [
        Effect.SHOW, Effect.ADVANCE, *shown, Effect.ADVANCE, *shown
    ]  # fmt: skip
    assert after(ready(), DUE, frame(1)).turn == 1


def test_what_the_worker_says_of_itself_is_kept_for_the_panel():
    state = after(ready(), DUE, frame(1))
    assert (state.device, state.warnings, state.latest["seconds"]) == ("CPU", ("thin",), 0.1)


def test_a_new_start_waits_for_the_answer_that_is_on_its_way():
    state, effects = follow(ready(), DUE, RESTART)
    assert effects[-1] is Effect.ADVANCE
    state, effects = follow(ready(), DUE, RESTART, frame(1))
    assert effects[-3:] == [Effect.FOLLOW, Effect.SHOW, Effect.BEGIN]
    assert (state.phase, state.waiting, state.again) == (Phase.STARTING, True, False)
    assert follow(ready(), RESTART)[1] == [Effect.SHOW, Effect.BEGIN]
    assert follow(RESTART, ready())[1] == [Effect.SHOW, Effect.BEGIN]


def test_a_new_start_lets_go_without_a_word_to_the_worker():
    state, effects = follow(ready(), GRAB, RESTART)
    assert (state.cloth, state.hand) == ("", None)
    assert Effect.RELEASE not in effects


def test_the_hand_takes_moves_and_lets_go():
    assert follow(ready(), GRAB)[1][-1] is Effect.GRAB
    assert after(ready(), GRAB, DRAG).hand == (0.0, 0.0, 2.0)
    state, effects = follow(ready(), GRAB, DRAG, RELEASE)
    assert (effects[-1], state.cloth, state.hand) == (Effect.RELEASE, "", None)
    assert after(ready(), DRAG).hand is None
    assert follow(ready(), RELEASE)[1] == [Effect.SHOW]


@pytest.mark.parametrize("before", [(), (ready(), PAUSE)])
def test_nothing_can_be_taken_while_nothing_moves(before):
    assert after(*before, GRAB).cloth == ""


def test_a_pause_lets_go_and_asks_for_nothing():
    state, effects = follow(ready(), GRAB, PAUSE)
    assert (state.phase, effects[-1]) == (Phase.PAUSED, Effect.RELEASE)
    assert follow(ready(), PAUSE, DUE)[1] == [Effect.SHOW]
    assert follow(ready(), PAUSE, CONTINUE, DUE)[1][-1] is Effect.ADVANCE
    assert after(PAUSE).phase is Phase.STARTING


def test_the_frame_that_comes_during_a_pause_is_shown():
    state, effects = follow(ready(), DUE, PAUSE, frame(1))
    assert (state.phase, state.turn, effects[-1]) == (Phase.PAUSED, 1, Effect.SHOW)


def test_undo_takes_the_frame_it_finds_and_shows_the_cloth_again():
    assert follow(ready(), UNDONE)[1][-2:] == [Effect.STAY, Effect.SHOW]
    assert follow(UNDONE)[1] == [Effect.STAY]


def test_a_file_is_saved_without_it():
    assert follow(ready(), SAVING, SAVED)[1][1:] == [Effect.HIDE, Effect.SHOW]
    assert follow(SAVING, SAVED)[1] == [Effect.HIDE]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (STOP, ""),
        (Occurrence.FILE_CLOSING, ""),
        (Occurrence.BAKE_BEGINS, "A bake began"),
        (Occurrence.SCENE_GONE, "Another scene was chosen, or a cloth or a collider was deleted"),
    ],
)
@pytest.mark.parametrize("before", [(), (ready(),), (ready(), DUE), (ready(), PAUSE)])
def test_whatever_ends_it_kills_the_worker_and_hides_the_cloth(before, event, text):
    state, effects = follow(*before, event)
    assert (state.phase, state.text, state.busy) == (Phase.ENDED, text, False)
    assert effects[-2:] == [Effect.KILL_WORKER, Effect.HIDE]


@pytest.mark.parametrize("event", [ERROR, ENDED])
def test_a_failure_says_why(event):
    state, effects = follow(ready(), DUE, event)
    assert (state.phase, state.headline) == (Phase.FAILED, event.text)
    assert effects[-2:] == [Effect.KILL_WORKER, Effect.HIDE]
    assert after(ready(), ERROR).culprit == "Cloth"
    assert follow(ready(), ERROR, ENDED)[0] == follow(ready(), ERROR)[0]


def test_a_render_ends_it_and_the_scene_is_left_alone_until_it_is_over():
    state, effects = follow(ready(), RENDER_BEGINS)
    assert (state.phase, state.busy, effects[-1]) == (Phase.ENDED, True, Effect.KILL_WORKER)
    assert Effect.HIDE not in effects
    assert not after(ready(), RENDER_BEGINS, RENDER_ENDED).busy


@pytest.mark.parametrize("event", [DUE, RESTART, GRAB, SAVED, UNDONE, frame(0), ready()])
def test_nothing_happens_after_the_end(event):
    over = after(ready(), STOP)
    assert transition(over, event) == (over, ())


def test_it_needs_no_bpy():
    code = "import sys; sys.modules['bpy'] = None\nimport taffeta.addon.live.state"
    subprocess.run([sys.executable, "-c", code], check=True)

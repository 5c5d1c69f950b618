# SPDX-License-Identifier: GPL-3.0-or-later
"""Events are the same on both sides of the pipe, and what is none is refused by name."""

from __future__ import annotations

import io
import json
import queue

import pytest

from taffeta.gpu_core.bake import events
from taffeta.gpu_core.bake.events import Cancelled, Checked, Done, EventError, Failed, Frame, Prerolled, Start, Warn
from taffeta.gpu_core.bake.worker_process import _read
from taffeta.gpu_core.live import events as live
from taffeta.gpu_core.live.events import Advanced, Ready

SAID = [
    Start(48, "cpu", "CPU, 2 threads"),
    Warn("thin"),
    Frame({"frame": 3, "seconds": 0.5, "released": ["Upper"]}, 3, 48),
    Checked({"frame": 3, "intersections": 0, "findings": []}),
    Done(),
    Cancelled(),
    Failed("solver", "Sheet: diverged", "Sheet"),
    Prerolled({"frame": -2, "seconds": 0.5, "released": []}, 3, 20),
]


@pytest.mark.parametrize("event", SAID, ids=lambda event: type(event).__name__)
def test_a_line_brings_the_event_that_was_said(event):
    assert events.from_json(json.loads(json.dumps(events.to_json(event)))) == event


@pytest.mark.parametrize(
    "event", [Ready("cpu", "CPU", ["thin"], 0), Advanced({"seconds": 0.1}, 1), Failed("disk", "full")]
)
def test_a_line_of_live_brings_the_event_that_was_said(event):
    assert live.from_json(json.loads(json.dumps(live.to_json(event)))) == event


def test_lines_are_those_that_scripts_know():
    assert json.dumps(events.to_json(SAID[0])) == (
        '{"event": "start", "frames": 48, "backend": "cpu", "device": "CPU, 2 threads"}'
    )
    assert json.dumps(events.to_json(SAID[2])) == (
        '{"event": "frame", "frame": 3, "seconds": 0.5, "released": ["Upper"], "done": 3, "frames": 48}'
    )
    assert json.dumps(live.to_json(Advanced({"seconds": 0.1}, 1))) == '{"event": "frame", "seconds": 0.1, "turn": 1}'
    assert set(events.NAMES) == set(events.BakeEvent.__args__)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"event": "weather"}, "'weather' is no event"),
        ({}, "None is no event"),
        ({"event": "start", "frames": 48}, "other fields"),
        ({"event": "warning", "text": "thin", "volume": 3}, "other fields"),
        ({"event": "start", "frames": "many", "backend": "cpu", "device": "CPU"}, "frames of another type"),
    ],
)
def test_what_is_no_event_is_refused_by_name(line, words):
    with pytest.raises(EventError, match=words):
        events.from_json(line)


def test_a_line_cut_off_is_nothing_and_a_word_unknown_is_said():
    heard = queue.Queue()
    text = '{"event": "warning", "text": "thin"}\n12\n{"event": "weather"}\n{"event": "war'
    _read(io.StringIO(text), events.from_json, heard)
    assert heard.get_nowait() == Warn("thin")
    failed = heard.get_nowait()
    assert (failed.kind, "weather" in failed.text) == ("crash", True)
    assert heard.empty()

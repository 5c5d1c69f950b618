# SPDX-License-Identifier: GPL-3.0-or-later
"""The question mark beside a message tells what helps, opens its page, and leaves the words their room."""

from __future__ import annotations

import webbrowser
from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon.interface import physics
from taffeta.addon.interface.help_operator import TAFFETA_OT_help
from taffeta.gpu_core.messages import PAGES, catalogue
from taffeta.tests.addon.recording_layout import RecordingLayout

NO_FACES = "Sheet: the mesh has no faces, and this text is long enough to need a second line, or a third"


@pytest.fixture
def opened(monkeypatch):
    """The addresses that a browser was asked for."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_the_button_opens_the_page_of_the_code(addon, opened):
    assert bpy.ops.taffeta.help(code="TAF-S011") == {"FINISHED"}
    assert opened == [(PAGES / "TAF-S011.md").as_uri()]
    assert bpy.ops.taffeta.help(code="TAF-Z999") == {"FINISHED"}
    assert opened[1] == (PAGES / "README.md").as_uri()


def test_the_tooltip_has_the_code_and_every_mend():
    found = catalogue()["TAF-S011"]
    text = TAFFETA_OT_help.description(bpy.context, SimpleNamespace(code=found.code))
    assert text.startswith("TAF-S011: ")
    assert all(mend in text for mend in found.mends)


def drawn(text: str, width: int, **words) -> RecordingLayout:
    layout = RecordingLayout()
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))  # 0 without a window
    context = SimpleNamespace(region=SimpleNamespace(width=width), preferences=preferences)
    physics.message(layout, context, text, "ERROR", **words)
    return layout


@pytest.mark.parametrize("width", [280, 400, 900])
def test_words_leave_room_for_the_button(addon, width):
    """No line is longer than the region without the icon before it and the button behind it."""
    ours = drawn(NO_FACES, width)
    lines = [text for kind, text in ours.shown if kind == "label"]
    assert ("operator", "taffeta.help") in ours.shown
    room = width / physics.PIXELS_PER_CHARACTER
    assert max(map(len, lines)) <= max(room - 4 - physics.BUTTON, physics.NARROWEST)
    assert " ".join(lines) == NO_FACES
    assert "TAF" not in ours.texts()


def test_a_path_is_broken_behind_its_slashes_and_loses_nothing(addon):
    text = "Cannot write /data/somebodys/films/shot_010/taffeta_cache: the disk is full"
    lines = [said for kind, said in drawn(text, 280).shown if kind == "label"]
    assert lines == ["Cannot write /data/somebodys/", "films/shot_010/taffeta_cache:", "the disk is full"]


def test_what_is_no_trouble_has_no_button(addon):
    assert ("operator", "taffeta.help") not in drawn("Baked 48 frames", 280).shown
    assert ("operator", "taffeta.help") in drawn("density is 0.2", 280, code="TAF-C002").shown

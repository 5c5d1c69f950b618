# SPDX-License-Identifier: GPL-3.0-or-later
"""Every message has one code that stays, and its page of the manual is about that message and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from taffeta.gpu_core import messages
from taffeta.gpu_core.bake.events import Failed, Warn
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.messages import HOLE, INDEX, PAGES, catalogue, code_of, coded
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.messages_in_source import ROOT, Said, said, sources, told_classes

FROZEN = Path(__file__).with_name("frozen_messages.txt")
VALUE = "(7)"  #: stands where a message has a value

#: Places that say on what another place has put into words, or an exception's own text.
PASSED_ON = {
    ("addon/bake/session.py", "_warn_of_idle_pins"),  # `pin_properties.without_vertex`
    ("addon/bake/session.py", "handle"),
    ("addon/bake/state.py", "_while_working"),  # a crash: the parent's words
    ("addon/cache/place.py", "refuse_shared"),  # `shared_problem`
    ("addon/command/export.py", "_read"),
    ("addon/command/export.py", "_require_sense"),  # `to_file.unavailable`
    ("addon/command/file.py", "failures"),
    ("addon/command/file.py", "open_file"),
    ("addon/command/job.py", "_require_ours"),
    ("addon/command/run.py", "run"),
    ("addon/command/scene.py", "bake"),
    ("addon/device/installation.py", "_install"),  # the diagnosis of the card
    ("addon/finalise/to_file.py", "write"),  # `to_file.unavailable`
    ("addon/interface/bake_operators.py", "_finish"),
    ("addon/interface/bake_operators.py", "_start"),
    ("addon/interface/bake_operators.py", "execute"),
    ("addon/interface/bake_panels.py", "draw_bake"),
    ("addon/interface/cage_operators.py", "execute"),
    ("addon/interface/check_operator.py", "_tell"),
    ("addon/interface/check_operator.py", "judge_drawn"),
    ("addon/interface/crossings_operators.py", "execute"),
    ("addon/interface/dense_operators.py", "execute"),  # `dense.obstacle`
    ("addon/interface/encounter_panel.py", "_draw"),  # `encounters.fault`
    ("addon/interface/finalise_operators.py", "execute"),
    ("addon/interface/gpu_preferences.py", "execute"),
    ("addon/interface/live_operators.py", "_finish"),
    ("addon/interface/live_operators.py", "execute"),
    ("addon/interface/live_operators.py", "invoke"),
    ("addon/interface/live_panels.py", "draw_live"),
    ("addon/interface/object_menu.py", "_refine"),
    ("addon/interface/object_menu.py", "execute"),
    ("addon/interface/paint_operators.py", "execute"),
    ("addon/interface/physics.py", "draw"),  # `sewn_to.trouble`
    ("addon/interface/sidebar.py", "_draw_frames"),  # `Certificate.troubles`
    ("addon/interface/trouble_rows.py", "_of_shared"),  # `place.shared_problem`
    ("addon/live/session.py", "handle"),
    ("addon/scene/checks.py", "_look"),  # `fields.ignored`
    ("addon/scene/checks.py", "_of_cloth"),  # `sewn_to.trouble`
    ("addon/scene/checks.py", "_of_pins"),  # `pin_properties.unfit`, `without_vertex`
    ("addon/scene/pin_reader.py", "__init__"),  # `pin_properties.unfit`
    ("gpu_core/bake/bake.py", "_run"),
    ("gpu_core/bake/bake.py", "bake"),
    ("gpu_core/bake/beginning.py", "_resumed"),
    ("gpu_core/bake/beginning.py", "beginning"),
    ("gpu_core/bake/failure.py", "failed"),
    ("gpu_core/bake/preroll.py", "first_frame"),
    ("gpu_core/bake/worker.py", "failure"),
    ("gpu_core/files/cache.py", "verify"),
    ("gpu_core/files/json_lines.py", "read"),
    ("gpu_core/scene/scene.py", "validate"),  # `air.faults`
    ("gpu_core/simulator.py", "_advance"),  # of the solver's own error
}
#: What is said with these words is no trouble, or has its code from elsewhere (`status.CODES`, `answer.MESSAGES`).
WITHOUT = {
    "… frames, all that the range shows",
    "… frames, the first … of an earlier bake",
    "…: … of … frames",
    "Cancelled",
    "Scene: …",
    "All that Taffeta needs is there: Run Self-Test tries it",
    "The test is running",
    "Works on this machine: …",
    "Frame …: …",
    "error …",
}
EVERY = list(said())


def worded() -> list[tuple[Said, str]]:
    return [(place, text) for place in EVERY for text in place.texts if any(map(str.isalpha, text))]


def test_every_message_of_the_source_has_a_code():
    without = {(place.file, place.line, text) for place, text in worded() if not code_of(text.replace(HOLE, VALUE))}
    assert {entry for entry in without if entry[2] not in WITHOUT} == set(), (
        "quote each on its page in docs/manual/messages, or write one: the next number of its letter"
    )


def test_no_place_says_what_no_test_can_see():
    unseen = {(place.file, place.function) for place in EVERY if not any(any(map(str.isalpha, t)) for t in place.texts)}
    assert unseen <= PASSED_ON, "say it with a text here, or name the place in PASSED_ON and why"
    assert {(place.file, place.function) for place in EVERY} >= PASSED_ON


def test_the_source_is_seen():
    """Among what was found are all exceptions that speak to the user, and every check of the panel."""
    classes = set(told_classes(sources()))
    assert classes >= {
        "SceneError", "SolverError", "CacheError", "BusyError", "StaleError", "CompleteError", "DiskError",
        "JobError", "BackendError", "NoDeviceError", "InstallationError", "AssignmentError", "NothingToDoError",
        "TooManyPairsError",
    }  # fmt: skip
    seen = {(place.file, place.line) for place in EVERY}
    for file, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = getattr(node.exc.func, "id", getattr(node.exc.func, "attr", ""))
                assert name not in {*classes, "CommandError"} or (file, node.exc.lineno) in seen, (file, node.lineno)
    assert len({place.line for place in EVERY if place.what == "Trouble"}) > 25


@pytest.mark.parametrize("code", sorted(catalogue()))
def test_a_page_is_about_one_message(code):
    """Its texts lead to it and to no other, and the source says each of them, or names the code."""
    message = catalogue()[code]
    assert code[4] in messages.AREAS
    assert 1 <= len(message.mends) <= 3
    for text in message.texts:
        assert code_of(text.replace(HOLE, VALUE)) == code, text
        assert (
            text in OF_STATES
            or any(messages.pattern_of(text).search(words.replace(HOLE, VALUE)) for _, words in worded())
            or (any(text in source for source in SOURCES))
        ), text
    assert message.texts or any(code in source for source in SOURCES)


#: `frames._trouble` says the state and its reason.
OF_STATES = {f"The cache of … is {state.value}" for state in CacheState}
SOURCES = [(ROOT / file).read_text(encoding="utf-8") for file in sources()]


def test_no_text_is_of_two_messages():
    texts = [text for message in catalogue().values() for text in message.texts]
    assert len(texts) == len(set(texts))


def test_codes_that_the_source_names_have_a_page():
    named = {code for source in SOURCES for code in messages.CODE.findall(source)}
    assert named - {"TAF-S012", "TAF-S001"} <= set(catalogue())  # examples in words of help
    assert {"TAF-F008", "TAF-C002", "TAF-B005"} <= named


def test_codes_keep_their_meaning():
    """A code that was once given is never taken away, and never given to something else. Add new ones at the end."""
    frozen = dict(line.split(" ", 1) for line in FROZEN.read_text(encoding="utf-8").splitlines())
    assert {code: message.title for code, message in catalogue().items()} == frozen


def test_pages_are_named_for_their_codes_and_the_list_has_all_of_them():
    assert [page.stem for page in sorted(PAGES.glob("TAF-*.md"))] == [message.code for message in catalogue().values()]
    assert (PAGES / INDEX).read_text(encoding="utf-8") == messages.index(), "python -m taffeta.gpu_core.messages"


def test_pages_say_what_is_there():
    """Links lead to pages of the manual, and buttons that a mend names are buttons of the Checks."""
    for code, message in catalogue().items():
        text = message.page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)]+)\)", text):
            assert (PAGES / link).is_file(), (code, link)


def test_an_exception_and_its_event_have_the_same_code():
    error = SceneError("Sheet", "the mesh has no faces", "Add faces, or take the object out of the simulation")
    assert error.code == "TAF-S011"
    assert Failed("scene", str(error), "Sheet").code == error.code
    assert coded(str(error)) == f"{error} [TAF-S011]"
    assert Warn("Sheet: 3 loose vertices stay where they are").code == "TAF-P015"


def test_what_begins_first_counts_and_then_what_is_longest():
    assert code_of("This bake cannot be resumed: density is 0.2, was 0.1. Bake from the start") == "TAF-B013"
    assert code_of("a.pc2 is missing. Export the scene again") == "TAF-C016"
    assert code_of("a.pc2 is missing. Resume the bake") == "TAF-C007"


@pytest.mark.parametrize(
    "text", ["", "Baked 48 frames", "Reading the scene", "12 / 48 frames", "48 frames", "Live, 7.4 fps", "Unbaked"]
)
def test_what_is_no_trouble_has_no_code(text):
    assert code_of(text) == ""
    assert coded(text) == text


def test_only_the_first_line_of_a_crash_has_the_code():
    assert coded("The worker ended with signal 9 after frame 3.\nlines") == (
        "The worker ended with signal 9 after frame 3. [TAF-B004]\nlines"
    )


def test_a_page_that_is_none_takes_only_its_own_code_away(tmp_path, monkeypatch):
    """A message is looked up while a bake fails: a page that is cut off then must not be the next failure."""
    for code in ("TAF-F005", "TAF-F006"):
        text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
        (tmp_path / f"{code}.md").write_text(text if code == "TAF-F005" else text[:120], encoding="utf-8")
    monkeypatch.setattr(messages, "PAGES", tmp_path)
    assert list(messages.catalogue.__wrapped__()) == ["TAF-F005"]

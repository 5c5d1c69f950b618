# SPDX-License-Identifier: GPL-3.0-or-later
"""Live's panels and buttons, drawn through a layout that checks every property and operator it is asked for."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon.interface import live_operators, live_panels, status_bar
from taffeta.addon.live import session as live
from taffeta.addon.live.state import LiveState, Phase
from taffeta.addon.scene import frozen_shape
from taffeta.tests.addon.recording_layout import RecordingLayout

RUNNING = LiveState(Phase.RUNNING, turn=0, warnings=("Cloth: it intersects Floor at the start",))


@pytest.fixture
def draw(scene, make_cloth):
    def draw_all() -> RecordingLayout:
        layout = RecordingLayout()
        with bpy.context.temp_override(object=item):
            for panel in live_panels.CLASSES:
                assert panel.poll(bpy.context), panel
                panel.draw(SimpleNamespace(layout=layout), bpy.context)
        return layout

    item = make_cloth()
    yield draw_all
    live.forget()


@pytest.fixture
def running(monkeypatch):
    """A Live as the panels see it; none that runs."""

    def runs(state, rate=None):
        monkeypatch.setattr(live, "current", SimpleNamespace(state=state, rate=rate, key=lambda cloth: cloth.name))

    return runs


def test_a_cloth_shows_the_button_the_quality_and_what_can_be_frozen(draw):
    layout = draw()
    for name in ("taffeta.live", "taffeta.freeze_start", "taffeta.freeze_rest"):
        assert ("operator", name) in layout.shown
    for name in ("live_timeline", "live_steps", "live_coarseness", "grab_radius_shown", "grab_strength"):
        assert ("prop", name) in layout.shown
    assert ("operator", "taffeta.clear_start") not in layout.shown


def test_a_running_live_shows_how_fast_it_is_and_how_it_is_ended(draw, running):
    running(RUNNING, 7.4)
    layout = draw()
    assert "Live, 7.4 fps" in layout.texts()
    assert "it intersects Floor" in layout.texts()
    for name in ("taffeta.live_end", "taffeta.live_pause", "taffeta.live_restart"):
        assert ("operator", name) in layout.shown
    assert ("operator", "taffeta.live") not in layout.shown


def test_places_that_cross_are_said(draw, running):
    running(replace(RUNNING, latest={"tangled": 3}))
    assert "3 pairs of edges and faces cross" in draw().texts()


def test_a_failure_stays_readable(draw, monkeypatch):
    monkeypatch.setattr(live, "last", LiveState(Phase.FAILED, text="Cloth: diverged"))
    assert "Cloth: diverged" in draw().texts()


def test_a_frozen_start_is_shown_and_can_be_cleared(draw, scene):
    cloth = scene.objects["Cloth"]
    frozen_shape.set_start(cloth, [vertex.co for vertex in cloth.data.vertices])
    layout = draw()
    assert "Starts from a frozen shape" in layout.texts()
    assert ("operator", "taffeta.clear_start") in layout.shown


def test_the_status_bar_names_the_keys_of_a_running_live_only(draw, running):
    layout = RecordingLayout()
    status_bar.draw(SimpleNamespace(layout=layout), bpy.context)
    assert layout.shown == []
    running(RUNNING, 7.4)
    status_bar.draw(SimpleNamespace(layout=layout), bpy.context)
    assert layout.texts().split("  ") == ["Live, 7.4 fps Pull Cloth", " End"]


@pytest.mark.parametrize(
    "operator",
    [item for item in live_operators.CLASSES if item.__name__ != "TAFFETA_OT_live"],
    ids=lambda o: o.__name__,
)
def test_a_grey_button_says_why(scene, make_collider, operator):
    make_collider()
    assert refusal(operator)


@pytest.mark.parametrize(
    ("operator", "state", "why"),
    [
        ("live", RUNNING, "Live runs already"),
        ("live_pause", LiveState(Phase.STARTING), "The solver is starting"),
        ("freeze_start", LiveState(Phase.STARTING), "The solver is starting"),
    ],
)
def test_a_button_that_is_grey_while_live_runs_says_why(draw, running, operator, state, why):
    running(state)
    assert refusal(getattr(live_operators, f"TAFFETA_OT_{operator}")) == why


def test_without_cloth_there_is_no_live(scene, make_collider):
    make_collider()
    assert refusal(live_operators.TAFFETA_OT_live) == "No object of this scene has the role Cloth"


def refusal(operator) -> str:
    """What the greyed button says."""
    said: list[str] = []
    stand_in = type("StandIn", (operator,), {"poll_message_set": said.append})
    assert not operator.poll.__func__(stand_in, bpy.context)
    (text,) = said
    return text

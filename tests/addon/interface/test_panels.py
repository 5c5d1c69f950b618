# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels drawn through a layout that checks every property and operator it is asked for."""

from __future__ import annotations

import importlib
from dataclasses import replace
from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon.bake import session
from taffeta.addon.bake.state import BakeState, Phase
from taffeta.addon.cache import place, status
from taffeta.addon.cache.status import Held
from taffeta.addon.interface import bake_operators, bake_panels, check_operator, physics, sidebar, status_bar
from taffeta.addon.scene import modifier
from taffeta.gpu_core.bake.certificate import Certificate
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon.recording_layout import RecordingLayout


@pytest.fixture
def draw(scene):
    def draw_all(item) -> RecordingLayout:
        """Every panel that this object gets, in one layout."""
        layout = RecordingLayout()
        with bpy.context.temp_override(object=item):
            for panel in (*physics.CLASSES, *bake_panels.CLASSES):
                if panel.poll(bpy.context):
                    panel.draw(SimpleNamespace(layout=layout), bpy.context)
        return layout

    yield draw_all
    session.forget()


def test_an_object_without_role_shows_the_role_and_what_makes_it_cloth_in_one_click(draw, make_object):
    layout = draw(make_object("Plain", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]))
    assert [entry for entry in layout.shown if entry[0] != "button"] == [
        ("prop", "role"),
        ("operator", "taffeta.quick_cloth"),
    ]


def test_what_hinders_a_cloth_stands_above_its_bake_with_what_mends_it(draw, make_cloth, make_object):
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    layout = draw(make_object("Coarse", corners, [(0, 1, 2, 3)], "CLOTH"))
    assert "its 4 vertices cannot fold: subdivide it" in layout.texts()
    assert layout.shown.index(("operator", "taffeta.mend")) < layout.shown.index(("operator", "taffeta.bake"))
    assert "cannot fold" not in draw(make_cloth()).texts()


def test_a_cloth_shows_fabric_pins_bake_and_solver(draw, make_cloth):
    layout = draw(make_cloth())
    for name in (
        "density",
        "bend_micro",
        "bend_friction_milli",
        "stretch_warp",
        "pin_group",
        "step_rate",
        "self_collision",
        "backend",
    ):
        assert ("prop", name) in layout.shown
    assert ("popover", "Cotton") in layout.shown
    assert ("operator", "taffeta.bake") in layout.shown
    assert ("operator", "taffeta.free") in layout.shown


def test_a_collider_shows_its_surface_and_no_fabric(draw, make_collider):
    layout = draw(make_collider())
    more = ["lets_through_group", "taffeta.make_cage", "Make Cage"]
    assert [name for _, name in layout.shown] == ["role", "thickness_shown", "friction", *more]


def test_a_collider_that_is_not_a_mesh_says_so(draw, scene):
    empty = bpy.data.objects.new("Marker", None)
    scene.collection.objects.link(empty)
    empty.taffeta.role = "COLLIDER"
    assert "Only mesh objects" in draw(empty).texts()


def test_an_unsaved_file_is_warned_of(draw, make_cloth, tmp_path):
    item = make_cloth()
    assert "never saved" in draw(item).texts()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert "never saved" not in draw(bpy.data.objects["Cloth"]).texts()


def test_a_missing_pin_group_is_named(draw, make_cloth):
    item = make_cloth()
    item.taffeta.cloth.pin_group = "Nowhere"
    assert "Nowhere" in draw(item).texts()


def test_each_group_of_pins_shows_what_it_has_and_how_to_remove_it(draw, make_cloth):
    item = make_cloth()
    assert ("operator", "taffeta.pin_add") in draw(item).shown
    assert ("operator", "taffeta.pin_remove") not in draw(item).shown
    item.taffeta.cloth.pins.add().group = "Nowhere"
    item.taffeta.cloth.pins.add()
    layout = draw(item)
    for name in ("group", "strength", "target"):
        assert layout.shown.count(("prop", name)) == 2
    assert layout.shown.count(("operator", "taffeta.pin_remove")) == 2
    assert "no vertex group or attribute “Nowhere”" in layout.texts()


def test_what_is_painted_shows_its_second_value_and_a_button_that_shows_it(draw, make_cloth):
    item = make_cloth()
    assert ("prop", "bend_group") in draw(item).shown
    assert ("prop", "bend_max_micro") not in draw(item).shown
    item.taffeta.cloth.bend_group = "Nowhere"
    layout = draw(item)
    assert ("prop", "bend_max_micro") in layout.shown
    assert ("operator", "taffeta.show_paint") in layout.shown
    assert "no vertex group or attribute “Nowhere”" in layout.texts()


def test_a_running_bake_shows_progress_and_cancel_instead_of_bake(draw, make_cloth, monkeypatch):
    monkeypatch.setattr(session, "last", BakeState(Phase.RUNNING, share=0.5, done=2, frames=4))
    layout = draw(make_cloth())
    assert "2 / 4 frames" in layout.texts()
    assert ("operator", "taffeta.cancel") in layout.shown
    assert ("operator", "taffeta.bake") not in layout.shown


def test_a_failure_stays_readable(draw, make_cloth, monkeypatch):
    monkeypatch.setattr(session, "last", BakeState(Phase.FAILED, text="Cloth: diverged at frame 3. " + "word " * 30))
    assert "diverged at frame 3" in draw(make_cloth()).texts()


def test_a_broken_cache_is_shown_on_the_cloth_that_plays_it(draw, make_cloth, monkeypatch):
    item = make_cloth()
    monkeypatch.setattr(status, "held", lambda scene, cloth: Held(CacheState.CORRUPT, "Cloth.pc2 is cut off"))
    assert "cut off" in draw(item).texts()


def test_resume_is_offered_where_there_is_something_to_resume(draw, make_cloth, monkeypatch):
    item = make_cloth()
    assert "Resume" not in draw(item).buttons()
    monkeypatch.setattr(status, "held", lambda scene, cloth: Held(CacheState.PARTIAL, "cancelled: 3 of 4 frames"))
    assert "Resume" in draw(item).buttons()


def test_a_cache_left_in_the_temporary_folder_is_warned_of(draw, make_cloth, tmp_path):
    item = make_cloth()
    own = item.modifiers.new(modifier.NAME, "MESH_CACHE")
    own.filepath = str(place.temporary(bpy.context.scene) / "Cloth.pc2")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), relative_remap=False)
    assert "temporary folder" in draw(bpy.data.objects["Cloth"]).texts()


def test_every_panel_belongs_to_physics_and_every_class_goes_with_the_addon(addon):
    import taffeta

    for panel in physics.CLASSES:
        assert (panel.bl_space_type, panel.bl_context) == ("PROPERTIES", "physics")
    taffeta.unregister()
    try:
        assert not hasattr(bpy.types.Object, "taffeta")
        assert not hasattr(bpy.types, "TAFFETA_PT_physics")
    finally:
        taffeta.register()
    assert hasattr(bpy.types.Object, "taffeta")


# The bake, its caches and its frames


REPORT = {"frame": 3, "steps": 8, "iterations": 70, "contacts": 12, "smallest_gap": 0.0008, "largest_stretch": 1.02}
RUNNING = BakeState(
    Phase.RUNNING,
    share=0.5,
    done=2,
    frames=4,
    device="Some CPU",
    latest={**REPORT, "seconds": 0.5, "memory": 200 * 2**20, "unfinished_steps": 0},
)


def test_a_running_bake_shows_what_the_solver_reports(draw, make_cloth, monkeypatch):
    monkeypatch.setattr(session, "last", RUNNING)
    layout = draw(make_cloth())
    for expected in (
        "Some CPU",
        "Frame 3: 0.50 s, 70 iterations",
        "12 contacts, smallest gap 0.8 mm",
        "1.020, 200 MiB",
    ):
        assert expected in layout.texts()
    assert ("operator", "taffeta.pause") in layout.shown
    assert "No frame has been baked" not in layout.texts()


def test_a_paused_bake_can_go_on_from_the_same_button(draw, make_cloth, monkeypatch):
    monkeypatch.setattr(session, "last", replace(RUNNING, phase=Phase.PAUSED))
    layout = draw(make_cloth())
    assert "Paused: 2 / 4 frames" in layout.texts()
    assert ("operator", "taffeta.pause") in layout.shown


@pytest.mark.parametrize("state", list(CacheState))
def test_every_state_of_a_cache_is_shown_with_its_reason(draw, make_cloth, monkeypatch, state):
    monkeypatch.setattr(status, "held", lambda scene, cloth: Held(state, "because of this"))
    texts = draw(make_cloth()).texts()
    assert ("Unbaked" if state is CacheState.MISSING else state.value.capitalize()) in texts
    assert "because of this" in texts


def test_the_frames_that_are_not_clean_are_listed_and_the_current_one_is_described(draw, make_cloth, monkeypatch):
    certificates = (
        Certificate(1, 0),
        Certificate(2, 3, ("frame 2: the edge 1–2 of Skirt meets triangle 7 of Leg",), released=("Leg and Skirt",)),
        Certificate(3, 0, steps=8, unfinished_steps=2),
        Certificate(4),
    )
    item = make_cloth()
    monkeypatch.setattr(
        status, "held", lambda scene, cloth: Held(CacheState.READY, "4 frames", 4, certificates=certificates)
    )
    bpy.context.scene.frame_set(2)
    texts = draw(item).texts()
    for expected in ("2 of 4 frames are not clean", "Frame 2: 3 intersections", "triangle 7 of Leg", "no room between"):
        assert expected in texts
    bpy.context.scene.frame_set(1)
    assert "Frame 1: free of intersections" in draw(item).texts()
    bpy.context.scene.frame_set(4)
    assert "Frame 4: not checked" in draw(item).texts()
    bpy.context.scene.frame_set(9)
    assert "Frame 9 is not in the cache" in draw(item).texts()


def test_the_status_bar_shows_a_running_bake_only(addon, monkeypatch):
    layout = RecordingLayout()
    status_bar.draw(SimpleNamespace(layout=layout), bpy.context)
    assert layout.shown == []
    monkeypatch.setattr(session, "current", SimpleNamespace(state=RUNNING, remaining=80.0))
    status_bar.draw(SimpleNamespace(layout=layout), bpy.context)
    assert layout.texts() == "2 / 4 frames  1:20 left"
    assert ("operator", "taffeta.cancel") in layout.shown


@pytest.mark.parametrize(
    ("changes", "left", "text"),
    [
        ({"phase": Phase.READING, "done": 0}, None, "Reading the scene  0:07 so far"),
        ({"done": 0}, None, "Setting up  0:07 so far"),
        ({"working": "frame 3: step 2 of 8"}, 80.0, "2 / 4, step 2/8  1:20 left"),
        ({"working": "frame 241: step 12 of 20", "done": 240, "frames": 480}, 3680.0, "240 / 480, 12/20  1:01:20 left"),
        ({"working": "frame 1235: step 12 of 20", "done": 1234, "frames": 2000}, 40000.0, "1234 / 2000, step 12/20"),
    ],
)
def test_a_progress_says_how_long_as_far_as_there_is_room(addon, monkeypatch, changes, left, text):
    state = replace(RUNNING, **changes)
    monkeypatch.setattr(session, "current", SimpleNamespace(state=state, remaining=left, elapsed=7.2))
    layout = RecordingLayout()
    bake_panels.draw_progress(layout, state)
    assert layout.texts() == text


def test_drawing_reads_no_file_and_asks_at_most_whether_one_is_there(draw, saved_scene, monkeypatch):
    bpy.ops.taffeta.bake()

    def forbidden(*arguments, **options):
        raise AssertionError(f"drawing touches the disk: {arguments}")

    with monkeypatch.context() as patch:
        for name in ("open", "io.open", "os.scandir", "os.listdir", "os.open"):
            module, _, function = name.rpartition(".")
            patch.setattr(importlib.import_module(module or "builtins"), function, forbidden)
        for name in ("Cloth", "Floor"):
            draw(bpy.data.objects[name])
        for panel in sidebar.CLASSES:
            panel.draw(SimpleNamespace(layout=RecordingLayout()), bpy.context)


@pytest.mark.parametrize("name", ["bake", "cancel", "pause", "free", "check", "open_cache"])
def test_a_grey_button_says_why(scene, make_collider, monkeypatch, name):
    make_collider()
    operator = getattr(check_operator if name == "check" else bake_operators, f"TAFFETA_OT_{name}")
    said = []
    stand_in = type("StandIn", (operator,), {"poll_message_set": said.append})
    assert not operator.poll.__func__(stand_in, bpy.context)
    assert len(said) == 1
    assert said[0]

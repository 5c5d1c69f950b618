# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar shows the whole scene: who takes part, what is baked, what is wrong."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon.bake import session
from taffeta.addon.bake.state import BakeState, Phase
from taffeta.addon.cache import status
from taffeta.addon.cache.status import Held
from taffeta.addon.interface import sidebar
from taffeta.addon.interface.bake_operators import TAFFETA_OT_bake
from taffeta.addon.scene import checks
from taffeta.addon.scene.gather import members
from taffeta.gpu_core.bake.certificate import Certificate
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.messages import code_of
from taffeta.tests.addon.recording_layout import RecordingLayout


@pytest.fixture
def draw(scene):
    def draw(name: str) -> RecordingLayout:
        layout = RecordingLayout()
        panel = getattr(sidebar, f"TAFFETA_PT_sidebar_{name}")
        assert not hasattr(panel, "poll") or panel.poll(bpy.context), "the panel is hidden"
        panel.draw(SimpleNamespace(layout=layout), bpy.context)
        return layout

    return draw


def test_every_cloth_and_every_collider_is_listed_and_can_be_selected(draw, make_cloth, make_collider):
    make_cloth("Skirt"), make_cloth("Cape"), make_collider("Leg")
    cloths, colliders = draw("cloths"), draw("colliders")
    assert {"Skirt", "Cape"} <= set(cloths.buttons())
    assert ("prop", "preset") in cloths.shown
    assert "Leg" in colliders.buttons()
    assert bpy.ops.taffeta.select(name="Leg") == {"FINISHED"}
    assert bpy.context.object.name == "Leg"
    assert [item.name for item in bpy.context.selected_objects] == ["Leg"]


def test_bake_selected_is_grey_where_no_cloth_is_selected(draw, make_cloth, make_collider):
    cloth, leg = make_cloth("Skirt"), make_collider("Leg")
    cloth.select_set(True)
    assert "Bake Selected" in draw("bake").buttons()
    cloth.select_set(False)
    leg.select_set(True)
    assert "Bake Selected" in draw("bake").buttons("grey")
    chosen = SimpleNamespace(resume=False, from_current=False, scope="SELECTED")
    assert TAFFETA_OT_bake.description(bpy.context, chosen).endswith("No cloth is selected now")
    cloth.select_set(True)
    assert TAFFETA_OT_bake.description(bpy.context, chosen).endswith("ignored if not")


def test_what_goes_on_from_a_bake_is_grey_before_there_is_one(draw, make_cloth, monkeypatch):
    cloth = make_cloth("Skirt")
    cloth.select_set(True)
    stale, later = (
        SimpleNamespace(resume=False, from_current=current, scope=scope)
        for current, scope in ((False, "STALE"), (True, "ALL"))
    )
    assert draw("bake").buttons("grey") == ["Bake Stale", "Bake from Current"]
    assert TAFFETA_OT_bake.description(bpy.context, stale).endswith("Nothing is baked yet")
    assert TAFFETA_OT_bake.description(bpy.context, later).endswith("Nothing is baked yet")
    monkeypatch.setattr(status, "every", lambda scene: [(cloth, CacheState.STALE, "density is 0.2")])
    assert draw("bake").buttons("grey") == []
    assert "yet" not in TAFFETA_OT_bake.description(bpy.context, stale)


def test_layers_stand_together_once_there_are_two_cloths(draw, make_cloth):
    make_cloth("Skirt")
    assert not sidebar.TAFFETA_PT_sidebar_layers.poll(bpy.context)
    make_cloth("Coat")
    assert draw("layers").shown == [("prop", "layer"), ("prop", "layer")]


def test_what_is_selected_can_become_cloth_beside_others(draw, make_cloth, make_collider):
    """Two garments of four became cloth, the others colliders: no button of the sidebar made them cloth, too."""
    cloth, body = make_cloth(), make_collider()
    cloth.select_set(True)
    assert ("operator", "taffeta.quick_cloth") not in draw("cloths").shown
    body.select_set(True)
    assert "Make Selected Cloth" in draw("cloths").buttons()
    cloth.select_set(False)
    bpy.ops.taffeta.quick_cloth()
    assert body.taffeta.role == "CLOTH"


def test_a_bake_whose_cloth_was_undone_can_still_be_ended(draw, make_cloth, monkeypatch):
    cloth = make_cloth()
    monkeypatch.setattr(session, "state", lambda: BakeState(phase=Phase.RUNNING))
    cloth.taffeta.role = "NONE"
    assert ("operator", "taffeta.cancel") in draw("bake").shown


def test_an_empty_scene_offers_to_make_cloth_and_says_what_that_lacks(draw, make_object):
    assert ("operator", "taffeta.quick_cloth") in draw("cloths").shown
    assert draw("cloths").texts() == "No mesh is selected"
    make_object("Plane", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).select_set(True)
    assert draw("cloths").texts() == "No object is cloth yet"
    for panel in sidebar.CLASSES[1:]:
        assert not panel.poll(bpy.context), panel


def test_more_cloths_than_fit_are_counted(draw, make_cloth):
    for index in range(sidebar.ROWS_SHOWN + 3):
        make_cloth(f"Patch {index}")
    layout = draw("cloths")
    assert layout.buttons().count("Patch 1") == 1
    assert "and 3 more" in layout.texts()
    assert "and 3 more: Unbaked" in draw("cache").texts()


def test_the_size_of_a_bake_that_two_cloths_share_counts_once(draw, make_cloth, monkeypatch):
    make_cloth("Skirt"), make_cloth("Cape")
    shared = Held(CacheState.READY, "4 frames", 4, size=3 * 2**20, free=2**30)
    monkeypatch.setattr(status, "held", lambda scene, cloth: shared)
    texts = draw("cache").texts()
    assert "3.0 MiB, 1.0 GiB free" in texts
    assert "Skirt, Cape: 4 frames" in texts


def test_a_question_mark_beside_each_trouble_explains_it(draw, make_cloth):
    make_cloth("Skirt")
    bpy.context.scene.use_gravity = False
    found = checks.troubles(bpy.context.scene, members(bpy.context.scene))
    codes = [code for trouble in found if (code := code_of(f"{trouble.name}: {trouble.text}"))]
    assert "TAF-S024" in codes
    layout = draw("checks")
    assert layout.shown.count(("operator", "taffeta.help")) == len(codes)


def test_a_stale_cache_has_a_code_whatever_its_reason(draw, make_cloth, monkeypatch):
    make_cloth("Skirt")
    monkeypatch.setattr(
        status, "every", lambda scene: [(bpy.data.objects["Skirt"], CacheState.STALE, "density is 0.2")]
    )
    layout = draw("cache")
    assert ("operator", "taffeta.help") in layout.shown
    assert status.code(CacheState.STALE, "density is 0.2, was 0.1") == "TAF-C002"
    assert status.code(CacheState.CORRUPT, "a.pc2 is missing") == "TAF-C007"
    assert status.code(CacheState.READY, "48 frames") == ""


def test_a_cloth_in_the_running_bake_is_shown_so_and_no_other(draw, make_cloth, monkeypatch):
    skirt = make_cloth("Skirt").session_uid
    make_cloth("Cape")
    bake = SimpleNamespace(bakes=lambda cloth: cloth.session_uid == skirt)
    monkeypatch.setattr(session, "current", bake)
    assert draw("cloths").texts() == "Baking Unbaked"
    assert draw("cache").texts() == "Skirt: being baked Cape: Unbaked"


def test_the_checks_show_what_is_not_clean(draw, make_cloth, make_collider, monkeypatch):
    make_cloth(), make_collider()
    certificates = (Certificate(1, 0), Certificate(2, 3), Certificate(3))
    monkeypatch.setattr(
        status, "held", lambda scene, cloth: Held(CacheState.READY, "3 frames", 3, certificates=certificates)
    )
    texts = draw("checks").texts()
    assert "2 of 3 frames checked" in texts
    assert "Frame 2: 3 intersections" in texts
    assert "Nothing stands in the way" in texts


def test_frames_that_nobody_has_checked_are_not_called_clean(draw, make_cloth, make_collider, monkeypatch):
    make_cloth(), make_collider()
    held = Held(CacheState.PARTIAL, "cancelled: 2 of 9 frames", 2, certificates=(Certificate(1), Certificate(2)))
    monkeypatch.setattr(status, "held", lambda scene, cloth: held)
    texts = draw("checks").texts()
    assert "0 of 2 frames checked" in texts
    assert "None of them has trouble" not in texts


def _no_mesh(cloth):
    marker = bpy.data.objects.new("Marker", None)
    bpy.context.scene.collection.objects.link(marker)
    marker.taffeta.role = "COLLIDER"


TROUBLES = {
    "one frame": (lambda cloth: setattr(bpy.context.scene, "frame_end", 1), "no motion"),
    "gravity": (lambda cloth: setattr(bpy.context.scene, "use_gravity", False), "gravity is switched off"),
    "unit scale": (
        lambda cloth: setattr(bpy.context.scene.unit_settings, "scale_length", 0.01),
        "gravity is 0.0981 m/s²",
    ),
    "pin group": (lambda cloth: setattr(cloth.taffeta.cloth, "pin_group", "Nowhere"), "“Nowhere”"),
    "hidden": (lambda cloth: setattr(cloth, "hide_viewport", True), "disabled in the viewport"),
    "no mesh": (_no_mesh, "only meshes"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_what_stands_in_the_way_of_a_bake_is_named(draw, make_cloth, make_collider, name):
    cloth, _ = make_cloth(), make_collider()
    assert not list(checks.troubles(bpy.context.scene, members(bpy.context.scene)))
    harm, expected = TROUBLES[name]
    harm(cloth)
    assert expected in draw("checks").texts()


@pytest.mark.parametrize("panel", [panel.__name__ for panel in sidebar.CLASSES])
def test_every_panel_is_in_the_tab_and_known_to_blender(addon, panel):
    known = getattr(bpy.types, panel)
    assert (known.bl_space_type, known.bl_region_type, known.bl_category) == ("VIEW_3D", "UI", "Taffeta")

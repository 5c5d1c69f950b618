# SPDX-License-Identifier: GPL-3.0-or-later
"""From Blender's cloth in one click, back in another, with undo; what is left behind can be read."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon.interface import blender_cloth_operators
from taffeta.addon.scene import checks, conversion
from taffeta.addon.scene.gather import members
from taffeta.tests.addon.recording_layout import RecordingLayout

FROM, TO = blender_cloth_operators.TAFFETA_OT_from_blender_cloth, blender_cloth_operators.TAFFETA_OT_to_blender_cloth


@pytest.fixture
def shot(scene) -> bpy.types.Scene:
    """A sheet of Blender's cloth over a ball that stops it, both selected."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.4, segments=16, ring_count=8)
    bpy.context.object.modifiers.new("Collision", "COLLISION")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20, size=2, location=(0, 0, 0.5))
    bpy.context.object.modifiers.new("Cloth", "CLOTH")
    bpy.ops.object.select_all(action="SELECT")
    return scene


def roles() -> dict[str, str]:
    return {item.name: item.taffeta.role for item in bpy.data.objects}


def refused(operator) -> str:
    said: list[str] = []
    stand_in = type("StandIn", (operator,), {"poll_message_set": said.append})
    assert not operator.poll.__func__(stand_in, bpy.context)
    return said[0]


def heights(frames: int) -> list[float]:
    """The mean height of the sheet at each frame."""
    found = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        item = bpy.data.objects["Grid"].evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [item.matrix_world @ vertex.co for vertex in item.data.vertices]
        found.append(sum(point.z for point in points) / len(points))
    return found


def test_one_click_makes_a_shot_of_blenders_cloth_ours_and_another_brings_it_back(shot):
    assert bpy.ops.taffeta.from_blender_cloth() == {"FINISHED"}
    assert roles() == {"Sphere": "COLLIDER", "Grid": "CLOTH"}
    checks._others.clear()
    assert list(checks.troubles(shot, members(shot))) == []
    assert bpy.data.texts[conversion.TEXT].as_string() == "Everything was carried over.\n"
    assert bpy.ops.taffeta.to_blender_cloth() == {"FINISHED"}
    assert roles() == {"Sphere": "NONE", "Grid": "NONE"}
    assert all(item.modifiers[0].show_viewport for item in bpy.data.objects)


def test_it_falls_as_blenders_does_and_comes_to_rest_as_low(shot, tmp_path):
    frames = shot.frame_end = 36
    theirs = heights(frames)
    bpy.ops.taffeta.from_blender_cloth()
    shot.taffeta.backend = "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    ours = heights(frames)
    assert ours[:4] == pytest.approx(theirs[:4], abs=2e-3)  # before it touches
    assert ours == pytest.approx(theirs, abs=0.06)
    assert sum(ours[24:]) / 12 == pytest.approx(sum(theirs[24:]) / 12, abs=0.02)  # the swing has gone


@pytest.mark.parametrize("call", ["from_blender_cloth", "to_blender_cloth"])
def test_both_can_be_undone(shot, call):
    if call == "to_blender_cloth":
        bpy.ops.taffeta.from_blender_cloth()
    before = roles()
    bpy.ops.ed.undo_push(message="before")
    getattr(bpy.ops.taffeta, call)("EXEC_DEFAULT", True)
    assert roles() != before
    bpy.ops.ed.undo()
    assert roles() == before
    shown = [item.modifiers[0].show_viewport for item in bpy.data.objects]
    assert shown == [call == "from_blender_cloth"] * 2


def test_what_was_left_behind_stands_in_a_text(shot):
    bpy.data.objects["Grid"].modifiers["Cloth"].settings.quality = 9
    bpy.ops.taffeta.from_blender_cloth()
    expected = "Not carried over:\nGrid: Quality: a bake chooses its time steps itself\n"
    assert bpy.data.texts[conversion.TEXT].as_string() == expected


def test_the_redo_panel_shows_the_choice_and_what_was_left_behind(shot):
    told = tuple(f"Grid: Control {k}: a reason that is longer than a line of this panel" for k in range(20))
    stand_in = SimpleNamespace(layout=RecordingLayout(), keep_pace=True, _told=told, bl_rna=FROM.bl_rna)
    stand_in.layout.prop = lambda data, name: stand_in.layout.shown.append(("prop", name))
    FROM.draw(stand_in, bpy.context)
    assert ("prop", "keep_pace") in stand_in.layout.shown
    texts = [text for kind, text in stand_in.layout.shown if kind == "label"]
    assert texts[-1] == "More in the text “Taffeta Conversion”"
    assert max(map(len, texts)) <= 37


def test_where_nothing_fits_the_buttons_say_why(shot):
    for item in bpy.data.objects:
        item.select_set(False)
    assert refused(FROM) == "No selected mesh has Blender's Cloth or Collision"
    assert refused(TO) == "No selected mesh is Taffeta's cloth or collider"
    bpy.data.objects["Grid"].select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Grid"]
    bpy.ops.object.mode_set(mode="EDIT")
    assert refused(FROM) == "Leave Edit Mode first"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert refused(TO) == "No selected mesh is Taffeta's cloth or collider"
    assert bpy.ops.taffeta.from_blender_cloth.poll()


def test_a_selection_that_is_only_linked_says_so(shot, tmp_path):
    file = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.objects = ["Grid"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    wanted.objects[0].select_set(True)
    assert refused(FROM) == "Grid: it is linked: Object > Library Override > Make"


def test_an_overridden_object_is_converted(shot, tmp_path):
    file = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.objects = ["Grid"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    own = wanted.objects[0].override_create(remap_local_usages=True)
    own.select_set(True)
    assert bpy.ops.taffeta.from_blender_cloth() == {"FINISHED"}
    assert (own.taffeta.role, own.modifiers["Cloth"].show_viewport) == ("CLOTH", False)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of Finalise: which caches they take, what a grey one says, and undo."""

from __future__ import annotations

import time
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from taffeta.addon.bake.state import Happening
from taffeta.addon.finalise import to_file
from taffeta.addon.interface import finalise_operators, finalise_panel
from taffeta.addon.scene import modifier
from taffeta.gpu_core.files import cache
from taffeta.tests.addon.baking import LONG, begin, end, folder, played, until_frame
from taffeta.tests.addon.finalising import choose, item, simulated, without_refining
from taffeta.tests.addon.interface.test_panels import RecordingLayout

BUTTONS = ("to_shape_keys", "to_mesh", "velocity", "export_alembic", "export_usd")


# Which caches


def press_all(tmp_path) -> list[str]:
    """What each button answers where it does not work."""
    answers = []
    for name in BUTTONS:
        arguments = {"filepath": str(tmp_path / "out.abc")} if name.startswith("export") else {}
        with pytest.raises(RuntimeError) as error:
            getattr(bpy.ops.taffeta, name)(**arguments)
        answers.append(str(error.value))
    return answers


def test_a_cloth_without_a_cache_is_to_be_baked_first(saved_scene, tmp_path):
    choose(item())
    for answer in press_all(tmp_path):
        assert "Cloth is missing" in answer
        assert "Bake first" in answer


def test_a_bake_that_is_not_whole_is_to_be_resumed(saved_scene, tmp_path):
    saved_scene.frame_end = LONG
    bake = until_frame(begin(), 2)
    bake.handle(Happening.CANCEL)
    end(bake)
    choose(item())
    for answer in press_all(tmp_path):
        assert "Cloth is partial" in answer
        assert "Resume the bake" in answer


def test_a_stale_cache_is_refused_with_what_has_changed(baked, tmp_path):
    item().taffeta.cloth.density = 0.5
    for answer in press_all(tmp_path):
        assert "density is 0.5, was 0.12" in answer
        assert "Bake again" in answer


def test_a_damaged_frame_is_refused(baked, tmp_path):
    path = cache.frames_path(folder(baked), "Cloth")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    for answer in press_all(tmp_path):
        assert "Cloth.pc2 is damaged at frame 4" in answer


def test_a_cache_that_went_away_since_it_was_looked_at_is_refused(baked, tmp_path):
    cache.frames_path(folder(baked), "Cloth").unlink()
    for answer in press_all(tmp_path):
        assert "is missing" in answer


def test_a_mesh_that_has_changed_is_refused_where_blender_would_play_nothing(baked, tmp_path):
    item().modifiers["Refine"].levels = 1
    item().modifiers.move(item().modifiers.find("Refine"), 0)
    for answer in press_all(tmp_path):
        assert "the mesh has" in answer
    item().modifiers.move(0, 1)
    item().hide_viewport = True
    for answer in press_all(tmp_path):
        assert "disabled in the viewport" in answer


# Buttons


@pytest.mark.parametrize("name", BUTTONS)
def test_a_grey_button_says_why(scene, make_collider, name):
    make_collider()
    operator = getattr(finalise_operators, f"TAFFETA_OT_{name}")
    said = []
    stand_in = type("StandIn", (operator,), {"poll_message_set": said.append})
    assert not operator.poll.__func__(stand_in, bpy.context)
    assert said == ["No cloth is selected"]


def test_a_blender_without_alembic_says_so(baked, monkeypatch):
    options = SimpleNamespace(alembic=False, usd=True)
    monkeypatch.setattr(to_file, "bpy", SimpleNamespace(app=SimpleNamespace(build_options=options)))
    assert "without Alembic" in to_file.unavailable(".abc")
    assert not to_file.unavailable(".usdc")


def drawn() -> RecordingLayout:
    layout = RecordingLayout()
    with bpy.context.temp_override(object=item()):
        assert finalise_panel.TAFFETA_PT_finalise.poll(bpy.context)
        finalise_panel.TAFFETA_PT_finalise.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout


def test_the_panel_greys_all_where_the_scene_has_changed_since_the_bake_and_says_so(baked):
    assert drawn().buttons()
    assert not drawn().buttons("grey")
    item().taffeta.cloth.density = 0.5
    assert "density is 0.5, was 0.12. Bake again" in drawn().texts()
    assert set(drawn().buttons()) <= {""}  # a question mark beside the message
    assert drawn().buttons("grey")


def test_the_panel_has_a_button_for_each(baked):
    layout = drawn()
    assert {name for kind, name in layout.shown if kind == "operator"} == {f"taffeta.{name}" for name in BUTTONS}


@pytest.mark.parametrize("name", BUTTONS)
def test_asking_whether_a_button_works_takes_less_than_a_millisecond_and_no_disk(baked, monkeypatch, name):
    def forbidden(*arguments, **options):
        raise AssertionError(f"asking touches the disk: {arguments}")

    for function in ("builtins.open", "io.open", "os.stat", "os.scandir", "os.open"):
        monkeypatch.setattr(function, forbidden)
    times = []
    for _ in range(20):
        began = time.process_time()
        assert getattr(finalise_operators, f"TAFFETA_OT_{name}").poll(bpy.context)
        times.append(time.process_time() - began)
    assert sorted(times)[10] < 0.001


@pytest.mark.parametrize("name", ["to_shape_keys", "to_mesh", "velocity"])
def test_finalising_is_undone(baked, name):
    before = sorted(entry.name for entry in bpy.data.objects)
    bpy.ops.ed.undo_push(message="before")
    getattr(bpy.ops.taffeta, name)()
    assert sorted(entry.name for entry in bpy.data.objects) != before
    bpy.ops.ed.undo_push(message="finalised")  # the window manager does it for operators of the interface
    bpy.ops.ed.undo()
    assert sorted(entry.name for entry in bpy.data.objects) == before
    assert [own.name for own in item().modifiers] == [modifier.TRIANGLES, modifier.NAME, "Refine"]
    assert (item().hide_render, item().hide_get()) == (False, False)
    np.testing.assert_array_equal(played(without_refining(item()), 3), simulated(bpy.context.scene)[2])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in real Blender with the real worker: what is seen, what the mouse pulls, what stays, and what must not."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import session
from taffeta.addon.live import display
from taffeta.addon.live import session as live
from taffeta.addon.live.state import Drag, Grab, Occurrence, Phase
from taffeta.addon.scene import frozen_shape, modifier, render_job
from taffeta.addon.scene.gather import gather
from taffeta.tests.addon.baking import begin, end
from taffeta.tests.addon.live.seeing import base, cloth, floor, seen


@pytest.fixture
def scene_of_live(saved_scene):
    """A sheet above a floor, 40 frames that play as fast as the worker can."""
    saved_scene.frame_end = 40
    saved_scene.render.fps = 24
    yield saved_scene
    live.close()


def started() -> live.Live:
    """A Live that shows the start."""
    running = live.start(bpy.context)
    while running.state.active and running.state.turn is None:
        running.wait()
    assert running.state.phase is Phase.RUNNING, running.state
    return running


def frames(running: live.Live, count: int) -> live.Live:
    """Step until so many more frames have come."""
    for _ in range(count):
        before = running.state.latest
        while running.state.latest is before:
            assert running.state.active, running.state
            running.wait()
    return running


def until_ended(running: live.Live) -> live.LiveState:
    until = time.monotonic() + 20
    while running.state.busy and time.monotonic() < until:
        running.step()
        time.sleep(0.005)
    return live.finish()


def leftovers() -> list[str]:
    return [f"{item.name}: {own.name}" for item in bpy.data.objects for own in item.modifiers if display.find(item)]


# What is seen


def test_cloth_falls_and_the_timeline_runs_with_it_and_the_mesh_stays(scene_of_live):
    scene_of_live.frame_set(17)
    before = base(cloth())
    running = started()
    assert scene_of_live.frame_current == 1
    np.testing.assert_allclose(seen(cloth()), before, atol=1e-6)
    frames(running, 5)
    assert scene_of_live.frame_current == 6
    assert seen(cloth())[:, 2].max() < -0.05
    np.testing.assert_array_equal(base(cloth()), before)


def test_modifiers_that_refine_come_after_it_and_baked_frames_before(scene_of_live):
    bpy.ops.taffeta.bake()
    cloth().modifiers.new("Refine", "SUBSURF")
    frames(started(), 1)
    names = [item.name for item in cloth().modifiers]
    assert names == [modifier.TRIANGLES, modifier.NAME, modifier.LIVE, "Refine"]
    assert len(seen(cloth())) > len(base(cloth()))
    assert not display.find(cloth()).show_render


def test_a_timeline_that_stands_lets_the_cloth_go_on(scene_of_live):
    scene_of_live.taffeta.live_timeline = False
    running = frames(started(), 4)
    assert scene_of_live.frame_current == 1
    assert seen(cloth())[:, 2].max() < -0.05
    scene_of_live.taffeta.live_timeline = True
    scene_of_live.frame_set(39)
    frames(running, 3)
    assert scene_of_live.frame_current == 40


def test_going_back_in_the_timeline_starts_over(scene_of_live):
    running = frames(started(), 5)
    start = base(cloth())
    cloth().taffeta.cloth.density = 0.3
    scene_of_live.frame_set(2)
    running.step()
    while running.state.again or running.state.phase is not Phase.RUNNING:
        running.wait()
    assert scene_of_live.frame_current == 1
    np.testing.assert_allclose(seen(cloth()), start, atol=1e-6)
    frames(running, 2)


def test_bodies_are_followed_as_animated_and_as_moved_by_hand(scene_of_live):
    scene_of_live.gravity = (0.0, 0.0, 0.0)
    cloth().location.z = 0.05
    floor().location.z = 0.5  # the sheet lies 5 cm above it
    floor().keyframe_insert("location", index=2, frame=1)
    floor().location.z = 0.9
    floor().keyframe_insert("location", index=2, frame=9)
    running = frames(started(), 6)
    body = seen(floor())[:, 2].max()
    assert body == pytest.approx(0.25, abs=0.1)  # of frame 7, on Blender's eased curve
    inner = np.abs(base(cloth())[:, :2]).max(axis=1) < 0.2
    assert (seen(cloth())[inner, 2] > body).all()
    floor().animation_data_clear()
    floor().location.z = 1.1
    frames(running, 3)
    assert (seen(cloth())[inner, 2] > seen(floor())[:, 2].max()).all()


def test_pins_follow_the_animated_mesh_below_live(scene_of_live):
    group = cloth().vertex_groups.new(name="Held")
    group.add([0, 4], 1.0, "REPLACE")
    cloth().taffeta.cloth.pin_group = "Held"
    cloth().location.x = 0.0
    cloth().keyframe_insert("location", index=0, frame=1)
    cloth().location.x = 0.4
    cloth().keyframe_insert("location", index=0, frame=9)
    frames(started(), 6)
    moved = cloth().matrix_world.translation.x
    assert moved > 0.15
    np.testing.assert_allclose(seen(cloth())[[0, 4]], base(cloth())[[0, 4]] + [moved, 0, 0], atol=1e-5)


def test_pins_follow_what_carries_them_in_live_by_hand_too(scene_of_live):
    for name, vertices in (("Held", [0]), ("Carried", [4])):
        cloth().vertex_groups.new(name=name).add(vertices, 1.0, "REPLACE")
    cloth().taffeta.cloth.pin_group = "Held"
    hand = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(hand)
    pins = cloth().taffeta.cloth.pins.add()
    pins.group, pins.target = "Carried", hand
    running = frames(started(), 2)
    hand.location.z = 0.05
    frames(running, 3)
    np.testing.assert_allclose(seen(cloth())[[0, 4]], base(cloth())[[0, 4]] + [[0, 0, 0], [0, 0, 0.05]], atol=1e-5)


def test_in_edit_mode_it_waits(scene_of_live):
    running = frames(started(), 2)
    bpy.context.view_layer.objects.active = floor()
    bpy.ops.object.mode_set(mode="EDIT")
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        running.step()
    before = running.state.latest
    assert not running.state.waiting
    bpy.ops.object.mode_set(mode="OBJECT")
    frames(running, 2)
    assert running.state.latest is not before


def test_the_mouse_pulls_the_cloth_and_lets_it_go(scene_of_live):
    scene_of_live.taffeta.grab_radius, scene_of_live.taffeta.grab_strength = 0.3, 0.9
    running = frames(started(), 1)
    corner = np.array(seen(cloth())[0])
    running.handle(Grab(running.key(cloth()), tuple(corner)))
    frames(running, 3)  # one that was asked for before has let it fall on
    gripped = np.array(seen(cloth())[0])
    for k in range(1, 9):
        running.handle(Drag(tuple(corner + [0.0, 0.0, 0.02 * k])))
        frames(running, 4 if k == 8 else 1)  # what was asked for before the hand's last move lags behind it
    held = seen(cloth())[0]
    assert np.linalg.norm(held - gripped - [0.0, 0.0, 0.16]) < 0.02
    running.handle(Occurrence.RELEASE)
    frames(running, 5)
    assert seen(cloth())[0, 2] < held[2] - 0.05


def test_points_are_metres_whatever_the_scene_counts_in(scene_of_live):
    scene_of_live.unit_settings.system = "METRIC"
    scene_of_live.unit_settings.scale_length = 0.1
    scene_of_live.taffeta.grab_radius = 0.03
    running = frames(started(), 1)
    corner = seen(cloth())[0]
    running.handle(Grab(running.key(cloth()), tuple(0.1 * corner)))
    running.handle(Drag(tuple(0.1 * (corner + [0.0, 0.0, 0.2]))))
    frames(running, 8)
    np.testing.assert_allclose(seen(cloth())[0], corner + [0.0, 0.0, 0.2], atol=0.05)


# What stays


def test_a_frozen_start_is_where_bakes_and_live_begin_and_the_rest_shape_stays(scene_of_live):
    scene_of_live.frame_end = 2
    flat = base(cloth())
    running = frames(started(), 6)
    shown = seen(cloth())
    cloth().select_set(True)
    assert bpy.ops.taffeta.freeze_start() == {"FINISHED"}
    live.close()
    np.testing.assert_array_equal(base(cloth()), flat)
    (read,) = gather(bpy.context).cloths
    np.testing.assert_allclose(read.positions, shown, atol=1e-6)
    np.testing.assert_allclose(read.rest_positions, flat, atol=1e-6)
    running = started()
    np.testing.assert_allclose(seen(cloth()), shown, atol=1e-6)
    assert running.state.active
    with bpy.context.temp_override(object=cloth()):
        assert bpy.ops.taffeta.clear_start() == {"FINISHED"}
        assert not bpy.ops.taffeta.clear_start.poll()
    (read,) = gather(bpy.context).cloths
    np.testing.assert_allclose(read.positions, flat, atol=1e-6)


def test_a_frozen_rest_shape_is_the_mesh_and_without_stress(scene_of_live):
    frames(started(), 6)
    shown = seen(cloth())
    cloth().select_set(True)
    bpy.ops.taffeta.freeze_start()
    assert bpy.ops.taffeta.freeze_rest() == {"FINISHED"}
    live.close()
    np.testing.assert_allclose(base(cloth()), shown, atol=1e-6)
    assert not frozen_shape.has_start(cloth())
    (read,) = gather(bpy.context).cloths
    np.testing.assert_array_equal(read.rest_positions, read.positions)


@pytest.mark.parametrize("name", ["freeze_start", "freeze_rest"])
def test_freezing_is_undone_and_redone(scene_of_live, name):
    frames(started(), 4)
    flat, shown = base(cloth()), seen(cloth())
    cloth().select_set(True)
    bpy.ops.ed.undo_push(message="before")
    getattr(bpy.ops.taffeta, name)()
    bpy.ops.ed.undo_push(message="frozen")  # the window manager does it for operators of the interface
    bpy.ops.ed.undo()
    assert not frozen_shape.has_start(cloth())
    np.testing.assert_array_equal(base(cloth()), flat)
    bpy.ops.ed.redo()
    kept = frozen_shape.start(cloth()) if name == "freeze_start" else base(cloth())
    np.testing.assert_allclose(kept, shown, atol=1e-6)


def test_a_start_survives_saving(scene_of_live, tmp_path):
    frames(started(), 4)
    cloth().select_set(True)
    bpy.ops.taffeta.freeze_start()
    kept = frozen_shape.start(cloth())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    np.testing.assert_array_equal(frozen_shape.start(cloth()), kept)


def shape_key(item):
    item.shape_key_add(name="Basis")


def deformer(item):
    item.modifiers.new("Bend", "SIMPLE_DEFORM")


def second_user(item):
    bpy.data.objects.new("Copy", item.data)


@pytest.mark.parametrize(
    ("harm", "text"), [(shape_key, "shape keys"), (deformer, "“Bend”"), (second_user, "2 objects share")]
)
def test_a_rest_shape_that_would_not_stay_is_refused_and_said_why(scene_of_live, harm, text):
    harm(cloth())
    flat = base(cloth())
    frames(started(), 2)
    cloth().select_set(True)
    with pytest.raises(RuntimeError, match=text):
        bpy.ops.taffeta.freeze_rest()
    np.testing.assert_array_equal(base(cloth()), flat)


def test_where_one_shape_cannot_be_frozen_none_is(scene_of_live, make_cloth):
    other = make_cloth("Another")
    other.location.z = 1.0
    shape_key(other)
    flat = base(cloth())
    frames(started(), 2)
    for item in (cloth(), other):
        item.select_set(True)
    with pytest.raises(RuntimeError, match="Another: its shape keys"):
        bpy.ops.taffeta.freeze_rest()
    np.testing.assert_array_equal(base(cloth()), flat)


def test_an_attribute_of_another_kind_in_its_place_is_said(scene_of_live):
    cloth().data.attributes.new(frozen_shape.START, "FLOAT", "POINT")
    with pytest.raises(Exception, match="no vector of each vertex"):
        live.start(bpy.context)
    assert live.current is None


# That nothing else stays


def test_it_ends_and_leaves_nothing_behind(scene_of_live):
    running = frames(started(), 3)
    before, folder = base(cloth()), running._folder
    assert leftovers()
    assert bpy.ops.taffeta.live_end() == {"FINISHED"}
    assert live.finish().phase is Phase.ENDED
    assert leftovers() == []
    assert not folder.exists()
    assert running._process._process.poll() is not None
    np.testing.assert_array_equal(seen(cloth()), before)
    assert not bpy.ops.taffeta.live_end.poll()


def test_a_saved_file_has_nothing_of_it_and_live_goes_on(scene_of_live, tmp_path):
    running = frames(started(), 3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    assert leftovers()
    frames(running, 2)
    live.close()
    with bpy.data.libraries.load(str(tmp_path / "saved.blend")) as (_, wanted):
        wanted.objects = ["Cloth"]
    assert list(wanted.objects[0].modifiers) == []


def test_a_file_that_a_crash_has_saved_is_cleaned_when_it_opens(scene_of_live, tmp_path):
    display.show(cloth(), tmp_path / "gone.pc2")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert leftovers() == []


def test_another_file_ends_it(scene_of_live):
    running = frames(started(), 2)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert live.current is None
    assert running._process._process.poll() is not None
    assert live.state().phase is Phase.IDLE


def test_a_bake_ends_it(scene_of_live):
    scene_of_live.frame_end = 3
    frames(started(), 2)
    bake = begin()
    assert live.state().phase is Phase.ENDED
    assert leftovers() == []
    end(bake)
    assert live.state().text == "A bake began"
    live.finish()


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_killed_worker_ends_it_with_the_cause(scene_of_live):
    running = frames(started(), 2)
    os.kill(running._process._process.pid, signal.SIGKILL)
    state = until_ended(running)
    assert state.phase is Phase.FAILED
    assert "SIGKILL" in state.headline
    assert leftovers() == []


def test_undo_steps_of_its_time_bring_nothing_back(scene_of_live):
    bpy.ops.ed.undo_push(message="before")
    running = frames(started(), 3)
    floor().location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    frames(running, 2)
    floor().location.x = 2.0
    bpy.ops.ed.undo_push(message="moved again")
    bpy.ops.ed.undo()
    assert floor().location.x == 1.0
    frames(running, 2)
    assert seen(cloth())[:, 2].max() < -0.05
    bpy.ops.taffeta.live_end()
    live.finish()
    bpy.ops.ed.undo_push(message="ended")
    bpy.ops.ed.undo()
    assert leftovers() == []


def test_a_render_ends_it_and_shows_nothing_of_it(scene_of_live, monkeypatch):
    running = frames(started(), 2)
    monkeypatch.setattr(render_job, "runs", lambda: True)
    running.step()
    assert (running.state.phase, running.state.busy) == (Phase.ENDED, True)
    assert leftovers()  # nobody may change the scene now
    monkeypatch.setattr(render_job, "runs", lambda: False)
    running.step()
    assert not running.state.busy
    live.finish()
    assert leftovers() == []


LOSSES = {
    "cloth": lambda: bpy.data.objects.remove(cloth()),
    "collider": lambda: bpy.data.objects.remove(floor()),
    "scene": lambda: setattr(bpy.context.window, "scene", bpy.data.scenes.new("Another")),
}


@pytest.mark.parametrize("lost", LOSSES)
def test_what_is_gone_ends_it(scene_of_live, lost):
    running = frames(started(), 2)
    LOSSES[lost]()
    assert until_ended(running).text.startswith("Another scene was chosen, or")
    assert leftovers() == []


def test_a_mesh_that_changes_ends_it_and_is_named(scene_of_live):
    running = frames(started(), 2)
    floor().modifiers.new("Finer", "SUBSURF")
    state = until_ended(running)
    assert (state.phase, state.culprit) == (Phase.FAILED, "Floor")
    assert "other vertices" in state.text


def test_a_scene_that_cannot_be_simulated_is_refused_and_changes_nothing(scene_of_live):
    scene_of_live.frame_set(9)
    cloth().taffeta.cloth.pin_group = "Nowhere"
    with pytest.raises(Exception, match="“Nowhere”"):
        live.start(bpy.context)
    assert live.current is None
    assert scene_of_live.frame_current == 9
    assert not list(Path(bpy.app.tempdir).glob("live_*"))


def test_without_a_window_it_says_so(scene_of_live):
    with pytest.raises(RuntimeError, match="Live needs a window"):
        bpy.ops.taffeta.live()
    assert session.current is None

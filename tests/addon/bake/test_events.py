# SPDX-License-Identifier: GPL-3.0-or-later
"""What users and machines do to a bake that runs: each has its answer, in real Blender with the real worker."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import session
from taffeta.addon.bake.state import Happening, Phase
from taffeta.addon.cache import status
from taffeta.addon.scene import modifier, render_job
from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon.baking import LONG, begin, end, folder, frames, played, until_frame, until_reading


def cloth() -> bpy.types.Object:
    return bpy.data.objects["Cloth"]


def alive(group: int) -> list[str]:
    """The processes of a group that are not just waiting to be buried."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = path.read_text().rpartition(")")
            state, _, its_group = rest.split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(name)
    return found


@pytest.fixture
def long_scene(saved_scene):
    saved_scene.frame_end = LONG
    return saved_scene


# Cancel, pause


def test_a_bake_whose_window_is_closed_says_so_and_can_be_resumed(saved_scene):
    saved_scene.frame_end = 12
    until_frame(begin(), 3)
    session.close_window()
    assert session.current is None
    assert session.state().headline.endswith("of 12 frames are in the cache. Its window was closed")
    assert status.of(saved_scene, cloth())[0] is CacheState.PARTIAL
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert status.of(saved_scene, cloth()) == (CacheState.READY, "12 frames")


def test_a_cancel_stops_between_two_steps_and_resume_ends_in_the_same_bytes(saved_scene):
    saved_scene.frame_end = 12
    bpy.ops.taffeta.bake()
    unbroken = cache.frames_path(folder(saved_scene), "Cloth").read_bytes()
    bake = until_frame(begin(), 3)
    assert bpy.ops.taffeta.cancel() == {"FINISHED"}
    assert not bpy.ops.taffeta.cancel.poll()
    state = end(bake)
    assert (state.phase, bake._process.exit_code) == (Phase.CANCELLED, 5)
    assert not list(folder(saved_scene).glob("*.new"))
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert cache.frames_path(folder(saved_scene), "Cloth").read_bytes() == unbroken


def test_a_paused_bake_waits_and_goes_on(long_scene):
    bake = until_frame(begin(), 2)
    assert bpy.ops.taffeta.pause() == {"FINISHED"}
    assert bake.state.phase is Phase.PAUSED
    time.sleep(0.5)
    bake.step(0.1)
    held = bake.state.done
    time.sleep(0.5)
    bake.step(0.1)
    assert (bake.state.phase, bake.state.done) == (Phase.PAUSED, held)
    assert bpy.ops.taffeta.pause() == {"FINISHED"}
    assert bake.state.phase is Phase.RUNNING
    until_frame(bake, held + 2)
    bake.handle(Happening.CANCEL)
    assert end(bake).phase is Phase.CANCELLED


# The machine


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_killed_worker_leaves_frames_that_play(long_scene):
    bake = until_frame(begin(), 3)
    os.kill(bake._process._process.pid, signal.SIGKILL)
    state = end(bake)
    assert (state.phase, state.kind) == (Phase.FAILED, "crash")
    assert "SIGKILL" in state.text
    np.testing.assert_array_equal(played(cloth(), 3), frames(folder(long_scene))[2])


def test_a_full_disk_is_said_and_the_bake_can_be_resumed_once_there_is_room(saved_scene):
    """A limit on the size of files stands in for the disk: writing fails in the middle of a frame."""
    saved_scene.frame_end = 60
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    bake = until_reading(begin())
    while bake.state.phase is Phase.READING:
        bake.step(0.1)
    bake.handle(Happening.CANCEL)  # the job is on disk; now the disk fills up
    end(bake)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, hard))
    try:
        bake = begin(session.Order(resume=True))
        state = end(bake)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (state.phase, state.kind) == (Phase.FAILED, "disk"), state
    assert "The disk is full" in state.text
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert len(frames(folder(saved_scene))) == 60
    cache.verify(folder(saved_scene))


def test_an_unplugged_drive_ends_the_bake_and_not_blender(long_scene, tmp_path):
    bake = until_frame(begin(), 2)
    shutil.move(tmp_path / "taffeta_cache", tmp_path / "unplugged")
    state = end(bake)
    assert (state.phase, state.kind) == (Phase.FAILED, "disk"), state
    assert "taffeta_cache" in state.text
    shutil.move(tmp_path / "unplugged", tmp_path / "taffeta_cache")
    assert cache.inspect(folder(long_scene))[0] is CacheState.PARTIAL


# Files


def test_opening_another_file_while_reading_ends_the_bake(long_scene):
    bake = until_reading(begin())
    bpy.ops.wm.read_homefile(use_empty=True)
    assert session.current is None
    assert bake.state.phase is Phase.CANCELLED


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at /proc")
def test_opening_another_file_ends_the_worker_and_its_checker(long_scene):
    bake = until_frame(begin(), 2)
    pid = bake._process._process.pid
    bpy.ops.wm.read_homefile(use_empty=True)
    assert session.current is None
    until = time.monotonic() + 5
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert alive(pid) == []


def test_save_as_during_a_bake_leaves_the_bake_where_it_is_and_both_files_play_it(saved_scene, tmp_path):
    saved_scene.frame_end = 20
    place = folder(saved_scene)
    bake = until_frame(begin(), 2)
    (tmp_path / "deeper").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "deeper" / "copy.blend"))
    assert end(bake).phase is Phase.DONE
    assert len(frames(place)) == 20
    np.testing.assert_array_equal(played(cloth(), 20), frames(place)[19])
    bpy.ops.wm.save_mainfile()
    for file in ("shot.blend", "deeper/copy.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / file))
        if modifier.find(cloth()) is not None:  # the first file was saved before the bake began
            np.testing.assert_array_equal(played(cloth(), 20), frames(place)[19])


# Undo


def test_undo_during_a_bake_leaves_the_bake_and_the_modifier(long_scene):
    bpy.ops.ed.undo_push(message="before")
    cloth().location.x = 1
    bpy.ops.ed.undo_push(message="moved")
    bake = until_frame(begin(), 2)
    bpy.ops.ed.undo()
    assert cloth().location.x == 0
    assert modifier.find(cloth()) is not None
    until_frame(bake, 4)
    bpy.ops.ed.redo()
    assert modifier.find(cloth()) is not None
    bake.handle(Happening.CANCEL)
    assert end(bake).phase is Phase.CANCELLED
    np.testing.assert_array_equal(played(cloth(), 3), frames(folder(bpy.context.scene))[2])


def test_undo_while_reading_ends_the_bake_before_it_can_touch_what_is_gone(long_scene):
    bpy.ops.ed.undo_push(message="before")
    cloth().modifiers.new("Refine", "SUBSURF")
    bpy.ops.ed.undo_push(message="refined")
    bake = until_reading(begin())
    assert not cloth().modifiers["Refine"].show_viewport
    bpy.ops.ed.undo()
    state = end(bake)
    assert state.phase is Phase.CANCELLED
    assert "Undo" in state.headline
    bpy.ops.ed.redo()
    assert cloth().modifiers["Refine"].show_viewport


def test_a_finished_bake_is_undone_and_redone(saved_scene):
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.taffeta.bake()
    bpy.ops.ed.undo_push(message="baked")  # the window manager does it for operators of the interface
    bpy.ops.ed.undo()
    assert modifier.find(cloth()) is None
    bpy.ops.ed.redo()
    np.testing.assert_array_equal(played(cloth(), 4), frames(folder(bpy.context.scene))[3])


# Rendering


@pytest.fixture
def render(monkeypatch):
    """Tells the add-on that Blender renders, or no longer; tests/gui does so with real ones."""
    return lambda runs: monkeypatch.setattr(render_job, "runs", lambda: runs)


def test_frames_that_land_during_a_render_play_only_after_it(long_scene, render):
    bake = until_frame(begin(), 1)
    cloth().modifiers.remove(modifier.find(cloth()))
    render(True)
    until_frame(bake, bake.state.done + 1)
    bake.handle(Happening.UNDONE)  # asks for the modifier
    until_frame(bake, bake.state.done + 2)
    assert modifier.find(cloth()) is None
    render(False)
    bake.step(0.01)
    assert modifier.find(cloth()) is not None
    assert bake.state.phase is Phase.RUNNING


def test_a_bake_that_ends_during_a_render_is_over_when_that_is(saved_scene, render):
    bake = begin()
    while bake.state.phase is Phase.READING:
        bake.step(0.01)
    render(True)
    while bake.state.active:
        bake.step(0.01)
    assert (bake.state.phase, bake.state.busy, modifier.find(cloth())) == (Phase.DONE, True, None)
    render(False)
    assert end(bake).phase is Phase.DONE
    np.testing.assert_array_equal(played(cloth(), 4), frames(folder(saved_scene))[3])


def test_the_scene_is_not_read_during_a_render(long_scene, render):
    bake = until_reading(begin())
    before = bake.state.share
    render(True)
    for _ in range(5):
        bake.step(0.01)
    assert bake.state.share == before
    assert bake.state.headline == "Waiting for the render"
    render(False)
    while bake.state.phase is Phase.READING:
        bake.step(0.1)
    until_frame(bake, 1)


# Objects and scenes


def test_a_scene_that_is_deleted_stops_its_bake(long_scene):
    bpy.data.scenes.new("Another")
    place = folder(long_scene)
    bake = until_frame(begin(), 2)
    bpy.data.scenes.remove(long_scene)
    state = end(bake)
    assert state.phase is Phase.CANCELLED
    assert "deleted" in state.headline
    assert cache.inspect(place)[0] is CacheState.PARTIAL


def test_the_last_cloth_that_is_deleted_stops_the_bake(long_scene):
    bake = until_frame(begin(), 2)
    bpy.data.objects.remove(cloth())
    assert end(bake).phase is Phase.CANCELLED


def test_a_cloth_that_is_deleted_while_reading_ends_the_bake_with_the_cause(long_scene):
    bake = until_reading(begin())
    bpy.data.objects.remove(bpy.data.objects["Floor"])
    state = end(bake)
    assert (state.phase, state.culprit) == (Phase.FAILED, "Floor")
    assert state.text == "Floor: it was deleted while the scene was read. Bake again"


def test_what_a_collection_that_is_instanced_loses_while_it_is_read_ends_the_bake_in_plain_words(long_scene):
    floor, inner = bpy.data.objects["Floor"], bpy.data.collections.new("Inner")
    inner.objects.link(floor)
    long_scene.collection.objects.unlink(floor)
    carrier = bpy.data.objects.new("Carrier", None)
    carrier.instance_type, carrier.instance_collection = "COLLECTION", inner
    long_scene.collection.objects.link(carrier)
    bake = until_reading(begin())
    bpy.data.objects.remove(floor)
    state = end(bake)
    assert state.phase is Phase.FAILED
    assert state.text == "An object changed or went away while the scene was read. Bake again"


def test_one_of_two_cloths_may_go(saved_scene, make_cloth):
    make_cloth("Other").location.z = 0.3
    saved_scene.frame_end = 12
    bake = until_frame(begin(), 2)
    bpy.data.objects.remove(bpy.data.objects["Other"])
    assert end(bake).phase is Phase.DONE
    np.testing.assert_array_equal(played(cloth(), 12), frames(folder(saved_scene))[11])


def test_renaming_everything_during_a_bake_changes_nothing(saved_scene):
    saved_scene.frame_end = 12
    place = folder(saved_scene)
    bake = until_frame(begin(), 2)
    item = cloth()
    item.name, saved_scene.name = "Skirt", "Shot 10"
    assert end(bake).phase is Phase.DONE
    np.testing.assert_array_equal(played(item, 12), frames(place)[11])
    assert folder(saved_scene) == place
    bpy.ops.taffeta.bake()
    assert sorted(path.name for path in place.glob("*.pc2")) == ["Cloth.pc2"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, cancel, free in Blender, with the real worker process."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import kept, session
from taffeta.addon.bake.state import Happening, Phase
from taffeta.addon.cache import checking, status
from taffeta.addon.cache import place as cache_place
from taffeta.addon.scene import modifier
from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files.cache import CacheState

LEFT = ["lock", "taffeta.txt"]  #: of a bake that was freed


def folder(scene) -> Path:
    return cache_place.target(scene)


def played(item, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([vertex.co for vertex in evaluated.data.vertices], np.float32)


def test_a_bake_plays_what_the_cache_holds(saved_scene):
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    item = bpy.data.objects["Cloth"]
    frames = cache.read_frames(cache.frames_path(folder(saved_scene), "Cloth"))
    assert len(frames) == 4
    for frame in (1, 2, 4):
        np.testing.assert_array_equal(played(item, frame), frames[frame - 1])
    assert frames[3, :, 2].max() < frames[0, :, 2].min()


def test_the_file_beside_the_blend_is_stored_relative_to_it(saved_scene):
    bpy.ops.taffeta.bake()
    own = modifier.find(bpy.data.objects["Cloth"])
    assert own.filepath == "//taffeta_cache/shot/Scene/Cloth.pc2"
    assert own.frame_start == 1
    assert (own.cache_format, own.time_mode, own.play_mode) == ("PC2", "FRAME", "SCENE")


def test_it_still_plays_after_saving_elsewhere_and_reopening(saved_scene, tmp_path):
    bpy.ops.taffeta.bake()
    expected = played(bpy.data.objects["Cloth"], 4)
    (tmp_path / "deeper").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "deeper" / "copy.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "deeper" / "copy.blend"))
    np.testing.assert_array_equal(played(bpy.data.objects["Cloth"], 4), expected)


def test_baking_again_gives_the_same_bytes_and_one_modifier(saved_scene):
    bpy.ops.taffeta.bake()
    path = cache.frames_path(folder(saved_scene), "Cloth")
    first = path.read_bytes()
    bpy.ops.taffeta.bake()
    assert path.read_bytes() == first
    assert [entry.name for entry in bpy.data.objects["Cloth"].modifiers] == [modifier.TRIANGLES, modifier.NAME]


def test_the_modifier_goes_behind_deformers_and_before_subdivision(saved_scene):
    item = bpy.data.objects["Cloth"]
    item.modifiers.new("Bend", "SIMPLE_DEFORM").angle = 0
    item.modifiers.new("Refine", "SUBSURF")
    bpy.ops.taffeta.bake()
    assert [entry.name for entry in item.modifiers] == ["Bend", modifier.TRIANGLES, modifier.NAME, "Refine"]


def test_it_stays_where_the_user_moved_it(saved_scene):
    item = bpy.data.objects["Cloth"]
    bpy.ops.taffeta.bake()
    item.modifiers.new("Bend", "SIMPLE_DEFORM").angle = 0
    bpy.ops.taffeta.bake()
    assert [entry.name for entry in item.modifiers] == [modifier.TRIANGLES, modifier.NAME, "Bend"]


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, -1, 0.5)])
def test_an_animated_object_plays_in_its_own_space(saved_scene, scale):
    item = bpy.data.objects["Cloth"]
    item.scale = scale
    item.rotation_euler = (0.1, 0.2, 0.3)
    for frame, x in ((1, 0), (4, 3)):
        item.location.x = x
        item.keyframe_insert("location", frame=frame)
    bpy.ops.taffeta.bake()
    world = []
    for frame in (1, 4):
        local = played(item, frame)
        matrix = np.array(item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
        world.append(local @ matrix[:3, :3].T + matrix[:3, 3])
    np.testing.assert_allclose(world[0][:, 0], world[1][:, 0], atol=0.02)  # the object's motion is not its own


def test_free_removes_our_files_and_modifier_and_nothing_else(saved_scene):
    bpy.ops.taffeta.bake()
    place = folder(saved_scene)
    (place / "notes.txt").write_text("mine")
    (place / "job" / "mine.npy").write_text("mine")
    assert bpy.ops.taffeta.free() == {"FINISHED"}
    assert modifier.find(bpy.data.objects["Cloth"]) is None
    assert sorted((path.name for path in place.rglob("*") if path.is_file()), key=str) == sorted(
        [*LEFT, "mine.npy", "notes.txt"]
    )


def test_free_takes_what_a_deleted_cloth_has_left_on_the_disk(saved_scene):
    bpy.ops.taffeta.bake()
    place = folder(saved_scene)
    bpy.data.objects.remove(bpy.data.objects["Cloth"])
    assert bpy.ops.taffeta.free.poll()
    assert "4 frames of Cloth are lost" in kept.would_free(saved_scene)
    assert "4 frames of Cloth are lost" in kept.would_replace(saved_scene)  # whose place the next one has
    assert bpy.ops.taffeta.free() == {"FINISHED"}
    assert kept.would_free(saved_scene) == ""
    assert sorted(path.name for path in place.iterdir()) == sorted(LEFT)
    assert not bpy.ops.taffeta.free.poll()


def test_free_leaves_the_tag_and_the_lock_alone(saved_scene):
    bpy.ops.taffeta.bake()
    place = folder(saved_scene)
    bpy.ops.taffeta.free()
    assert sorted(path.name for path in place.iterdir()) == sorted(LEFT)


def test_rename_keeps_the_cache(saved_scene):
    bpy.ops.taffeta.bake()
    item = bpy.data.objects["Cloth"]
    item.name = "Table Cloth"
    bpy.ops.taffeta.bake()
    assert [path.name for path in folder(saved_scene).glob("*.pc2")] == ["Cloth.pc2"]


def test_two_scenes_of_a_file_do_not_mix(saved_scene):
    bpy.ops.taffeta.bake()
    other = saved_scene.copy()
    assert folder(other) != folder(saved_scene)


# Progress, cancel, crash


def test_the_interface_reads_in_slices_and_gets_everything_back(saved_scene):
    saved_scene.frame_set(3)
    bake = session.Bake(bpy.context)
    session.start(bake)
    bake.step(0.0)
    while bake.state.phase is Phase.READING:
        bake.step(1e-4)
    assert saved_scene.frame_current == 3
    bake.wait()
    assert session.finish(bpy.context).phase is Phase.DONE


def test_frames_play_as_they_land_and_a_cancel_keeps_them(saved_scene):
    saved_scene.frame_end = 400
    bake = session.Bake(bpy.context)
    session.start(bake)
    while bake.state.done < 3:
        bake.step(1.0)
        time.sleep(0.01)
    assert modifier.find(bpy.data.objects["Cloth"]) is not None
    assert bpy.ops.taffeta.cancel() == {"FINISHED"}
    bake.wait()
    progress = session.finish(bpy.context)
    assert progress.phase is Phase.CANCELLED
    assert 3 <= progress.done < 400
    state, _, done = cache.inspect(folder(saved_scene))
    assert (state, done) == (CacheState.PARTIAL, progress.done)
    assert status.of(saved_scene, bpy.data.objects["Cloth"])[0] is CacheState.PARTIAL
    assert f"{progress.done} of 400" in status.of(saved_scene, bpy.data.objects["Cloth"])[1]


def test_a_cancel_while_reading_puts_everything_back(saved_scene):
    item = bpy.data.objects["Cloth"]
    refine = item.modifiers.new("Refine", "SUBSURF")
    bake = session.Bake(bpy.context)
    session.start(bake)
    bake.step(0.0)
    next(bake._reading)
    assert not refine.show_viewport
    bake.handle(Happening.CANCEL)
    assert refine.show_viewport
    assert session.finish(bpy.context).phase is Phase.CANCELLED


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_killed_worker_is_reported_and_resume_ends_in_the_same_bytes(saved_scene):
    saved_scene.frame_end = 30
    bpy.ops.taffeta.bake()
    path = cache.frames_path(folder(saved_scene), "Cloth")
    unbroken = path.read_bytes()
    bake = session.Bake(bpy.context)
    session.start(bake)
    while bake.state.done < 3:
        bake.step(1.0)
        time.sleep(0.005)
    os.kill(bake._process._process.pid, signal.SIGKILL)
    bake.wait()
    progress = session.finish(bpy.context)
    assert progress.phase is Phase.FAILED
    assert "SIGKILL" in progress.text
    assert path.read_bytes() != unbroken
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert path.read_bytes() == unbroken


def test_opening_another_file_ends_the_bake(saved_scene):
    saved_scene.frame_end = 400
    bake = session.Bake(bpy.context)
    session.start(bake)
    while bake.state.done < 2:
        bake.step(1.0)
        time.sleep(0.01)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert session.current is None
    assert bake._process.exit_code is not None


# Refusals


def test_a_refusal_names_the_object_and_changes_nothing(saved_scene):
    bpy.data.objects["Cloth"].taffeta.cloth.pin_group = "Nowhere"
    with pytest.raises(RuntimeError, match="Cloth: there is no vertex group or attribute “Nowhere” for its pins"):
        bpy.ops.taffeta.bake()
    assert modifier.find(bpy.data.objects["Cloth"]) is None
    assert session.current is None


def test_an_unsaved_file_is_refused_in_background(scene, make_cloth):
    make_cloth()
    with pytest.raises(RuntimeError, match="never been saved"):
        bpy.ops.taffeta.bake()


def test_a_cache_folder_that_cannot_be_made_is_named(saved_scene, tmp_path):
    (tmp_path / "in the way").write_text("a file")
    saved_scene.taffeta.cache_folder = "//in the way/cache"
    with pytest.raises(RuntimeError, match="in the way"):
        bpy.ops.taffeta.bake()
    assert session.current is None


def test_a_foreign_cache_is_never_overwritten(saved_scene):
    place = folder(saved_scene)
    place.mkdir(parents=True)
    (place / "Cloth.pc2").write_bytes(b"somebody's work")
    with pytest.raises(RuntimeError, match="files that Taffeta did not write"):
        bpy.ops.taffeta.bake()
    assert (place / "Cloth.pc2").read_bytes() == b"somebody's work"


def test_cuda_without_a_device_is_refused_with_the_remedy(saved_scene):
    from taffeta.gpu_core.backend import describe

    if describe()["cuda"]["available"]:
        pytest.skip("this machine has CUDA")
    saved_scene.taffeta.backend = "CUDA"
    with pytest.raises(RuntimeError, match="CPU"):
        bpy.ops.taffeta.bake()
    assert modifier.find(bpy.data.objects["Cloth"]) is None


def test_resume_of_a_complete_cache_says_so(saved_scene):
    bpy.ops.taffeta.bake()
    with pytest.raises(RuntimeError, match="complete"):
        bpy.ops.taffeta.bake(resume=True)


def test_resume_after_a_change_is_refused_and_names_it(saved_scene):
    bpy.ops.taffeta.bake()
    bpy.data.objects["Cloth"].taffeta.cloth.density = 1.0
    with pytest.raises(RuntimeError, match=r"Cloth: density is 1, was 0\.12"):
        bpy.ops.taffeta.bake(resume=True)


def test_a_longer_range_is_baked_on_to_the_bytes_of_a_bake_in_one_go(saved_scene):
    bpy.ops.taffeta.bake()
    saved_scene.frame_end = 6
    assert status.of(saved_scene, bpy.data.objects["Cloth"]) == (
        CacheState.PARTIAL,
        "4 of 6 frames: the range is longer now",
    )
    bpy.ops.taffeta.bake(resume=True)
    assert status.of(saved_scene, bpy.data.objects["Cloth"])[0] is CacheState.READY
    went_on = cache.frames_path(folder(saved_scene), "Cloth").read_bytes()
    reports = len((folder(saved_scene) / cache.REPORTS).read_text().splitlines())
    bpy.ops.taffeta.bake()
    assert cache.frames_path(folder(saved_scene), "Cloth").read_bytes() == went_on
    assert reports == 6


def test_a_longer_range_of_another_motion_is_not_baked_on(saved_scene):
    bpy.ops.taffeta.bake()
    saved_scene.frame_end = 6
    bpy.data.objects["Floor"].location.z += 0.1
    with pytest.raises(RuntimeError, match="scene has changed"):
        bpy.ops.taffeta.bake(resume=True)
    assert cache.read_contents(folder(saved_scene)).frame_end == 4


@pytest.mark.parametrize("frames", [(1, 3), (2, 4), (3, 3)])
def test_a_shorter_range_makes_no_cache_stale(saved_scene, frames):
    bpy.ops.taffeta.bake()
    saved_scene.frame_start, saved_scene.frame_end = frames
    assert status.of(saved_scene, bpy.data.objects["Cloth"])[0] is CacheState.READY
    checking.check(bpy.context)
    assert status.of(saved_scene, bpy.data.objects["Cloth"])[0] is CacheState.READY


def test_an_earlier_start_makes_a_cache_stale_and_says_so(saved_scene):
    bpy.ops.taffeta.bake()
    saved_scene.frame_start = 0
    state, reason = status.of(saved_scene, bpy.data.objects["Cloth"])
    assert state is CacheState.STALE
    assert reason == "It begins at frame 1, the scene at frame 0"


def test_a_renamed_body_makes_no_cache_stale(saved_scene):
    bpy.ops.taffeta.bake()
    bpy.data.objects["Floor"].name = "Ground"
    assert status.of(saved_scene, bpy.data.objects["Cloth"])[0] is CacheState.READY
    checking.check(bpy.context)
    assert status.of(saved_scene, bpy.data.objects["Cloth"])[0] is CacheState.READY


def test_a_cache_that_was_cut_off_is_noticed_when_the_file_opens(saved_scene):
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    path = cache.frames_path(folder(saved_scene), "Cloth")
    path.write_bytes(path.read_bytes()[:-5])
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    state, reason = status.of(bpy.context.scene, bpy.data.objects["Cloth"])
    assert state is CacheState.CORRUPT
    assert "cut off" in reason


def test_buttons_that_cannot_be_pressed_refuse(scene, make_collider):
    make_collider()
    assert not bpy.ops.taffeta.bake.poll()
    assert not bpy.ops.taffeta.cancel.poll()
    assert not bpy.ops.taffeta.free.poll()

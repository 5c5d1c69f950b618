# SPDX-License-Identifier: GPL-3.0-or-later
"""Several scenes and files never mix their caches, and a file saved elsewhere still plays."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import kept, save_as, session
from taffeta.addon.bake.state import Happening, Phase
from taffeta.addon.cache import place as cache_place
from taffeta.addon.cache import status
from taffeta.addon.interface import bake_panels, handlers
from taffeta.addon.scene import modifier
from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.files.folder import INCOMING, holds_bake
from taffeta.gpu_core.files.lock import locked
from taffeta.tests.addon.baking import begin, end, folder, frames, played, until_frame
from taffeta.tests.addon.conftest import fcurves
from taffeta.tests.addon.recording_layout import RecordingLayout


def cloth() -> bpy.types.Object:
    return bpy.data.objects["Cloth"]


def save(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


@pytest.fixture
def unsaved(scene, make_cloth, make_collider, tmp_path, monkeypatch):
    """A file that was never saved, in a Blender with a window: there its bake goes to the temporary folder."""
    make_cloth(), make_collider()
    scene.taffeta.backend = "CPU"
    monkeypatch.setattr(cache_place, "target", target_with_window(cache_place.target))
    yield scene
    session.close()


def target_with_window(target):
    def place(scene, blend=None, cloths=None):
        return target(scene, blend, cloths) if bpy.data.filepath else cache_place.temporary(scene)

    return place


# Save As


def test_a_copy_plays_the_first_files_cache_and_bakes_into_its_own(saved_scene, tmp_path):
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    first = folder(saved_scene)
    before = cache.frames_path(first, "Cloth").read_bytes()
    save(tmp_path / "deeper" / "copy.blend")
    scene = bpy.context.scene
    np.testing.assert_array_equal(played(cloth(), 4), frames(first)[3])
    assert status.held(bpy.context.scene, cloth()).foreign == str(tmp_path / "shot.blend")
    cloth().taffeta.cloth.air_drag = 3.0
    bpy.ops.taffeta.bake()
    assert folder(scene) == tmp_path / "deeper" / "taffeta_cache" / "copy" / "Scene"
    assert cache_place.played(cloth()) == folder(scene)
    assert cache.frames_path(first, "Cloth").read_bytes() == before


def test_freeing_the_copy_leaves_the_first_files_cache(saved_scene, tmp_path):
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    first = folder(saved_scene)
    save(tmp_path / "copy.blend")
    bpy.ops.taffeta.free()
    assert modifier.find(cloth()) is None
    assert cache.inspect(first)[0] is CacheState.READY
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    np.testing.assert_array_equal(played(cloth(), 4), frames(first)[3])


def test_nothing_is_asked_where_a_bake_goes_beside_the_first_files_cache(saved_scene, tmp_path):
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    assert kept.would_replace(saved_scene).startswith("4 frames of Cloth are lost")
    with bpy.context.temp_override(scene=saved_scene):
        bpy.ops.scene.new(type="FULL_COPY")
    other = next(scene for scene in bpy.data.scenes if scene != saved_scene)
    status.look(other)
    assert kept.would_replace(other) == ""
    bpy.data.scenes.remove(other)
    save(tmp_path / "copy.blend")
    assert kept.would_replace(saved_scene) == ""
    bpy.ops.taffeta.bake()
    assert kept.would_replace(saved_scene).startswith("4 frames of Cloth are lost")


def test_resuming_in_the_copy_takes_a_copy_of_what_is_done(saved_scene, tmp_path):
    saved_scene.frame_end = 12
    bpy.ops.taffeta.bake()
    unbroken = cache.frames_path(folder(saved_scene), "Cloth").read_bytes()
    bake = until_frame(begin(), 3)
    bake.handle(Happening.CANCEL)
    end(bake)
    first = folder(saved_scene)
    held = cache.inspect(first)
    bpy.ops.wm.save_mainfile()
    save(tmp_path / "copy.blend")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert cache_place.played(cloth()) == tmp_path / "taffeta_cache" / "copy" / "Scene"
    assert cache.frames_path(cache_place.played(cloth()), "Cloth").read_bytes() == unbroken
    assert cache.inspect(first) == held


def bake_and_save_as(scene, tmp_path) -> tuple[Path, Path]:
    """The folders of the first file's bake of 8 frames and of the copy's."""
    scene.frame_end = 8
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    first = folder(scene)
    save(tmp_path / "copy.blend")
    return first, folder(scene)


def files(place: Path) -> set[str]:
    """Without the job that was on its way, which a thread deletes when it comes to it."""
    return {path.name for path in place.rglob("*") if path.is_file() and INCOMING not in path.parts}


def test_the_copy_goes_on_where_the_range_is_longer(saved_scene, tmp_path):
    first, own = bake_and_save_as(saved_scene, tmp_path)
    saved_scene.frame_end = 10
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert cache_place.played(cloth()) == own
    assert cache_place.foreign(own, saved_scene) == ""
    went_on = cache.frames_path(own, "Cloth").read_bytes()
    kept, before = ((place / cache.REPORTS).read_text().splitlines() for place in (own, first))
    assert kept[:8] == before
    assert len(kept) == 10
    bpy.ops.taffeta.bake()
    assert cache.frames_path(own, "Cloth").read_bytes() == went_on


def test_the_copy_goes_on_before_a_changed_key_and_from_the_current_frame(saved_scene, tmp_path):
    for frame, value in ((1, 0.12), (6, 0.12), (7, 0.3)):
        cloth().taffeta.cloth.density = value
        cloth().taffeta.cloth.keyframe_insert("density", frame=frame)
    first, own = bake_and_save_as(saved_scene, tmp_path)
    before = np.array(frames(first))
    (found,) = fcurves(cloth())
    found.keyframe_points[-1].co.y = 0.9
    found.update()
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    np.testing.assert_array_equal(frames(own)[:6], before[:6])
    assert (frames(own)[6:] != before[6:]).any()
    bpy.ops.taffeta.free()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    save(tmp_path / "copy.blend")
    bpy.context.scene.frame_set(4)
    cloth().taffeta.cloth.air_drag = 3.0
    assert bpy.ops.taffeta.bake(from_current=True) == {"FINISHED"}
    np.testing.assert_array_equal(frames(own)[:4], before[:4])
    np.testing.assert_array_equal(frames(first), before)


@pytest.mark.parametrize("change", ["density", "motion"])
def test_a_resume_that_is_refused_leaves_nothing_in_the_copys_folder(saved_scene, tmp_path, change):
    first, own = bake_and_save_as(saved_scene, tmp_path)
    saved_scene.frame_end = 10
    if change == "density":
        cloth().taffeta.cloth.density = 1.0
    else:  # which only the worker compares
        bpy.data.objects["Floor"].location.z += 0.1
    with pytest.raises(RuntimeError, match="density is 1" if change == "density" else "scene has changed"):
        bpy.ops.taffeta.bake(resume=True)
    assert files(own) <= {"lock", "taffeta.txt"}
    assert cache_place.played(cloth()) == first


def test_a_copy_that_does_not_fit_on_the_disk_leaves_nothing(saved_scene, tmp_path, monkeypatch):
    _, own = bake_and_save_as(saved_scene, tmp_path)
    saved_scene.frame_end = 10

    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr(cache_place.shutil, "copy2", full)
    with pytest.raises(RuntimeError, match="disk is full"):
        bpy.ops.taffeta.bake(resume=True)
    assert files(own) <= {"lock", "taffeta.txt"}


def test_a_file_that_was_renamed_keeps_its_cache_for_itself(saved_scene, tmp_path):
    """Its first name is gone, so nobody else can want it."""
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    first = folder(saved_scene)
    (tmp_path / "shot.blend").rename(tmp_path / "final.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "final.blend"))
    assert status.held(bpy.context.scene, cloth()).foreign == ""
    bpy.ops.taffeta.free()
    assert not holds_bake(first)


def test_a_project_folder_that_was_moved_still_plays_and_is_its_own(saved_scene, tmp_path):
    save(tmp_path / "project" / "shot.blend")
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True)
    (tmp_path / "project").rename(tmp_path / "elsewhere")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "elsewhere" / "shot.blend"))
    place = folder(bpy.context.scene)
    assert place.is_relative_to(tmp_path / "elsewhere")
    np.testing.assert_array_equal(played(cloth(), 4), frames(place)[3])
    assert status.of(bpy.context.scene, cloth()) == (CacheState.READY, "4 frames")
    assert status.held(bpy.context.scene, cloth()).foreign == ""


# The first save


def test_the_first_save_brings_the_cache_beside_the_file(unsaved, tmp_path):
    bpy.ops.taffeta.bake()
    temporary = cache_place.temporary(unsaved)
    data = cache.frames_path(temporary, "Cloth").read_bytes()
    save(tmp_path / "shot.blend")
    place = tmp_path / "taffeta_cache" / "shot" / "Scene"
    assert cache.frames_path(place, "Cloth").read_bytes() == data
    assert modifier.find(cloth()).filepath == "//taffeta_cache/shot/Scene/Cloth.pc2"
    assert not holds_bake(temporary)
    assert status.of(unsaved, cloth()) == (CacheState.READY, "4 frames")
    np.testing.assert_array_equal(played(cloth(), 4), frames(place)[3])
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))  # saved before the cache had come
    assert modifier.find(cloth()).filepath == "//taffeta_cache/shot/Scene/Cloth.pc2"
    assert status.of(bpy.context.scene, cloth()) == (CacheState.READY, "4 frames")
    np.testing.assert_array_equal(played(cloth(), 4), frames(place)[3])


def test_the_frames_of_a_file_that_was_given_up_are_not_those_of_the_next(unsaved):
    bpy.ops.taffeta.bake()
    assert "4 frames of Cloth are lost" in kept.would_replace(unsaved)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.mesh.primitive_grid_add()
    bpy.context.object.name, bpy.context.object.taffeta.role = "Cloth", "CLOTH"
    scene = bpy.context.scene
    assert kept.would_replace(scene) == kept.would_replace(scene, cloths=[cloth()]) == kept.would_free(scene) == ""
    assert status.of(scene, cloth())[0] is CacheState.MISSING
    assert not bpy.ops.taffeta.free.poll()


def test_what_became_a_body_follows_the_first_save_too(unsaved, tmp_path):
    bpy.ops.taffeta.bake()
    cloth().taffeta.role = "COLLIDER"
    save(tmp_path / "shot.blend")
    place = tmp_path / "taffeta_cache" / "shot" / "Scene"
    assert cache_place.played(cloth()) == place
    np.testing.assert_array_equal(played(cloth(), 4), frames(place)[3])


def test_a_first_save_that_fails_changes_nothing(unsaved, tmp_path):
    bpy.ops.taffeta.bake()
    temporary = cache_place.temporary(unsaved)
    with pytest.raises(RuntimeError):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "nowhere" / "shot.blend"))
    assert cache_place.played(cloth()) == temporary
    assert holds_bake(temporary)
    assert status.of(unsaved, cloth()) == (CacheState.READY, "4 frames")


@pytest.mark.parametrize("chosen", ["//frames", "frames"])
def test_the_first_save_brings_the_cache_to_the_folder_that_was_chosen(unsaved, tmp_path, chosen):
    unsaved.taffeta.cache_folder = chosen if chosen.startswith("//") else str(tmp_path / chosen)
    bpy.ops.taffeta.bake()
    (tmp_path / "project").mkdir()
    save(tmp_path / "project" / "shot.blend")
    place = (tmp_path / "project" if chosen.startswith("//") else tmp_path) / "frames" / "taffeta"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "project" / "shot.blend"))
    assert cache_place.played(cloth()) == place
    np.testing.assert_array_equal(played(cloth(), 4), frames(place)[3])


def second_disk() -> bool:
    memory = Path("/dev/shm")
    return memory.is_dir() and memory.stat().st_dev != Path(bpy.app.tempdir or gettempdir()).stat().st_dev


@pytest.mark.skipif(not second_disk(), reason="no second disk here: Linux has one in memory")
def test_the_first_save_may_be_on_another_disk(unsaved):
    """Found in the window: the frames had gone over, the job had not, and the cloth stood still."""
    bpy.ops.taffeta.bake()
    data = cache.frames_path(cache_place.temporary(unsaved), "Cloth").read_bytes()
    with TemporaryDirectory(dir="/dev/shm") as disk:
        save(Path(disk) / "shot.blend")
        place = Path(disk) / "taffeta_cache" / "shot" / "Scene"
        assert cache.frames_path(place, "Cloth").read_bytes() == data
        assert status.of(unsaved, cloth()) == (CacheState.READY, "4 frames")
        np.testing.assert_array_equal(played(cloth(), 4), frames(place)[3])
        bpy.ops.wm.read_homefile(use_empty=True)


def test_a_cache_that_cannot_follow_the_first_save_stays_whole_and_the_panel_says_why(unsaved, tmp_path, monkeypatch):
    bpy.ops.taffeta.bake()
    temporary = cache_place.temporary(unsaved)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copy2", no_room)
        patch.setattr(os, "link", no_room)
        save(tmp_path / "shot.blend")
    assert "The disk is full" in save_as.stranded[str(temporary)]
    assert status.of(unsaved, cloth()) == (CacheState.READY, "4 frames")
    assert cache_place.played(cloth()) == temporary
    layout = RecordingLayout()
    bake_panels.draw_cache(layout, bpy.context, cloth())
    assert "lost when Blender closes: The disk is full" in " ".join(
        text for kind, text in layout.shown if kind == "label"
    )
    bpy.ops.wm.save_mainfile()
    assert not save_as.stranded
    assert cache_place.played(cloth()) == tmp_path / "taffeta_cache" / "shot" / "Scene"
    assert status.of(unsaved, cloth()) == (CacheState.READY, "4 frames")


def test_what_could_not_follow_is_forgotten_with_its_file(unsaved, tmp_path, monkeypatch):
    bpy.ops.taffeta.bake()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copy2", no_room)
        patch.setattr(os, "link", no_room)
        save(tmp_path / "shot.blend")
    assert save_as.stranded
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not save_as.stranded


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_saved_for_the_first_time_during_a_bake_the_cache_follows_at_its_end(unsaved, tmp_path):
    unsaved.frame_end = 30
    bake = until_frame(begin(), 2)
    temporary = bake.folder
    save(tmp_path / "shot.blend")
    assert cache_place.played(cloth()) == temporary
    assert end(bake).phase is Phase.DONE
    assert save_as.settle(unsaved) == []
    place = tmp_path / "taffeta_cache" / "shot" / "Scene"
    assert cache_place.played(cloth()) == place
    assert len(frames(place)) == 30
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))  # saved in the midst of the bake
    assert cache_place.played(cloth()) == place
    assert status.of(bpy.context.scene, cloth())[0] is CacheState.READY


def quit_blender() -> None:
    """What reaches the handlers of it: Blender unregisters its add-ons as it quits."""
    handlers.unregister()
    handlers.register()


@pytest.mark.parametrize("leave", [lambda: bpy.ops.wm.read_homefile(use_empty=True), quit_blender])
def test_a_bake_that_is_left_after_the_first_save_is_there_on_return(unsaved, tmp_path, leave):
    unsaved.frame_end = 90
    until_frame(begin(), 2)
    save(tmp_path / "shot.blend")
    leave()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    place = tmp_path / "taffeta_cache" / "shot" / "Scene"
    assert cache_place.played(cloth()) == place
    assert status.of(bpy.context.scene, cloth())[0] is CacheState.PARTIAL
    assert len(frames(place)) >= 2


def test_frames_whose_modifier_points_to_nowhere_are_found_asked_for_and_played_again(saved_scene):
    bpy.ops.taffeta.bake()
    place, own = folder(saved_scene), modifier.find(cloth())
    own.filepath = str(Path(bpy.app.tempdir) / "taffeta_cache" / "Scene" / "Cloth.pc2")
    status.look(saved_scene)
    state, reason = status.of(saved_scene, cloth())
    assert (state, reason) == (CacheState.HIDDEN, "Its modifier looks for it elsewhere (4 frames)")
    assert "4 frames of Cloth" in kept.would_replace(saved_scene)
    assert bpy.ops.taffeta.play() == {"FINISHED"}
    assert status.of(saved_scene, cloth()) == (CacheState.READY, "4 frames")
    np.testing.assert_array_equal(played(cloth(), 4), frames(place)[3])


# Several scenes


def test_two_scenes_bake_into_folders_of_their_own_even_when_one_is_a_copy(saved_scene):
    bpy.ops.taffeta.bake()
    first = folder(saved_scene)
    before = cache.frames_path(first, "Cloth").read_bytes()
    with bpy.context.temp_override(scene=saved_scene):
        bpy.ops.scene.new(type="FULL_COPY")
    other = next(scene for scene in bpy.data.scenes if scene != saved_scene)
    assert folder(other) != folder(saved_scene) == first
    copied = next(item for item in other.objects if item.taffeta.role == "CLOTH")
    copied.taffeta.cloth.air_drag = 3.0
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        bpy.ops.taffeta.bake()
    assert cache_place.played(copied) == folder(other)
    assert cache_place.played(cloth()) == first
    assert cache.frames_path(first, "Cloth").read_bytes() == before


def test_a_cloth_in_two_scenes_is_freed_in_its_own(saved_scene):
    bpy.ops.taffeta.bake()
    bpy.ops.scene.new(type="LINK_COPY")
    assert bpy.context.scene != saved_scene
    assert not bpy.ops.taffeta.free.poll()
    with bpy.context.temp_override(scene=saved_scene, view_layer=saved_scene.view_layers[0]):
        assert bpy.ops.taffeta.free.poll()


def test_one_folder_chosen_for_two_scenes_is_refused_with_the_owner(saved_scene):
    saved_scene.taffeta.cache_folder = "//shared"
    bpy.ops.taffeta.bake()
    with bpy.context.temp_override(scene=saved_scene):
        bpy.ops.scene.new(type="FULL_COPY")
    other = next(scene for scene in bpy.data.scenes if scene != saved_scene)
    with (
        bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]),
        pytest.raises(RuntimeError, match="holds the bake of the scene Scene"),
    ):
        bpy.ops.taffeta.bake()


def test_one_folder_chosen_in_two_files_is_refused_with_the_owner(saved_scene, tmp_path):
    saved_scene.taffeta.cache_folder = str(tmp_path / "shared")
    bpy.ops.taffeta.bake()
    before = cache.frames_path(tmp_path / "shared" / "taffeta", "Cloth").read_bytes()
    save(tmp_path / "other.blend")
    with pytest.raises(RuntimeError, match=r"holds the bake of .*shot\.blend"):
        bpy.ops.taffeta.bake()
    assert cache.frames_path(tmp_path / "shared" / "taffeta", "Cloth").read_bytes() == before


def test_two_bakes_at_once_into_one_folder_are_refused(saved_scene):
    """Two Blenders have the same file open."""
    bpy.ops.taffeta.bake()
    with locked(folder(saved_scene)), pytest.raises(RuntimeError, match="Another bake writes"):
        bpy.ops.taffeta.bake()

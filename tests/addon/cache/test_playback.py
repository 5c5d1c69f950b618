# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel says at once what keeps Blender from showing a cache, and finds what no modifier plays."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.cache import place, status
from taffeta.addon.interface.trouble_rows import draw_troubles
from taffeta.addon.scene import keys, modifier
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon.baking import LONG, begin, until_frame
from taffeta.tests.addon.recording_layout import RecordingLayout


def cloth() -> bpy.types.Object:
    return bpy.data.objects["Cloth"]


def state(item: bpy.types.Object | None = None) -> tuple[CacheState, str]:
    return status.of(bpy.context.scene, item or cloth())


def test_a_mesh_that_was_edited_is_told_before_anybody_looks(baked):
    cloth().data.vertices.add(3)
    assert state() == (CacheState.STALE, f"The mesh has {len(cloth().data.vertices)} vertices, the cache 25")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda own: setattr(own, "show_viewport", False), "switched off in the viewport"),
        (lambda own: setattr(own, "show_render", False), "switched off in the render"),
        (lambda own: setattr(own, "factor", 0.5), "blended"),
        (lambda own: setattr(own, "time_mode", "TIME"), "other times"),
        (lambda own: setattr(own, "frame_start", 3.0), "other times"),
        (lambda own: setattr(own, "up_axis", "POS_X"), "turned"),
        (
            lambda own: setattr(own, "flip_axis", {"Z"} if isinstance(own.flip_axis, set) else (False, False, True)),
            "turned",
        ),
    ],
)
def test_a_modifier_that_does_not_show_the_cache_is_told(baked, change, said):
    change(modifier.find(cloth()))
    assert state()[0] is CacheState.HIDDEN
    assert said in state()[1]
    bpy.ops.taffeta.play()
    assert state()[0] is CacheState.READY


def test_a_file_that_is_gone_is_told(baked):
    from taffeta.gpu_core.files import cache

    cache.frames_path(place.played(cloth()), "Cloth").unlink()
    assert state() == (CacheState.CORRUPT, "Cloth.pc2 is missing")


def test_a_file_that_was_moved_without_its_cache_has_none_and_says_where_it_looked(baked, tmp_path):
    (tmp_path / "moved").mkdir()
    (tmp_path / "shot.blend").rename(tmp_path / "moved" / "shot.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moved" / "shot.blend"))
    assert state() == (CacheState.MISSING, f"There is no cache in {place.played(cloth())}")


def test_a_bake_that_no_modifier_plays_is_found_resumed_and_played(baked):
    cloth().modifiers.remove(modifier.find(cloth()))
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert state()[0] is CacheState.HIDDEN
    bpy.ops.taffeta.play()
    assert state()[0] is CacheState.READY


def test_a_file_closed_in_mid_bake_can_be_resumed(saved_scene):
    saved_scene.frame_end = LONG
    bpy.ops.wm.save_mainfile()
    until_frame(begin(), 2)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert modifier.find(cloth()) is None
    assert status.left(bpy.context.scene)
    bpy.context.scene.frame_end = 4  # the test has no time for them all
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert state()[0] is CacheState.READY


def test_a_copy_never_takes_the_originals_cache(baked):
    copy = cloth().copy()
    copy.name = "A Copy"  # before the original in the alphabet
    bpy.context.scene.collection.objects.link(copy)
    assigned = keys.assign([cloth(), copy])
    assert assigned["Cloth"] == "Cloth"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert keys.assign([cloth(), bpy.data.objects["A Copy"]]) == assigned


def said() -> str:
    """What the Checks have to say of the cloth."""
    layout = RecordingLayout()
    draw_troubles(layout, bpy.context, cloth())
    return layout.texts()


def test_a_cloth_in_two_scenes_keeps_the_bake_of_the_first(baked):
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(cloth())
    before = modifier.find(cloth()).filepath
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        with pytest.raises(RuntimeError, match="Single User"):
            bpy.ops.taffeta.bake()
        with pytest.raises(SceneError, match="Single User"):
            place.refuse_shared([cloth()], other)
        assert place.shared_problem("Scene") in said()
    assert modifier.find(cloth()).filepath == before
    assert place.shared_problem("Scene") not in said()

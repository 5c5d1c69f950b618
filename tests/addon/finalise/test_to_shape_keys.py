# SPDX-License-Identifier: GPL-3.0-or-later
"""Shape keys that are made of a cache, evaluated at each frame: the cache's own numbers."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.cache import status
from taffeta.gpu_core.files import cache
from taffeta.tests.addon.baking import played
from taffeta.tests.addon.finalising import choose, item, simulated, without_refining


def test_absolute_shape_keys_are_the_cache_to_the_bit_at_every_frame_and_outside_its_range(baked):
    expected = simulated(baked)
    assert bpy.ops.taffeta.to_shape_keys(absolute=True) == {"FINISHED"}
    keys = without_refining(item("Cloth Shape Keys"))
    for frame in (-3, 1, 2, 3, 4, 9):
        np.testing.assert_array_equal(played(keys, frame), expected[min(max(frame, 1), 4) - 1])


def test_relative_shape_keys_are_the_cache_within_float32_and_halfway_the_mean(baked):
    expected = simulated(baked)
    assert bpy.ops.taffeta.to_shape_keys() == {"FINISHED"}
    keys = without_refining(item("Cloth Shape Keys"))
    for frame in (-3, 1, 2, 3, 4, 9):
        np.testing.assert_allclose(played(keys, frame), expected[min(max(frame, 1), 4) - 1], rtol=0, atol=2e-7)
    baked.frame_set(2, subframe=0.5)
    evaluated = keys.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    halfway = np.array([vertex.co for vertex in evaluated.vertices])
    np.testing.assert_allclose(halfway, expected[1:3].mean(0), rtol=0, atol=3e-7)


@pytest.mark.parametrize("absolute", [False, True])
def test_shape_keys_survive_the_cache_and_the_cloth(baked, absolute):
    expected = simulated(baked)
    bpy.ops.taffeta.to_shape_keys(absolute=absolute)
    bpy.ops.taffeta.free()
    bpy.data.objects.remove(item())
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    keys = without_refining(item("Cloth Shape Keys"))
    np.testing.assert_allclose(played(keys, 3), expected[2], rtol=0, atol=2e-7)


def test_the_copy_with_shape_keys_takes_the_place_of_the_cloth(baked):
    cloth = item()
    baked.frame_set(3)
    bpy.ops.taffeta.to_shape_keys()
    keys = bpy.context.object
    assert keys.name == "Cloth Shape Keys"
    assert (keys.taffeta.role, [own.name for own in keys.modifiers]) == ("NONE", ["Refine"])
    assert (keys.parent, keys.matrix_world) == (cloth.parent, cloth.matrix_world)
    assert [slot.material.name for slot in keys.material_slots] == ["Cotton"]
    assert [group.name for group in keys.vertex_groups] == ["Hem"]
    assert keys.data.vertices[1].groups[0].weight == 0.5
    assert [layer.name for layer in keys.data.uv_layers] == ["UVMap"]
    assert (cloth.hide_get(), cloth.hide_render) == (True, True)
    assert status.of(baked, cloth)[0] is cache.CacheState.READY


def test_what_the_cache_replaced_does_not_deform_the_shape_keys_again(baked):
    cloth, expected = item(), simulated(baked)
    bend = cloth.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.angle = 1.0
    cloth.modifiers.move(cloth.modifiers.find("Bend"), 0)
    bpy.ops.taffeta.to_shape_keys()
    keys = without_refining(item("Cloth Shape Keys"))
    np.testing.assert_allclose(played(keys, 4), expected[3], rtol=0, atol=2e-7)


def test_shape_keys_of_the_artists_do_not_stand_in_the_way(baked):
    cloth, expected = item(), simulated(baked)
    cloth.shape_key_add(name="Basis")
    cloth.shape_key_add(name="Smile").data[0].co.z += 1.0
    bpy.ops.taffeta.to_shape_keys()
    assert "Smile" in cloth.data.shape_keys.key_blocks
    keys = without_refining(item("Cloth Shape Keys"))
    assert len(keys.data.shape_keys.key_blocks) == 4
    np.testing.assert_allclose(played(keys, 4), expected[3], rtol=0, atol=2e-7)


def test_more_frames_than_absolute_keys_can_have_are_refused_and_leave_nothing(baked, monkeypatch):
    monkeypatch.setattr("taffeta.addon.finalise.to_shape_keys.LAST_TIME", 70)
    with pytest.raises(RuntimeError, match="Choose relative ones"):
        bpy.ops.taffeta.to_shape_keys(absolute=True)
    assert "Cloth Shape Keys" not in bpy.data.objects


def test_a_failure_halfway_leaves_nothing_that_looks_like_shape_keys(baked, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("taffeta.addon.finalise.to_shape_keys._animate", fail)
    before = len(bpy.data.objects), len(bpy.data.meshes)
    with pytest.raises(RuntimeError, match="MemoryError"):
        bpy.ops.taffeta.to_shape_keys()
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == before
    assert not item().hide_render


def test_shape_keys_of_a_library_override_outlive_the_library(saved_scene, tmp_path):
    """Blender keeps no shape key of an override whose mesh is linked; the copy is a local object."""
    wardrobe = tmp_path / "wardrobe.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(wardrobe))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(wardrobe), link=True) as (_, wanted):
        wanted.objects = ["Cloth"]
    scene, linked = bpy.context.scene, bpy.data.objects["Cloth"]
    scene.collection.objects.link(linked)
    cloth = linked.override_create(remap_local_usages=True)
    scene.frame_end, scene.taffeta.backend = 4, "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "dressed.blend"))
    bpy.ops.taffeta.bake()
    choose(cloth)
    expected = simulated(scene)
    assert bpy.ops.taffeta.to_shape_keys() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    wardrobe.unlink()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    np.testing.assert_allclose(played(item("Cloth Shape Keys"), 4), expected[3], rtol=0, atol=2e-7)

"""The attribute that renderers take motion blur from: finite differences of the cached frames."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon import cache_place, cache_status, velocity
from taffeta.gpu_core import cache
from taffeta.tests.addon.baking import folder, played
from taffeta.tests.addon.finalising import attribute, differences, item, simulated, without_refining


def test_velocities_are_finite_differences_of_the_frames_per_second(baked):
    expected = differences(simulated(baked))
    assert np.abs(expected).max() > 1.0
    assert bpy.ops.taffeta.velocity() == {"FINISHED"}
    cloth = without_refining(item())
    for frame in range(1, 5):
        np.testing.assert_allclose(attribute(cloth, frame), expected[frame - 1], rtol=1e-6, atol=1e-5)
        np.testing.assert_array_equal(played(cloth, frame), simulated(baked)[frame - 1])


def test_velocities_play_after_reopening_and_go_with_a_new_bake_or_with_free(baked):
    expected = differences(simulated(baked))
    bpy.ops.taffeta.velocity()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    np.testing.assert_allclose(attribute(without_refining(item()), 3), expected[2], rtol=1e-6, atol=1e-5)
    path = folder(bpy.context.scene) / cache_place.VELOCITIES / "Cloth.pc2"
    assert path.is_file()
    bpy.ops.taffeta.bake()
    assert velocity.find(item()) is None
    bpy.ops.taffeta.velocity()
    bpy.ops.taffeta.free()
    assert velocity.find(item()) is None
    assert not path.parent.parent.exists()
    assert not [tree for tree in bpy.data.node_groups if "Velocity" in tree.name]


def test_velocities_do_not_make_a_bake_stale_and_are_no_part_of_its_scene(baked):
    bpy.ops.taffeta.velocity()
    bpy.ops.taffeta.check()
    assert cache_status.garment(baked, item())[0] is cache.CacheState.READY


def test_velocities_of_a_file_that_was_never_saved_are_refused(baked, monkeypatch):
    monkeypatch.setattr(cache_place, "is_temporary", lambda path: True)
    with pytest.raises(RuntimeError, match="Save the file first"):
        bpy.ops.taffeta.velocity()
    assert velocity.find(item()) is None

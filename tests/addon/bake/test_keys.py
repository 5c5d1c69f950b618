# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake whose keys are changed is good up to there, says so, and goes on from there."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import session
from taffeta.addon.cache import checking, status
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon.baking import begin, end, folder, frames
from taffeta.tests.addon.conftest import fcurves

LAST = 12


@pytest.fixture
def keyed(saved_scene):
    """A sheet that falls on a floor, its density keyed at frame 8."""
    saved_scene.frame_end = LAST
    cloth = bpy.data.objects["Cloth"]
    for frame, value in ((1, 0.12), (7, 0.12), (8, 0.3)):
        cloth.taffeta.cloth.density = value
        cloth.taffeta.cloth.keyframe_insert("density", frame=frame)
    saved_scene.frame_set(1)
    end(begin())
    return saved_scene


def change_last_key(value):
    (found,) = fcurves(bpy.data.objects["Cloth"])
    found.keyframe_points[-1].co.y = value
    found.update()


def state(scene):
    return status.of(scene, bpy.data.objects["Cloth"])


def test_the_timeline_makes_no_cache_stale(keyed):
    for frame in (1, 8, LAST):
        keyed.frame_set(frame)
        assert state(keyed)[0] is CacheState.READY


def test_a_changed_key_leaves_the_frames_before_good_and_resume_goes_on_there(keyed):
    change_last_key(0.9)
    found, text = state(keyed)
    assert found is CacheState.PARTIAL
    assert text == "Good up to frame 7. Cloth: density is another from frame 8 on"
    assert status.left(keyed)
    before = np.array(frames(folder(keyed)))
    bake = begin(session.Order(resume=True))
    end(bake)
    assert session.last.phase.value == "done", session.last.text
    assert state(keyed)[0] is CacheState.READY
    assert min(line["frame"] for line in bake.reports) > 1
    resumed = np.array(frames(folder(keyed)))
    assert np.array_equal(resumed[:7], before[:7])
    assert not np.array_equal(resumed[7:], before[7:])
    end(begin())
    assert np.array_equal(resumed, np.array(frames(folder(keyed))))


def test_a_key_beyond_the_bake_changes_nothing(keyed):
    (found,) = fcurves(bpy.data.objects["Cloth"])
    found.keyframe_points.insert(LAST + 5, 3.0)
    found.keyframe_points.insert(LAST, 0.3)
    for point in found.keyframe_points:
        point.interpolation = "LINEAR"
    change_last_key(5.0)
    assert state(keyed)[0] is CacheState.READY


def test_the_first_key_makes_all_of_it_stale(keyed):
    (found,) = fcurves(bpy.data.objects["Cloth"])
    found.keyframe_points[0].co.y = 0.2
    found.update()
    found, text = state(keyed)
    assert found is CacheState.STALE
    assert "density is another from frame 1 on" in text
    with pytest.raises(RuntimeError, match="cannot be resumed"):
        bpy.ops.taffeta.bake(resume=True)


def test_a_changed_driver_is_found_by_checking(saved_scene):
    saved_scene.frame_end = LAST
    cloth = bpy.data.objects["Cloth"]
    driver = cloth.driver_add("taffeta.cloth.air_drag").driver
    driver.expression = "1.0"
    end(begin())
    driver.expression = "1.0 if frame < 9 else 2.0"
    assert state(saved_scene)[0] is CacheState.READY
    checking.check(bpy.context)
    assert state(saved_scene) == (CacheState.PARTIAL, "Good up to frame 8. Cloth: air drag is another from frame 9 on")

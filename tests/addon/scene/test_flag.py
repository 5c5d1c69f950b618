# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample of a flag in a gust, small: from Blender's fields and their keys to frames in which nothing crosses."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.job import load, save
from taffeta.gpu_core.scene.scene import Scene
from taffeta.sample_blends import build
from taffeta.sample_blends.flag_in_a_gust import GUST
from taffeta.tests.gpu_core.small_scene import assert_frames_are_free_of_intersections

FRAMES = 60


def baked(scene: Scene, folder) -> np.ndarray:
    """(F, N, 3) of the cache."""
    save(scene, folder / "job")
    bake(folder / "job", folder / "cache", on_event=lambda event: None, cancelled=lambda: False)
    return read_frames(frames_path(folder / "cache", scene.cloths[0].cache_key))


def test_a_flag_in_a_gust_flies_from_its_frame_on_and_crosses_nothing(scene, tmp_path):
    build("flag_in_a_gust", 170)
    bpy.context.scene.frame_end = FRAMES
    gust = gather(bpy.context)
    assert [item.kind for item in gust.fields] == ["wind", "turbulence"]
    found = baked(gust, tmp_path / "gust")
    assert_frames_are_free_of_intersections(load(tmp_path / "gust" / "job"), tmp_path / "gust" / "cache", FRAMES)
    breeze = replace(gust.fields[0], keys={})
    expected = baked(replace(gust, fields=(breeze, gust.fields[1])), tmp_path / "breeze")
    first = GUST[1][0]  # where the wind begins to rise
    assert np.array_equal(found[:first], expected[:first])
    assert not np.array_equal(found[first], expected[first])
    hem = gust.cloths[0].rest_positions[:, 0] > 0.59
    out = [float(x[FRAMES - 15 :, hem, 0].mean()) for x in (expected, found)]
    assert out[0] < out[1] - 0.02, "in a gust the flag stands out"

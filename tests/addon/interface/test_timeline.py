# SPDX-License-Identifier: GPL-3.0-or-later
"""The timeline shows which frames are baked, and whether they are of this scene."""

from __future__ import annotations

import bpy

from taffeta.addon.bake import session
from taffeta.addon.interface import timeline
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon.baking import LONG, begin, until_frame


def test_a_whole_bake_is_one_strip_and_a_stale_one_has_another_colour(baked):
    assert timeline.strips(baked) == [(1, 4, timeline.COLOURS[CacheState.READY])]
    bpy.data.objects["Cloth"].taffeta.cloth.density = 0.5
    assert timeline.strips(baked) == [(1, 4, timeline.COLOURS[CacheState.STALE])]


def test_a_longer_range_leaves_the_strip_where_it_ends(baked):
    baked.frame_end = 9
    assert timeline.strips(baked) == [(1, 4, timeline.COLOURS[CacheState.PARTIAL])]


def test_a_running_bake_grows(saved_scene):
    saved_scene.frame_end = LONG
    bake = until_frame(begin(), 3)
    (strip,) = timeline.strips(saved_scene)
    assert strip == (1, bake.state.done, timeline.RUNNING)
    session.close()


def test_without_a_bake_there_is_none(saved_scene):
    assert timeline.strips(saved_scene) == []

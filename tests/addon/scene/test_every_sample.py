# SPDX-License-Identifier: GPL-3.0-or-later
"""Each sample that needs no package begins as its script means it, in whatever Blender runs this."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.sample_blends import NAMES, build, small


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_begins_without_a_crossing(scene, name):
    """Blender 5.2 turns new shape keys on, so one that was only there for its lengths put two strips into one place."""
    build(name, small(name))
    first = bpy.context.scene.frame_start
    gathered = gather(bpy.context, (first, first))
    bodies = [body.positions[0] for body in gathered.colliders]
    places = np.concatenate([*(cloth.positions for cloth in gathered.cloths), *bodies]).astype(np.float64)
    assert SceneCheck(gathered).findings(first, places) == []

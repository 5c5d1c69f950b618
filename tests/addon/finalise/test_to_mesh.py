# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh of one frame: where and what the cloth was, and nothing else."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.tests.addon.baking import played
from taffeta.tests.addon.finalising import item, simulated


def test_the_mesh_is_the_current_frame_in_place_and_needs_nothing(baked):
    expected = simulated(baked)[2]
    baked.frame_set(3)
    world = np.array(item().evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    assert bpy.ops.taffeta.to_mesh() == {"FINISHED"}
    bpy.ops.taffeta.free()
    mesh = item("Cloth Frame 3")
    assert (mesh.parent, len(mesh.modifiers), mesh.animation_data, mesh.taffeta.role) == (None, 0, None, "NONE")
    assert [slot.material.name for slot in mesh.material_slots] == ["Cotton"]
    place = np.array(mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    shown = played(mesh, 1) @ place[:3, :3].T + place[:3, 3]
    np.testing.assert_allclose(shown, expected @ world[:3, :3].T + world[:3, 3], rtol=0, atol=1e-6)


def test_the_mesh_of_a_cloth_that_is_not_sheared_has_the_bits_of_the_cache(baked):
    item().parent.scale = (1.0, 1.0, 1.0)
    baked.frame_set(2)
    bpy.ops.taffeta.to_mesh()
    np.testing.assert_array_equal(played(item("Cloth Frame 2"), 1), simulated(baked)[1])


def test_a_frame_that_is_not_in_the_cache_is_refused(baked):
    baked.frame_set(7)
    with pytest.raises(RuntimeError, match="frames 1 to 4, not 7"):
        bpy.ops.taffeta.to_mesh()


def test_with_time_stretching_the_mesh_is_what_the_current_frame_shows(baked):
    expected = simulated(baked)[2]
    baked.render.frame_map_new = 200
    baked.frame_set(6)  # the third frame of the animation
    world = np.array(item().evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    assert bpy.ops.taffeta.to_mesh() == {"FINISHED"}
    assert baked.frame_current == 6
    assert baked.render.frame_map_new == 200
    mesh = item("Cloth Frame 3")
    place = np.array(mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    shown = played(mesh, 6) @ place[:3, :3].T + place[:3, 3]
    np.testing.assert_allclose(shown, expected @ world[:3, :3].T + world[:3, 3], rtol=0, atol=1e-6)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys, drivers and the NLA as they are read, whoever has them; and what of them is known while drawing."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene.gather import gather, gather_numbers, members
from taffeta.gpu_core.files.job import describe
from taffeta.gpu_core.scene.differences import differences
from taffeta.tests.addon.conftest import fcurves


def read(frames=None):
    bpy.context.view_layer.update()
    return gather(bpy.context, frames)


def animate(owner, path, values):
    holder, _, name = path.rpartition(".")
    for frame, value in values.items():
        setattr(owner.path_resolve(holder) if holder else owner, name, value)
        owner.keyframe_insert(path, frame=frame)


def drawn(held=None):
    scene = bpy.context.scene
    return gather_numbers(scene, members(scene), ["Cloth"], [], (scene.frame_start, scene.frame_end), held)


def test_a_number_is_read_at_each_frame_up_to_its_last_change(make_cloth):
    item = make_cloth()
    animate(item, "taffeta.cloth.bend_micro", {1: 5.0, 3: 7.0})
    bpy.context.scene.frame_set(3)
    cloth = read().cloths[0]
    assert cloth.keys["bend"] == pytest.approx([5e-6, 6e-6, 7e-6])
    assert set(cloth.keys) == {"bend"}
    assert cloth.material.bend == 5e-6  # at the first frame, wherever the timeline stands
    assert bpy.context.scene.frame_current == 3


def test_a_key_beyond_the_range_of_the_number_is_held_to_it_as_blender_shows_it(make_cloth):
    item = make_cloth()
    animate(item, "taffeta.cloth.density", {1: 0.1, 2: 0.1})
    curve = fcurves(item)[0]
    curve.keyframe_points[1].co.y = -5.0
    curve.update()
    assert read().cloths[0].keys["density"].tolist() == pytest.approx([0.1, 1e-4])
    assert differences(describe(read()), drawn()) == []


def test_a_driver_is_followed(make_cloth, make_collider):
    item, floor = make_cloth(), make_collider()
    item.driver_add("taffeta.cloth.shear").driver.expression = "10 * frame"
    floor.driver_add("taffeta.collider.friction").driver.expression = "frame / 10"
    bpy.context.scene.driver_add("taffeta.time_scale").driver.expression = "1 / frame"
    found = read()
    assert found.cloths[0].keys["shear"].tolist() == [10, 20, 30, 40]
    assert found.colliders[0].keys["friction"] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert found.keys["time_scale"] == pytest.approx([1, 0.5, 1 / 3, 0.25])
    assert found.settings.time_scale == 1.0
    # Drawing cannot know what drivers do: it believes what was read, whatever the timeline shows.
    bpy.context.scene.frame_set(3)
    held = describe(found)
    assert differences(held, drawn(held)) == []


def test_the_nla_is_followed(make_cloth):
    item = make_cloth()
    animate(item, "taffeta.cloth.friction", {1: 0.1, 4: 0.4})
    action = item.animation_data.action
    item.animation_data.nla_tracks.new().strips.new("Later", 2, action)
    item.animation_data.action = None
    found = read()
    assert found.cloths[0].keys["friction"][0] == pytest.approx(found.cloths[0].keys["friction"][1])
    assert len(found.cloths[0].keys["friction"]) == 4
    held = describe(found)
    assert differences(held, drawn(held)) == []


def test_gravity_is_read_with_the_scenes_unit_and_its_switch(scene, make_cloth):
    make_cloth()
    scene.unit_settings.scale_length = 0.5
    animate(scene, "gravity", {1: (0, 0, -10), 3: (4, 0, -10)})
    found = read()
    assert found.keys["gravity"][[0, 2]] == pytest.approx(np.array([[0, 0, -5], [2, 0, -5]]))
    assert differences(describe(found), drawn()) == []
    scene.use_gravity = False
    assert read().keys == {}
    assert read().settings.gravity == (0, 0, 0)


def test_a_collection_that_is_instanced_has_the_keys_of_its_empty(scene, make_collider):
    body = make_collider("Body")
    body.taffeta.role = "NONE"
    collection = bpy.data.collections.new("Character")
    collection.objects.link(body)
    scene.collection.objects.unlink(body)
    empty = bpy.data.objects.new("Empty", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    scene.collection.objects.link(empty)
    empty.taffeta.role = "COLLIDER"
    animate(empty, "taffeta.collider.thickness", {1: 0.001, 3: 0.003})
    mesh = bpy.data.meshes.new("Cloth")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    cloth = bpy.data.objects.new("Cloth", mesh)
    scene.collection.objects.link(cloth)
    cloth.taffeta.role = "CLOTH"
    (found,) = read().colliders
    assert found.keys["thickness"] == pytest.approx([0.001, 0.002, 0.003])
    assert differences(describe(read()), drawn()) == []


def test_one_frame_has_no_keys(make_cloth):
    item = make_cloth()
    animate(item, "taffeta.cloth.bend_micro", {1: 5.0, 3: 7.0})
    cloth = read((3, 3)).cloths[0]
    assert cloth.keys == {}
    assert cloth.material.bend == pytest.approx(7e-6)


def test_a_muted_curve_is_none(make_cloth):
    item = make_cloth()
    animate(item, "taffeta.cloth.shear", {1: 50.0, 3: 70.0})
    fcurves(item)[0].mute = True
    found = read()
    assert found.cloths[0].keys == {}
    assert differences(describe(found), drawn()) == []

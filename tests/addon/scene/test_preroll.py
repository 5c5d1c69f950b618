# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver gets of the frames before the range: a rest pose, the animation, or what stands still."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import checks
from taffeta.addon.scene.gather import gather, gather_numbers, gather_settings, members
from taffeta.addon.scene.morph import eased
from taffeta.gpu_core.files.job import describe
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon.posing import BEND, make_armature, pose, skin, strip

PREROLL = 4


@pytest.fixture
def dressed(scene, make_object):
    """An arm that is bent in the first frame, and a cloth above it, pinned at its end; both follow the bones."""
    armature = make_armature()
    skin(make_object("Arm", *strip(0.0), "COLLIDER"), armature)
    cloth = skin(make_object("Sleeve", *strip(0.05), "CLOTH"), armature)
    cloth.vertex_groups.new(name="Cuff").add([16, 17], 1.0, "REPLACE")
    cloth.taffeta.cloth.pin_group = "Cuff"
    scene.taffeta.preroll, scene.taffeta.preroll_from = PREROLL, "REST_POSE"
    return armature


def read(**options):
    bpy.context.view_layer.update()
    return gather(bpy.context, **options)


def read_without():
    return read(with_preroll=False)


def test_a_new_scene_has_none(scene):
    assert gather_settings(scene).preroll == 0


def test_bodies_pins_and_cloth_begin_in_the_rest_pose_and_come_to_the_first_frame(dressed):
    posed, rolled = read_without(), read()
    assert (rolled.settings.begins, rolled.settings.frame_start) == (-3, 1)
    (arm,), (sleeve,) = rolled.colliders, rolled.cloths
    np.testing.assert_allclose(arm.positions[0], strip(0.0)[0], atol=1e-6)
    for straight in (sleeve.positions, sleeve.rest_positions):
        np.testing.assert_allclose(straight, strip(0.05)[0], atol=1e-6)
    (bent,) = posed.colliders
    assert np.ptp(bent.positions[0][:, 2]) > 0.4  # the lower half of 0.5 m, turned by BEND
    np.testing.assert_array_equal(arm.positions[PREROLL:], np.repeat(bent.positions[:1], 4, axis=0))
    np.testing.assert_allclose(sleeve.pins.targets[0], strip(0.05)[0][[16, 17]], atol=1e-6)
    np.testing.assert_array_equal(sleeve.pins.targets[PREROLL], posed.cloths[0].pins.targets[0])


def test_each_vertex_goes_straight_and_eased(dressed):
    positions = np.float64(read().colliders[0].positions)
    first, last = positions[0], positions[PREROLL]
    for count in range(PREROLL + 1):
        share = eased(count / PREROLL)
        np.testing.assert_allclose(positions[count], first + share * (last - first), atol=1e-6)
    assert [eased(k / 4) for k in range(5)] == [0.0, 0.15625, 0.5, 0.84375, 1.0]


def test_the_armature_and_the_frame_are_put_back(dressed):
    bpy.context.scene.frame_set(3)
    read()
    assert (dressed.data.pose_position, bpy.context.scene.frame_current) == ("POSE", 3)
    bpy.data.objects["Arm"].scale = (0, 0, 0)
    with pytest.raises(SceneError, match="its scale is 0"):
        read()
    assert (dressed.data.pose_position, bpy.context.scene.frame_current) == ("POSE", 3)


def test_an_arm_in_an_instanced_collection_begins_in_its_rest_pose_too(dressed):
    inner = bpy.data.collections.new("Character")
    for name in ("Skeleton", "Arm"):
        inner.objects.link(bpy.data.objects[name])
        bpy.context.scene.collection.objects.unlink(bpy.data.objects[name])
    carrier = bpy.data.objects.new("Carrier", None)
    carrier.instance_type, carrier.instance_collection = "COLLECTION", inner
    carrier.location.y = 2.0
    bpy.context.scene.collection.objects.link(carrier)
    (arm,) = read().colliders
    np.testing.assert_allclose(arm.positions[0], strip(0.0)[0] + [0, 2, 0], atol=1e-6)
    assert np.ptp(arm.positions[PREROLL][:, 2]) > 0.4


def test_still_stands_as_in_the_first_frame(dressed):
    bpy.context.scene.taffeta.preroll_from = "STILL"
    pose(dressed, 0.0, -3)
    pose(dressed, BEND, 1)
    pose(dressed, 0.0, 4)
    posed, rolled = read_without(), read()
    assert len(rolled.colliders[0].positions) == PREROLL + 4
    for part in range(PREROLL + 1):
        np.testing.assert_array_equal(rolled.colliders[0].positions[part], posed.colliders[0].positions[0])
    np.testing.assert_array_equal(rolled.cloths[0].positions, posed.cloths[0].positions)


def test_what_never_moves_is_one_frame_in_any_kind_of_it(scene, make_cloth, make_collider):
    make_cloth(), make_collider()
    scene.taffeta.preroll = 3
    for kind in ("ANIMATION", "REST_POSE", "STILL"):
        scene.taffeta.preroll_from = kind
        found = read()
        assert (len(found.colliders[0].positions), len(found.cloths[0].world_to_object)) == (1, 1), kind


def test_a_pose_that_was_keyed_before_the_range_is_where_it_begins(dressed):
    scene = bpy.context.scene
    scene.taffeta.preroll_from, scene.frame_start, scene.frame_end = "ANIMATION", 101, 104
    pose(dressed, 0.0, 97)
    pose(dressed, BEND, 101)
    rolled, whole = read(), read(frames=(97, 104), with_preroll=False)
    assert rolled.settings.begins == 97
    np.testing.assert_allclose(rolled.colliders[0].positions[0], strip(0.0)[0], atol=1e-6)
    np.testing.assert_array_equal(rolled.colliders[0].positions, whole.colliders[0].positions)
    np.testing.assert_array_equal(rolled.cloths[0].positions, whole.cloths[0].positions)
    np.testing.assert_array_equal(rolled.cloths[0].pins.targets, whole.cloths[0].pins.targets)


@pytest.mark.parametrize(("kind", "early"), [("ANIMATION", True), ("REST_POSE", False), ("STILL", False)])
def test_numbers_gravity_and_fields_are_of_the_frames_that_are_read(dressed, kind, early):
    scene, cloth = bpy.context.scene, bpy.data.objects["Sleeve"]
    scene.taffeta.preroll_from = kind
    bpy.ops.object.effector_add(type="WIND")
    wind = bpy.context.object
    for frame, value in ((-3, 0.25), (1, 0.5), (4, 1.0)):
        cloth.taffeta.cloth.density = value
        cloth.taffeta.cloth.keyframe_insert("density", frame=frame)
        scene.gravity[2] = -value
        scene.keyframe_insert("gravity", frame=frame)
        wind.location.x = value
        wind.keyframe_insert("location", frame=frame)
    found = read()
    assert found.cloths[0].keys["density"][0] == (0.25 if early else 0.5)
    assert found.keys["gravity"][0][2] == pytest.approx(-0.25 if early else -0.5)
    assert found.fields[0].location[0][0] == pytest.approx(0.25 if early else 0.5)
    for values in (found.cloths[0].keys["density"], found.keys["gravity"][:, 2], found.fields[0].location[:, 0]):
        assert len(values) == PREROLL + 4
        assert abs(values[PREROLL]) == pytest.approx(0.5)
        assert len(set(values[: PREROLL + 1].tolist())) == (PREROLL + 1 if early else 1)
    numbers = gather_numbers(scene, members(scene), ["Sleeve"], [])
    assert differences(describe(found), numbers) == []


def test_a_rest_pose_that_nothing_leaves_is_told(dressed):
    scene, text = bpy.context.scene, "no armature leaves its rest pose: the pre-roll is as from Still"

    def told() -> bool:
        return text in [trouble.text for trouble in checks.troubles(scene, members(scene))]

    assert not told()
    dressed.data.pose_position = "REST"
    assert told()
    scene.taffeta.preroll_from = "STILL"
    assert not told()


def test_a_pre_roll_that_is_longer_than_any_range_is_refused(dressed):
    with pytest.raises(SceneError, match="has more than 1048574 frames"):
        read(frames=(1, 1048574))


def test_a_body_that_changes_its_vertices_before_the_range_is_named_with_the_frames(dressed):
    scene, arm = bpy.context.scene, bpy.data.objects["Arm"]
    scene.taffeta.preroll_from = "ANIMATION"
    mask = arm.modifiers.new("Mask", "MASK")
    mask.vertex_group = "Upper"
    for frame, show in ((-3, True), (0, False)):
        mask.show_viewport = show
        mask.keyframe_insert("show_viewport", frame=frame)
    with pytest.raises(SceneError, match="vertices at frame 0 but 10 at frame -3"):
        read()

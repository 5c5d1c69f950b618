# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast bodies are read between frames, so a fan that turns three times a second is round."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import session
from taffeta.addon.bake.state import Phase
from taffeta.addon.cache import status
from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.check.scene_check import check_frame
from taffeta.gpu_core.files import job
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.files.folder import JOB
from taffeta.gpu_core.scene.motion import between
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.gpu_core.scene_space import SceneSpace
from taffeta.tests.addon import baking
from taffeta.tests.addon.conftest import fcurves

RADIUS, TURN = 0.5, math.radians(45.0)  #: 3 turns a second at 24 fps


@pytest.fixture
def fan(scene, make_object):
    """A blade about y that reaches RADIUS far, with a keyed turn."""
    blade = [(x, y, z) for x in (-0.05, 0.05) for y in (0.0, 0.02) for z in (0.0, RADIUS)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    item = make_object("Fan", blade, faces, "COLLIDER")
    for frame in (1, 9):
        item.rotation_euler.y = TURN * (frame - 1)
        item.keyframe_insert("rotation_euler", frame=frame)
    for curve in fcurves(item):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    scene.frame_end = 9
    return item


def least_radius(scene) -> float:
    """Of the blade's tip at any moment, over what it should be."""
    (body,), samples = scene.colliders, scene.settings.samples_per_frame
    moments = np.linspace(0.0, scene.settings.frames - 1, 401)
    tips = np.array([between(body.positions, moment, samples) for moment in moments])[:, 1]
    return float((np.linalg.norm(tips[:, ::2], axis=1) / np.linalg.norm(body.positions[0, 1, ::2])).min())


def test_the_tip_stays_within_one_percent_of_round_with_eight_samples(scene, make_cloth, fan):
    make_cloth()
    assert least_radius(gather(bpy.context)) == pytest.approx(math.cos(TURN / 2), abs=1e-3)
    scene.taffeta.samples_per_frame = 8
    read = gather(bpy.context)
    assert read.colliders[0].positions.shape == (65, 8, 3)
    assert 0.99 < least_radius(read) < 1.0


def test_frames_are_read_as_without_samples(scene, make_cloth, make_collider, fan):
    cloth, _ = make_cloth(), make_collider()
    cloth.vertex_groups.new(name="Held").add([0, 4], 1.0, "REPLACE")
    cloth.taffeta.cloth.pins.add()
    cloth.taffeta.cloth.pins[0].group, cloth.taffeta.cloth.pins[0].target = "Held", fan
    once = gather(bpy.context)
    scene.taffeta.samples_per_frame = 4
    often = gather(bpy.context)
    for few, many in zip(once.colliders, often.colliders, strict=True):
        np.testing.assert_array_equal(many.positions[::4], few.positions)
        np.testing.assert_array_equal(many.triangles, few.triangles)
    pins, seldom = often.cloths[0].pin_groups[0].pins, once.cloths[0].pin_groups[0].pins
    np.testing.assert_array_equal(pins.targets[::4], seldom.targets)
    away = np.linalg.norm(pins.targets[:, :, ::2], axis=2)
    np.testing.assert_allclose(away, np.broadcast_to(away[0], away.shape), atol=1e-6)  # carried along round
    assert often.colliders[-1].positions.shape[0] == 1  # the floor stands still and needs no room
    assert scene.frame_current_final == 1.0


def test_a_count_of_vertices_that_differs_between_frames_is_named_with_its_moment(scene, make_cloth, make_object):
    make_cloth()
    line = [(x, 0.0, -1.0) for x in range(3)] + [(x, 1.0, -1.0) for x in range(3)]
    ground = make_object("Ground", line, [(0, 1, 4, 3), (1, 2, 5, 4)], "COLLIDER")
    array = ground.modifiers.new("Build", "ARRAY")
    array.use_relative_offset, array.use_constant_offset = False, True
    for frame, count in ((1.0, 1), (2.25, 1), (2.5, 2), (2.75, 1)):
        array.count = count
        array.keyframe_insert("count", frame=frame)
    scene.taffeta.samples_per_frame = 2
    with pytest.raises(SceneError, match=r"12 vertices at frame 2.5 but 6 at frame 1"):
        gather(bpy.context)


def test_in_a_preroll_that_stands_still_nothing_moves_between_frames(scene, make_cloth, fan):
    make_cloth()
    scene.taffeta.samples_per_frame, scene.taffeta.preroll, scene.taffeta.preroll_from = 4, 3, "STILL"
    positions = gather(bpy.context).colliders[0].positions
    assert len(positions) == (9 + 3 - 1) * 4 + 1
    np.testing.assert_array_equal(positions[:13], np.repeat(positions[:1], 13, axis=0))
    assert not np.array_equal(positions[12], positions[13])


def test_the_simulator_tells_what_leaves_its_round_path_and_how_many_samples_mend_it(scene, make_cloth, fan):
    make_cloth(divisions=40)
    warned = [text for text in SceneSpace(gather(bpy.context)).warnings if text.startswith("Fan")]
    assert warned == [
        "Fan: its path is round, and straight ways leave it by up to 0.037 m, first after frame 2. "
        "Set Samples per Frame to 4"
    ]
    scene.taffeta.samples_per_frame = 4
    assert not [text for text in SceneSpace(gather(bpy.context)).warnings if text.startswith("Fan")]


def test_a_straight_way_is_not_called_round_however_its_speed_changes(scene, make_cloth, make_collider):
    """Blender's own easing, there and back."""
    make_cloth(divisions=40)
    floor = make_collider()
    for frame, place in ((1, (0, 0, -1)), (13, (8, 3, 1)), (20, (0, 0, -1))):
        floor.location = place
        floor.keyframe_insert("location", frame=frame)
    scene.frame_end = 20
    space = SceneSpace(gather(bpy.context))
    assert 8 * space.edge < np.abs(np.diff(gather(bpy.context).colliders[0].positions, n=2, axis=0)).max()
    assert not [text for text in space.warnings if "round" in text]


def test_a_round_way_is_told_though_its_speed_changes(scene, make_cloth, fan):
    make_cloth(divisions=40)
    for curve in fcurves(fan):
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"
    assert [text for text in SceneSpace(gather(bpy.context)).warnings if text.startswith("Fan: its path is round")]


def test_cloth_before_a_fan_bakes_clean_and_stays_out_of_its_way(saved_scene, fan):
    """A sheet falls on a fan; the file is baked, and the cache goes stale with another number of samples."""
    saved_scene.frame_end = 9
    bpy.data.objects["Cloth"].location.z = 0.52
    bpy.data.objects["Cloth"].location.y = 0.01
    saved_scene.taffeta.samples_per_frame = 8
    baking.end(baking.begin())
    assert session.last.phase is Phase.DONE, session.last.text
    folder = baking.folder(saved_scene)
    scene = job.load(folder / JOB)
    assert scene.colliders[-1].positions.shape[0] == 65
    for frame, points in zip(range(1, 10), baking.frames(folder), strict=True):
        assert check_frame(scene, frame, [points]) == []
    saved_scene.taffeta.samples_per_frame = 4
    state, reason = status.of(saved_scene, bpy.data.objects["Cloth"])
    assert state is CacheState.STALE
    assert "samples per frame is 4, was 8" in reason

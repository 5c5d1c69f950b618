# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be simulated is refused with its name, and what will be slow is warned of, before it is tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.scene.scene import Pins, Scene, SceneError, Settings
from taffeta.gpu_core.scene_space import SHORT, SceneSpace
from taffeta.tests.gpu_core.small_scene import small_scene

FRAMES = 4


def refusal(scene: Scene) -> SceneError:
    with pytest.raises(SceneError) as caught:
        scene.validate()
    return caught.value


def with_cloth(**changes) -> Scene:
    scene = small_scene(FRAMES)
    return replace(scene, cloths=(replace(scene.cloths[0], **changes),))


def moved(vertex: int, place, array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array[vertex] = place
    return array


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ([0.0, np.inf, 0.0], "vertex 7 is not a number"),
        ([0.0, np.nan, 0.0], "vertex 7 is not a number"),
        ([0.0, np.finfo(np.float32).max, 0.0], "vertex 7 lies 3.4e+38 m from the origin"),
        ([0.0, 0.0, -2e6], "vertex 7 lies 2e+06 m from the origin"),
    ],
)
def test_a_vertex_far_away_is_said_to_be_far_and_not_that_its_faces_have_no_area(place, words):
    """Blender makes of infinity the largest float."""
    vertices = small_scene(FRAMES).cloths[0].positions
    for name in ("positions", "rest_positions"):
        error = refusal(with_cloth(**{name: moved(7, place, vertices)}))
        assert error.object == "Sheet"
        assert words in error.problem
        assert error.remedy


def with_motion(*offsets) -> Scene:
    scene = small_scene(len(offsets))
    (ball,) = scene.colliders
    frames = np.stack([ball.positions[0] + np.array(offset, np.float32) for offset in offsets])
    return replace(scene, colliders=(replace(ball, positions=frames),))


def test_a_collider_that_is_nowhere_is_named_with_its_frame():
    error = refusal(with_motion([0, 0, 0], [0, 0, 0], [np.nan, 0, 0]))
    assert (error.object, error.problem) == ("Ball", "vertex 0 is not a number at frame 13")


def test_a_collider_or_pin_that_is_elsewhere_at_once_is_refused_with_the_frames():
    error = refusal(with_motion([0, 0, 0], [0, 0, 0], [10000, 0, 0]))
    assert (error.object, error.problem) == ("Ball", "it moves 1e+04 m from frame 12 to 13")
    targets = np.zeros((FRAMES, 1, 3))
    targets[2:] += 200.0
    error = refusal(with_cloth(pins=Pins(np.array([3], np.int32), targets)))
    assert (error.object, error.problem) == ("Sheet", "it moves 200 m from frame 12 to 13")


def test_a_long_way_in_one_frame_is_warned_of():
    (text,) = SceneSpace(with_motion([0, 0, 0], [0, 0, 0], [0, 10, 0])).warnings
    assert text.startswith("Ball: it moves 10 m from frame 12 to 13.")
    assert SceneSpace(with_motion([0, 0, 0], [0, 0, 0], [0, 1, 0])).warnings == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(frame_start=1, frame_end=100_000_000), "more than 1048574 frames"),
        (Settings(step_rate=1e9), "1e+09 steps a second at 24 fps are more than 10000 steps a frame"),
    ],
)
def test_settings_that_nobody_would_see_the_end_of_are_refused(settings, words):
    with pytest.raises(SceneError, match=r"Set a shorter range|Lower the step rate") as caught:
        settings.validate()
    assert words in caught.value.problem


def test_a_vertex_close_beside_its_neighbour_is_warned_of_with_the_way_to_merge_them():
    cloth = small_scene(FRAMES).cloths[0]
    edge = 0.3 / 9
    for share, warned in ((2.0 * SHORT, False), (0.5 * SHORT, True)):
        rest = moved(44, cloth.rest_positions[45] - [0.0, share * edge, 0.0], cloth.rest_positions)
        warnings = SceneSpace(with_cloth(rest_positions=rest, positions=rest, thickness=1e-6)).warnings
        texts = [text for text in warnings if "By Distance" in text]
        assert len(texts) == warned, warnings
        if warned:
            assert texts[0].startswith(
                "Sheet: 1 edges are less than 1/300 as long as the others (vertices 44 and 45 are"
            )

# SPDX-License-Identifier: GPL-3.0-or-later
"""Places between frames: bodies and pins go by them, a bake resumes by them, and a longer range extends them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.bake.continuation import continued
from taffeta.gpu_core.bake.extension import same_beginning
from taffeta.gpu_core.check.scene_check import check_frame
from taffeta.gpu_core.files import job
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.scene.pins import PinGroup, Pins
from taffeta.gpu_core.scene.scene import Scene, SceneError
from taffeta.gpu_core.scene_space import SceneSpace
from taffeta.tests.gpu_core.bake.test_preroll import run
from taffeta.tests.gpu_core.small_scene import small_scene

FRAMES, SAMPLES = 5, 4


def sampled(frames: int = FRAMES, samples: int = SAMPLES) -> Scene:
    """A sheet that hangs from a corner on a ball; both are shaken between frames."""
    scene = small_scene(frames)
    (cloth,), (ball,) = scene.cloths, scene.colliders
    when = np.arange((frames - 1) * samples + 1) / samples
    shift = (0.02 * np.sin(2.0 * when))[:, None, None] * np.ones(3)
    pins = Pins(np.int32([0]), cloth.positions[None, [0]] + shift)
    return replace(
        scene,
        cloths=(replace(cloth, pins=pins, pin_groups=(PinGroup("Hand", pins),)),),
        colliders=(replace(ball, positions=(ball.positions + shift).astype(np.float32)),),
        settings=replace(scene.settings, samples_per_frame=samples),
    ).validate()


def test_places_at_and_between_samples():
    scene = sampled()
    space, ball = SceneSpace(scene), scene.colliders[0]
    for place in range(len(ball.positions)):
        there = space.goal(scene.settings.begins + place / SAMPLES)[space.cloth_vertices :, :3]
        np.testing.assert_allclose(space.world(there), ball.positions[place], atol=1e-6)
    between = space.world(space.goal(scene.settings.begins + 1.5 / SAMPLES)[0, :3])
    np.testing.assert_allclose(between, scene.cloths[0].pins.targets[1:3, 0].mean(axis=0), atol=1e-6)


def test_a_job_brings_them_back_and_one_without_hashes_as_before(tmp_path):
    scene, plain = sampled(), small_scene(FRAMES)
    job.save(scene, tmp_path)
    loaded = job.load(tmp_path)
    assert loaded.settings.samples_per_frame == SAMPLES
    assert job.digest(loaded) == job.digest(scene)
    content = job.describe(plain)
    content["settings"].pop("samples_per_frame")  # as an older version described it
    assert job.digest_of(content) == job.digest(plain)


def test_a_range_that_does_not_fit_its_samples_is_refused():
    scene = sampled()
    for samples, problem in ((3, "has 13"), (1, "the range has 5"), (0, "0 times a frame"), (65, "65 times a frame")):
        with pytest.raises(SceneError, match=problem):
            replace(scene, settings=replace(scene.settings, samples_per_frame=samples)).validate()


def test_a_longer_range_goes_on_and_another_motion_counts_from_its_frame():
    long, short = sampled(8), sampled(5)
    assert same_beginning(short, long) == 5
    assert same_beginning(short, sampled(5, 2)) == 0
    (ball,) = long.colliders
    for place, frames in ((0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (28, 7)):
        positions = ball.positions.copy()
        positions[place] += 0.01
        assert same_beginning(long, replace(long, colliders=(replace(ball, positions=positions),))) == frames


def test_a_bake_is_clean_resumes_to_the_same_bytes_and_goes_on_where_it_should(tmp_path):
    scene = sampled(6)
    cloth = scene.cloths[0]
    for name, stops in (("whole", ()), ("parts", (3,))):
        for stop in stops:
            run(scene, tmp_path / name, stop)
        run(scene, tmp_path / name, resume=bool(stops))
    whole, parts = (read_frames(frames_path(tmp_path / n / "cache", cloth.cache_key)) for n in ("whole", "parts"))
    np.testing.assert_array_equal(whole, parts)
    for index, frame in enumerate(whole):
        assert check_frame(scene, scene.settings.frame_start + index, [frame]) == []
    rest = continued(scene, tmp_path / "whole" / "cache", 3).validate()
    np.testing.assert_array_equal(rest.colliders[0].positions, scene.colliders[0].positions[2 * SAMPLES :])
    np.testing.assert_array_equal(rest.cloths[0].pin_groups[0].pins.targets, cloth.pins.targets[2 * SAMPLES :])


def test_straight_ways_in_samples_are_those_between_frames():
    """Samples on the chords change nothing but the rounding of the places."""
    scene = sampled(4, 1)
    when = np.arange(3 * SAMPLES + 1) / SAMPLES

    def finer(places):
        lower = np.minimum(when.astype(int), 2)
        share = (when - lower)[:, None, None]
        return ((1.0 - share) * places[lower] + share * places[lower + 1]).astype(places.dtype)

    (cloth,), (ball,) = scene.cloths, scene.colliders
    pins = replace(cloth.pins, targets=finer(cloth.pins.targets))
    fine = replace(
        scene,
        cloths=(replace(cloth, pins=pins, pin_groups=(PinGroup("Hand", pins),)),),
        colliders=(replace(ball, positions=finer(ball.positions)),),
        settings=replace(scene.settings, samples_per_frame=SAMPLES),
    )
    spaces = SceneSpace(scene), SceneSpace(fine.validate())
    for step in range(25):
        seldom, often = (space.goal(space.begins + step / 8.0) for space in spaces)
        np.testing.assert_allclose(seldom, often, atol=1e-7)

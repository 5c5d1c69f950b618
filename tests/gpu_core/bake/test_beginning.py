# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that is another from some frame on: a resumed bake keeps the frames before, with the bytes of a new one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.bake.continuation import continued
from taffeta.gpu_core.bake.extension import same_beginning
from taffeta.gpu_core.check.scene_check import to_world
from taffeta.gpu_core.files import handover
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.errors import StaleError
from taffeta.gpu_core.files.job import describe, save
from taffeta.gpu_core.scene.air import Field
from taffeta.gpu_core.scene.differences import alike, differences
from taffeta.gpu_core.scene.pins import PinGroup
from taffeta.gpu_core.scene.scene import Material, Pins
from taffeta.tests.gpu_core.small_scene import small_scene

FRAMES = 10


def jumping(frame: int, value: float, name: str = "density"):
    """A number of the cloth that jumps so many frames after the first."""
    scene = small_scene(FRAMES, 8)
    start = getattr(scene.cloths[0].material, name)
    keys = {name: np.array([start] * frame + [value])}
    return replace(scene, cloths=(replace(scene.cloths[0], keys=keys),))


def moving(frame: int):
    """The ball jumps up by 5 cm so many frames after the first."""
    scene = small_scene(FRAMES, 8)
    places = np.repeat(scene.colliders[0].positions, FRAMES, axis=0)
    places[frame:, :, 2] += 0.05
    return replace(scene, colliders=(replace(scene.colliders[0], positions=places),))


def blowing(key, strength, leap=FRAMES):
    """A wind that jumps to this strength at frame number `key`, and to another place at number `leap`."""
    place = np.zeros((FRAMES, 3))
    place[leap:] = 0.1
    keys = {"strength": np.array([0.5] * key + [strength])} if key < FRAMES else {}
    fan = Field(
        "Fan", place, np.array([[0.0, 0.0, 1.0]]), "wind", "plane", flow=1.0, power=1.0, strength=0.5, keys=keys
    )
    scene = small_scene(FRAMES, 8)
    return replace(scene, fields=(fan,), cloths=(replace(scene.cloths[0], material=Material(air_drag=1.0)),))


def weighed(weight):
    """In a steady wind that is another for the cloth from frame number 6 on."""
    scene = blowing(FRAMES, 1.0)
    keys = {"field_all": np.array([1.0] * 6 + [weight])}
    return replace(scene, cloths=(replace(scene.cloths[0], keys=keys),))


def baked(scene, folder, resume=False):
    """(the bytes of its frames, which frames were computed)"""
    events, job = [], handover.incoming(folder / "cache")
    save(scene, job)
    bake(job, folder / "cache", resume=resume, check=False, on_event=events.append, cancelled=lambda: False)
    computed = [event.report["frame"] for event in events if hasattr(event, "report")]
    return frames_path(folder / "cache", "sheet").read_bytes(), computed


CHANGES = {
    "another key": (jumping(6, 0.5), jumping(6, 2.0), 6),
    "a new key": (small_scene(FRAMES, 8), jumping(6, 2.0), 6),
    "no key any more": (jumping(6, 2.0), small_scene(FRAMES, 8), 6),
    "yarns that begin to rub": (small_scene(FRAMES, 8), jumping(6, 3e-4, "bend_friction"), 6),
    "a body that moves later": (moving(8), moving(6), 6),
    "another gust": (blowing(6, 1.0), blowing(6, 2.0), 6),
    "a new gust": (blowing(FRAMES, 1.0), blowing(6, 2.0), 6),
    "a field that moves later": (blowing(FRAMES, 1.0, 8), blowing(FRAMES, 1.0, 6), 6),
    "another weight of it": (weighed(1.0), weighed(0.0), 6),
}


@pytest.mark.parametrize(("before", "after", "same"), CHANGES.values(), ids=CHANGES.keys())
def test_a_bake_goes_on_from_where_the_scene_became_another(before, after, same, tmp_path):
    assert same_beginning(before, after) == same
    (tmp_path / "anew").mkdir()
    expected, _ = baked(after, tmp_path / "anew")
    first, _ = baked(before, tmp_path)
    found, computed = baked(after, tmp_path, resume=True)
    assert found == expected
    assert found != first
    assert min(computed) > after.settings.frame_start, "it began at the start"
    assert min(computed) <= after.settings.frame_start + same


def test_what_differs_from_the_first_frame_on_is_another_scene(tmp_path):
    before = jumping(6, 0.5)
    after = replace(before, settings=replace(before.settings, tolerance=0.1))
    assert same_beginning(before, after) == 0
    baked(before, tmp_path)
    with pytest.raises(StaleError):
        baked(after, tmp_path, resume=True)


def test_a_resume_that_is_refused_keeps_the_next_from_nothing(tmp_path):
    """The job that lies there stays that of the frames."""
    before, after, same = CHANGES["a body that moves later"]
    baked(before, tmp_path)
    with pytest.raises(StaleError):
        baked(replace(before, settings=replace(before.settings, tolerance=0.1)), tmp_path, resume=True)
    _, computed = baked(after, tmp_path, resume=True)
    assert before.settings.frame_start < min(computed) <= before.settings.frame_start + same


def test_a_bake_that_goes_on_from_a_frame_has_the_keys_from_there(tmp_path):
    before = jumping(4, 0.5)
    scene = replace(before, keys={"time_scale": np.array([1.0, 1.0, 1.0, 0.5])})
    baked(scene, tmp_path)
    cache = tmp_path / "cache"
    for kept, densities in ((3, [0.12, 0.12, 0.5]), (5, [0.5]), (FRAMES - 1, [0.5])):
        rest = continued(scene, cache, kept)
        assert rest.cloths[0].keys["density"].tolist() == densities
        rest.validate()
    frames = read_frames(frames_path(cache, "sheet"))
    places = [to_world(scene.cloths[0], frames[k], k) for k in (3, 4)]
    velocity = (places[1] - places[0]) * 24.0 / 0.5  # in the cloth's time, which passes half as fast there
    assert continued(scene, cache, 5).cloths[0].velocities == pytest.approx(velocity)


def test_a_key_is_named_with_the_frame_from_which_it_is_another():
    found = differences(describe(jumping(6, 0.5)), describe(jumping(4, 0.5)))
    assert [difference.text for difference in found] == ["Sheet: density is another from frame 15 on"]
    assert alike(found, FRAMES) == 4
    assert differences(describe(jumping(6, 0.12)), describe(small_scene(FRAMES, 8))) == []


def test_pin_groups_bake_alike_until_one_moves_otherwise_or_the_range_ends():
    scene = small_scene(FRAMES)
    (cloth,) = scene.cloths
    at = np.int32([0])

    def moving(frames, turn):
        way = cloth.positions[at] + 0.01 * np.minimum(np.arange(frames), turn)[:, None, None]
        settings = replace(scene.settings, frame_end=scene.settings.frame_start + frames - 1)
        group = PinGroup("Hand", Pins(at, way), keys={"strength": np.array([1.0, 0.5])})
        bodies = tuple(replace(body, positions=body.positions[:1]) for body in scene.colliders)
        return replace(scene, cloths=(replace(cloth, pin_groups=(group,)),), settings=settings, colliders=bodies)

    assert same_beginning(moving(6, 99), moving(9, 99)) == 6
    assert same_beginning(moving(6, 99), moving(6, 3)) == 4
    other = replace(moving(6, 99), threads=np.zeros((0, 4), np.int32))
    assert same_beginning(moving(6, 99), other) == 0

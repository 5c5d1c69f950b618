# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of pins, small: from an empty, a figure's surface and keys to frames in which nothing crosses."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.job import load, save
from taffeta.gpu_core.scene.scene import Scene
from taffeta.sample_blends import build, cape, tablecloth_pull
from taffeta.tests.gpu_core.small_scene import assert_frames_are_free_of_intersections

SUNK = tablecloth_pull.ROOM - tablecloth_pull.BARE  #: m


def baked(name: str, vertices: int, folder) -> tuple[Scene, np.ndarray]:
    """(the scene as it was baked, (F, N, 3) world positions), no frame of which crosses anything."""
    build(name, vertices)
    scene = gather(bpy.context)
    save(scene, folder / "job")
    bake(folder / "job", folder / "cache", on_event=lambda event: None, cancelled=lambda: False)
    loaded = load(folder / "job")
    assert_frames_are_free_of_intersections(loaded, folder / "cache", scene.settings.frames)
    (cloth,) = loaded.cloths
    to_world = np.linalg.inv(cloth.world_to_object[0])
    shapes = np.float64(read_frames(frames_path(folder / "cache", cloth.cache_key)))
    return loaded, shapes @ to_world[:3, :3].T + to_world[:3, 3]


def test_a_hand_pulls_a_tablecloth_from_under_what_stands_on_it_and_lets_it_go(scene, tmp_path):
    found, places = baked("tablecloth_pull", 170, tmp_path)
    (group,), last = found.cloths[0].pin_groups, tablecloth_pull.LET_GO - 1  # which is index, not frame
    held = places[:last, group.pins.vertices]
    assert held == pytest.approx(group.pins.targets[:last], abs=1e-4)
    assert places[20, :, 2].max() > tablecloth_pull.HEIGHT > places[-1, :, 2].max() + 0.2
    bodies = {body.name: body.positions for body in found.colliders}
    assert np.abs(places[20, :, :2] - bodies["Teapot"][0].mean(axis=0)[:2]).sum(axis=1).min() < 0.1, "it lies under it"
    for name in ("Teapot", "Plate", "Plate.001", "Goblet", "Goblet.001"):
        sunk = bodies[name][0] - bodies[name][-1]
        assert sunk == pytest.approx(np.tile([0.0, 0.0, SUNK], (len(sunk), 1)), abs=1e-5)
    gone = tablecloth_pull.STANDS[0] - 1
    assert places[gone, :, 0].min() > 0.5 * tablecloth_pull.TABLE, "it is off the table before that sinks onto it"
    outwards = places[:, group.pins.vertices, 0].mean(axis=1)
    before, after = np.diff(outwards)[[last - 2, last]] * 24.0  # m/s
    assert after > 0.5 * before > 0.2, "it flies on"


def test_a_cape_goes_with_the_shoulders_and_slides_off_one_after_the_other(scene, tmp_path):
    found, places = baked("cape", 250, tmp_path)
    left, right = found.cloths[0].pin_groups
    for group, (_, frame) in zip((left, right), cape.LET_GO.values(), strict=True):
        assert places[: frame - 1, group.pins.vertices] == pytest.approx(group.pins.targets[: frame - 1], abs=1e-4)
    way = group.pins.targets[-1] - group.pins.targets[0]
    assert way == pytest.approx(np.tile(np.subtract(cape.WAY[-1][1], cape.WAY[0][1]), (len(way), 1)), abs=1e-4)
    between = cape.LET_GO["Right Shoulder"][1] - 2
    heights = [places[between, group.pins.vertices, 2].mean() for group in (left, right)]
    assert heights[0] < heights[1] - 0.1, "one shoulder has let go"
    assert places[-1, :, 2].max() < 0.5

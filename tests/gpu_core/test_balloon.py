# SPDX-License-Identifier: GPL-3.0-or-later
"""The balloon of the manual, baked small: blown up, pinched, and nothing passes through anything."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest

from taffeta.benchmarks.balloon import BLOWN, MORE, NARROW, PINCHED, RADIUS, pinched_balloon
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.check.intersection import unique_edges
from taffeta.gpu_core.check.scene_check import check_frame, to_world
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.scene.enclosure import enclosure


def test_a_balloon_is_blown_up_and_pinched_without_an_intersection(tmp_path):
    scene = pinched_balloon(200)
    (cloth,) = scene.cloths
    save(scene, tmp_path / "job")
    bake(tmp_path / "job", tmp_path / "cache", check=False, on_event=lambda event: None, cancelled=lambda: False)
    cached = read_frames(frames_path(tmp_path / "cache", cloth.cache_key))
    assert len(cached) == PINCHED + 1
    triangles, offset = [cloth.triangles], len(cloth.positions)
    for body in scene.colliders:
        triangles.append(body.triangles + offset)
        offset += body.positions.shape[1]
    faces = np.concatenate(triangles).astype(np.int32)
    for index in range(len(cached)):
        assert check_frame(scene, scene.settings.frame_start + index, [cached[index]]) == []
        bodies = [np.float64(body.positions[index if body.animated else 0]) for body in scene.colliders]
        vertices = np.concatenate([to_world(cloth, cached[index], index), *bodies])
        assert not ipctk.has_intersections(ipctk.CollisionMesh(vertices, unique_edges(faces), faces), vertices)
    start, blown, pinched = (float(enclosure(cached[k], cloth.triangles).volume[0]) for k in (0, BLOWN + 6, PINCHED))
    assert blown / start == pytest.approx(MORE, rel=0.03), "rubber of 0.4 mm hardly presses 1000 hPa together"
    assert pinched == pytest.approx(blown, rel=0.03)
    axis = np.hypot(cached[PINCHED][:, 1], cached[PINCHED][:, 2] - RADIUS * MORE ** (1.0 / 3.0))
    assert np.abs(cached[PINCHED][axis < 0.05, 0]).min() < NARROW

# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample of a knot, small: drawn tight, it holds by friction alone."""

from __future__ import annotations

import bpy
import ipctk
import numpy as np
import pytest

from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.check.scene_check import SceneCheck, to_world
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.sample_blends import build, knot

SIZE = 0.04  #: m, half of what is looked at as the knot


@pytest.fixture
def strips(scene, tmp_path) -> list[np.ndarray]:
    """(F, N, 3) of each, world, m; found clean in every frame by the exact check and by ipctk."""
    build("knot", 300)
    bpy.context.scene.taffeta.step_rate = 96
    gathered = gather(bpy.context)
    save(gathered, tmp_path / "job")
    bake(tmp_path / "job", tmp_path / "cache", check=False, on_event=lambda event: None, cancelled=lambda: False)
    places = []
    for cloth in gathered.cloths:
        cached = read_frames(frames_path(tmp_path / "cache", cloth.cache_key))
        places.append(np.array([to_world(cloth, frame, index) for index, frame in enumerate(cached)]))
    check, (first, second) = SceneCheck(gathered), gathered.cloths
    triangles = np.concatenate([first.triangles, second.triangles + len(first.positions)]).astype(np.int32)
    floor = gathered.colliders[0].positions[0]
    for index, both in enumerate(np.concatenate(places, axis=1)):
        assert check.findings(1 + index, np.concatenate([both, floor])) == []
        mesh = ipctk.CollisionMesh(both, unique_edges(triangles).astype(np.int32), triangles)
        assert not ipctk.has_intersections(mesh, both), index
    return places


def test_a_knot_holds_by_friction_under_load_and_after_it_is_let_go(strips):
    assert len(strips[0]) == knot.FRAMES
    loaded = slice(knot.SHORT, knot.LET_GO - 1)  # short ends are free, long ones are drawn apart
    for strip, tail in zip(strips, (-1, 0), strict=True):
        assert np.ptp(strip[loaded, tail, 0]) < 0.015, "it does not slip through"
    both = np.concatenate(strips, axis=1)
    tight, end = both[knot.LET_GO - 2], both[-1]
    within = np.linalg.norm(tight - np.median(tight, axis=0), axis=1) < SIZE
    assert within.sum() > 20
    assert np.ptp(end[within], axis=0).max() < 1.2 * np.ptp(tight[within], axis=0).max(), "it does not open"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams that open again: by a key their threads lose their force, and one vertex is two."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sewn_tube, sheet

cpu = select("cpu")
OPENS, CLOSES = 22, 30


def force(frames, *switched):
    """Of each frame: it is on at first, and switched at these."""
    on = np.zeros(frames, int)
    for frame in switched:
        on[frame - 1 :] += 1
    return {"sewing_force": np.where(on % 2 == 0, 5.0, 0.0)}


def bake(simulator, frames):
    """(world positions, closed threads) of each; every frame clean by the exact check and ipctk."""
    scene, found = simulator.scene, []
    check, (cloth,) = SceneCheck(scene), scene.cloths
    for _ in range(frames):
        assert not simulator.advance_frame().faults
        x, done = simulator.positions()[0], simulator._sewing.done.copy()
        assert check.findings(simulator.frame, x) == []
        of, faces = simulator._sewing.vertex_of[0], simulator._sewing.vertex_of[0][cloth.triangles]
        joined = np.zeros((of.max() + 1, 3))
        joined[of] = x
        mesh = ipctk.CollisionMesh(joined, unique_edges(faces.astype(np.int32)), faces)
        assert not ipctk.has_intersections(mesh, joined)
        found.append((x, done))
    return found


@pytest.fixture(scope="module")
def tube():
    scene = sewn_tube(6, 44)
    cloth = replace(scene.cloths[0], keys=force(44, OPENS, CLOSES))
    return replace(scene, cloths=(cloth,), settings=replace(scene.settings, step_rate=96.0))


@pytest.fixture(scope="module")
def baked(tube):
    simulator = Simulator(tube, cpu)
    return bake(simulator, OPENS)[-4:], simulator


def test_a_seam_opens_at_its_key_and_not_before(baked):
    frames, simulator = baked
    seams = simulator.scene.cloths[0].seams
    gaps = [np.linalg.norm(x[seams[:, 0]] - x[seams[:, 1]], axis=1) for x, _ in frames]
    assert [bool(done.all()) for _, done in frames] == [True, True, False, False]
    assert not frames[2][1].any()
    assert gaps[1].max() == 0.0
    assert 2e-5 < gaps[2].min() <= gaps[2].max() < 3e-4
    assert gaps[3].mean() > 1.5 * gaps[2].mean()  # nothing holds it: the tube's panels spring back


def test_a_bake_goes_on_from_an_opened_seam_with_the_same_bits(tube, baked):
    frames, simulator = baked
    again = Simulator(tube, cpu)
    again.restore(simulator.state())
    assert np.array_equal(again.positions()[0], frames[-1][0])
    assert np.array_equal(bake(again, 1)[0][0], bake(simulator, 1)[0][0])


def test_what_has_opened_is_sewn_again_when_the_force_comes_back(tube, baked):
    simulator = Simulator(tube, cpu)
    simulator.restore(baked[1].state())
    frames = bake(simulator, 43 - simulator.frame)
    assert frames[-1][1].all()


def test_panels_that_lie_on_each_other_open_without_a_crossing():
    """A folded seam: at first one side cannot give way without passing through the other, or barely."""
    flat, triangles = sheet(7, 0.1)
    upper = flat + [0.0, 0.0, 0.004]
    start = np.concatenate([flat, upper])
    faces = np.concatenate([triangles, triangles[:, ::-1] + 49]).astype(np.int32)
    border = np.flatnonzero(flat[:, 0] < 1e-9)
    held = np.flatnonzero(flat[:, 0] > 0.1 - 1e-9).astype(np.int32)
    cloth = Cloth(
        "Book", faces, start, start, Material(), seams=np.column_stack([border, border + 49]).astype(np.int32),
        sewing_time=0.1, pins=Pins(held, start[None, held]), keys=force(16, 8),
    )  # fmt: skip
    simulator = Simulator(Scene((cloth,), (), Settings(frame_end=16, step_rate=96.0)), cpu)
    frames = bake(simulator, 15)
    assert frames[5][1].all()
    assert not frames[-1][1].any()

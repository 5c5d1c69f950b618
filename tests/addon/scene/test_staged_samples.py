# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of pots and piles, small: no frame crosses, and each does what it is there to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import bpy
import ipctk
import numpy as np
import pytest

from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.bake import events
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.check.scene_check import SceneCheck, to_world
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.gpu_core.scene.scene import Scene
from taffeta.sample_blends import build, card_shuffle, cloth_blender, folding, lumpy_body, needles, teapot

THROUGH_ANOTHER = ("Blade",)  #: bodies that stand in another, which ipctk must not be asked about


class Baked(NamedTuple):
    scene: Scene
    places: list[np.ndarray]  #: of each cloth (F, N, 3), world, m


def baked(name: str, vertices: int, folder: Path, frames: int) -> Baked:
    """A sample; its first frames are baked and found clean, by the exact check and by ipctk; nothing is released."""
    build(name, vertices)
    bpy.context.scene.frame_end = frames
    bpy.context.scene.taffeta.step_rate = 96
    scene = gather(bpy.context)
    save(scene, folder / "job")
    said: list[Any] = []
    bake(folder / "job", folder / "cache", check=False, on_event=said.append, cancelled=lambda: False)
    reports = [event.report for event in said if isinstance(event, events.Frame)]
    assert [report["frame"] for report in reports if report.get("released")] == []
    shapes = [read_frames(frames_path(folder / "cache", cloth.cache_key)) for cloth in scene.cloths]
    places = [
        np.array([to_world(cloth, shape, index) for index, shape in enumerate(own)])
        for cloth, own in zip(scene.cloths, shapes, strict=True)
    ]
    check = SceneCheck(scene)
    for index in range(frames):
        assert check.cached_findings(scene.settings.frame_start + index, [own[index] for own in shapes]) == []
        assert_nothing_crosses(scene, [own[index] for own in places], index)
    return Baked(scene, places)


def assert_nothing_crosses(scene: Scene, cloths: list[np.ndarray], index: int) -> None:
    samples = scene.settings.samples_per_frame
    parts = list(zip(cloths, (cloth.triangles for cloth in scene.cloths), strict=True))
    for body in scene.colliders:
        if body.name not in THROUGH_ANOTHER:
            parts.append((np.float64(body.positions[index * samples if body.animated else 0]), body.triangles))
    first = np.cumsum([0, *(len(places) for places, _ in parts)])
    vertices = np.concatenate([places for places, _ in parts])
    faces = np.concatenate([own + at for (_, own), at in zip(parts, first, strict=False)]).astype(np.int32)
    assert not ipctk.has_intersections(
        ipctk.CollisionMesh(vertices, unique_edges(faces).astype(np.int32), faces), vertices
    ), index


def test_a_stack_of_cloths_stays_on_the_teapot(scene, tmp_path):
    _, places = baked("stack_on_teapot", 250, tmp_path, 24)
    assert len(places) == 10
    tops = [cloth[-1, :, 2].max() for cloth in places]
    assert (np.diff(tops) > 0.0).all(), "each lies on the one below"
    assert tops[0] > teapot.HEIGHT
    assert max(np.abs(cloth[-1].mean(axis=0)[:2]).max() for cloth in places) < 0.05  # m


def test_a_cloth_on_the_spout_comes_to_rest_there(scene, tmp_path):
    _, (places,) = baked("teapot_spout", 200, tmp_path, 40)
    end = places[-1]
    assert end[:, 2].max() > teapot.TIP[2]
    assert end[:, 2].min() < 0.1 < teapot.TIP[0] < end[:, 0].max()
    assert np.abs(end - places[-4]).max() < 0.05


def test_cloths_that_are_dropped_edge_on_fold(scene, tmp_path):
    _, places = baked("folding", 200, tmp_path, 60)
    for cloth, frame in zip(places, folding.LET_GO, strict=True):
        assert cloth[frame - 2, :, 2].max() == pytest.approx(cloth[0, :, 2].max(), abs=1e-3), "held until it is let go"
        assert cloth[-1, :, 2].max() < 0.6 * folding.SIZE


def test_a_tablecloth_lies_on_the_lumps(scene, tmp_path):
    read, (places,) = baked("lumpy_body", 300, tmp_path, 20)
    body = read.colliders[[collider.name for collider in read.colliders].index("Body")].positions[0]
    near = np.linalg.norm(places[-1][:, None] - body, axis=2).min(axis=1) < 0.02
    assert near.mean() > 0.3  # as in the paper
    assert places[-1, :, 2].min() < body[:, 2].max() - 0.2 * lumpy_body.SIZE


def test_a_cloth_slides_off_its_needles(scene, tmp_path):
    _, (places,) = baked("needles", 200, tmp_path, 66)
    assert places[needles.WAY[2][0], :, 2].mean() > needles.TOP - 0.05, "it lay on them"
    edge = 0.5 * needles.APART * (needles.ROWS - 1)
    assert places[-1, :, 0].min() > edge, "and is beyond them"


def test_a_blade_stirs_its_cloths(scene, tmp_path):
    read, places = baked("cloth_blender", 150, tmp_path, 48)
    assert read.settings.samples_per_frame == cloth_blender.SAMPLES
    assert all(cloth[-1, :, 2].max() < cloth_blender.LOWEST + 0.1 for cloth in places), "they lie in the bowl"
    turned = [np.linalg.norm(cloth[-1] - cloth[-13], axis=1).mean() for cloth in places]
    assert max(turned) > 0.02  # m


def test_cards_fall_on_each_other_from_either_pile_in_turn(scene, tmp_path):
    _, places = baked("card_shuffle", 16 * 35, tmp_path, 56)
    heights = []
    for number, card in enumerate(places):
        side = 1.0 if number % 2 else -1.0
        heights.append(card[-1, side * card[-1, :, 0] < 0.3 * card_shuffle.LAPPED, 2].mean())
    assert (np.diff(heights) > 0.0).all()

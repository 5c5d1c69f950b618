# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of garments, small: no frame crosses, and each does what it is there to show."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import bpy
import ipctk
import numpy as np
import pytest

from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.check.scene_check import SceneCheck, to_world
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.scene.mesh import hinges, unique_edges, with_cords
from taffeta.gpu_core.scene.scene import Cloth, Scene
from taffeta.sample_blends import build
from taffeta.sample_blends.drawstring_waist import LET_GO, LOWER, PULLED, UPPER
from taffeta.sample_blends.jeans import STEP
from taffeta.sample_blends.pleated_skirt import FOLD

LONGEST = 1.15  #: of an edge of the cloth, by its length at rest


class Worn(NamedTuple):
    cloth: Cloth
    places: np.ndarray  #: (F, N, 3) world, m


def worn(name: str, vertices: int, folder: Path, frames: int) -> Worn:
    """A sample, baked and found clean in every frame, by the exact check and by ipctk."""
    build(name, vertices)
    scene = bpy.context.scene
    scene.frame_end = frames
    scene.taffeta.step_rate = 96
    gathered = gather(bpy.context)
    save(gathered, folder / "job")
    bake(folder / "job", folder / "cache", check=False, on_event=lambda event: None, cancelled=lambda: False)
    (cloth,) = gathered.cloths
    cached = read_frames(frames_path(folder / "cache", cloth.cache_key))
    assert len(cached) == scene.frame_end
    places = np.array([to_world(cloth, frame, index) for index, frame in enumerate(cached)])
    assert_nothing_crosses(gathered, places)
    assert longest(cloth, places) < LONGEST
    return Worn(cloth, places)


def assert_nothing_crosses(scene: Scene, places: np.ndarray) -> None:
    check, (cloth,) = SceneCheck(scene), scene.cloths
    surfaces, first = [cloth.triangles], len(cloth.positions)
    for body in scene.colliders:
        surfaces.append(body.triangles + first)
        first += len(body.positions[0])
    triangles = np.concatenate(surfaces)
    cords = np.zeros((0, 2), np.int32) if cloth.cords is None else cloth.cords.ends
    for index, own in enumerate(places):
        bodies = [np.float64(body.positions[min(index, len(body.positions) - 1)]) for body in scene.colliders]
        vertices = np.concatenate([own, *bodies])
        assert check.findings(scene.settings.frame_start + index, vertices) == []
        joined, of = np.unique(vertices, axis=0, return_inverse=True)  # closed seams
        faces = of.ravel()[triangles].astype(np.int32)
        edges = with_cords(unique_edges(faces), of.ravel()[cords]).astype(np.int32)
        assert not ipctk.has_intersections(ipctk.CollisionMesh(joined, edges, faces), joined), index


def longest(cloth: Cloth, places: np.ndarray) -> float:
    """The largest edge in any frame, by its length at rest."""
    sides = [np.linalg.norm(t - np.roll(t, 1, axis=-2), axis=-1) for t in (cloth.patterns, places[:, cloth.triangles])]
    return float((sides[1] / sides[0]).max())


def turned(cloth: Cloth, places: np.ndarray) -> np.ndarray:
    """(K,) rad by which the faces beside each fold are turned from each other, as its mark has it."""
    found = hinges(cloth.triangles, cloth.rest_positions)
    marks = zip(np.sort(cloth.folds.ends, axis=1).tolist(), cloth.folds.weights, strict=True)
    weight = {tuple(ends): value for ends, value in marks}
    folds = np.array([weight.get(tuple(ends), 0.0) for ends in found.corners[:, :2].tolist()])
    corners = places[cloth.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    first, second = found.triangles[np.flatnonzero(folds)].T
    down = ((corners[second].mean(axis=1) - corners[first].mean(axis=1)) * normal[first]).sum(axis=1) < 0.0
    angle = np.arccos(np.clip((normal[first] * normal[second]).sum(axis=1), -1.0, 1.0))
    return angle * np.where(down, 1.0, -1.0) * np.sign(folds[np.flatnonzero(folds)])


def test_a_skirt_flies_as_its_figure_turns_and_hangs_pleated_again(scene, tmp_path):
    cloth, places = worn("pleated_skirt", 430, tmp_path, 70)
    hem = places[0, :, 2] < places[0, :, 2].min() + 1e-3
    out = np.hypot(places[:, hem, 0], places[:, hem, 1]).mean(axis=1)
    assert out[15:].max() > out[-1] + 0.05  # m
    angle = turned(cloth, places[-1])
    assert angle.min() > 0.4 * FOLD
    assert abs(angle.mean() - FOLD) < 0.2 * FOLD


def wound(surface: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(K,) how often a closed surface (T, 3, 3) winds around points (K, 3): 1 inside, 0 outside."""
    a, b, c = (surface[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
    above = (a * np.cross(b, c)).sum(axis=2)
    below = la * lb * lc + (a * b).sum(axis=2) * lc + (b * c).sum(axis=2) * la + (c * a).sum(axis=2) * lb
    return np.arctan2(above, below).sum(axis=1) / (2.0 * np.pi)


def test_a_skirt_is_held_by_the_string_in_its_tunnel_once_its_pins_let_go(scene, tmp_path):
    cloth, places = worn("drawstring_waist", 400, tmp_path, 66)
    string, height = np.unique(cloth.cords.ends), places[0, :, 2]
    tunnel = (height > LOWER[0] - 1e-4) & (height < UPPER[0] + 1e-4)
    walls = cloth.triangles[tunnel[cloth.triangles].all(axis=1)]
    for frame in places:
        assert wound(frame[walls], frame[string]) == pytest.approx(1.0, abs=1e-3)
    along = np.linalg.norm(places[:, cloth.cords.ends[:, 1]] - places[:, cloth.cords.ends[:, 0]], axis=2).sum(axis=1)
    assert along[-1] < (1.0 - 0.7 * PULLED[-1][1]) * cloth.cords.lengths.sum()
    waist = places[LET_GO[0] :, tunnel, 2].mean(axis=1)
    assert np.ptp(waist) < 0.03  # m


def test_jeans_are_sewn_and_keep_their_pockets_as_a_knee_is_lifted(scene, tmp_path):
    cloth, places = worn("jeans", 420, tmp_path, STEP[-1][0])
    end = places[-1]
    assert (end[cloth.seams[:, 0]] == end[cloth.seams[:, 1]]).all()
    sides = np.sort(cloth.triangles[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1)
    ends, shared = np.unique(sides, axis=0, return_counts=True)
    assert shared.max() == 3  # where a pocket is sewn on
    seam, left = np.unique(ends[shared == 3]), places[0, :, 0] < 0.0
    for pocket in (seam[left[seam]], seam[~left[seam]]):
        assert np.ptp(end[pocket, 2]) == pytest.approx(np.ptp(places[0, pocket, 2]), rel=0.1)

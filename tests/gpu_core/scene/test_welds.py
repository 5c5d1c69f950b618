# SPDX-License-Identifier: GPL-3.0-or-later
"""Borders that lie on each other are found to be seams, copies are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Scene, Settings
from taffeta.gpu_core.scene.welds import lying_seams
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")


def unwelded(side=9, off=0.0):
    """A sheet that is cut along its middle, the halves where they were, and one of them turned inside out."""
    rest, triangles = sheet(side, 0.2)
    left = (rest[triangles][:, :, 0] < 0.1 + 1e-9).all(axis=1)
    points, faces = [], []
    for half in (triangles[left], triangles[~left][:, ::-1]):
        used, number = np.unique(half, return_inverse=True)
        faces.append(number.reshape(-1, 3) + sum(map(len, points)))
        points.append(rest[used] + [0.0, 0.0, off * len(points)])
    return np.concatenate(points), np.concatenate(faces).astype(np.int32)


@pytest.mark.parametrize("off", [0.0, 5e-5])
def test_a_cut_that_was_never_sewn_is_found(off):
    points, faces = unwelded(off=off)
    seams = lying_seams(faces, points, 1e-4)
    assert len(seams) == 9
    assert np.abs(points[seams[:, 0]] - points[seams[:, 1]]).max() <= off
    assert len(lying_seams(faces, points, 1e-5)) == (9 if off == 0.0 else 0)


def test_a_copy_on_its_original_is_no_seam():
    points, faces = sheet(6, 0.2)
    doubled = np.concatenate([faces, faces + len(points)]).astype(np.int32)
    assert len(lying_seams(doubled, np.concatenate([points, points]), 1e-4)) == 0


def test_a_sheet_without_borders_in_one_place_has_none():
    assert len(lying_seams(sheet(6, 0.2)[1], sheet(6, 0.2)[0], 1e-4)) == 0
    assert len(lying_seams(ball(0.1)[1], ball(0.1)[0], 1e-4)) == 0


def test_an_import_that_was_never_welded_drapes_as_the_sheet_that_it_is():
    points, faces = unwelded()
    body, triangles = ball(0.06)
    obstacle = Collider("Ball", triangles, (body + [0.1, 0.1, -0.07])[None].astype(np.float32))
    cloth = Cloth("Import", faces, points, points, Material(), seams=lying_seams(faces, points, 1e-4))
    settings = Settings(frame_end=14, step_rate=96)
    found, seams = [], cloth.seams
    for own in (cloth, replace(cloth, seams=None)):
        scene = Scene((own,), (obstacle,), settings)
        simulator, check, unfinished = Simulator(scene, cpu), SceneCheck(scene), 0
        for _ in range(13):
            report = simulator.advance_frame()
            unfinished += report.unfinished_steps
        if own.seams is not None:
            vertices = np.concatenate([*simulator.positions(), obstacle.positions[0]])
            assert check.findings(simulator.frame, vertices) == []
            assert not simulator.warnings
        x = simulator.positions()[0]
        found.append(
            (unfinished, report.largest_stretch, np.linalg.norm(x[seams[:, 0]] - x[seams[:, 1]], axis=1).max())
        )
    assert found[0][0] == found[0][2] == 0
    assert found[0][1] < 1.1
    assert found[1][2] > 0.01  # as two it fell apart

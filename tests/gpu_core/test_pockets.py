# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges with more than two faces: pockets, collars, linings."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import check_frame
from taffeta.gpu_core.elasticity.assembly import assemble
from taffeta.gpu_core.scene.mesh import counted_edges, edge_sides, hinges, unique_edges
from taffeta.gpu_core.scene.scene import Cloth, SceneError
from taffeta.gpu_core.scene.shape import Shape
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import pocket

#: An edge along x and faces to it: in the plane, in the plane on the other side, upright, hanging.
FAN = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0.1], [0.5, 0.1, 1], [0.5, 0, -1.0]])


def test_the_flattest_two_of_three_faces_are_a_hinge_and_the_third_is_free():
    triangles = np.int32([[0, 1, 4], [0, 1, 2], [1, 0, 3]])
    found = hinges(triangles, FAN)
    assert sorted(found.corners[0, 2:].tolist()) == [2, 3]
    assert len(found.corners) == 1


def test_of_four_faces_two_and_two_are_hinges():
    triangles = np.int32([[0, 1, 4], [0, 1, 2], [1, 0, 3], [0, 1, 5]])
    found = hinges(triangles, FAN)
    assert sorted(sorted(pair) for pair in found.corners[:, 2:].tolist()) == [[2, 3], [4, 5]]


def test_every_side_along_an_edge_is_found():
    triangles = np.int32([[0, 1, 4], [0, 1, 2], [1, 0, 3]])
    edges = unique_edges(triangles)
    sides = edge_sides(triangles, edges, np.zeros((0, 2), np.int32))
    assert sides.shape[1] == 3
    assert (sides[(edges == [0, 1]).all(axis=1)] >= 0).all()
    assert ((sides >= 0).sum(axis=1) == counted_edges(triangles)[1]).all()


def test_a_sheet_bends_at_a_seam_of_its_pocket_as_without_it():
    (cloth,) = pocket(9, 2).cloths
    count = 81
    sheet = Cloth(
        "Plain", cloth.triangles[:128], cloth.rest_positions[:count], cloth.positions[:count], pins=cloth.pins
    )
    plain, jeans = (assemble((one,), 1 / 192).bending.rows for one in (sheet, cloth))
    on_sheet = abs(jeans[:, count:]).sum(axis=1) == 0.0
    ours = {tuple(np.round(row, 9)) for row in jeans[:, :count].toarray()[on_sheet]}
    assert all(tuple(np.round(row, 9)) in ours for row in plain.toarray())


@pytest.mark.parametrize("side", [7, 12])
def test_jeans_with_a_pocket_hang_free_of_intersections(side):
    scene = pocket(side, 24)
    (cloth,) = scene.cloths
    assert (counted_edges(cloth.triangles)[1] == 3).sum() >= side // 2
    simulator = Simulator(scene, select("cpu"))
    assert simulator.warnings == []
    mesh = ipctk.CollisionMesh(cloth.positions, unique_edges(cloth.triangles), cloth.triangles)
    for frame in range(2, 25):
        report = simulator.advance_frame()
        (x,) = simulator.positions()
        assert (report.faults, report.released, report.unfinished_steps) == ([], [], 0)
        assert report.largest_stretch < 1.08
        assert check_frame(scene, frame, [x.astype(np.float32)]) == []
        assert not ipctk.has_intersections(mesh, x)
    assert np.ptp(x[:, 1]) > 0.03  # it folds


def test_pressure_is_refused_where_three_faces_leave_no_inside():
    scene = pocket(7, 2)
    pressed = replace(scene.cloths[0], shape=Shape(pressure=20.0))
    with pytest.raises(SceneError, match="edges have more than two faces, so pressure has no inside"):
        replace(scene, cloths=(pressed,)).validate()

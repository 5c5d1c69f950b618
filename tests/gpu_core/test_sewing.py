# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams: threads pull panels together, and then they are one sheet."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.elasticity.assembly import assemble
from taffeta.gpu_core.files import job
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.scene.seams import mean_of, welded
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sewn_tube, sheet

cpu = select("cpu")


def halves(side=9, apart=0.02):
    """(a sheet, the same cut along its middle with the halves `apart`, which of its vertices each of theirs is)."""
    rest, triangles = sheet(side, 0.2)
    whole = Cloth("Whole", triangles, rest, rest, Material(bend=1e-5))
    middle = rest[:, 0] < 0.1 + 1e-9, rest[:, 0] > 0.1 - 1e-9
    of = np.concatenate([np.flatnonzero(half) for half in middle])
    number = [np.cumsum(half) - 1 for half in middle]
    number[1] = number[1] + int(middle[0].sum())
    left = middle[0][triangles].all(axis=1)
    cut = np.where(left[:, None], number[0][triangles], number[1][triangles]).astype(np.int32)
    both = np.flatnonzero(middle[0] & middle[1])
    shift = np.repeat([0.0, apart], [int(half.sum()) for half in middle])[:, None] * [1.0, 0.0, 0.3]
    panels = Cloth("Cut", cut, rest[of] + shift, rest[of] + shift, whole.material)
    return whole, replace(panels, seams=np.column_stack([number[0][both], number[1][both]]).astype(np.int32)), of


def test_two_halves_that_are_sewn_are_the_sheet_that_was_cut():
    """The same mass, stretch and bending, also across the seam, though the halves lie apart at rest."""
    whole, cut, of = halves()
    sewn = welded(cut, np.ones(len(cut.seams), bool), np.zeros(len(cut.seams), bool))
    assert sewn.done.all()
    number = np.empty(len(whole.positions), int)
    number[of] = sewn.vertex_of  # the sheet's vertices in the sewn one
    expected, found = (assemble((cloth,), 1 / 192) for cloth in (whole, sewn.cloth))
    assert found.mass[number] == pytest.approx(expected.mass, rel=1e-9)
    difference = found.hessian[number][:, number] - expected.hessian
    assert abs(difference).max() < 1e-9 * abs(expected.hessian).max()
    bending = found.bending.hessian[number][:, number] - expected.bending.hessian
    assert abs(bending).max() < 1e-9 * abs(expected.bending.hessian).max()


@pytest.fixture(scope="module")
def baked():
    """(simulator, world positions and open threads of each frame) of two panels that become a tube."""
    simulator = Simulator(sewn_tube(8, 22), cpu)
    frames = []
    for _ in range(21):
        report = simulator.advance_frame()
        assert not report.faults
        frames.append((simulator.positions()[0], simulator._sewing.done.copy(), simulator._sewing.vertex_of[0]))
    return simulator, frames


def test_threads_close_a_seam_in_their_time_and_it_stays_closed(baked):
    simulator, frames = baked
    seams = simulator.scene.cloths[0].seams
    gaps = [np.linalg.norm(x[seams[:, 0]] - x[seams[:, 1]], axis=1) for x, _, _ in frames]
    assert gaps[0].min() > 0.1
    assert gaps[-1].max() == 0.0
    assert frames[-1][1].all()
    for gap, (_, done, _) in zip(gaps, frames, strict=True):
        assert (gap[done] == 0.0).all()


def test_no_frame_of_the_sewing_crosses(baked):
    """By the exact check and by ipctk, on the mesh whose closed seams are closed."""
    simulator, frames = baked
    triangles = simulator.scene.cloths[0].triangles
    for x, _, vertex_of in frames:
        joined = np.zeros((vertex_of.max() + 1, 3))
        joined[vertex_of] = x
        assert len(intersections(joined, vertex_of[triangles].astype(np.int32))) == 0
        faces = vertex_of[triangles]
        mesh = ipctk.CollisionMesh(joined, unique_edges(faces.astype(np.int32)), faces)
        assert not ipctk.has_intersections(mesh, joined)


def test_a_sewn_tube_is_stretched_no_more_than_its_fabric_may(baked):
    simulator, _ = baked
    x = simulator._cloth()
    edges, rest = simulator.space.edges, simulator.space.rest_length
    assert (np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) / rest).max() < 1.08


def test_a_simulation_that_is_resumed_after_the_seam_has_closed_goes_on_with_the_same_bits(baked):
    simulator, frames = baked
    resumed = Simulator(simulator.scene, cpu)
    while not resumed._sewing.done.any():
        resumed.advance_frame()
    k = resumed.frame - simulator.scene.settings.frame_start - 1
    again = Simulator(simulator.scene, cpu)
    again.restore(resumed.state())
    assert np.array_equal(again.positions()[0], frames[k][0])
    again.advance_frame()
    assert np.array_equal(again.positions()[0], frames[k + 1][0])


def test_a_sewn_vertex_may_be_pinned():
    scene = sewn_tube(6, 22)
    cloth = scene.cloths[0]
    first, second = cloth.seams[0]
    held = np.array([second], np.int32)
    pinned = replace(cloth, pins=Pins(held, cloth.positions[None, held]))
    simulator = Simulator(replace(scene, cloths=(pinned,)), cpu)
    for _ in range(21):
        simulator.advance_frame()
    x = simulator.positions()[0]
    assert x[second] == pytest.approx(cloth.positions[second], abs=1e-6)
    assert np.array_equal(x[first], x[second])


def test_a_job_keeps_its_seams(tmp_path):
    scene = sewn_tube(5, 4)
    job.save(scene, tmp_path)
    loaded = job.load(tmp_path).cloths[0]
    assert np.array_equal(loaded.seams, scene.cloths[0].seams)
    assert loaded.sewing_time == scene.cloths[0].sewing_time
    plain = replace(scene.cloths[0], seams=None)
    assert "sewing_time" not in job.describe(replace(scene, cloths=(plain,)))["cloths"][0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seams": np.array([[0, 999]], np.int32)}, "does not exist"),
        ({"seams": np.array([[3, 3]], np.int32)}, "to itself"),
        ({"sewing_time": -1.0}, "sewing_time"),
        ({"sewing_force": float("nan")}, "sewing_force"),
    ],
)
def test_threads_that_cannot_be_are_refused(change, words):
    cloth = replace(sewn_tube(4, 4).cloths[0], **change)
    with pytest.raises(SceneError, match=words):
        Scene((cloth,), (), Settings()).validate()


def test_threads_between_corners_of_one_face_stay_threads():
    """To close them would leave a face without area."""
    rest, triangles = sheet(4, 0.1)
    cloth = Cloth("Sheet", triangles, rest, rest, seams=np.array([[0, 1], [3, 12]], np.int32))
    done = welded(cloth, np.ones(2, bool), np.zeros(2, bool)).done
    assert done.tolist() == [False, True]


def test_threads_whose_ends_begin_in_one_place_are_closed_from_the_start(baked):
    """As after Bake from Current, or a frozen start: both sides of a seam lie in one place, which is no crossing."""
    simulator, frames = baked
    (cloth,) = simulator.scene.cloths
    again = Simulator(replace(simulator.scene, cloths=(replace(cloth, positions=frames[-1][0]),)), cpu)
    assert again._sewing.done.all()
    assert again.warnings == []
    for _ in range(3):
        report = again.advance_frame()
        assert (report.tangled, report.faults) == (0, [])
        x = again.positions()[0]
        assert np.array_equal(x[cloth.seams[:, 0]], x[cloth.seams[:, 1]])


def test_a_seam_is_so_many_times_stiffer_against_bending():
    """Rolled to a cylinder, the 16 triangles beside the seam take five times their part of the energy; of 128, those
    16 at the free borders bear no moment."""
    whole, cut, of = halves()
    every, none = np.ones(len(cut.seams), bool), np.zeros(len(cut.seams), bool)
    x, y, _ = whole.positions.T
    rolled = np.column_stack([np.sin(x), y, 1.0 - np.cos(x)])

    def energy(factor):
        sewn = welded(replace(cut, seam_stiffness=factor), every, none)
        data = assemble((sewn.cloth,), 1 / 192).bending
        curvature = data.rows @ mean_of(rolled[of], sewn.vertex_of)
        return 0.5 * data.stiffness @ (curvature**2).sum(axis=1)

    assert energy(5.0) / energy(1.0) == pytest.approx(1.0 + 4.0 * 16 / 112, rel=1e-3)


def test_threads_that_stay_open_are_named():
    """Too weak to draw panels together that pins hold apart."""
    scene = sewn_tube(5, 20)
    (cloth,) = scene.cloths
    held = np.arange(len(cloth.positions), dtype=np.int32)
    weak = replace(cloth, sewing_force=0.01, pins=Pins(held, cloth.positions[None]), name="Sleeve")
    simulator = Simulator(replace(scene, cloths=(weak,)), cpu)
    for _ in range(10):
        simulator.advance_frame()
    assert simulator.open_seams() == []  # they have time yet
    for _ in range(5):
        simulator.advance_frame()
    (text,) = simulator.open_seams()
    assert "Sleeve: 10 of 10 threads are still open at the end, up to 200 mm" in text


def test_a_button_holds_two_layers_at_one_point():
    """A thread between the middles of two sheets; below, the second hangs from the first by it."""
    flat, triangles = sheet(9, 0.16)
    start = np.concatenate([flat, flat - [0.0, 0.0, 0.006]])
    faces = np.concatenate([triangles, triangles + 81]).astype(np.int32)
    corners = np.int32([0, 8, 72, 80])
    cloth = Cloth(
        "Layers", faces, start, start, Material(bend=5e-5), seams=np.int32([[40, 121]]), sewing_time=0.2,
        pins=Pins(corners, start[None, corners]), sewing_force=2.0,
    )  # fmt: skip
    simulator = Simulator(Scene((cloth,), (), Settings(frame_end=24, step_rate=96.0)), cpu)
    check = SceneCheck(simulator.scene)
    for _ in range(23):
        assert not simulator.advance_frame().faults
        assert check.findings(simulator.frame, simulator.positions()[0]) == []
    x = simulator.positions()[0]
    assert simulator._sewing.done.all()
    assert np.array_equal(x[40], x[121])
    assert np.ptp(x[81:, 2]) > 0.02  # the lower one droops around it
    assert x[121, 2] > x[81:, 2].mean()

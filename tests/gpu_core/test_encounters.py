# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user excepts from collisions passes, while it is excepted; nothing else does, and the check knows both."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.bake.certificate import read, summary
from taffeta.gpu_core.bake.frame_report import warnings
from taffeta.gpu_core.check.intersection import unique_edges
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.files.job import describe, save
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.encounters import Encounter
from taffeta.gpu_core.scene.meetings import Meetings
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.sewing import Sewing
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.untangle import resolved
from taffeta.tests.gpu_core.small_scene import ball, sewn_tube, sheet
from taffeta.tests.gpu_core.test_start import shirt_within

cpu = select("cpu")
VACUUM = Material(air_drag=0.0)
SETTINGS = Settings(frame_end=16, step_rate=96)
SIDE, BODY = 11, 0.06


def flat(name="Sheet", height=0.09, **options):
    points, faces = sheet(SIDE, 0.2)
    start = points - [0.1, 0.1, -height]
    return Cloth(name, faces, points, start, VACUUM, **options)


def falling(*encounters, **options):
    """A sheet above two balls, side by side, of which the second is far off."""
    body, triangles = ball(BODY)
    bodies = [Collider(n, triangles, np.float32(body + [x, 0, 0])[None]) for n, x in (("Ball", 0), ("Far", 3))]
    return Scene((flat(**options),), tuple(bodies), SETTINGS, encounters=encounters)


def run(scene, frames=None):
    """(the simulator, positions of each frame by cloth, reports). Each frame is free of all crossings that are not
    excepted, by the exact check; and of all, by ipctk, where nothing passes."""
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    found, reports = [simulator.positions()], []
    bodies = [body.positions[0].astype(np.float64) for body in scene.colliders]
    for _ in range((frames or scene.settings.frames) - 1):
        reports.append(simulator.advance_frame())
        found.append(simulator.positions())
        assert reports[-1].faults == []
        every = np.concatenate([*found[-1], *bodies])
        crossing = check.findings(simulator.frame, every)
        assert bool(crossing) == bool(reports[-1].tangled)
        assert bool(crossing or check.let_through) == crosses(scene, every)
    return simulator, found, reports


def crosses(scene, every):
    """By ipctk."""
    first, parts = 0, []
    for item in (*scene.cloths, *scene.colliders):
        parts.append(item.triangles + first)
        first += item.positions.shape[-2]
    triangles = np.concatenate(parts).astype(np.int32)
    mesh = ipctk.CollisionMesh(every, unique_edges(triangles).astype(np.int32), triangles)
    return ipctk.has_intersections(mesh, every)


def lowest(found):
    """Of the middle of the first cloth, m."""
    return found[-1][0][SIDE * SIDE // 2, 2]


@pytest.mark.parametrize(
    ("scene", "passes"),
    [
        (falling(), False),
        (falling(Encounter(0, 1, False)), True),
        (falling(Encounter(1, 0, False)), True),  # either way round
        (falling(Encounter(0, 2, False)), False),  # of another body
        (falling(Encounter(0, 1, False), Encounter(0, 1, True)), False),  # the last one counts
        (falling(meets=()), True),
        (falling(meets=(1,)), True),
        (falling(meets=(0,)), False),
        (falling(Encounter(0, 1, True), meets=()), False),
        (falling(left_out_of_bodies=np.ones(SIDE**2, bool)), True),
        (falling(left_out_of_itself=np.ones(SIDE**2, bool)), False),
        (falling(Encounter(0, 1, True), left_out_of_bodies=np.ones(SIDE**2, bool)), True),
    ],
)
def test_a_body_stops_cloth_that_it_meets_and_no_other(scene, passes):
    simulator, found, _ = run(scene, 10)
    fall = 0.5 * 9.81 * (9 / 24) ** 2
    if passes:
        assert lowest(found) == pytest.approx(0.09 - fall, abs=0.02)
    else:
        assert lowest(found) > BODY
    assert simulator.crossings.count == 0


def test_part_of_a_cloth_passes_through_a_body_and_the_rest_lies_on_it():
    half = sheet(SIDE, 0.2)[0][:, 0] > 0.11  # of the sheet: beyond the ball's middle
    _, found, reports = run(falling(left_out_of_bodies=half), 12)
    assert all(report.tangled == 0 for report in reports)
    inside = (np.linalg.norm([frame[0] for frame in found], axis=2) < 0.75 * BODY).any(axis=0)
    assert inside[half].any()
    assert not inside[~half].any()


def test_what_is_left_out_of_itself_passes_and_the_rest_does_not():
    """A sheet in two pieces, one over the other: one cloth."""
    points, faces = sheet(SIDE, 0.2)
    count = len(points)
    start = np.concatenate([points, points + [0.003, 0.002, 0.02]])
    rest = np.concatenate([points, points + [1, 0, 0]])
    pins = Pins(np.arange(count, dtype=np.int32), start[None, :count])
    cloth = Cloth("Both", np.concatenate([faces, faces + count]), rest, start, VACUUM, pins=pins)
    middle = (np.abs(points - [0.1, 0.1, 0]).max(axis=1) < 0.05).repeat(1)
    for left_out in (None, np.concatenate([np.zeros(count, bool), middle]), np.ones(2 * count, bool)):
        scene = Scene((replace(cloth, left_out_of_itself=left_out),), (), SETTINGS)
        _, found, _ = run(scene, 6)
        below = found[-1][0][count:, 2] < 0
        if left_out is None:
            assert not below.any()
        elif left_out.all():
            assert below.all()
        else:
            assert below[middle].any()
            assert not below[~middle].any()


def test_two_cloths_pass_through_each_other():
    lower = flat("Lower", 0.0)
    lower = replace(lower, pins=Pins(np.arange(SIDE**2, dtype=np.int32), lower.positions[None]))
    for encounters, passes in ((), False), ((Encounter(0, 1, False),), True):
        _, found, _ = run(Scene((flat(height=0.03), lower), (), SETTINGS, encounters=encounters), 6)
        assert (found[-1][0][:, 2] < 0).all() == passes


def test_self_collision_is_excepted_by_an_exception_with_itself():
    table = Meetings(falling(Encounter(0, 0, False, since=5))).apart
    assert not table(4).any()
    assert table(5).tolist() == [[True, False], [False, False]]


def test_an_exception_holds_from_its_first_frame_to_its_last():
    """The sheet lies on the ball, passes through it for a time, and hangs on it from then on."""
    window = Encounter(0, 1, False, since=8, until=9)
    _, plain, _ = run(falling())
    _, found, reports = run(falling(window))
    for index in range(7):  # up to frame 7
        assert np.array_equal(found[index], plain[index])
    assert not np.array_equal(found[8], plain[8])
    begun = [report.frame for report in reports if report.begun]
    assert begun == [10]
    (report,) = (report for report in reports if report.begun)
    assert report.begun == ["Sheet and Ball"]
    assert report.tangled > 0
    (text,) = warnings(report)
    assert text.startswith("Frame 10: Sheet and Ball crossed when they began to collide")
    check = SceneCheck(falling(window))
    bodies = [body.positions[0].astype(np.float64) for body in falling().colliders]
    counts = []
    for frame in (9, 10):
        counts.append(len(check.findings(frame, np.concatenate([*found[frame - 1], *bodies]))))
        assert bool(check.let_through) == (frame == 9)
    assert counts[0] == 0 < counts[1]


def test_a_resumed_bake_goes_on_with_the_same_bits_across_the_end_of_an_exception():
    scene = falling(Encounter(0, 1, False, since=5, until=8), Encounter(0, 1, friction=0.1, since=9))
    _, found, _ = run(scene)
    for stop in (6, 8, 9, 11):
        first = Simulator(scene, cpu)
        while first.frame < stop:
            first.advance_frame()
        second = Simulator(scene, cpu)
        second.restore(first.state())
        reports = [second.advance_frame() for _ in range(13 - stop)]
        assert np.array_equal(second.positions(), found[12])
        assert any(report.begun for report in reports) == (stop < 9)


@pytest.mark.parametrize("keyed", [False, True])
def test_a_pair_rubs_with_its_own_friction(keyed):
    """A small sheet on an inclined plane of 20°: it slides where the tangent is more than the pair's coefficient."""
    points, faces = sheet(6, 0.1)
    ground, triangles = sheet(2, 4.0)
    slope = np.deg2rad(20)
    turn = np.array([[np.cos(slope), 0, -np.sin(slope)], [0, 1, 0], [np.sin(slope), 0, np.cos(slope)]])
    at = (points - [0.05, 0.05, -0.0016]) @ turn.T
    plane = Collider("Plane", triangles, np.float32((ground - [2, 2, 0]) @ turn.T)[None], friction=0.1)
    cloth = Cloth("Sheet", faces, points, at, replace(VACUUM, friction=0.1))
    keys = {"friction": np.array([1.0] * 6 + [0.05])} if keyed else {}
    ways = []
    for friction in (None, 1.0):
        met = () if friction is None else (Encounter(0, 1, friction=friction, keys=keys),)
        _, found, _ = run(Scene((cloth,), (plane,), SETTINGS, encounters=met), 12)
        along = np.array([frame[0].mean(axis=0) for frame in found]) @ turn[:, 0]
        ways.append(along - along[0])
    assert ways[0][5] < -0.02
    assert abs(ways[1][5]) < 2e-3
    assert (ways[1][-1] < -0.01) == keyed


def test_without_exceptions_the_bits_are_those_of_a_scene_that_has_some_elsewhere():
    far = Encounter(0, 2, False), Encounter(0, 2, friction=0.7)
    _, plain, _ = run(falling())
    _, found, _ = run(falling(*far))
    assert np.array_equal(plain, found)


def test_cloth_is_not_brought_out_of_a_body_that_it_does_not_meet():
    scene = shirt_within(0.005)
    (cloth,) = scene.cloths
    alone = replace(scene, encounters=(Encounter(0, 1, False),))
    assert resolved(alone)[0] is alone
    later = replace(scene, encounters=(Encounter(0, 1, False, since=scene.settings.begins + 1),))
    assert resolved(later)[1]
    upper = cloth.positions[:, 2] > 0.15
    found, said = resolved(replace(scene, cloths=(replace(cloth, left_out_of_bodies=upper),)))
    assert f"{(~upper).sum()} vertices begin inside" in said[0]
    assert np.array_equal(found.cloths[0].positions[upper], cloth.positions[upper])


def test_a_bake_says_in_its_certificates_what_exceptions_let_through(tmp_path):
    scene = falling(Encounter(0, 1, False, since=5, until=7))
    save(replace(scene, settings=replace(scene.settings, frame_end=10)), tmp_path / "job")
    texts = []
    bake(tmp_path / "job", tmp_path / "cache", on_event=lambda event: texts.append(str(event)), cancelled=lambda: False)
    every = read(tmp_path / "cache")
    through = [entry.frame for entry in every if entry.let_through]
    assert set(through) <= {5, 6, 7}
    assert 7 in through
    assert all(entry.intersections == 0 and entry.clean for entry in every[:7])
    assert every[7].begun == ("Sheet and Ball",)
    assert every[7].intersections
    assert "crossing when they began to collide: Sheet and Ball" in every[7].troubles
    assert "with crossings that exceptions let through" in summary(every)
    assert any("crossed when they began to collide" in text for text in texts)


@pytest.mark.parametrize(
    ("before", "after", "text", "frames"),
    [
        ((), (Encounter(0, 1, False),), "Sheet and Ball: whether they collide is another", 0),
        ((), (Encounter(0, 1, False, since=6),), "Sheet and Ball: whether they collide is another from frame 6 on", 5),
        ((Encounter(1, 0, False, until=8),), (Encounter(0, 1, False, until=11),),
         "Sheet and Ball: whether they collide is another from frame 9 on", 8),
        ((Encounter(0, 0, friction=0.1),), (Encounter(0, 0, friction=0.2),),
         "Sheet and itself: friction is another", 0),
        ((Encounter(0, 1, friction=0.1),),
         (Encounter(0, 1, friction=0.1, keys={"friction": np.array([0.1, 0.1, 0.1, 0.3])}),),
         "Sheet and Ball: friction is another from frame 4 on", 3),
    ],
)  # fmt: skip
def test_a_cache_is_good_up_to_the_frame_where_an_exception_is_another(before, after, text, frames):
    held, asked = (describe(falling(*encounters)) for encounters in (before, after))
    (found,) = differences(held, asked)
    assert found == (text, frames)
    assert differences(asked, asked) == []


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        (falling(Encounter(0, 3)), "names an object that does not exist"),
        (falling(Encounter(1, 2, False)), "Ball: its exception with Far says nothing: both are bodies"),
        (falling(Encounter(0, 1, False, since=9, until=8)), "Sheet: its exception with Ball ends at frame 8"),
        (falling(Encounter(0, 1, friction=-1.0)), "Sheet: friction is -1.0"),
        (falling(Encounter(0, 1, keys={"friction": np.ones(2)})), "has keys but no friction"),
        (falling(Encounter(0, 1, friction=1.0, keys={"friction": np.array([1, -1.0])})), "friction is -1.0 at frame 2"),
        (falling(meets=(2,)), "it meets a body that does not exist"),
        (falling(left_out_of_bodies=np.ones(3, bool)), "does not match the vertices"),
        (falling(layer=17), "its layer is 17. Set it to 0 to 16"),
    ],
)
def test_nonsense_is_refused_by_name(scene, message):
    with pytest.raises(SceneError, match=message):
        scene.validate()


def test_thousands_of_bodies_of_which_nothing_is_said_are_one_party():
    body, triangles = ball(0.01)
    many = tuple(Collider(f"{k}", triangles, np.float32(body + [k, 0, 9])[None]) for k in range(2000))
    scene = falling(Encounter(0, 7, False))
    assert len(Meetings(replace(scene, colliders=(*scene.colliders, *many))).objects) == 3


def test_of_cloths_that_are_sewn_to_each_other_one_may_pass():
    """Two halves of a sheet on a ball, sewn where they meet above it: one does not meet the ball."""
    points, faces = sheet(SIDE, 0.1)
    halves = [points - [0.1, 0.05, -0.09], points - [0.0, 0.05, -0.09]]
    body, triangles = ball(BODY)
    cloths = tuple(Cloth(name, faces, at, at, VACUUM) for name, at in zip(("Passing", "Lying"), halves, strict=True))
    right, left = np.flatnonzero(points[:, 0] > 0.1 - 1e-9), np.flatnonzero(points[:, 0] < 1e-9)
    threads = np.column_stack([0 * right, right, 0 * right + 1, left]).astype(np.int32)
    collider = Collider("Ball", triangles, np.float32(body)[None])
    scene = Scene(cloths, (collider,), SETTINGS, threads=threads, encounters=(Encounter(0, 2, False),))
    simulator, check, through, inside = Simulator(scene, cpu), SceneCheck(scene), 0, np.zeros((2, SIDE**2), bool)
    for _ in range(10):
        report = simulator.advance_frame()
        found = simulator.positions()
        assert (report.faults, report.tangled) == ([], 0)
        assert check.findings(simulator.frame, np.concatenate([*found, body])) == []
        through += check.let_through
        inside |= np.linalg.norm(found, axis=2) < 0.75 * BODY
    assert through
    assert inside[0].any()
    assert not inside[1][points[:, 0] > 1e-9].any()


@pytest.mark.parametrize("excepted", [True, False])
def test_a_seam_closes_through_what_its_cloth_may_pass(excepted):
    """A small sheet lies across the right seam of a tube whose panels are nearly together."""
    tube = sewn_tube(7, 24)
    panels = tube.cloths[0].positions * [1.0, 1e-3, 1.0]
    points, faces = sheet(4, 0.05)
    other = Cloth("Across", faces, points, points + [0.18, -0.025, 0.09], VACUUM)
    scene = replace(tube, cloths=(*tube.cloths, other), encounters=(Encounter(0, 1, not excepted),))
    meetings = Meetings(scene)
    sewing = Sewing(meetings.marked(scene))
    sewing.excepted = meetings.apart(1)
    every = np.ones(len(sewing.done), bool)
    assert sewing.clear([panels, other.positions], every).all() == excepted

# SPDX-License-Identifier: GPL-3.0-or-later
"""Several groups of pins at one cloth: each holds, lets go and pulls for itself, the strongest where they meet."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.bake.continuation import continued
from taffeta.gpu_core.check.intersection import unique_edges
from taffeta.gpu_core.check.scene_check import check_frame
from taffeta.gpu_core.files import job
from taffeta.gpu_core.files.cache import frames_path
from taffeta.gpu_core.files.point_cache import append, create
from taffeta.gpu_core.scene import keyed
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.pins import PinGroup
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.scene.seams import welded
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.ndb import Ndb
from taffeta.gpu_core.solvers.registry import solver_of
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")
FRAMES, KEY = 12, 5  #: the range begins at 1; the frame of the key
SIDE = 7
LEFT, RIGHT = np.int32([6]), np.int32([48])  #: upper corners
LET_GO = {"strength": np.array([1.0] * (KEY - 1) + [0.0])}
MID = np.array([0.1, 0.0, 0.1])


def hanging(*groups: PinGroup, first: Pins | None = None, **choices) -> Scene:
    """A sheet of 20 cm in vacuum, upright, with these pins."""
    flat, triangles = sheet(SIDE, 0.2)
    upright = flat[:, [0, 2, 1]]
    cloth = Cloth("Cape", triangles, upright, upright, Material(air_drag=0.0), pins=first, pin_groups=groups, **choices)
    return Scene((cloth,), (), Settings(1, FRAMES, backend="cpu"))


def still(vertices: np.ndarray, weight: float | None = None) -> Pins:
    places = hanging().cloths[0].positions[vertices][None]
    return Pins(vertices, places, None if weight is None else np.full(len(vertices), weight, np.float32))


def moving(vertices: np.ndarray, velocity: list[float]) -> Pins:
    """velocity: m/s."""
    way = np.arange(FRAMES)[:, None, None] / 24.0 * np.array(velocity)
    return replace(still(vertices), targets=still(vertices).targets + way)


def frames_of(scene: Scene, simulator: Simulator | None = None) -> np.ndarray:
    """(frames, N, 3) of its cloth, none of which crosses anything."""
    simulator = simulator or Simulator(scene, cpu)
    found = [simulator.positions()[0]]
    while simulator.frame < scene.settings.frame_end:
        simulator.advance_frame()
        found.append(simulator.positions()[0])
        assert check_frame(scene, simulator.frame, [found[-1].astype(np.float32)]) == []
    return np.array(found)


def test_one_group_alone_bakes_to_the_bits_of_the_first_pins():
    both = np.concatenate([LEFT, RIGHT])
    for pins in (still(both), moving(both, [0.0, 0.5, 0.0]), still(both, 0.3)):
        assert np.array_equal(frames_of(hanging(PinGroup("Pins", pins))), frames_of(hanging(first=pins)))


def test_a_group_that_has_let_go_all_along_changes_no_bit_but_where_it_is():
    expected = frames_of(hanging(first=still(LEFT)))
    none = PinGroup("None", moving(LEFT, [0.0, 1.0, 0.0]), 0.0)
    assert np.array_equal(frames_of(hanging(none, first=still(LEFT))), expected)


def test_each_group_lets_go_by_its_own_key():
    found = frames_of(hanging(PinGroup("Left", still(LEFT)), PinGroup("Right", still(RIGHT), keys=LET_GO)))
    start = found[0]
    assert found[:, LEFT] == pytest.approx(np.repeat(start[None, LEFT], FRAMES, axis=0), abs=1e-6)
    assert np.abs(found[: KEY - 1, RIGHT] - start[RIGHT]).max() < 1e-6
    assert (found[-1, RIGHT, 2] < start[RIGHT, 2] - 0.05).all()


def test_what_a_group_lets_go_keeps_its_velocity():
    """Both corners move; the cloth has all of that, and keeps it when both groups let go at once."""
    velocity = [0.0, 0.5, 0.0]
    groups = (
        PinGroup("Left", moving(LEFT, velocity), keys=LET_GO),
        PinGroup("Right", moving(RIGHT, velocity), keys=LET_GO),
    )
    scene = hanging(*groups)
    found = frames_of(scene)
    weight = np.bincount(scene.cloths[0].triangles.ravel())
    speed = np.diff(found[KEY:, :, 1] @ weight / weight.sum()) * 24.0
    assert (speed > 0.15).all()
    assert speed == pytest.approx(speed[0], rel=1e-3)


def test_the_strongest_group_of_the_moment_holds_a_vertex_and_the_first_of_equals():
    here, there = still(LEFT), moving(LEFT, [0.0, 1.0, 0.0])
    scene = hanging(PinGroup("Hand", there, 1.0, {"strength": np.array([0.2, 0.2, 0.9])}), first=still(LEFT, 0.5))
    (cloth,) = scene.cloths
    before, after = (keyed.pins_at(cloth, when) for when in (1.0, 2.0))
    assert (before.weights, after.weights) == (np.float32([0.5]), np.float32([0.9]))
    assert np.array_equal(before.targets[0], here.targets[0])
    assert np.array_equal(after.targets[0], there.targets[2])
    equal = keyed.pins_at(hanging(PinGroup("Hand", there), first=here).cloths[0], 3.0)
    assert np.array_equal(equal.targets[0], here.targets[0])


def test_one_hand_gives_the_cloth_to_another():
    """A vertex is held by the first group, then by the second, which has moved meanwhile: it goes there."""
    taken = {"strength": 1.0 - LET_GO["strength"]}
    hands = (PinGroup("First", still(LEFT), keys=LET_GO), PinGroup("Second", moving(LEFT, [0.0, 0.1, 0.0]), 0.0, taken))
    found = frames_of(hanging(*hands, first=still(RIGHT)))
    assert np.abs(found[KEY - 2, LEFT] - found[0, LEFT]).max() < 1e-6
    for frame in (KEY - 1, FRAMES - 1):
        assert found[frame, LEFT] == pytest.approx(hands[1].pins.targets[frame], abs=1e-6)


def test_a_simulation_resumed_between_keys_of_groups_goes_on_with_the_same_bits():
    soft = {"strength": np.array([0.2, 0.2, 0.5, 1.0, 1.0, 1.0, 0.0])}
    groups = PinGroup("Left", moving(LEFT, [0.0, 0.3, 0.0]), keys=LET_GO), PinGroup("Right", still(RIGHT), keys=soft)
    scene = hanging(*groups)
    expected = frames_of(scene)
    for stop in (3, KEY, KEY + 2):
        first = Simulator(scene, cpu)
        while first.frame < stop:
            first.advance_frame()
        resumed = Simulator(scene, cpu)
        resumed.restore(first.state())
        assert np.array_equal(frames_of(scene, resumed), expected[stop - 1 :])


@pytest.mark.parametrize(("vertices", "kept"), [(LEFT, True), (np.int32([5, 6, 12, 13]), False)])
def test_other_pins_are_those_of_a_solver_from_nothing_and_leave_alone_what_they_do_not_hold(
    monkeypatch, vertices, kept
):
    """A corner, which holds no whole triangle, and one with two of them: these bend otherwise while they are held."""
    scene = hanging(PinGroup("Left", still(vertices), keys=LET_GO), first=still(RIGHT))
    simulator = Simulator(scene, cpu)
    rows = simulator.solver.assembly.bending.rows
    found = frames_of(scene, simulator)
    assert (simulator.solver.assembly.bending.rows is rows) == kept
    monkeypatch.setattr(Ndb, "holding", lambda self, space: solver_of(space, cpu))
    assert np.array_equal(frames_of(scene), found)


def test_a_scene_that_begins_in_its_cache_has_the_rest_of_its_groups(tmp_path):
    scene = hanging(PinGroup("Left", moving(LEFT, [0.0, 0.3, 0.0]), keys=LET_GO))
    (cloth,) = scene.cloths
    path = frames_path(tmp_path, cloth.cache_key)
    path.parent.mkdir(parents=True, exist_ok=True)
    create(path, len(cloth.positions), 1)
    for _ in range(3):
        append(path, cloth.positions.astype(np.float32))
    (group,) = continued(scene, tmp_path, 3).cloths[0].pin_groups
    assert np.array_equal(group.pins.targets, cloth.pin_groups[0].pins.targets[2:])
    assert np.array_equal(group.keys["strength"], LET_GO["strength"][2:])


def test_where_a_seam_is_closed_each_group_holds_the_one_vertex():
    groups = PinGroup("Left", still(LEFT)), PinGroup("Both", still(np.concatenate([LEFT, RIGHT]), 0.5))
    cloth = replace(hanging(*groups).cloths[0], seams=np.int32([[LEFT[0], RIGHT[0]]]))
    result = welded(cloth, np.ones(1, bool), np.zeros(1, bool))
    for group in result.cloth.pin_groups:
        assert group.pins.vertices.tolist() == [result.vertex_of[LEFT[0]]]


def test_pins_may_cross_each_other_and_go_through_a_body_without_an_abort():
    """Two rows of pins change sides, right through each other's cloth and through a ball between them."""
    flat, triangles = sheet(SIDE, 0.2)
    upright = flat[:, [0, 2, 1]]
    both = np.concatenate([upright - [0.0, 0.12, 0.0], upright + [0.0, 0.12, 0.0]])
    faces = np.concatenate([triangles, triangles + len(upright)]).astype(np.int32)
    front = np.flatnonzero(upright[:, 2] > 0.15).astype(np.int32)
    share = np.clip(np.arange(FRAMES) / (FRAMES - 3), 0.0, 1.0)[:, None, None]
    ways = [
        PinGroup(name, Pins(rows, both[rows] + share * np.array([0.0, side * 0.24, 0.0])))
        for name, rows, side in (("Front", front, 1.0), ("Back", front + len(upright), -1.0))
    ]
    corners, surface = ball(0.06)
    body = Collider("Ball", surface, (corners + MID)[None].astype(np.float32))
    scene = Scene(
        (Cloth("Sheets", faces, both, both, pin_groups=tuple(ways)),), (body,), Settings(1, FRAMES, backend="cpu")
    )
    simulator, released = Simulator(scene, cpu), set()
    while simulator.frame < FRAMES:
        report = simulator.advance_frame()
        assert report.faults == []
        released |= set(report.released)
    end = simulator.positions()[0]
    for group in ways:
        assert end[group.pins.vertices] == pytest.approx(group.pins.targets[-1], abs=1e-5)
    assert np.isfinite(end).all()
    assert released, "what had to cross is named"


def test_two_groups_that_cross_with_room_beside_each_other_leave_no_intersection():
    """Four corners of a sheet are pulled past each other, softly: exactly checked, and by ipctk."""
    flat, triangles = sheet(9, 0.3)
    corners = np.int32([0, 8, 72, 80])
    groups = []
    for name, own, way in (("Left", corners[:2], [0.4, 0.0, 0.05]), ("Right", corners[2:], [-0.4, 0.0, 0.1])):
        path = flat[own] + np.linspace(0.0, 1.0, FRAMES)[:, None, None] * np.array(way)
        groups.append(PinGroup(name, Pins(own, path, np.full(2, 0.9, np.float32))))
    cloth = Cloth("Sheet", triangles, flat, flat, pin_groups=tuple(groups))
    scene = Scene((cloth,), (), Settings(1, FRAMES, gravity=(0.0, 0.0, 0.0), backend="cpu"))
    found = frames_of(scene)
    edges = unique_edges(triangles).astype(np.int32)
    for places in found:
        mesh = ipctk.CollisionMesh(places, edges, triangles)
        assert not ipctk.has_intersections(mesh, places)
    assert (found[-1, corners[:2], 0] > found[-1, corners[2:], 0] - 0.05).all()


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (PinGroup("Left", still(LEFT), 2.0), "strength is 2"),
        (PinGroup("Left", still(LEFT), keys={"strength": np.array([1.0, 1.0, -1.0])}), "strength is -1.0 at frame 3"),
        (PinGroup("Left", still(LEFT), keys={"weight": np.array([1.0])}), "weight has no keys"),
        (PinGroup("Left", still(np.int32([6, 6]))), "pinned twice"),
        (PinGroup("Left", replace(still(LEFT), targets=np.zeros((3, 1, 3)))), "cover 3 frames"),
    ],
)
def test_a_bad_group_is_refused_by_the_name_of_its_cloth(group, words):
    with pytest.raises(SceneError, match=words) as caught:
        hanging(group).validate()
    assert caught.value.object == "Cape"


def test_what_differs_is_told_of_each_group_by_name_and_from_its_frame():
    def described(*groups):
        return job.describe(hanging(*groups))

    held = described(PinGroup("Left", still(LEFT)), PinGroup("Right", still(RIGHT)))
    keyed_one = described(PinGroup("Left", still(LEFT)), PinGroup("Right", still(RIGHT), keys=LET_GO))
    (found,) = differences(held, keyed_one)
    assert found == (f"Cape: pins “Right”: strength is another from frame {KEY} on", KEY - 1)
    (found,) = differences(held, described(PinGroup("Left", moving(LEFT, [1, 0, 0])), PinGroup("Right", still(RIGHT))))
    assert found.text == "Cape: pins “Left”: they move otherwise"
    (found,) = differences(held, described(PinGroup("Left", still(LEFT))))
    assert found.text == "Cape: groups of pins beside the first are 1, were 2"
    assert differences(held, described(PinGroup("Else", still(LEFT)), PinGroup("Right", still(RIGHT)))) == []

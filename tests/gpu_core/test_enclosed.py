# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth in a room, in a crate, over a window sill is left where it is; what a body has below its skin comes out."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.benchmarks.stress.shapes import sphere
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.scene.nearest import Body, openness
from taffeta.gpu_core.scene.scene import Cloth, Collider, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.start import Began, freed_of_bodies
from taffeta.gpu_core.untangle import resolved
from taffeta.tests.gpu_core.small_scene import sheet
from taffeta.tests.gpu_core.test_start import closed, tube

cpu = select("cpu")
SETTINGS = Settings(frame_end=12, step_rate=96, gravity=(0, 0, -9.81), start="resolve")


def box(half, cells=4, low=0.0):
    """A closed box on the plane z = low, (V, 3) and (T, 3): its faces look outwards, the first of them upwards."""
    line = np.linspace(-1.0, 1.0, cells + 1)
    u, v = (grid.ravel() for grid in np.meshgrid(line, line, indexing="ij"))
    row = cells + 1
    corner = (np.arange(cells)[:, None] * row + np.arange(cells)).ravel()
    quads = np.concatenate(
        [np.stack([corner, corner + row, corner + row + 1], -1), np.stack([corner, corner + row + 1, corner + 1], -1)]
    )
    points, faces = [], []
    for axis in (2, 0, 1):
        for side in (1.0, -1.0):
            wall = np.empty((len(u), 3))
            wall[:, axis], wall[:, (axis + 1) % 3], wall[:, (axis + 2) % 3] = side, u, v
            faces.append((quads if side > 0 else quads[:, ::-1]) + sum(map(len, points)))
            points.append(wall)
    places, one_of_each = np.unique(np.round(np.concatenate(points), 9), axis=0, return_inverse=True)
    return places * half + [0, 0, half + low], one_of_each.ravel()[np.concatenate(faces)].astype(np.int32)


def body(points, triangles, name="Room"):
    return Collider(name, triangles.astype(np.int32), points[None].astype(np.float32))


def cloth_at(points, faces, name="Cloth"):
    return Cloth(name, faces, points, points)


def flat(size, height, cells=9):
    points, faces = sheet(cells, size)
    return cloth_at(points + [-0.5 * size, -0.5 * size, height], faces)


def scene_of(cloth, *bodies):
    return Scene((cloth,), bodies, SETTINGS)


def assert_left_alone(scene):
    """It is where it was, stays inside the first body, and never crosses."""
    before = scene.cloths[0].positions.copy()
    assert np.array_equal(resolved(scene)[0].cloths[0].positions, before)
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    still = np.concatenate([item.positions[0].astype(float) for item in scene.colliders])
    for _ in range(4):
        report = simulator.advance_frame()
        assert (report.tangled, report.faults, report.released) == (0, [], [])
        assert check.findings(simulator.frame, np.concatenate([*simulator.positions(), still])) == []
    return simulator


@pytest.mark.parametrize("made", ["outwards", "inwards"])
@pytest.mark.parametrize(("size", "height"), [(1.0, 1.0), (1.0, 0.03), (0.3, 0.006), (2.6, 1.2)])
def test_cloth_in_a_closed_room_stays_in_it(made, size, height):
    points, faces = box(1.5)
    simulator = assert_left_alone(
        scene_of(flat(size, height), body(points, faces[:, ::-1] if made == "inwards" else faces))
    )
    (told,) = simulator.warnings
    assert told == "Cloth: 81 vertices begin inside Room and stay there: there is room"
    assert simulator.positions()[0][:, 2].min() > 0.0


def test_what_untangling_puts_into_a_body_does_not_belong_there():
    points, faces = box(1.5)
    outside, within = (scene_of(flat(1.0, height), body(points, faces)) for height in (4.0, 1.0))
    assert freed_of_bodies(within)[0] is within
    found, said = freed_of_bodies(within, Began(outside))
    assert "brought out" in said[0]
    assert not Body(points, faces).holds(found.cloths[0].positions).any()


@pytest.mark.parametrize("turned", [False, True])
def test_the_hollow_of_a_room_with_walls_is_outside_of_them(turned):
    """Two shells, as Solidify makes them: the inner one looks into the hollow, or all is inside out."""
    outer, faces = box(1.6, low=-0.1)
    inner, others = box(1.5)
    together = np.concatenate([faces, others[:, ::-1] + len(outer)])
    points = np.concatenate([outer, inner])
    room = Body(points, together[:, ::-1] if turned else together)
    held = room.holds(np.array([[0, 0, 1.5], [0.2, 0.1, -0.05], [0, 0, 3.5]]))
    assert held.tolist() == [False, True, False]
    assert_left_alone(scene_of(flat(1.0, 1.0), body(points, together)))


def test_a_part_that_was_made_inside_out_beside_another_is_not_hollow():
    one, faces = box(0.5)
    beside = np.concatenate([one, one + [0.7, 0, 0]])
    both = Body(beside, np.concatenate([faces, faces[:, ::-1] + len(one)]))
    assert both.holds(np.array([[-0.2, 0, 0.5], [1.0, 0, 0.5]])).all()
    within = np.concatenate([one, 0.2 * one + [0, 0, 0.4]])
    eye = Body(within, np.concatenate([faces, faces + len(one)]))
    assert eye.holds(np.array([[0, 0, 0.5]])).all(), "made as the body around it was"


def test_cloth_in_a_crate_and_over_a_rim_is_left_alone():
    points, faces = box(0.5, cells=8)
    lid = len(faces) // 6
    crate = body(points, faces[lid:])
    assert Body(points, crate.triangles).holds(np.array([[0, 0, 0.3]])).all(), (
        "so deep in it the winding number is high"
    )
    assert_left_alone(scene_of(flat(0.6, 0.3), crate))
    over, triangles = sheet(24, 1.0)  # down one side of a wall, up and over its rim
    along = over[:, 0]
    hung = np.column_stack(
        [
            0.5 + 0.04 * np.sin(np.pi * np.clip((along - 0.45) / 0.1, -0.5, 0.5)),
            over[:, 1] - 0.5,
            1.05 - np.abs(along - 0.5),
        ]
    )
    assert_left_alone(scene_of(cloth_at(hung * [1, 0.6, 1], triangles), crate))


def test_a_curtain_through_a_window_is_left_alone():
    points, faces = box(1.0, cells=8)
    middle = points[faces].mean(axis=1)
    window = (middle[:, 0] > 0.99) & (np.abs(middle[:, 1]) < 0.5) & (np.abs(middle[:, 2] - 1.0) < 0.5)
    through, triangles = sheet(12, 0.6)
    room = Body(points, faces[~window])
    assert room.holds(np.array([[0.5, 0, 1.0]])).all()
    simulator = assert_left_alone(
        scene_of(cloth_at(through + [0.6, -0.3, 1.1], triangles), body(points, faces[~window]))
    )
    assert "stay there" in simulator.warnings[0]


def test_cloth_below_the_skin_of_a_body_comes_out_whatever_its_size():
    """A badge and a sock: as a whole inside, a few millimetres deep."""
    points, faces = closed(0.1, 0.0, 0.5, around=40, along=20)
    badge, triangles = sheet(6, 0.05)
    angle = (badge[:, 0] - 0.025) / 0.096
    bent = np.column_stack([0.096 * np.cos(angle), 0.096 * np.sin(angle), badge[:, 1] + 0.2])
    sock, rings = tube(0.095, 0.2, around=30, along=9)
    for cloth in (cloth_at(bent, triangles), cloth_at(sock + [0, 0, 0.1], rings)):
        found, said = resolved(scene_of(cloth, body(points, faces, "Trunk")))
        assert "brought out" in said[0]
        assert np.linalg.norm(found.cloths[0].positions[:, :2], axis=1).min() > 0.1


@pytest.mark.parametrize("below", ["table", "floor", "floor made upside down"])
@pytest.mark.parametrize("noise", [0.0, 1.0e-8])
def test_cloth_that_lies_exactly_on_a_surface_is_laid_on_it(below, noise):
    """As a snapped tablecloth does: it has no side, and crossed the table in all its faces."""
    points, faces = box(0.5)
    if below != "table":
        points, faces = sheet(5, 2.0)
        points, faces = points - [1.0, 1.0, 0.0], faces[:, ::-1] if "upside" in below else faces
    top = float(np.float32(points[:, 2].max()))
    cloth = flat(0.6, top, cells=12)
    cloth.positions[:, 2] += noise * np.random.default_rng(1).uniform(-1.0, 1.0, len(cloth.positions))
    scene = scene_of(cloth, body(points, faces, "Table"))
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    (told,) = simulator.warnings
    assert told == "Cloth: 144 vertices begin on the surface of Table. They were brought out"
    for _ in range(4):
        report = simulator.advance_frame()
        assert (report.tangled, report.faults, report.released) == (0, [], [])
        assert (
            check.findings(simulator.frame, np.concatenate([*simulator.positions(), scene.colliders[0].positions[0]]))
            == []
        )
    height = simulator.positions()[0][:, 2] - top
    assert (height < 0.0).all() if "upside" in below else (height > 0.0).all()


def test_nothing_is_said_of_cloth_that_lies_close_on_one_side_of_a_surface():
    points, faces = box(0.5)
    scene = scene_of(flat(0.6, 1.0 + 1e-5), body(points, faces, "Table"))
    found, said = resolved(scene)
    assert (found is scene, said) == (True, [])


def test_cloth_on_a_table_goes_half_of_the_way_to_a_plate_that_stands_close_above():
    points, faces = box(0.5)
    plate, around = closed(0.1, 1.001, 1.02, around=24, along=3)
    scene = scene_of(flat(0.6, 1.0, 20), body(points, faces, "Table"), body(plate, around, "Plate"))
    simulator = Simulator(scene, cpu)
    assert simulator.warnings == ["Cloth: 400 vertices begin on the surface of Table. They were brought out"]
    assert np.allclose(simulator.positions()[0][:, 2], 1.0005, atol=1e-6)
    for _ in range(3):
        report = simulator.advance_frame()
        assert (report.tangled, report.unfinished_steps, report.released) == (0, 0, [])


@pytest.mark.parametrize("cells", [17, 18, 19])
def test_a_tablecloth_that_reaches_beyond_the_table_is_laid_on_it_whole(cells):
    """Faces over the rim and the corners touch the table too, though no vertex of theirs need lie on it."""
    points, faces = box(0.5, cells=1)
    scene = scene_of(flat(1.2, 1.0, cells), body(points, faces, "Table"))
    simulator = Simulator(scene, cpu)
    assert len(simulator.warnings) == 1
    height = simulator.positions()[0][:, 2] - 1.0
    assert height.max() < 0.003
    for _ in range(3):
        report = simulator.advance_frame()
        assert (report.tangled, report.unfinished_steps) == (0, 0)
        assert report.largest_stretch < 1.01
    assert simulator.positions()[0][:, 2].min() < 1.0, "it hangs over the rim"


def test_nothing_is_drawn_out_of_a_room_when_bodies_meet_in_it():
    """A press closes on a part of the cloth: that is drawn out of the press, and nothing out of the room."""
    points, faces = box(1.5)
    ball, triangles = sphere(0.12)
    ways = np.linspace(0.5, 0.0, 9)[:, None, None] * [0.0, 0.0, 1.0]
    presses = [
        Collider(f"Press {sign}", triangles, (ball + [0, 0, 1.0] + sign * ways).astype(np.float32)) for sign in (1, -1)
    ]
    scene = scene_of(flat(0.8, 1.0, cells=14), body(points, faces), *presses)
    simulator = Simulator(Scene(scene.cloths, scene.colliders, Settings(1, 9, step_rate=96, start="resolve")), cpu)
    released = 0
    while simulator.frame < 9:
        released += len(simulator.advance_frame().released)
    assert released, "the press has closed on it"
    distance = 1.5 - np.abs(simulator.positions()[0] - [0, 0, 1.5]).max(axis=1)
    assert distance.min() > 0.3, "no vertex has gone to a wall"
    drawn = simulator._engulfed.outside(simulator.space.start()[:, :3].astype(float))
    assert len(drawn), "what the press holds is drawn"


def test_a_surface_is_as_open_as_its_openings_are_large():
    points, faces = box(1.0, cells=4)
    assert openness(points, faces) == 0.0
    assert openness(points, faces[len(faces) // 6 :]) == pytest.approx(0.2)
    apart = points[faces].reshape(-1, 3)  # an import without a common vertex
    assert openness(apart, np.arange(len(apart)).reshape(-1, 3)) == 0.0
    ball, triangles = sphere(1.0)
    bowl = triangles[ball[triangles].mean(axis=1)[:, 2] < 0.0]
    assert openness(ball, bowl) == pytest.approx(0.5, abs=0.01)
    assert not Body(ball, bowl).holds(np.array([[0, 0, -0.9]])).any(), "in a bowl is not inside"

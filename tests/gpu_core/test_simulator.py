# SPDX-License-Identifier: GPL-3.0-or-later
"""The step as a whole: the guarantee, the closed forms it must reproduce, determinism."""

from __future__ import annotations

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import intersections, unique_edges
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.simulator import Simulator, SolverError
from taffeta.gpu_core.solvers.elastic import STILL_AIR
from taffeta.gpu_core.solvers.ndb import Ndb
from taffeta.gpu_core.solvers.parameters import NEVER, NdbParameters, paper, subspace_reuse
from taffeta.gpu_core.solvers.pause import Pause
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")
VACUUM = Material(air_drag=0.0)


def free_sheet(side=8, *, size=0.2, height=0.0, material=VACUUM, **fields):
    vertices, triangles = sheet(side, size)
    vertices = vertices - [size / 2, size / 2, 0]
    return Cloth("Sheet", triangles, vertices, vertices + [0, 0, height], material, **fields)


def assert_free_of_intersections(scene, positions, frame):
    """By the exact check and by ipctk."""
    index = frame - scene.settings.frame_start
    bodies = [np.float64(c.positions[min(index, len(c.positions) - 1)]) for c in scene.colliders]
    every = [*(p.astype(np.float32).astype(float) for p in positions), *bodies]
    first = np.concatenate([[0], np.cumsum([len(part) for part in every])])
    triangles = np.concatenate(
        [b.triangles + at for b, at in zip([*scene.cloths, *scene.colliders], first, strict=False)]
    )
    vertices, cloth = np.concatenate(every), int(first[len(scene.cloths)])
    assert len(intersections(vertices, triangles, collider_start=cloth)) == 0, frame
    mesh = ipctk.CollisionMesh(vertices, unique_edges(triangles).astype(np.int32), triangles.astype(np.int32))
    assert not ipctk.has_intersections(mesh, vertices), frame


def run(scene, parameters=None, *, check=True):
    """(simulator, reports, positions of the first cloth per frame) over the whole range, every frame checked."""
    simulator = Simulator(scene, cpu, parameters)
    reports, frames = [], [simulator.positions()[0]]
    for frame in range(scene.settings.frame_start + 1, scene.settings.frame_end + 1):
        reports.append(simulator.advance_frame())
        frames.append(simulator.positions()[0])
        if check:
            assert_free_of_intersections(scene, simulator.positions(), frame)
    return simulator, reports, np.array(frames)


@pytest.mark.parametrize(("fps", "rate"), [(24, 24), (24, 192), (30, 150)])
def test_free_fall_is_backward_eulers_closed_form(fps, rate):
    scene = Scene((free_sheet(height=5.0),), (), Settings(1, 1 + fps, fps=fps, step_rate=rate))
    _, _, frames = run(scene, check=False)
    steps = scene.settings.steps_per_frame * fps
    drop = 9.81 * scene.settings.step**2 * steps * (steps + 1) / 2
    moved = frames[-1] - frames[0]
    assert np.abs(moved[:, 2] + drop).max() < 2e-5
    assert np.abs(moved[:, :2]).max() < 1e-5


def test_a_scene_far_from_the_origin_falls_the_same_way():
    near, far = (
        Scene((replace(free_sheet(), positions=free_sheet().positions + shift),), (), Settings(1, 6))
        for shift in (np.zeros(3), np.array([1000.0, -2000.0, 500.0]))
    )
    _, _, a = run(near, check=False)
    _, _, b = run(far, check=False)
    assert np.abs((a[-1] - a[0]) - (b[-1] - b[0])).max() < 1e-5


def test_air_slows_a_flat_sheet_to_its_terminal_speed():
    """ρ g = ½ ρ_a C (v² + u v) gives v; the sheet falls face on."""
    material = Material(air_drag=1.0)
    scene = Scene((free_sheet(material=material),), (), Settings(1, 60))
    _, _, frames = run(scene, check=False)
    weight = 2 * material.density * 9.81 / 1.2
    speed = (frames[-2] - frames[-1])[:, 2].mean() * 24
    assert speed == pytest.approx(np.sqrt(weight + STILL_AIR**2 / 4) - STILL_AIR / 2, rel=0.02)


def test_a_flat_sheet_falls_however_little_is_left_to_solve():
    """Residuals of 1e-21 N, whose squares leave float32, once threw this sheet to infinity in frame 14."""
    vertices, triangles = sheet(5, 1.0)
    floor = np.float32([[-2, -2, -0.5], [2, -2, -0.5], [0, 2, -0.5]])
    cloth = Cloth("Sheet", triangles, vertices, vertices - [0.5, 0.5, 0.0])
    body = Collider("Floor", np.array([[0, 1, 2]], np.int32), floor[None])
    _, reports, _ = run(Scene((cloth,), (body,), Settings(1, 30)))
    assert reports[-1].rms_speed < 1e-3


def test_a_hanging_strip_stretches_by_its_weight():
    """Tip of a vertical strip: ρ g L²/(2Y)."""
    vertices, triangles = sheet(21, 1.0)
    hung = np.stack([vertices[:, 0] * 0.1, 0 * vertices[:, 1], -vertices[:, 1]], axis=1)
    top = np.flatnonzero(hung[:, 2] > -1e-9).astype(np.int32)
    material = Material(
        density=0.2, stretch_warp=400, stretch_weft=400, softening=1.0, shear=200, bend=0, strain_limit=0, air_drag=0
    )
    cloth = Cloth("Strip", triangles, hung, hung, material, pins=Pins(top, hung[None, top]))
    scene = Scene((cloth,), (), Settings(1, 97, tolerance=1e-4, step_rate=48))
    _, reports, frames = run(scene, NdbParameters().replaced(inner_iterations=60), check=False)
    tip = frames[-1][:, 2].min() + 1.0
    # lumped masses put half a row's weight on the last row: exact for N segments too
    assert -tip == pytest.approx(0.2 * 9.81 / (2 * 400), rel=0.05)
    assert reports[-1].rms_speed < 1e-2


def drape(side=26, frames=30, **settings):
    body, faces = ball(0.12)
    cloth = free_sheet(side, size=0.45, height=0.14, material=Material())
    return Scene((cloth,), (Collider("Ball", faces, body[None].astype(np.float32)),), Settings(1, frames, **settings))


@pytest.mark.parametrize("method", ["default", "subspace"])
def test_a_drape_keeps_the_guarantee_and_its_size(method):
    _, reports, frames = run(drape(preset=method))
    assert max(report.contacts for report in reports) > 20
    assert max(report.largest_stretch for report in reports) < 1.10
    assert min(report.smallest_gap for report in reports) > 0.2e-3
    assert sum(report.late_steps for report in reports) == 0
    assert frames[-1][:, 2].min() < 0.05, "the border hangs"
    assert frames[-1][:, 2].max() > 0.11, "the middle lies on the ball"


@pytest.mark.parametrize("method", ["default", "subspace"])
def test_the_same_scene_gives_the_same_bits_and_resumes_to_them(method):
    scene = drape(16, 14, preset=method)
    _, _, first = run(scene, check=False)
    _, _, second = run(scene, check=False)
    assert np.array_equal(first, second)
    simulator = Simulator(scene, cpu)
    for _ in range(6):
        simulator.advance_frame()
    state = simulator.state()
    resumed = Simulator(scene, cpu)
    resumed.restore(state)
    for _ in range(7):
        resumed.advance_frame()
    assert np.array_equal(resumed.positions()[0], first[-1])


def test_a_constant_matrix_does_not_overshoot():
    """Of 20 frames of this drape the tenth once threw cloth some thousand kilometres, and never ended."""
    _, reports, _ = run(drape(20, 20), subspace_reuse().replaced(reused_iterations=NEVER))
    assert sum(report.unfinished_steps for report in reports) == 0
    assert max(report.largest_stretch for report in reports) < 1.10


def test_a_step_whose_end_h_does_not_find_is_newtons_to_the_bit():
    """It begins where Newton begins: with an H that is never given the time, all frames are."""
    _, newton, expected = run(drape(14, 10), check=False)
    _, reports, frames = run(drape(14, 10), subspace_reuse().replaced(reused_iterations=0), check=False)
    assert np.array_equal(frames, expected)
    assert sum(report.iterations for report in reports) > sum(report.iterations for report in newton), "H was tried"


def test_h_ends_some_steps_of_a_drape_and_is_left_alone_where_it_does_not():
    simulator = Simulator(drape(14, 20, preset="subspace"), cpu)
    solver, ended = simulator.solver, []
    step = solver.step

    def seen(state, target):
        after, report = step(state, target)
        ended.append((state.pause, after.pause))
        return after, report

    solver.step = seen
    for _ in range(19):
        simulator.advance_frame()
    mine = [before for before, after in ended if after == Pause()]
    paused = [before for before, after in ended if before.left]
    assert mine
    assert paused
    assert all(after.left == before.left - 1 for before, after in ended if before.left)


def test_the_papers_preset_keeps_the_guarantee():
    run(drape(14, 12, preset="paper"), paper())


@pytest.mark.parametrize(
    "change",
    [
        {"filter": "global"},
        {"start": "warm"},
        {"base": "rest"},
        {"relaxation": "jacobi"},
        {"gram": "stored"},
        {"bending": "vertex"},
        {"limit": "constant"},
        {"forwarding": True},
    ],
)
def test_each_choice_of_the_paper_keeps_the_guarantee_alone(change):
    run(drape(14, 9), NdbParameters().replaced(**change))


def test_cloths_fall_on_each_other_without_passing():
    body, faces = ball(0.12)
    cloths = tuple(
        replace(free_sheet(14, size=0.3, height=0.14 + 0.012 * k, material=Material()), name=f"Sheet {k}")
        for k in range(3)
    )
    scene = Scene(cloths, (Collider("Ball", faces, body[None].astype(np.float32)),), Settings(1, 20))
    _, reports, _ = run(scene)
    assert reports[-1].contacts > 20


def test_a_body_that_moves_through_a_hanging_sheet_arrives_on_time():
    cloth = free_sheet(16, size=0.5)
    corners = np.array([0, 15, 240, 255], np.int32)
    body, faces = ball(0.1)
    path = np.array([[0.02, 0.01, -0.2 + 0.02 * f] for f in range(14)])
    scene = Scene(
        (replace(cloth, pins=Pins(corners, cloth.positions[None, corners])),),
        (Collider("Ball", faces, (body[None] + path[:, None]).astype(np.float32)),),
        Settings(1, 14),
    )
    _, reports, frames = run(scene)
    assert sum(report.late_steps for report in reports) == 0
    assert frames[-1][:, 2].max() > 0.1, "the sheet was lifted"


def test_pins_that_turn_wring_the_sheet_without_tangling():
    cloth = free_sheet(14, size=0.4)
    ends = np.flatnonzero(np.abs(np.abs(cloth.positions[:, 0]) - 0.2) < 1e-9).astype(np.int32)
    rest, targets = cloth.positions[ends], []
    for frame in range(16):
        angle = np.sign(rest[:, 0]) * np.pi * frame / 15
        y, z = rest[:, 1], rest[:, 2]
        shift = rest[:, 0] * (1 - 0.02 * frame)
        targets.append(
            np.stack([shift, np.cos(angle) * y - np.sin(angle) * z, np.sin(angle) * y + np.cos(angle) * z], 1)
        )
    scene = Scene((replace(cloth, pins=Pins(ends, np.array(targets))),), (), Settings(1, 16, gravity=(0, 0, 0)))
    simulator, _, _ = run(scene)
    assert np.abs(simulator.positions()[0][ends] - targets[-1]).max() < 1e-4


def test_a_soft_pin_gives_way_and_a_hard_one_does_not():
    cloth = free_sheet(10, size=0.3)
    pins = np.array([0, 9], np.int32)
    weights = np.array([1.0, 0.3], np.float32)
    scene = Scene((replace(cloth, pins=Pins(pins, cloth.positions[None, pins], weights)),), (), Settings(1, 24))
    _, _, frames = run(scene, check=False)
    moved = np.linalg.norm(frames[-1][pins] - frames[0][pins], axis=1)
    assert moved[0] < 1e-6
    assert 1e-4 < moved[1] < 0.1


@pytest.mark.parametrize(("degrees", "slides"), [(14.0, False), (20.0, True)])
def test_a_patch_on_an_incline_slides_only_above_the_friction_angle(degrees, slides):
    """μ = 0.3 holds up to 16.7°."""
    slope = np.radians(degrees)
    turn = np.array([[np.cos(slope), 0, np.sin(slope)], [0, 1, 0], [-np.sin(slope), 0, np.cos(slope)]])
    cloth = free_sheet(6, size=0.1, height=0.0019, material=Material(friction=0.3, air_drag=0.0, bend=1e-4))
    floor, faces = sheet(9, 2.0)
    plane = Collider("Plane", faces, ((floor - [1, 1, 0]) @ turn.T)[None].astype(np.float32), friction=0.3)
    placed = replace(cloth, positions=cloth.positions @ turn.T, rest_positions=cloth.positions)
    _, _, frames = run(Scene((placed,), (plane,), Settings(1, 25)))
    down = turn @ [1.0, 0, 0]
    path = ((frames[-1] - frames[12]) @ down).mean()
    ideal = 0.5 * 9.81 * (np.sin(slope) - 0.3 * np.cos(slope)) * (1.0**2 - (11 / 24) ** 2)
    assert path == pytest.approx(ideal, rel=0.3) if slides else abs(path) < 2e-3


def test_residual_forwarding_stays_within_its_cap():
    parameters = NdbParameters().replaced(forwarding=True, forwarding_cap=1e-3)
    simulator, _, _ = run(drape(14, 12), parameters)
    assert np.linalg.norm(simulator.state()["forwarded"][:, :3], axis=1).max() <= 2e-3 * 1.001


def test_a_tangled_start_is_reported_freed_and_guarded_once_apart():
    """Two crossed sheets: the upper half of one is pulled out by its pins."""
    lying = free_sheet(9, size=0.3)
    turn = np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]])
    standing = replace(free_sheet(9, size=0.3), name="Standing", positions=free_sheet(9, size=0.3).positions @ turn.T)
    standing = replace(standing, positions=standing.positions + [0.011, 0.007, 0.1])
    top = np.flatnonzero(standing.positions[:, 2] > 0.24).astype(np.int32)
    path = standing.positions[None, top] + np.arange(20)[:, None, None] * [[[0, 0, 0.012]]]
    corners = np.array([0, 8, 72, 80], np.int32)
    cloths = (
        replace(lying, pins=Pins(corners, lying.positions[None, corners])),
        replace(standing, pins=Pins(top, path)),
    )
    scene = Scene(cloths, (), Settings(1, 20, gravity=(0, 0, 0)))
    simulator, reports, _ = run(scene, check=False)
    assert "Standing" in simulator.warnings[0]
    assert "Sheet" in simulator.warnings[0]
    assert reports[0].tangled > 0
    assert reports[-1].tangled == 0
    assert_free_of_intersections(scene, simulator.positions(), 20)
    with pytest.raises(SceneError, match="intersects"):
        Simulator(replace(scene, settings=replace(scene.settings, start="refuse")), cpu)


def squeezed_scene():
    """A sheet between two plates that close until they overlap, and open again."""
    cloth = free_sheet(8, size=0.2)
    plate, faces = sheet(4, 0.3)
    shift = 0.02 * np.abs(np.linspace(-1, 1, 13)) - 0.004

    def plate_of(name, side):
        path = plate[None] - [0.15, 0.15, 0] + side * shift[:, None, None] * [[[0, 0, 1.0]]]
        return Collider(name, faces, path.astype(np.float32))

    return Scene((cloth,), (plate_of("Upper", 1), plate_of("Lower", -1)), Settings(1, 13, gravity=(0, 0, 0)))


def test_cloth_squeezed_to_nothing_is_released_and_reported_and_the_bake_goes_on():
    scene = squeezed_scene()
    _, reports, frames = run(scene, check=False)
    released = {name for report in reports for name in report.released}
    assert released >= {"Upper", "Lower"}
    assert np.isfinite(frames).all()
    assert not any(report.released for report in reports[:3])
    assert sum(report.late_steps for report in reports) > 0


def test_a_late_body_gets_its_halves_even_after_a_step_with_too_much_strain(monkeypatch):
    """A thick rope (fuzz seed 3360) was released: an earlier step of the frame had been too long."""
    step, outcomes = Ndb.step, iter(["strained", "strained", "", "late", "", ""])

    def troubled(solver, state, target):
        state, done = step(solver, state, target)
        outcome = next(outcomes)
        done.strained, done.arrived = outcome == "strained", outcome != "late"
        done.late = None if done.arrived else cpu.array([64], np.int64)
        done.stopped = None if done.arrived else cpu.array([0], np.int64)
        return state, done

    monkeypatch.setattr(Ndb, "step", troubled)
    vertices, triangles = ball(1.0)
    body = Collider("Ball", triangles, (vertices - [0, 0, 3.0])[None].astype(np.float32))
    report = Simulator(Scene((free_sheet(),), (body,), Settings(1, 2, fps=24, step_rate=48)), cpu).advance_frame()
    assert next(outcomes, None) is None
    assert (report.steps, report.halved_steps, report.strained_steps) == (4, 2, 1)
    assert (report.late_steps, report.released) == (0, [])


def test_a_diverged_step_names_the_cloth_and_the_frame():
    velocities = np.full((64, 3), 1e30)
    with pytest.raises(SolverError, match=r"Sheet.*frame 2"):
        Simulator(Scene((free_sheet(velocities=velocities),), (), Settings(1, 4)), cpu).advance_frame()


def test_a_loose_vertex_stays_where_it_is_and_costs_the_cloth_nothing():
    scene = drape(10, 5)
    (cloth,) = scene.cloths
    stray = np.concatenate([cloth.positions, [[0.3, -2.0, 1.0]]])
    untidy = replace(scene, cloths=(replace(cloth, positions=stray, rest_positions=stray),))
    clean, other = Simulator(scene, cpu), Simulator(untidy, cpu)
    for _ in range(3):
        clean.advance_frame(), other.advance_frame()
    assert other.positions()[0][-1] == pytest.approx(stray[-1], abs=1e-6)
    assert other.positions()[0][:-1] == pytest.approx(clean.positions()[0], abs=2e-3)
    assert other.solver.momentum.pinned == clean.solver.momentum.pinned == [False]


def test_a_loose_vertex_in_a_soft_pin_group_goes_to_its_target():
    scene = drape(10, 5)
    (cloth,) = scene.cloths
    stray = np.concatenate([cloth.positions, [[0.3, -2.0, 1.0]]])
    held = np.int32([0, len(stray) - 1])
    targets = stray[held] + np.linspace(0.0, 0.1, scene.settings.frames)[:, None, None]
    pins = Pins(held, targets, np.float32([0.9, 0.9]))
    simulator = Simulator(
        replace(scene, cloths=(replace(cloth, positions=stray, rest_positions=stray, pins=pins),)), cpu
    )
    simulator.advance_frame()
    assert simulator.positions()[0][-1] == pytest.approx(targets[1, 1], abs=1e-6)


def test_a_state_of_another_mesh_is_refused():
    other = Simulator(drape(10, 5), cpu).state()
    with pytest.raises(SolverError, match="another mesh"):
        Simulator(drape(12, 5), cpu).restore(other)


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (
            lambda c: replace(c, triangles=np.concatenate([c.triangles, [[0, 1, 9]]]).astype(np.int32)),
            "lie on another one",
        ),
        (lambda c: replace(c, positions=np.where(np.arange(64)[:, None] == 3, np.nan, c.positions)), "not a number"),
        (
            lambda c: replace(
                c, rest_positions=np.where(np.arange(64)[:, None] == 63, c.rest_positions[62], c.rest_positions)
            ),
            "without area",
        ),
        (lambda c: replace(c, triangles=np.zeros((0, 3), np.int32)), "no faces"),
        (lambda c: replace(c, material=Material(density=0.0)), "density"),
        (lambda c: replace(c, thickness=-1.0), "thickness"),
        (lambda c: replace(c, pins=Pins(np.array([99], np.int32), np.zeros((1, 1, 3)))), "pin"),
    ],
)
def test_a_bad_cloth_is_refused_with_its_name_and_the_remedy(break_it, words):
    with pytest.raises(SceneError, match=words) as caught:
        Scene((break_it(free_sheet()),)).validate()
    assert caught.value.object == "Sheet"
    assert caught.value.remedy

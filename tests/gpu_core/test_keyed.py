# SPDX-License-Identifier: GPL-3.0-or-later
"""A key changes the result from its frame on and not before, of whatever it is; closed forms of gravity and time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.scene import air, keyed
from taffeta.gpu_core.scene.air import WEIGHTS
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.gpu_core.scene.scene import (
    PAINTABLE,
    Cloth,
    Collider,
    Cords,
    Folds,
    Material,
    Painted,
    Pins,
    Scene,
    SceneError,
    Settings,
)
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import paper, subspace_reuse
from taffeta.tests.gpu_core.small_scene import sheet, small_scene
from taffeta.tests.gpu_core.swinging import FACTORS, SECOND, SIDE, swinging

FRAMES, KEY = 6, 3  #: after the first; the frame of the key, counted so
cpu = select("cpu")
ACTING = {"field_all": "force", **{name: name.removeprefix("field_") for name in WEIGHTS[2:]}}  #: and on what
OF_CLOTH = (*swinging().cloths[0].numbers, *(f"{name}_max" for name in PAINTABLE))
NAMES = [*(f"cloth {name}" for name in OF_CLOTH), "collider friction", "collider thickness"]
NAMES += ["scene gravity", "scene time_scale", *(f"field {name}" for name in air.NUMBERS)]


def frames_of(scene: Scene, parameters=None, simulator: Simulator | None = None) -> np.ndarray:
    """(frames after the first, N, 3)"""
    simulator = simulator or Simulator(scene, cpu, parameters)
    found = []
    while simulator.frame < scene.settings.frame_end:
        simulator.advance_frame()
        found.append(simulator.positions()[0])
    return np.array(found)


def plain() -> Scene:
    """With paint of all that can be painted, which is the number itself."""
    scene = swinging(FRAMES + 1)
    (cloth,), (floor,) = scene.cloths, scene.colliders
    floor = replace(floor, positions=floor.positions + np.float32([0.0, 0.0, 0.01]))
    values = cloth.numbers
    paint = {name: Painted(np.float32(SECOND), values[name]) for name in PAINTABLE}
    return replace(scene, cloths=(replace(cloth, painted=paint),), colliders=(floor,))


def blown(scene: Scene, kind: str, **numbers) -> Scene:
    """With a field of this kind, near enough for each of its numbers to count."""
    known = dict.fromkeys(("strength", "size", "power", "radial_power", "damping", "flow", "noise"), 1.0)
    known |= {"distance_min": 0.1, "distance_max": 0.24, "radial_min": 0.1, "radial_max": 0.5, "wind_factor": 0.3}
    place, axis = np.array([[0.5, 0.1, -0.3]]), np.array([[0.0, 0.6, 0.8]])
    return replace(scene, fields=(air.Field("Field", place, axis, kind, "plane", "tube", **(known | numbers)),))


def scene_for(name: str) -> Scene:
    """The plain one, with a field where this number has to do with one."""
    owner, name = name.split()
    if owner == "field":
        return blown(plain(), "harmonic" if name in ("damping", "size") else "force")
    (cloth,), thread = plain().cloths, np.int32([[np.flatnonzero(~SECOND)[0], np.flatnonzero(SECOND)[-1]]])
    if name == "seam_stiffness":
        return replace(plain(), cloths=(sewn_together(cloth),))
    if name == "fold_angle":
        edges = unique_edges(cloth.triangles)
        folds = Folds(edges, np.where(edges[:, 1] - edges[:, 0] == 1, 1.0, 0.0))
        return replace(plain(), cloths=(replace(cloth, folds=folds, fold_angle=0.3),))
    if name == "sewing_force":
        return replace(plain(), cloths=(replace(cloth, seams=thread, sewing_force=0.01),))
    if name in ("cord_stiffness", "cord_density", "cord_shrink"):
        tied = {
            "cords": Cords(thread, np.array([0.8])),
            "cord_stiffness": 1.0,
            "cord_density": 0.01,
            "cord_shrink": 0.1,
        }
        return replace(plain(), cloths=(replace(cloth, **tied),))
    return blown(plain(), ACTING[name]) if name in ACTING else plain()


def sewn_together(cloth: Cloth) -> Cloth:
    """The second sheet beside the first, where a closed seam joins their borders."""
    places, held = cloth.positions.copy(), np.int32([0, SIDE - 1])
    right, left = np.arange(SIDE) + SIDE * (SIDE - 1), np.arange(SIDE) + SIDE**2
    places[SECOND] -= [0.8, 0.0, 0.0]
    places[left] = places[right]
    seams = np.column_stack([right, left]).astype(np.int32)
    return replace(cloth, positions=places, seams=seams, pins=Pins(held, places[None, held], np.float32([1.0, 0.5])))


@cache
def unkeyed(name: str) -> np.ndarray:
    return frames_of(scene_for(name))


def with_key(name: str, factor: float | None = None) -> Scene:
    """A number that jumps to `factor` times itself at the frame KEY."""
    scene, (owner, name) = scene_for(name), name.split()
    factor = FACTORS.get(name, 3.0) if factor is None else factor
    if owner == "scene":
        start = np.asarray(getattr(scene.settings, name))
        return replace(scene, keys={name: np.array([start] * KEY + [factor * start])})
    kind = {"cloth": "cloths", "field": "fields"}.get(owner, "colliders")
    (item,) = getattr(scene, kind)
    known = item.numbers if owner == "cloth" else vars(item)
    start = known[name if name in known else name.removesuffix("_max")]
    item = replace(item, keys={name: np.array([start] * KEY + [factor * start])})
    return replace(scene, **{kind: (item,)})


@pytest.mark.parametrize("name", NAMES)
def test_a_key_changes_the_result_at_its_frame_and_not_before(name):
    found = frames_of(with_key(name))
    assert np.array_equal(found[: KEY - 1], unkeyed(name)[: KEY - 1])
    assert np.abs(found[KEY - 1] - unkeyed(name)[KEY - 1]).max() > 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_keys_that_say_the_same_are_no_keys(name):
    assert np.array_equal(frames_of(with_key(name, 1.0)), unkeyed(name))


@pytest.mark.parametrize("name", ["cloth bend_friction", "cloth density", "scene time_scale", "cloth thickness"])
def test_a_bake_goes_on_with_other_keys_from_a_state_before_them(name):
    """As `Resume` does: the state is of a bake without the key."""
    before = Simulator(plain(), cpu)
    for _ in range(KEY - 2):
        before.advance_frame()
    resumed = Simulator(with_key(name), cpu)
    resumed.restore(before.state())
    found = frames_of(with_key(name), simulator=resumed)
    assert np.array_equal(found, frames_of(with_key(name))[KEY - 2 :])


@pytest.mark.parametrize("name", ["bend", "bend_friction", "shear", "air_drag", "friction", "strain_limit"])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (1.0, 0.0)])
def test_a_number_may_come_from_nothing_and_go_to_nothing(name, ends):
    scene = swinging(FRAMES + 1)
    cloth = scene.cloths[0]
    keys = {name: getattr(cloth.material, name) * np.repeat(ends, KEY - 1)}
    start = replace(cloth.material, **{name: keys[name][0]})
    scene = replace(scene, cloths=(replace(cloth, material=start, keys=keys),))
    simulator = Simulator(scene, cpu)
    for _ in range(KEY):
        assert simulator.advance_frame().faults == []
    halfway = simulator.state()
    found, resumed = frames_of(scene, simulator=simulator), Simulator(scene, cpu)
    resumed.restore(halfway)
    assert np.array_equal(found, frames_of(scene, simulator=resumed))
    assert np.isfinite(found).all()


def falling(keys, **settings) -> Scene:
    vertices, triangles = sheet(5, 0.2)
    cloth = Cloth("Sheet", triangles, vertices, vertices, Material(air_drag=0.0))
    return Scene((cloth,), (), Settings(1, 7, fps=24, step_rate=96, **settings), keys)


def test_gravity_that_is_keyed_accelerates_by_what_it_is_in_each_step():
    gravity = np.array([[0, 0, -9.81], [0, 0, -9.81], [0, 0, 0], [3, 0, 0]], float)
    found = frames_of(falling({"gravity": gravity}))
    place, speed, h = np.zeros(3), np.zeros(3), 1 / 96
    for step in range(1, 25):
        speed = speed + h * keyed.value_at(gravity, step / 4)
        place = place + h * speed
    assert (found[-1] - falling({}).cloths[0].positions).mean(axis=0) == pytest.approx(place, abs=1e-6)


def test_time_that_passes_otherwise_is_a_step_of_another_length():
    scale = np.array([1.0, 1.0, 0.25, 2.0])
    found = frames_of(falling({"time_scale": scale}))
    place, speed = 0.0, 0.0
    for step in range(1, 25):
        h = float(keyed.value_at(scale, step / 4)) / 96
        speed -= h * 9.81
        place += h * speed
    assert (found[-1] - falling({}).cloths[0].positions)[:, 2] == pytest.approx(np.full(25, place), rel=1e-4)
    slow = frames_of(falling({}, time_scale=0.5))[-1]
    assert np.array_equal(slow, frames_of(falling({"time_scale": np.array([0.5])}))[-1])


def test_cloth_that_gets_heavier_keeps_its_velocity():
    scene = falling({})
    cloth = replace(scene.cloths[0], keys={"density": np.array([0.12, 0.12, 0.12, 1.2])})
    assert frames_of(replace(scene, cloths=(cloth,)))[-1] == pytest.approx(frames_of(scene)[-1], abs=2e-6)


def test_thickness_that_grows_in_a_pile_pushes_it_apart_and_nothing_crosses():
    """Two sheets lie on a third, and all swell from 1 to 6 mm within a frame."""
    vertices, triangles = sheet(8, 0.2)
    swells = {"thickness": np.array([1e-3] * 4 + [6e-3])}
    fabric = Material(air_drag=0.0, density=0.3, bend=1e-4)
    cloths = tuple(
        Cloth(name, triangles, vertices, vertices + [0.011 * k, 0.007 * k, 1.2e-3 * k], fabric, keys=swells)
        for k, name in enumerate("abc")
    )
    floor, faces = sheet(2, 2.0)
    ground = Collider("Ground", faces, (floor - [1, 1, 1.2e-3])[None].astype(np.float32), 0.5, 1e-3, keys=swells)
    scene = Scene(cloths, (ground,), Settings(1, 16, backend="cpu"))
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    for _ in range(15):
        report = simulator.advance_frame()
        assert report.faults == report.released == []
        assert check.cached_findings(simulator.frame, simulator.positions()) == []
        assert report.rms_speed < 0.6
    heights = [positions[:, 2].mean() for positions in simulator.positions()]
    assert np.diff(heights) == pytest.approx([9e-3, 9e-3], abs=3e-3), "between ξ and ξ + d̂"
    assert report.smallest_gap > 4.5e-3


def test_thickness_that_grows_where_there_is_no_room_lets_nothing_cross():
    """Between two plates 4 mm apart, all of them to be 20 mm thick, and 1 mm again."""
    vertices, triangles = sheet(8, 0.3)
    swells = {"thickness": np.array([1e-3, 1e-3, 2e-2, 2e-2, 1e-3])}
    plate, faces = sheet(2, 2.0)
    plates = np.concatenate([plate - [1, 1, 2e-3], plate - [1, 1, -2e-3]])[None].astype(np.float32)
    body = Collider("Plates", np.concatenate([faces, faces + 4]).astype(np.int32), plates, keys=swells)
    cloth = Cloth("Sheet", triangles, vertices, vertices - [0.15, 0.15, 0.0], Material(air_drag=0.0), keys=swells)
    scene = Scene((cloth,), (body,), Settings(1, 7, backend="cpu"))
    simulator, check = Simulator(scene, cpu), SceneCheck(scene)
    for _ in range(6):
        report = simulator.advance_frame()
        assert report.faults == report.released == []
        assert check.cached_findings(simulator.frame, simulator.positions()) == []
    assert report.rms_speed < 0.2


def test_the_subspace_is_used_until_the_matrix_is_another():
    scene = small_scene(8, 10)
    keys = {"bend": np.array([5e-6] * 5 + [5e-5])}
    keyed_scene = replace(scene, cloths=(replace(scene.cloths[0], keys=keys),))
    found, expected = (frames_of(which, subspace_reuse()) for which in (keyed_scene, scene))
    assert np.array_equal(found[:4], expected[:4])
    assert not np.array_equal(found[4:], expected[4:])


def test_the_published_method_refuses_keys_that_change_its_matrix_and_takes_others():
    scene = small_scene(4, 8)
    friction = replace(scene, cloths=(replace(scene.cloths[0], keys={"friction": np.array([0.4, 0.0])}),))
    frames_of(friction, paper())
    bend = replace(scene, cloths=(replace(scene.cloths[0], keys={"bend": np.array([1e-5, 1e-4])}),))
    with pytest.raises(SceneError, match="As Published has one matrix for the whole bake, but bend has keys"):
        Simulator(bend, cpu, paper())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"bend": np.array([1e-5, -1.0])}, "bend is -1.0 at frame 2"),
        ({"density": np.array([0.1, 0.0])}, "density is 0.0 at frame 2"),
        ({"shear": np.array([80.0, np.nan])}, "shear is nan at frame 2"),
        ({"colour": np.array([1.0])}, "colour has no keys"),
        ({"bend_max": np.array([1.0])}, "bend_max has no keys"),
        ({"bend": np.ones(9)}, "do not fit the frame range"),
        ({"bend": np.ones((2, 3))}, "do not fit the frame range"),
        ({"bend": np.ones(0)}, "do not fit the frame range"),
    ],
)
def test_bad_keys_are_refused_by_name_and_frame(keys, words):
    scene = swinging(4)
    with pytest.raises(SceneError, match=words) as caught:
        replace(scene, cloths=(replace(scene.cloths[0], keys=keys),)).validate()
    assert caught.value.object == "Sheets"
    with pytest.raises(SceneError, match=r"time_scale is 0\.0 at frame 2"):
        replace(scene, keys={"time_scale": np.array([1.0, 0.0])}).validate()

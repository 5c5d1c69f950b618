# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth in moving air and in fields against closed forms; that each acts where and as it is told. What Blender makes of
each kind of field is in tests/addon/scene/test_fields.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import AIR_DENSITY
from taffeta.gpu_core.scene.air import Field, FieldWeights
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.scene_space import SceneSpace
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.air import STILL_AIR, Air
from taffeta.tests.gpu_core.small_scene import sheet, small_scene

cpu = select("cpu")
HERE, UP = np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]])
FABRIC = Material(density=0.12)
WEIGHT = 9.81


def wind(strength: float, axis=UP, **numbers) -> Field:
    """As Blender makes one."""
    known = {"shape": "plane", "flow": 1.0, "wind_factor": 1.0}
    return Field("Wind", HERE, np.asarray(axis, float).reshape(-1, 3), "wind", strength=strength, **(known | numbers))


def scene(*fields: Field, gravity=(0.0, 0.0, -WEIGHT), rate=192.0, frames=49, **cloth) -> Scene:
    vertices, triangles = sheet(5, 0.4)
    item = Cloth("Sheet", triangles, vertices, vertices - [0.2, 0.2, 0.0], FABRIC, **cloth)
    settings = Settings(1, frames, gravity=gravity, step_rate=rate, backend="cpu")
    return Scene((item,), (), settings, fields=fields)


def run(which: Scene, parameters=None) -> tuple[np.ndarray, np.ndarray]:
    """(mean place at each frame (F, 3), mean velocity over the last frame)"""
    simulator, places = Simulator(which, cpu, parameters), []
    while simulator.frame < which.settings.frame_end:
        report = simulator.advance_frame()
        assert report.faults == report.released == []
        assert report.heated_steps == 0
        places.append(simulator.positions()[0].mean(axis=0))
    return np.array(places), (places[-1] - places[-2]) * which.settings.fps


def terminal(material: Material = FABRIC) -> float:
    """v of ½ρC (v + u) v = σg, m/s."""
    rate = 0.5 * AIR_DENSITY * material.air_drag / material.density
    return -0.5 * STILL_AIR + float(np.sqrt(0.25 * STILL_AIR**2 + WEIGHT / rate))


@pytest.mark.parametrize("rate", [48.0, 192.0])
@pytest.mark.parametrize("strength", [0.0, 0.5, 5.0, -3.0])
def test_a_sheet_falls_as_fast_as_the_drag_law_says_relative_to_the_air(strength, rate):
    _, velocity = run(scene(wind(strength), rate=rate))
    assert velocity[2] - strength == pytest.approx(-terminal(), rel=0.003)


def test_without_a_field_the_air_is_still():
    _, velocity = run(scene())
    assert velocity[2] == pytest.approx(-terminal(), rel=0.03)


@pytest.mark.parametrize("flow", [0.5, 1.0, 2.0])
def test_cloth_goes_with_the_wind_at_strength_over_flow(flow):
    _, velocity = run(scene(wind(4.0, flow=flow), gravity=(0.0, 0.0, 0.0), frames=97))
    assert velocity[2] == pytest.approx(4.0 / flow, rel=0.02)


def test_without_flow_the_wind_does_not_slow_down_what_it_drives():
    gravity, rate = (0.0, 0.0, 0.0), 0.5 * AIR_DENSITY / FABRIC.density
    _, velocity = run(scene(wind(2.0, flow=0.0), gravity=gravity, frames=25))
    push = rate * (2.0 + STILL_AIR) * 2.0
    assert velocity[2] == pytest.approx(push * 23.5 / 24, rel=0.01)


def test_wind_in_the_plane_of_a_sheet_pushes_it_only_as_far_as_the_wind_factor_lets_it():
    along = [[1.0, 0.0, 0.0]]
    _, across = run(scene(wind(4.0, along), gravity=(0.0, 0.0, 0.0), frames=13))
    assert np.abs(across).max() < 1e-4
    _, dragged = run(scene(wind(4.0, along, wind_factor=0.0), gravity=(0.0, 0.0, 0.0), frames=97))
    assert dragged[0] == pytest.approx(4.0, rel=0.03)


@pytest.mark.parametrize("speed", [2.0, 10.0, 20.0])
def test_a_held_sheet_bears_the_pressure_of_the_wind(speed):
    """Its pins are soft springs, so how far they give is the force: ½ρC (w + u) w A."""
    vertices, triangles = sheet(5, 0.4)
    pins = Pins(np.arange(25, dtype=np.int32), vertices[None] + 0.0, np.full(25, 0.5, np.float32))
    stiff = replace(FABRIC, stretch_warp=2e4, stretch_weft=2e4, bend=1e-3)
    item = Cloth("Sheet", triangles, vertices, vertices, stiff, pins=pins)
    settings = Settings(1, 13, gravity=(0.0, 0.0, 0.0), tolerance=1e-4, backend="cpu")
    simulator = Simulator(Scene((item,), (), settings, fields=(wind(speed),)), cpu)
    for _ in range(12):
        simulator.advance_frame()
    stiffness = simulator.solver.elastic.pin_stiffness
    force = float((stiffness * (simulator.positions()[0] - vertices)[:, 2]).sum())
    assert force == pytest.approx(0.5 * AIR_DENSITY * (speed + STILL_AIR) * speed * 0.16, rel=0.03)


def test_a_tilted_sheet_is_lifted():
    """Wind along x on a sheet that leans by 30°: the force is along its normal, so two thirds of it lift."""
    vertices, triangles = sheet(5, 0.4)
    lean = np.radians(30.0)
    turned = vertices @ np.array([[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]])
    item = Cloth("Sheet", triangles, vertices, turned, FABRIC)
    settings = Settings(1, 2, gravity=(0.0, 0.0, 0.0), step_rate=192.0, tolerance=1e-4, backend="cpu")
    simulator = Simulator(Scene((item,), (), settings, fields=(wind(5.0, [[1.0, 0.0, 0.0]]),)), cpu)
    simulator.advance_frame()
    x, _, z = (simulator.positions()[0] - turned).mean(axis=0)
    assert abs(z / x) == pytest.approx(1.0 / np.tan(lean), rel=0.01)
    assert x > 0.0


def test_a_step_too_long_for_the_wind_takes_no_more_than_there_is():
    """Gauze in a hurricane, two steps a frame: it goes with the air and not beyond."""
    light = replace(scene(wind(60.0), gravity=(0.0, 0.0, 0.0), rate=48.0, frames=7))
    light = replace(light, cloths=(replace(light.cloths[0], material=Material(density=0.01, air_drag=3.0)),))
    places, velocity = run(light)
    assert velocity[2] == pytest.approx(60.0, rel=1e-3)
    assert (np.diff(places[:, 2]) * 24 < 60.01).all()


def in_vacuum(which: Scene) -> Scene:
    return replace(which, cloths=(replace(which.cloths[0], material=replace(FABRIC, air_drag=0.0)),))


def force(strength=1.0, **options) -> Field:
    return Field("Force", HERE - [[0, 0, 1.0]], UP, "force", "plane", strength=strength, **options)


def test_a_force_is_so_many_newtons_a_square_metre():
    _, velocity = run(in_vacuum(scene(force(0.6), gravity=(0.0, 0.0, 0.0), frames=13)))
    assert velocity[2] == pytest.approx(0.6 / 0.12 * 11.5 / 24, rel=0.01)


def test_weights_and_collections_are_factors_on_what_acts():
    def speed(**cloth):
        return run(in_vacuum(scene(force(0.6), gravity=(0.0, 0.0, 0.0), frames=5, **cloth)))[1][2]

    whole = speed()
    assert speed(field_weights=FieldWeights(field_force=0.5)) == pytest.approx(0.5 * whole)
    assert speed(field_weights=FieldWeights(field_all=0.5, field_force=0.5)) == pytest.approx(0.25 * whole)
    assert speed(field_weights=FieldWeights(field_wind=0.0, field_drag=0.0)) == whole
    assert speed(field_weights=FieldWeights(field_all=0.0)) == speed(fields=()) == 0.0
    assert speed(fields=(0,)) == whole


def test_gravity_has_a_weight_of_each_cloth():
    def height(weight):
        return run(in_vacuum(scene(frames=13, field_weights=FieldWeights(field_gravity=weight))))[0][-1][2]

    assert height(0.0) == 0.0
    assert height(0.5) == pytest.approx(0.5 * height(1.0), rel=1e-5)


def test_a_cloth_that_floats_among_others_rests_where_it_is_held():
    """With half of its weight it lies still on the ground, as the whole of it does."""
    which = small_scene(13, 8)
    half = replace(which, cloths=(replace(which.cloths[0], field_weights=FieldWeights(field_gravity=0.5)),))
    simulator = Simulator(half, cpu)
    for _ in range(12):
        report = simulator.advance_frame()
    assert report.faults == report.released == []
    assert report.contacts > 0


def test_a_field_of_no_strength_and_one_that_acts_on_nothing_change_no_bit():
    still = force(0.0)
    expected = run(scene(still, frames=9))[0]
    assert np.array_equal(run(scene(still, force(5.0), frames=9, fields=(0,)))[0], expected)
    beyond = force(5.0, distance_max=0.1)
    assert np.array_equal(run(scene(still, beyond, frames=9))[0], expected)


def test_noise_is_as_blender_spreads_it_and_the_same_each_time():
    """Of 128 sizes the upper half adds, the lower takes away, over 1 to 2: its mean is 0.168 of the noise."""
    noisy = Field("Force", HERE - [[0, 0, 1.0]], UP, "force", "plane", strength=0.0, noise=1.0, seed=3)
    vertices, triangles = sheet(60, 0.4)
    item = Cloth("Sheet", triangles, vertices, vertices, Material(density=1.0, air_drag=0.0))
    which = Scene((item,), (), Settings(1, 2, gravity=(0, 0, 0), step_rate=24.0, backend="cpu"), fields=(noisy,))
    simulator = Simulator(which, cpu)
    simulator.advance_frame()
    force_z = cpu.host(simulator.solver.elastic.air.acceleration)[:, 2]
    assert force_z.mean() == pytest.approx(
        np.log(2) * (np.arange(65, 128).sum() - np.arange(65).sum()) / 128**2, rel=0.1
    )
    assert -0.52 < force_z.min() < -0.4
    assert 0.9 < force_z.max() < 1.0
    again = Simulator(which, cpu)
    again.advance_frame()
    assert np.array_equal(again.positions()[0], simulator.positions()[0])
    other = Simulator(replace(which, fields=(replace(noisy, seed=4),)), cpu)
    other.advance_frame()
    assert not np.array_equal(other.positions()[0], simulator.positions()[0])


def test_a_bake_in_a_moving_field_goes_on_from_a_checkpoint_with_the_same_bits():
    places = np.array([[0.0, 0.0, -0.2 + 0.02 * k] for k in range(9)])
    moving = Field("Force", places, UP, "turbulence", strength=2.0, size=0.2, noise=0.4)
    which = scene(moving, frames=9)
    unbroken = Simulator(which, cpu)
    for _ in range(4):
        unbroken.advance_frame()
    resumed = Simulator(which, cpu)
    resumed.restore(unbroken.state())
    for simulator in (unbroken, resumed):
        for _ in range(4):
            simulator.advance_frame()
    assert np.array_equal(unbroken.positions()[0], resumed.positions()[0])


def test_a_field_that_does_not_change_is_handed_over_once():
    moments = {}
    for name, item in (
        ("still", wind(2.0)),
        ("keyed", replace(wind(2.0), keys={"strength": np.array([1.0, 2.0, 3.0])})),
        ("moving", replace(wind(2.0), location=np.array([[0.0, 0.0, 0.1 * k] for k in range(9)]))),
        ("noisy", replace(wind(2.0), noise=0.1)),
    ):
        space = SceneSpace(scene(item, frames=9))
        moments[name] = space.moment(1.25) is space.moment(1.5)
    assert moments == {"still": True, "keyed": False, "moving": False, "noisy": False}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "charge"}, "there is no kind “charge”"),
        ({"shape": "surface"}, "there is no shape “surface”"),
        ({"strength": np.nan}, "strength is nan"),
        ({"power": -1.0}, "power is -1"),
        ({"wind_factor": 1.5}, "wind_factor is 1.5"),
        ({"location": np.zeros((3, 3))}, "location does not fit the frame range"),
        ({"axis": np.full((1, 3), np.nan)}, "axis is not a number"),
        ({"keys": {"strength": np.ones(99)}}, "the keys of strength do not fit"),
        ({"keys": {"noise": np.array([0.0, -1.0])}}, "noise is -1"),
        ({"keys": {"colour": np.ones(2)}}, "colour has no keys"),
    ],
)
def test_a_bad_field_is_refused_by_name(changes, words):
    with pytest.raises(SceneError, match=words) as caught:
        scene(replace(force(), **changes), frames=9).validate()
    assert caught.value.object == "Force"
    with pytest.raises(SceneError, match="field_wind is -1"):
        scene(field_weights=FieldWeights(field_wind=-1.0)).validate()


def accelerations(item: Field, places: np.ndarray) -> np.ndarray:
    """(N, 3) what a field gives vertices of 1 kg/m² at rest there, m/s²."""
    cloth = Cloth("Dust", np.int32([[0, 1, 2]]), places, places, Material(density=1.0))
    space, count = SceneSpace(Scene((cloth,), (), Settings(), fields=(item,))), len(places)
    air = Air(cpu, space)
    air.renew(space.moment(1), np.zeros(count))
    x, nothing = (np.zeros((count, 4), np.float32) for _ in range(2))
    x[:, :3] = places - space.centre
    cpu.run([air.push(x, nothing, nothing, nothing, 1e-6)])
    return air.acceleration[:, :3].astype(np.float64)


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0, 2.0, 7.7, 10.0])
def test_a_falloff_is_that_power_of_the_distance_to_float32(power):
    way = np.float32(np.geomspace(1e-3, 7.0, 200)).astype(np.float64)
    found = accelerations(Field("Force", HERE, UP, "force", power=power), way[:, None] * [1.0, 0.0, 0.0])
    assert found[:, 0] == pytest.approx((1.0 + way) ** -power, rel=3e-6)


def test_a_cone_falls_off_by_the_angle_in_degrees():
    angle = np.radians(np.linspace(0.0, 180.0, 181))
    cone = Field("Force", HERE, UP, "force", falloff="cone", radial_power=1.0)
    places = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    found = np.linalg.norm(accelerations(cone, places), axis=1)
    assert 1.0 / found - 1.0 == pytest.approx(np.degrees(angle), rel=1e-5, abs=0.03)


def flag(speed: float, density: float, seconds: int) -> Scene:
    """1.2 × 0.4 m, held along one of its short edges, nearly flat in the wind, without gravity."""
    i, j = (axis.ravel() for axis in np.meshgrid(np.arange(16), np.arange(5), indexing="ij"))
    rest = np.stack([0.08 * i, 0.0 * i, 0.1 * j], axis=1)
    corner = (5 * i + j)[(i < 15) & (j < 4)]
    halves = [np.stack([corner, corner + 5, corner + 6], 1), np.stack([corner, corner + 6, corner + 1], 1)]
    start = rest + [[0.0, 0.02, 0.0]] * np.sin(3.0 * rest[:, :1])
    held = np.flatnonzero(i == 0).astype(np.int32)
    pins = Pins(held, start[held][None])
    cloth = Cloth("Flag", np.concatenate(halves).astype(np.int32), rest, start, Material(density=density), pins=pins)
    settings = Settings(1, seconds * 48, fps=48, gravity=(0.0, 0.0, 0.0), backend="cpu")
    return Scene((cloth,), (), settings, fields=(wind(speed, [[1.0, 0.0, 0.0]]),))


def flutter(which: Scene) -> tuple[float, float]:
    """(frequency, Hz, amplitude, m) of the middle of the free edge after the first 2 s, without a fault or crossing."""
    simulator, tips = Simulator(which, cpu), []
    while simulator.frame < which.settings.frame_end:
        report = simulator.advance_frame()
        assert report.faults == report.released == []
        tips.append(simulator.positions()[0][-3, 1])
    tip = np.array(tips[2 * 48 :]) - np.mean(tips[2 * 48 :])
    return float(np.count_nonzero(tip[1:] * tip[:-1] < 0.0)) * 24.0 / len(tip), float(tip.std() * np.sqrt(2.0))


@pytest.mark.nightly("42 s of flutter take a minute; lift, drag and a fall have closed forms by day")
def test_a_flag_flutters_as_often_as_a_plate_of_its_mass_on_a_pivot_would_about():
    """ω ~ U √(ρ/σL), after Argentina and Mahadevan (PNAS 2005): docs/theory/air.md.

    In the slow wind 3 s tell the frequency to a fifth only, by how the flag began; 24 s to a tenth.
    """
    share = {}
    for speed, density, seconds in ((6.0, 0.12, 26), (12.0, 0.12, 8), (12.0, 0.9, 8)):
        frequency, amplitude = flutter(flag(speed, density, seconds))
        share[speed, density] = 2.0 * np.pi * frequency / (speed * np.sqrt(AIR_DENSITY / (density * 1.2)))
        assert 0.02 < amplitude < 0.6
    assert all(0.8 < value < 2.5 for value in share.values())
    assert share[12.0, 0.12] == pytest.approx(share[6.0, 0.12], rel=0.2), "twice the wind, twice as often"

# SPDX-License-Identifier: GPL-3.0-or-later
"""What cloth takes on for good: of a bent strip the curvature beyond its threshold, of a pulled one the stretch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene.scene import Cloth, Material, Pins, Scene, SceneError, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import preset
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
LAW = Material(
    stretch_warp=200.0, stretch_weft=200.0, shear=100.0, softening=1.0, bend=1e-3, strain_limit=0.0, air_drag=0.0,
    stretch_damping=0.01, bend_damping=0.2,
)  # fmt: skip
BENT, LET_GO, END = 12, 14, 72  #: frames: it is there, nothing holds it any more, it is at rest
LENGTH, WIDTH = 0.2, 0.05


def strip() -> tuple[np.ndarray, np.ndarray]:
    points, triangles = sheet(17, LENGTH)
    narrow = points * [1.0, WIDTH / LENGTH * 4.0, 1.0]
    kept = (np.arange(17)[:, None] * 17 + np.arange(5)).ravel()
    number = np.full(len(points), -1)
    number[kept] = np.arange(len(kept))
    return narrow[kept], number[triangles[(number[triangles] >= 0).all(axis=1)]].astype(np.int32)


def rolled(points: np.ndarray, curvature: float) -> np.ndarray:
    """(N, 3) on a cylinder, or flat."""
    angle = curvature * (points[:, 0] - 0.5 * LENGTH)
    if curvature == 0.0:
        return points - [0.5 * LENGTH, 0.0, 0.0]
    return np.column_stack([np.sin(angle) / curvature, points[:, 1], (1.0 - np.cos(angle)) / curvature])


def curvature_of(positions: np.ndarray) -> float:
    """1/m of the circle through the ends and the middle of the strip's middle line."""
    line = positions.reshape(17, 5, 3)[:, 2]
    a, b, c = line[2], line[8], line[14]
    double = np.linalg.norm(np.cross(b - a, c - a))
    return float(2.0 * double / (np.linalg.norm(b - a) * np.linalg.norm(c - b) * np.linalg.norm(c - a)))


def let_go(way: np.ndarray, material: Material, method: str = "default") -> np.ndarray:
    """Where a strip is at rest that was led the way (frames, N, 3) by soft pins, and then let go.

    A scene without them begins from the state in which the first one ends.
    """
    points, triangles = strip()
    pins = Pins(np.arange(len(points), dtype=np.int32), way, np.full(len(points), 0.999, np.float32))
    cloth = Cloth("Strip", triangles, points, way[0], material, pins=pins)
    settings = Settings(1, LET_GO, step_rate=96.0, gravity=(0.0, 0.0, 0.0), backend="cpu")
    first = Simulator(Scene((cloth,), (), settings), cpu, preset(method))
    for _ in range(LET_GO - 1):
        first.advance_frame()
    free = Scene((replace(cloth, pins=None),), (), replace(settings, frame_end=END))
    second = Simulator(free, cpu, preset(method))
    second.restore(first.state())
    while second.frame < END:
        report = second.advance_frame()
        assert report.heated_steps == report.unfinished_steps == 0
    return second.positions()[0]


SHARE = np.concatenate([np.linspace(0.0, 1.0, BENT), np.ones(LET_GO - BENT)])


def bent(curvature: float, material: Material, method: str = "default") -> np.ndarray:
    points = strip()[0]
    return let_go(np.array([rolled(points, share * curvature) for share in SHARE]), material, method)


@pytest.mark.parametrize("method", ["default", "subspace"])
@pytest.mark.parametrize("curvature", [10.0, -14.0])
def test_a_strip_keeps_the_curvature_beyond_its_threshold(curvature, method):
    found = bent(curvature, replace(LAW, bend_yield=4.0), method)
    assert curvature_of(found) == pytest.approx(abs(curvature) - 4.0, rel=0.05)
    side = found.reshape(17, 5, 3)[[0, -1]].mean(axis=(0, 1)) - found.reshape(17, 5, 3)[8].mean(axis=0)
    assert np.sign(side[2]) == np.sign(curvature)


def test_a_strip_bent_less_than_its_threshold_springs_back():
    assert curvature_of(bent(10.0, replace(LAW, bend_yield=11.0))) < 0.1
    assert curvature_of(bent(10.0, LAW)) < 0.1


def pulled(stretch: float, material: Material) -> np.ndarray:
    points = strip()[0]
    return let_go(np.array([points * [1.0 + share * stretch, 1.0, 1.0] for share in SHARE]), material)


@pytest.mark.parametrize("stretch", [0.1, 0.3])
def test_a_strip_keeps_the_stretch_beyond_its_threshold(stretch):
    found = pulled(stretch, replace(LAW, stretch_yield=0.04))
    length, width = np.ptp(found[:, 0]) / LENGTH, np.ptp(found[:, 1]) / np.ptp(strip()[0][:, 1])
    assert length == pytest.approx((1.0 + stretch) / 1.04, rel=0.01)
    assert width == pytest.approx(1.0, abs=0.01)


def test_a_strip_pulled_less_than_its_threshold_springs_back():
    assert np.ptp(pulled(0.03, replace(LAW, stretch_yield=0.04))[:, 0]) == pytest.approx(LENGTH, rel=2e-3)


def test_a_bake_goes_on_with_what_was_taken_on():
    points, triangles = sheet(7, 0.2)
    hung = points + np.random.default_rng(3).normal(size=points.shape) * 5e-3
    held = np.array([0, 6], np.int32)
    yielding = replace(LAW, stretch_yield=0.005, bend_yield=1.0)
    cloth = Cloth("Sheet", triangles, points, hung, yielding, pins=Pins(held, hung[held][None]))
    scene = Scene((cloth,), (), Settings(1, 9, backend="cpu"))
    whole = Simulator(scene, cpu)
    for _ in range(4):
        whole.advance_frame()
    state, resumed = whole.state(), Simulator(scene, cpu)
    assert len(state["creases"]) > 0
    assert np.abs(state["creases"]).max() > 0.0
    assert np.abs(state["stretches"] - [1.0, 0.0, 0.0, 1.0]).max() > 0.0
    resumed.restore(state)
    for _ in range(4):
        whole.advance_frame(), resumed.advance_frame()
    assert np.array_equal(whole.positions()[0], resumed.positions()[0])
    plain = Simulator(replace(scene, cloths=(replace(cloth, material=LAW),)), cpu).state()
    assert plain["creases"].shape == plain["stretches"].shape == (0, 4)


def test_a_state_of_an_older_version_has_nothing_taken_on():
    points, triangles = sheet(4, 0.2)
    cloth = Cloth("Sheet", triangles, points, points, replace(LAW, bend_yield=1.0))
    scene = Scene((cloth,), (), Settings(1, 3, backend="cpu"))
    state = Simulator(scene, cpu).state()
    del state["creases"], state["stretches"]
    simulator = Simulator(scene, cpu)
    simulator.restore(state)
    assert not simulator.state()["creases"].any()


def test_a_key_that_makes_cloth_yield_acts_from_its_frame():
    points, triangles = sheet(6, 0.2)
    held = np.array([0, 5], np.int32)
    cloth = Cloth("Sheet", triangles, points, points, LAW, pins=Pins(held, points[held][None]))
    scene = Scene((cloth,), (), Settings(1, 8, backend="cpu"))
    keys = {"bend_yield": np.array([0.0] * 4 + [0.5]), "stretch_yield": np.array([0.0] * 4 + [1e-4])}
    found: list[list[np.ndarray]] = []
    for changing in ({}, keys):
        simulator = Simulator(replace(scene, cloths=(replace(cloth, keys=changing),)), cpu)
        found.append([])
        for _ in range(7):
            simulator.advance_frame()
            found[-1].append(simulator.positions()[0])
    assert np.array_equal(found[0][:3], found[1][:3])
    assert np.abs(found[0][-1] - found[1][-1]).max() > 1e-4


def test_a_threshold_below_zero_is_refused():
    with pytest.raises(SceneError, match="Set bend_yield to 0 or more"):
        replace(LAW, bend_yield=-1.0).validate("Shirt")

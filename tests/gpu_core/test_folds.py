# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges with a rest angle: a crease, pleats, and a skirt that is taken in by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.elasticity.assembly import assemble, vectors
from taffeta.gpu_core.elasticity.choices import ElasticityChoices
from taffeta.gpu_core.elasticity.energies import ENERGIES
from taffeta.gpu_core.elasticity.sheet import Sheet
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.gpu_core.scene.scene import Cloth, Folds, Material, Scene, SceneError, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sheet

cpu = select("cpu")
SIZE, SIDE = 0.2, 11
FREE = Settings(frame_end=40, step_rate=96, gravity=(0.0, 0.0, 0.0))


def across(positions, triangles, x, weight):
    """The mesh's edges on the line at x, with this weight."""
    ends = unique_edges(triangles)
    on = (np.abs(positions[ends][:, :, 0] - x) < 1e-9).all(axis=1)
    return ends[on].astype(np.int32), np.full(int(on.sum()), weight)


def marked(positions, triangles, lines):
    ends, weights = zip(*(across(positions, triangles, x, weight) for x, weight in lines), strict=True)
    return Folds(np.concatenate(ends), np.concatenate(weights))


def flat_sheet(lines, angle, **numbers):
    rest, triangles = sheet(SIDE, SIZE)
    law = Material(bend=1e-4, velocity_damping=4.0, air_drag=0.0)
    return Cloth("Sheet", triangles, rest, rest, law, folds=marked(rest, triangles, lines), fold_angle=angle, **numbers)


def zigzag(positions, lines, angle):
    """(N, 3) folded along lines across x: mountains down on both sides."""
    x, heading, at, place = np.unique(np.round(positions[:, 0], 9)), 0.0, np.zeros(2), {}
    turns = {round(line, 9): weight * angle for line, weight in lines}
    for k, value in enumerate(x):
        if k:
            at = at + (value - x[k - 1]) * np.array([np.cos(heading), np.sin(heading)])
        place[value] = at
        heading -= turns.get(value, 0.0)
    found = np.array([place[value] for value in np.round(positions[:, 0], 9)])
    return np.column_stack([found[:, 0], positions[:, 1], found[:, 1]])


@pytest.mark.parametrize("angle", [0.6, 1.5, 2.6])
@pytest.mark.parametrize("lines", [[(0.1, 1.0)], [(0.06, 1.0), (0.08, -1.0), (0.14, -0.5)]], ids=["crease", "pleats"])
def test_what_is_folded_as_it_is_marked_has_no_force(lines, angle):
    cloth = flat_sheet(lines, angle)
    folded = zigzag(cloth.positions, lines, angle)
    data = assemble((cloth,), 1 / 192)
    device = Sheet(cpu, data.triangles, data.vertices, 1 / 192)
    bending = next(kind for kind in ENERGIES if kind.name == "bending")
    energy = bending(cpu, data.bending, device, ElasticityChoices())

    def stored(x):
        energy.turn(vectors(x))
        return float(energy._energy(vectors(x), np.ones(data.bending.rows.shape[0], bool)))

    assert stored(folded) < 1e-3 * stored(cloth.positions)
    mirrored = folded * [1, 1, -1]
    assert stored(mirrored) > stored(cloth.positions)


def test_a_sheet_takes_the_angle_of_its_crease():
    simulator = Simulator(Scene((flat_sheet([(0.1, 1.0)], 1.0),), (), FREE), cpu)
    for _ in range(39):
        simulator.advance_frame()
    x = simulator.positions()[0].reshape(SIDE, SIDE, 3)
    left, right = x[5, 5] - x[0, 5], x[10, 5] - x[5, 5]
    turned = np.arccos(left @ right / np.linalg.norm(left) / np.linalg.norm(right))
    assert turned == pytest.approx(1.0, rel=0.02)
    assert x[5, 5, 2] > x[0, 5, 2]  # a mountain, as seen from above


def test_a_mountain_is_one_whichever_end_of_its_edges_comes_first():
    cloth = flat_sheet([(0.06, 1.0), (0.14, -0.5)], 1.0)
    turned = replace(cloth, folds=replace(cloth.folds, ends=cloth.folds.ends[:, ::-1].copy()))
    expected, found = (assemble((item,), 1 / 192).bending.rest for item in (cloth, turned))
    assert abs(expected).max() > 0.0
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_key_folds_and_irons_flat_again():
    angle = np.concatenate([np.zeros(4), np.linspace(0.0, 1.2, 9), np.full(20, 1.2), np.linspace(1.2, 0.0, 9)])
    cloth = flat_sheet([(0.06, 1.0), (0.14, -1.0)], 0.0, keys={"fold_angle": angle})
    simulator, turned = Simulator(Scene((cloth,), (), replace(FREE, frame_end=70)), cpu), []
    for _ in range(69):
        simulator.advance_frame()
        x = simulator.positions()[0].reshape(SIDE, SIDE, 3)
        outer, inner = x[3, 5] - x[0, 5], x[7, 5] - x[3, 5]
        turned.append(np.arccos(min(1.0, outer @ inner / np.linalg.norm(outer) / np.linalg.norm(inner))))
    assert max(turned[:3]) < 1e-3
    assert turned[31] == pytest.approx(1.2, rel=0.05)
    assert turned[-1] < 0.05


def test_a_tube_is_folded_everywhere_though_it_cannot_close_so():
    """Pleats around a skirt take its waist in: no shape of the whole has all angles, each triangle has its own."""
    count, rows, radius = 24, 5, 0.1
    around = np.arange(count) * 2 * np.pi / count
    ring = np.column_stack([radius * np.cos(around), radius * np.sin(around)])
    rest = np.concatenate([np.column_stack([ring, np.full(count, 0.03 * k)]) for k in range(rows)])
    a = np.arange(count * (rows - 1)).reshape(rows - 1, count)
    b = np.roll(a, -1, axis=1)
    triangles = np.concatenate([np.stack(t, -1).reshape(-1, 3) for t in ((a, b, b + count), (a, b + count, a + count))])
    ends = np.concatenate([np.stack([a[:, k], a[:, k] + count], -1) for k in range(0, count, 2)]).astype(np.int32)
    weights = np.repeat(np.where(np.arange(0, count, 2) % 4 == 0, 1.0, -1.0), rows - 1)
    cloth = Cloth("Tube", triangles.astype(np.int32), rest, rest, Material(bend=1e-4), folds=Folds(ends, weights))
    bent, plain = (assemble((replace(cloth, fold_angle=angle),), 1 / 192).bending for angle in (1.5, 0.0))
    size = np.linalg.norm(bent.rest - plain.rest, axis=1)
    by_column = np.zeros(count)
    np.maximum.at(by_column, bent.hinge.min(axis=1) % count, size)
    assert by_column[::2].min() > 0.9 * by_column.max()  # also where the columns are numbered from


def test_bad_folds_are_refused_by_name():
    cloth = flat_sheet([(0.1, 1.0)], 1.0)
    for folds in (Folds(np.int32([[0, 999]]), np.ones(1)), replace(cloth.folds, weights=cloth.folds.weights * np.nan)):
        with pytest.raises(SceneError, match=r"Sheet.*fold"):
            Scene((replace(cloth, folds=folds),), (), Settings()).validate()

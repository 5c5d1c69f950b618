# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloths that are sewn to each other: simulated as one, told apart in what comes out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.files import job
from taffeta.gpu_core.scene.edges import Cords, Folds
from taffeta.gpu_core.scene.garments import garments
from taffeta.gpu_core.scene.pins import PinGroup
from taffeta.gpu_core.scene.scene import Painted, Pins, SceneError
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import sewn_tube

cpu = select("cpu")
FRAMES = 20


def in_two(scene):
    """The scene with its one cloth cut where its vertices are halved: seams between the halves are threads."""
    (cloth,) = scene.cloths
    count = len(cloth.positions) // 2
    halves = []
    for k in range(2):
        own = slice(k * count, (k + 1) * count)
        faces = cloth.triangles[(cloth.triangles // count == k).all(axis=1)] - k * count
        halves.append(
            replace(
                cloth, name=f"Half {k}", triangles=faces, rest_positions=cloth.rest_positions[own],
                positions=cloth.positions[own], seams=None,
            )
        )  # fmt: skip
    threads = np.column_stack(
        [np.zeros(len(cloth.seams)), cloth.seams[:, 0], np.ones(len(cloth.seams)), cloth.seams[:, 1] - count]
    )
    return replace(scene, cloths=tuple(halves), threads=threads.astype(np.int32))


def positions(scene, frames=FRAMES):
    simulator, found = Simulator(scene, cpu), []
    check = SceneCheck(scene)
    for _ in range(frames):
        assert not simulator.advance_frame().faults
        found.append(simulator.positions())
        assert check.findings(simulator.frame, np.concatenate(found[-1])) == []
    return found


@pytest.fixture
def tube():
    scene = sewn_tube(6, FRAMES + 1)
    return replace(scene, settings=replace(scene.settings, step_rate=96.0))


def test_two_cloths_that_are_sewn_to_each_other_move_as_the_one_mesh_of_both(tube):
    whole, parts = positions(tube), positions(in_two(tube))
    for (one,), two in zip(whole, parts, strict=True):
        assert [len(part) for part in two] == [36, 36]
        assert np.array_equal(one, np.concatenate(two))
    seams = tube.cloths[0].seams
    assert np.array_equal(whole[-1][0][seams[:, 0]], whole[-1][0][seams[:, 1]])


def test_numbers_that_differ_are_painted_on_the_one_cloth():
    scene = in_two(sewn_tube(5, 4))
    first, second = scene.cloths
    heavy = replace(second, material=replace(second.material, density=0.5), keys={"density": np.array([0.5, 0.9])})
    bound = np.linspace(0.0, 1.0, 25).astype(np.float32)
    soft = replace(first, painted={"bend": Painted(bound, 3e-4)})
    (joined,) = garments(replace(scene, cloths=(soft, heavy))).scene.cloths
    assert joined.numbers["density"] == first.material.density
    assert joined.painted["density"].maximum == 0.5
    assert joined.painted["density"].weights.tolist() == [0.0] * 25 + [1.0] * 25
    assert joined.keys["density_max"].tolist() == [0.5, 0.9]
    assert joined.painted["bend"].weights == pytest.approx(np.append(bound, np.zeros(25)))


def test_pins_folds_and_cords_of_each_are_those_of_the_one_cloth():
    scene = in_two(sewn_tube(5, 4))
    first, second = scene.cloths
    at = np.int32([3])
    own = replace(
        second, pins=Pins(at, second.positions[None, at]), pin_strength=0.5,
        keys={"pin_strength": np.array([0.5, 0.0])},
        pin_groups=(PinGroup("More", Pins(at + 1, second.positions[None, at + 1])),),
        folds=Folds(np.int32([[0, 1]]), np.ones(1)), fold_angle=1.0, cords=Cords(np.int32([[2, 7]]), np.ones(1)),
        cord_shrink=0.2,
    )  # fmt: skip
    (joined,) = garments(replace(scene, cloths=(first, own))).scene.cloths
    assert [(group.name, group.pins.vertices.tolist(), group.strength) for group in joined.pin_groups] == [
        ("Half 1", [28], 0.5), ("More", [29], 1.0),
    ]  # fmt: skip
    assert joined.pin_groups[0].keys["strength"].tolist() == [0.5, 0.0]
    assert (joined.folds.ends.tolist(), joined.fold_angle) == ([[25, 26]], 1.0)
    assert (joined.cords.ends.tolist(), joined.cord_shrink) == ([[27, 32]], 0.2)


def test_a_cloth_between_them_in_the_scene_keeps_its_place(tube):
    """Results come in the order of the scene's cloths, and pulls name their vertices so."""
    first, second = in_two(tube).cloths
    other = replace(first, name="Other", positions=first.positions + [3.0, 0.0, 0.0])
    threads = in_two(tube).threads * np.int32([1, 1, 2, 1])
    scene = replace(tube, cloths=(first, other, second), threads=threads)
    simulator, plain = Simulator(scene, cpu), Simulator(in_two(tube), cpu)
    for _ in range(3):
        simulator.advance_frame(), plain.advance_frame()
    found, expected = simulator.positions(), plain.positions()
    assert found[1].mean(axis=0) == pytest.approx(other.positions.mean(axis=0), abs=1e-3)
    assert found[0] == pytest.approx(expected[0], abs=1e-4)
    assert found[2] == pytest.approx(expected[1], abs=1e-4)
    numbers = garments(scene).number(np.array([0, 36, 72]))
    assert numbers.tolist() == [0, 72, 36]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"self_collision": False}, "self collision"), ({"pin_strength": 0.5}, ""), ({"fold_angle": 2.0}, ""),
        ({"sewing_force": 9.0}, ""), ({"seams": np.int32([[0, 6]]), "sewing_force": 9.0}, "sewing force"),
    ],
)  # fmt: skip
def test_what_only_one_number_can_be_must_be_the_same(change, words):
    scene = in_two(sewn_tube(5, 4))
    scene = replace(scene, cloths=(scene.cloths[0], replace(scene.cloths[1], **change)))
    if not words:
        garments(scene)
        return
    with pytest.raises(SceneError, match=rf"Half 0.*Half 1.*{words}"):
        garments(scene)


@pytest.mark.parametrize(
    ("threads", "words"),
    [([[0, 0, 5, 0]], "does not exist"), ([[0, 0, 1, 99]], "does not exist"), ([[1, 0, 1, 3]], "itself")],
)
def test_threads_that_cannot_be_are_refused(threads, words):
    scene = replace(in_two(sewn_tube(5, 4)), threads=np.int32(threads))
    with pytest.raises(SceneError, match=words):
        scene.validate()


def test_a_job_keeps_them(tmp_path):
    scene = in_two(sewn_tube(5, 4))
    job.save(scene, tmp_path / "job")
    assert np.array_equal(job.load(tmp_path / "job").threads, scene.threads)
    fewer = replace(scene, threads=scene.threads[1:])
    assert job.digest(fewer) != job.digest(scene) != job.digest(replace(scene, threads=None))
    (tmp_path / "job" / "threads.npy").write_bytes(b"nonsense")
    with pytest.raises(job.JobError, match="damaged"):
        job.load(tmp_path / "job")


def test_float32_of_two_objects_is_no_crossing(tube):
    """What is one place in the simulation is nearly one in two caches, each in the space of its object."""
    scene = in_two(tube)
    turn = np.array([[0.6, -0.8, 0, 40.0], [0.8, 0.6, 0, -30.0], [0, 0, 1, 7.0], [0, 0, 0, 1.0]])
    cloths = (scene.cloths[0], replace(scene.cloths[1], world_to_object=turn[None]))
    scene = replace(scene, cloths=cloths)
    world = positions(scene)[-1]
    cached = [world[0].astype(np.float32), (world[1] @ turn[:3, :3].T + turn[:3, 3]).astype(np.float32)]
    assert SceneCheck(scene).cached_findings(scene.settings.frame_end, cached) == []

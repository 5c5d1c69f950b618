# SPDX-License-Identifier: GPL-3.0-or-later
"""Live's worker: what it answers, that the hand has its way and nothing crosses, and that it ends with its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.check.scene_check import to_world
from taffeta.gpu_core.files import job
from taffeta.gpu_core.files.point_cache import read_frames
from taffeta.gpu_core.live.events import Advanced, Ended, Ready
from taffeta.gpu_core.live.live import Live, neighbourhood
from taffeta.gpu_core.live.process import JOB, MOVED, LiveProcess, shape_path
from taffeta.gpu_core.scene.air import Field
from taffeta.gpu_core.scene.scene import Pins, Scene
from taffeta.tests.gpu_core.small_scene import full_scene, sheet, small_scene

ROOT = Path(__file__).resolve().parents[3]
cpu = select("cpu")


def preview(scene: Scene) -> Scene:
    """As the add-on asks for it: two steps a frame, five times the tolerance."""
    settings = scene.settings
    return replace(scene, settings=replace(settings, step_rate=2 * settings.fps, tolerance=5 * settings.tolerance))


@pytest.fixture
def folder(tmp_path):
    job.save(preview(small_scene(1)), tmp_path / JOB)
    return tmp_path


def run(folder, *commands):
    """(exit code, events) of a worker that hears these commands and nothing after them."""
    lines = "".join(json.dumps(command) + "\n" for command in commands)
    worker = subprocess.run(
        [sys.executable, "-m", "gpu_core.live.live", str(folder)],
        cwd=ROOT,
        input=lines,
        capture_output=True,
        text=True,
        check=False,
    )
    return worker.returncode, [json.loads(line) for line in worker.stdout.splitlines()]


def answer(process: LiveProcess) -> dict:
    """The next event, waited for."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for event in process.poll():
            return event
        time.sleep(0.005)
    raise AssertionError("the worker does not answer")


def shape(folder, turn, key="sheet"):
    (frame,) = read_frames(shape_path(folder, key, turn))
    return np.array(frame)


def assert_free_of_intersections(live: Live):
    """By the exact check, from the positions that are shown, in float32."""
    worlds = [np.float32(part).astype(float) for part in live.simulator.positions()]
    worlds += [np.asarray(body.positions[1], float) for body in live.scene.colliders]
    first = np.concatenate([[0], np.cumsum([len(part) for part in worlds])])
    objects = [*live.scene.cloths, *live.scene.colliders]
    triangles = np.concatenate([item.triangles + at for item, at in zip(objects, first, strict=False)])
    cloth = int(first[len(live.scene.cloths)])
    assert len(intersections(np.concatenate(worlds), triangles, collider_start=cloth)) == 0


# What it says


def test_every_begin_and_step_is_answered_and_nothing_else(folder):
    code, events = run(
        folder,
        {"command": "begin"},
        {"command": "step"},
        {"command": "grab", "cloth": "sheet", "point": [0, 0, 0.12], "radius": 0.1, "strength": 0.9},
        {"command": "step", "hand": [0, 0, 0.13]},
        {"command": "release"},
        {"command": "step"},
    )
    assert code == 0
    assert [event["event"] for event in events] == ["ready", "frame", "frame", "frame"]
    assert [event["turn"] for event in events] == [0, 1, 0, 1]
    assert events[0]["backend"] == "cpu"
    assert all(event["steps"] == 2 and not event["faults"] for event in events[1:])


def test_the_first_answer_has_put_the_start_there(folder):
    run(folder, {"command": "begin"})
    (cloth,) = small_scene(1).cloths
    np.testing.assert_allclose(to_world(cloth, shape(folder, 0), 0), cloth.positions, atol=1e-6)


COMMANDS = [
    {"command": "begin"},
    *[{"command": "step"}] * 3,
    {"command": "grab", "cloth": "sheet", "point": [0.1, 0.1, 0.1], "radius": 0.1, "strength": 0.9},
    *[{"command": "step", "hand": [0.1, 0.1, 0.1 + 0.02 * k]} for k in range(4)],
]


def test_the_same_commands_give_the_same_bytes(folder, tmp_path):
    code, _ = run(folder, *COMMANDS)
    first = [shape_path(folder, "sheet", turn).read_bytes() for turn in (0, 1)]
    assert code == 0
    assert run(folder, *COMMANDS)[0] == 0
    assert [shape_path(folder, "sheet", turn).read_bytes() for turn in (0, 1)] == first


def test_a_second_begin_starts_over_with_the_job_as_it_is_then(folder):
    run(folder, {"command": "begin"}, {"command": "step"}, {"command": "step"})
    fallen = shape(folder, 0)
    _, events = run(folder, *[{"command": "begin"}, {"command": "step"}, {"command": "step"}] * 2)
    assert [event["turn"] for event in events] == [0, 1, 0, 1, 0, 1]
    np.testing.assert_array_equal(shape(folder, 1), fallen)


def test_a_failure_is_told_in_an_event_and_by_the_exit_code(tmp_path):
    code, events = run(tmp_path, {"command": "begin"})
    assert (code, events[-1]["event"], events[-1]["kind"]) == (3, "error", "scene")
    assert "There is no job" in events[-1]["text"]


def test_something_of_another_size_is_refused(folder):
    np.savez(folder / MOVED, collider_000=np.zeros((3, 3)))
    code, events = run(folder, {"command": "begin"}, {"command": "step", "moved": True})
    assert (code, events[-1]["kind"]) == (3, "scene")
    assert "Start Live again" in events[-1]["text"]


# What it does


@pytest.mark.parametrize("method", ["default", "subspace"])
def test_a_grabbed_vertex_goes_where_the_hand_goes(method):
    scene = preview(small_scene(1))
    live = Live(replace(scene, settings=replace(scene.settings, preset=method)), cpu)
    corner = int(np.argmax(live.simulator.positions()[0].sum(axis=1)))
    hand = live.simulator.positions()[0][corner]
    live.grab("sheet", hand, radius=0.08, strength=0.9)
    for k in range(12):
        hand = hand + [0.0, 0.0, 0.02]
        live.advance(hand)
        assert_free_of_intersections(live)
        assert np.linalg.norm(live.simulator.positions()[0][corner] - hand) < 5e-3, k


def test_a_release_lets_it_fall():
    live = Live(preview(small_scene(1)), cpu)
    corner = int(np.argmax(live.simulator.positions()[0].sum(axis=1)))
    hand = live.simulator.positions()[0][corner]
    live.grab("sheet", hand, radius=0.08, strength=0.9)
    for _ in range(4):
        live.advance(hand)
    live.release()
    for _ in range(4):
        live.advance(hand)
    assert live.simulator.positions()[0][corner, 2] < hand[2] - 0.05


def test_a_hand_that_pulls_through_a_body_pulls_no_cloth_through_it():
    live = Live(preview(small_scene(1)), cpu)
    for _ in range(4):
        live.advance()
    middle = live.simulator.positions()[0][44]
    live.grab("sheet", middle, radius=0.06, strength=0.9)
    for k in range(1, 11):
        report = live.advance(middle - [0.0, 0.0, 0.03 * k])  # to 0.2 m below the top of the ball, and beyond
        assert not report.released
        assert_free_of_intersections(live)


def test_bodies_go_where_they_are_told_and_push_the_cloth():
    live = Live(preview(small_scene(1)), cpu)
    start = live.scene.colliders[0].positions[0].copy()
    for k in range(1, 11):
        live.move({"collider_000": start + np.float32([0, 0, 0.02 * k])})
        live.advance()
        assert_free_of_intersections(live)
    assert live.simulator.positions()[0][:, 2].max() > 0.3  # 0.1 above the ball's middle, which is at 0.2


def test_pins_and_spaces_move_too(tmp_path):
    scene = preview(full_scene())
    scene = replace(scene, cloths=(scene.cloths[0], replace(scene.cloths[1], key="curtain", pin_strength=1.0)))
    live = Live(scene, cpu)
    pins = live.scene.cloths[1].pins  # of all groups together
    assert isinstance(pins, Pins)
    places = pins.targets[0] + 0.01
    space = np.eye(4)
    space[:3, 3] = [1.0, 0.0, 0.0]
    live.move({"pins_001": places, "space_001": space})
    live.advance()
    live.write(tmp_path, 0)
    world = live.simulator.positions()[1]
    np.testing.assert_allclose(world[pins.vertices[0]], places[0], atol=1e-6)
    np.testing.assert_allclose(shape(tmp_path, 0, "curtain"), world + [1.0, 0.0, 0.0], atol=1e-6)


def test_a_hand_holds_one_layer_of_a_fold():
    positions, triangles = sheet(11, 1.0)
    folded = positions.copy()
    folded[:, 2] = np.where(positions[:, 0] > 0.5, 0.01, 0.0)
    folded[:, 0] = np.minimum(positions[:, 0], 1.0 - positions[:, 0])  # folded at x = 0.5: the edges lie together
    vertices, share = neighbourhood(triangles, folded, [0.0, 0.5, 0.0], 0.25)
    assert positions[vertices, 0].max() < 0.5
    assert share.max() == 1.0
    assert (share > 0).all()
    assert len(neighbourhood(triangles, folded, [0.0, 0.5, 0.0], 0.0)[0]) == 1


# The parent


def test_the_parent_hears_every_answer(folder):
    process = LiveProcess(folder)
    process.begin()
    assert isinstance(answer(process), Ready)
    start = shape(folder, 0)
    ball = small_scene(1).colliders[0].positions[0]
    process.grab("sheet", (0.0, 0.0, 0.12), 0.1, 0.9)
    process.step({"collider_000": ball + np.float32(0.001)}, (0.0, 0.0, 0.15))
    assert isinstance(answer(process), Advanced)
    assert np.abs(shape(folder, 1) - start).max() > 0.01
    process.release()
    process.kill()
    assert process.poll() == []


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_the_parent_says_how_a_worker_ended(folder):
    process = LiveProcess(folder)
    process.begin()
    answer(process)
    os.kill(process._process.pid, signal.SIGKILL)
    event = answer(process)
    assert isinstance(event, Ended)
    assert "signal 9 (SIGKILL)" in event.text
    process.step({}, None)  # nobody hears it, and nothing happens
    assert process.poll() == []


def test_the_worker_ends_with_its_input(folder):
    process = LiveProcess(folder)
    process.begin()
    answer(process)
    process._process.stdin.close()
    assert process._process.wait(timeout=20) == 0
    process.kill()


def test_the_parents_side_needs_neither_bpy_nor_scipy():
    code = "import sys; sys.modules.update(bpy=None, scipy=None, cupy=None)\nimport gpu_core.live.process"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_a_force_field_acts_in_live_with_the_numbers_of_the_beginning_from_where_it_is():
    blown = Field("Fan", np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]]), "wind", "plane", strength=3.0, wind_factor=0.0)
    above = replace(
        preview(small_scene(1)), colliders=()
    )  # in contact, chance has a say in where it is after four frames
    live, still = (Live(replace(above, fields=fields), cpu) for fields in ((blown,), ()))
    for _ in range(4):
        live.advance(), still.advance()
    ahead = (live.simulator.positions()[0] - still.simulator.positions()[0]).mean(axis=0)
    assert abs(ahead[0]) < 1e-6, "without drag no air takes it along"
    push = replace(blown, kind="force", location=np.array([[-1.0, 0.0, 0.0]]))
    live = Live(replace(above, fields=(push,)), cpu)
    for _ in range(4):
        live.advance()
    ahead = (live.simulator.positions()[0] - still.simulator.positions()[0]).mean(axis=0)
    assert ahead[0] == pytest.approx(0.5 * 3.0 / 0.12 * (4 / 24) ** 2, rel=0.15)
    live.move({"location_000": np.array([1.0, 0.0, 0.0])})
    speed = []
    for _ in range(4):
        before = live.simulator.positions()[0].mean(axis=0)[0]
        live.advance()
        speed.append(live.simulator.positions()[0].mean(axis=0)[0] - before)
    assert speed[3] < speed[2] < speed[1], "it pushes from the other side now"

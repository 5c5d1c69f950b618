# SPDX-License-Identifier: GPL-3.0-or-later
"""The suite of scenes at a size, and the same scenes through others: rows are whole, and say what was not done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.benchmarks.scenes import page, peers, suite
from taffeta.benchmarks.scenes.held import CannotError
from taffeta.benchmarks.scenes.held import held as held_of
from taffeta.benchmarks.scenes.judge import Judge
from taffeta.benchmarks.scenes.staged import Staged, StageError, staged
from taffeta.benchmarks.speed import results, scaling, table1
from taffeta.benchmarks.speed.paper import TABLE
from taffeta.benchmarks.speed.scenes import built
from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.scene.scene import PinGroup, Pins, Scene

VERTICES = 100
PAPER_LG = {"twisting_cloth": (47.4, 157), "cloth_blender": (160.7, 73), "kicking": (113.5, 94)}


@pytest.fixture(scope="module")
def cape(tmp_path_factory: pytest.TempPathFactory) -> Staged:
    return staged("cape", VERTICES, "1:4", tmp_path_factory.mktemp("cape"))


def drape(frames: int = 4) -> Staged:
    """As arrays alone."""
    return Staged("drape_on_sphere", VERTICES, Path(), built("drape", VERTICES, frames))


def test_a_row_of_the_suite_holds_the_papers_columns_and_what_each_frame_is_worth():
    row = suite.measured("drape_on_sphere", VERTICES, "1:8", CpuBackend(threads=1))
    assert row["failed"] == ""
    assert (row["vertices"], row["elements"], row["frames"]) == (100, 162, 7)
    assert (row["crossing_frames"], row["released"]) == (0, [])
    assert 1.0 < row["largest_stretch"] < 1.1
    assert 0.0 < row["seconds_per_frame"] <= 1.5 * row["slowest_frame"]
    assert row["step"] == pytest.approx(1 / 192)
    cells = dict(zip(suite.COLUMNS, suite.cells(row), strict=True))
    assert (cells["DOF"], cells["crossing frames"]) == ("300", "0")
    broad, narrow, partial, full, solve, misc = table1.stages(row)
    assert narrow >= partial + full
    assert float(cells["FPS"]) == pytest.approx(1e3 / (broad + narrow + solve + misc), rel=0.01)


def test_a_pre_roll_is_no_frame_of_a_row(monkeypatch):
    """`layered_dress` has one; the row was an error."""
    stage = drape()
    rolled = replace(stage.scene, settings=replace(stage.scene.settings, preroll=2))
    monkeypatch.setattr(suite, "staged", lambda *_: replace(stage, scene=rolled))
    row = suite.measured("drape_on_sphere", VERTICES, "", CpuBackend(threads=1))
    assert (row["failed"], row["frames"], row["crossing_frames"]) == ("", rolled.settings.frames, 0)


def test_a_scene_that_cannot_be_built_is_a_row_that_says_so():
    row = suite.measured("nothing", VERTICES, "", CpuBackend(threads=1))
    assert row["failed"].startswith("There is no sample 'nothing'")
    assert suite.cells(row)[2] == f"not done: {row['failed']}"
    assert len(suite.cells(row)) == len(suite.COLUMNS)


def test_what_watches_a_measurement_costs_it_nothing():
    def wait(report, simulator):
        Judge(simulator.scene).look(report.frame, simulator.positions())
        np.linalg.svd(np.ones((500, 500)))

    row = table1.measure("drape", built("drape", VERTICES, 4), CpuBackend(threads=1), 2, wait)
    assert set(row.milliseconds) == set(table1.NAMES)
    assert row.seconds_per_frame == pytest.approx(1e-3 * row.step * row.steps / 3)


def test_the_papers_rows_stand_beside_the_scenes_of_their_names():
    assert len(TABLE) == 11  # of Table 1
    for name, row in TABLE.items():
        cells = dict(zip(suite.COLUMNS, suite.paper_cells(name), strict=True))
        assert cells["FPS"] == f"{row.fps:g}"
        total = row.broad + row.narrow + row.solve + row.misc
        assert 1e3 / total == pytest.approx(row.fps, rel=0.07)
    assert {name: (TABLE[name].solve, TABLE[name].iterations) for name in PAPER_LG} == PAPER_LG
    assert suite.paper_cells("cape") is None


def test_the_judge_counts_frames_that_cross_and_the_longest_edge():
    scene = built("drape", VERTICES, 4)
    places, judge = scene.cloths[0].positions, Judge(scene)
    judge.look(2, [places])
    assert (judge.frames, judge.crossing_frames, judge.largest_stretch) == (1, 0, pytest.approx(1.0))
    judge.look(3, [1.2 * places - [0.0, 0.0, 1.2 * places[0, 2] - 0.75]])  # through the sphere's middle
    assert (judge.frames, judge.crossing_frames, judge.largest_stretch) == (2, 1, pytest.approx(1.2))
    assert judge.most_crossings > 5
    judge.look(4, [np.full_like(places, np.nan)])
    assert judge.largest_stretch == float("inf")


def test_taffeta_and_blender_play_the_same_scene_and_are_judged_alike(cape):
    found = [peers._measured(cape, method, "1:4", 60.0) for method in ("Taffeta", "Blender, 1 mm")]
    assert [row.failed for row in found] == ["", ""]
    for row in found:
        assert (row.vertices, row.frames, row.frames_of) == (cape.scene.vertices, 3, 3)
        assert row.wall > 0.0
        assert 1.0 <= row.largest_stretch < 1.5
    assert found[0].crossing_frames == 0
    assert found[1].versions.startswith("Blender ")


def test_what_is_held_moves_with_its_pins_in_blenders_cloth(cape, tmp_path):
    (cloth,) = cape.scene.cloths
    held = held_of(cloth, cape.scene.settings).vertices
    assert len(held) > 0
    away = np.linspace(0.0, 0.03, 4)[:, None, None] * [1.0, 0.0, 0.0]  # m
    moved = Pins(held, cloth.positions[held] + away)
    scene = replace(cape.scene, cloths=(replace(cloth, pins=moved, pin_groups=(), keys={}),))
    run = peers.blender(replace(cape, scene=scene), 60.0, smallest=True)
    for places, step in zip(run.frames, away[1:], strict=True):
        assert places[held] == pytest.approx(cloth.positions[held] + step[0], abs=1e-5)


def with_pins(stage: Staged, **changes: object) -> Staged:
    (cloth,) = stage.scene.cloths
    held = PinGroup("Corner", Pins(np.array([5, 2], np.int32), cloth.positions[None, [5, 2]]), **changes)
    return replace(stage, scene=replace(stage.scene, cloths=(replace(cloth, pin_groups=(held,)),)))


def test_newtons_job_holds_what_is_pinned_and_the_bodies_that_stand():
    stage = with_pins(drape())
    job = peers._newton_job(stage.scene)
    assert job["held"].tolist() == [2, 5]
    assert job["targets"] == pytest.approx(np.repeat(stage.scene.cloths[0].positions[None, [2, 5]], 4, axis=0))
    assert job["bodies"] == 1
    assert job["body_0_points"].shape == stage.scene.colliders[0].positions[0].shape
    assert (job["frames"], job["steps_per_frame"] * job["step"]) == (3, pytest.approx(1 / 24))


def test_what_is_let_go_is_held_until_then():
    stage = with_pins(drape(), keys={"strength": np.array([1.0, 1.0, 0.0, 0.0])})
    found = held_of(stage.scene.cloths[0], stage.scene.settings)
    assert found.vertices.tolist() == [2, 5]
    assert found.frames == 2
    assert found.targets.shape == (4, 2, 3)
    assert peers._newton_job(stage.scene)["until"].tolist() == [2, 2]


def test_what_is_let_go_falls_in_blenders_cloth(cape):
    (cloth,) = cape.scene.cloths
    held = held_of(cloth, cape.scene.settings).vertices
    keys = {"pin_strength": np.array([1.0, 0.0, 0.0, 0.0])}
    pins = Pins(held, cloth.positions[None, held])
    scene = replace(cape.scene, cloths=(replace(cloth, pins=pins, pin_groups=(), keys=keys),))
    run = peers.blender(replace(cape, scene=scene), 60.0, smallest=True)
    assert (cloth.positions[held, 2] - run.frames[-1][held, 2]).min() > 0.01  # m; 3 frames of free fall are 0.08


def test_what_newton_cannot_do_is_said_in_words():
    again = with_pins(drape(), keys={"strength": np.array([1.0, 0.0, 1.0, 1.0])})
    with pytest.raises(CannotError, match="Cloth are held at some times only"):
        peers._newton_job(again.scene)
    (ball,) = (scene := drape().scene).colliders
    moving = replace(ball, positions=np.repeat(ball.positions, 4, axis=0))
    with pytest.raises(CannotError, match="bodies move"):
        peers._newton_job(replace(scene, colliders=(moving,)))
    flat = np.asarray(scene.cloths[0].rest_positions)
    bent = replace(scene.cloths[0], rest_positions=flat + np.outer(flat[:, 0] ** 2, [0.0, 0.0, 1.0]))
    with pytest.raises(CannotError, match="no flat pattern"):
        peers._pattern(bent)


def test_a_flat_pattern_keeps_lengths_and_the_side_that_is_up():
    scene = drape().scene
    for turned in (scene.cloths[0].rest_positions, scene.cloths[0].rest_positions[:, [2, 1, 0]]):
        cloth = replace(scene.cloths[0], rest_positions=turned)
        a, b, c = (peers._pattern(cloth)[cloth.triangles[:, corner]] for corner in range(3))
        area = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        assert area == pytest.approx(np.full(162, 1.0 / 162), rel=1e-6)


def test_a_peer_that_cannot_be_installed_is_a_row_that_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "ROOT", tmp_path)
    monkeypatch.setattr(peers, "NEWTON", tmp_path / "newton")
    monkeypatch.setattr(peers, "NEWTON_VERSIONS", (str(tmp_path / "nothing.whl"),))
    row = peers._measured(drape(), "Newton VBD, 10 iterations", "all", 60.0)
    assert row.failed.startswith("Newton cannot be installed: ")
    cells = peers.cells(vars(row))
    assert cells[3] == f"not done: {row.failed}"
    assert len(cells) == len(peers.COLUMNS)


def test_a_run_that_was_stopped_says_how_far_it_came(monkeypatch):
    stage = drape(frames=9)
    row = peers._measured(stage, "Taffeta", "all", 1e-9)
    assert row.failed == "no frame was done in 0 s"
    two = peers.Run([stage.scene.cloths[0].positions] * 2, wall=6.0, user=9.0, threads=1)
    monkeypatch.setitem(peers.METHODS, "two", lambda stage, limit: two)
    row = peers._measured(stage, "two", "all", 1.0)
    assert (row.wall, row.user) == (pytest.approx(72.0), pytest.approx(108.0))  # two frames of 1/24 s
    assert peers.cells(vars(row))[4] == "2 of 8"


def test_threads_are_measured_from_one_on():
    rows = list(scaling.threads(VERTICES, [1, 2]))
    assert [row["threads"] for row in rows] == [1, 2]
    assert rows[0]["gradients"] == rows[1]["gradients"]  # the same bits


def test_the_page_shows_what_the_results_say():
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.page.filled(text, results.every(), page.TABLES) == text


def test_a_scene_of_the_page_stands_above_the_papers_row_of_it():
    row = {"scene": "folding", "asked": 100, "of": "all", "failed": "it fell",
           "measured": {"command": "c", "commit": "abc", "note": ""}}  # fmt: skip
    text = "<!-- table scenes -->\nbefore\n<!-- end -->\n"
    written = page.page.filled(text, [{"machine": "M", "parts": {"scenes": [row]}}], page.TABLES)
    ours, paper = (line for line in written.splitlines() if line.startswith("| folding"))
    assert "not done: it fell" in ours
    assert "Fig. 15" in paper
    assert "before" not in written


def test_a_stage_that_cannot_be_built_names_the_reason(tmp_path):
    with pytest.raises(StageError, match="no sample"):
        staged("nothing", VERTICES, "", tmp_path)


def test_a_staged_sample_is_the_scene_that_blender_hands_over(cape):
    assert isinstance(cape.scene, Scene)
    assert cape.scene.settings.frame_end == 4
    assert cape.seconds == pytest.approx(3 / 24)
    assert cape.scene.cloths[0].world_to_object is None

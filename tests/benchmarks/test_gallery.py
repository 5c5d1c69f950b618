# SPDX-License-Identifier: GPL-3.0-or-later
"""`make scenes`, tiny: scenes are baked as users do and judged twice, and what is not clean ends it with an error."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.benchmarks.scenes import gallery
from taffeta.benchmarks.scenes.gallery import Order, Row, earlier, made
from taffeta.benchmarks.second_judge import crosses
from taffeta.sample_blends import NAMES, SMALL, small

TINY = {"drape_on_sphere": (100, 10), "tablecloth_pull": (150, 0), "moving_sphere": (100, 0)}  #: vertices, picture


@pytest.mark.parametrize("name", TINY)
def test_a_tiny_scene_is_baked_and_clean_by_every_check(name, tmp_path):
    vertices, picture = TINY[name]
    order = Order(name, vertices, "1:6", "cpu", picture, "0000000")
    row = made(order, tmp_path / name)
    assert (row.failed, row.left_out, row.trouble) == ("", "", "")
    assert (row.frames, row.exact, row.drawn, row.ipctk, row.released, row.unclean) == (6, [], [], [], [], [])
    assert row.vertices == pytest.approx(vertices, rel=0.2)
    assert 0.0 < row.seconds_per_frame <= row.slowest_frame
    assert 1.0 < row.largest_stretch < 1.1
    assert bool(row.picture) == bool(picture)
    assert not picture or (tmp_path / name / row.picture).stat().st_size > 1000
    assert row.clean
    assert earlier(order, tmp_path / name) == row


def stored(row: Row, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / gallery.DONE).write_text(json.dumps(asdict(row)), encoding="utf-8")


def test_only_what_was_done_at_this_commit_and_size_is_skipped(tmp_path):
    order = Order("cape", 100, "", "cpu", 50, "0000000")
    stored(Row(order, vertices=99, exact=[7]), tmp_path / "cape")
    assert earlier(order, tmp_path / "cape") == Row(order, vertices=99, exact=[7])
    for other in ({"commit": "1111111"}, {"vertices": 200}, {"frames": "1:3"}):
        assert earlier(replace(order, **other), tmp_path / "cape") is None
    changed = replace(order, commit="0000000+")  # sources that no commit names
    stored(Row(changed), tmp_path / "changed")
    assert earlier(changed, tmp_path / "changed") is None
    stored(Row(order, failed="no disk"), tmp_path / "failed")
    assert earlier(order, tmp_path / "failed") is None


def test_a_scene_that_cannot_be_made_says_why_and_is_not_clean(tmp_path):
    row = made(Order("nothing", 100, "", "cpu", 0, "0000000"), tmp_path / "nothing")
    assert row.failed.startswith("There is no sample 'nothing'")
    assert not row.clean


@pytest.mark.parametrize("trouble", [{}, {"exact": [3]}, {"drawn": [3]}, {"ipctk": [3]}, {"unclean": [3]}])
def test_one_frame_that_is_not_clean_by_one_check_is_an_error(trouble, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gallery, "made", lambda order, folder: Row(order, frames=9, **trouble))
    monkeypatch.setattr("sys.argv", ["gallery", "cape", "--vertices", "100", "--out", str(tmp_path)])
    if trouble:
        with pytest.raises(SystemExit, match="not clean: cape"):
            gallery.main()
    else:
        gallery.main()
    assert "cape | 0 | 9 |" in capsys.readouterr().out
    assert "| cape |" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_small_sample_has_the_size_that_its_script_names():
    assert small("sewn_shirt") == 1600
    assert small("drape_on_sphere") == SMALL
    assert all(100 <= small(name) <= 20_000 for name in NAMES)


def square(height: float, turn: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """One metre wide, in the middle at this height; inclined by so much, m/m."""
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    return np.column_stack([corners, height + turn * corners[:, 0]]), np.array([[0, 1, 2], [0, 2, 3]])


def test_the_second_judge_looks_at_cloth_and_leaves_bodies_to_themselves():
    flat, steep, above = square(0.0, 0.1), square(0.0, 1.0), square(2.0, 0.3)
    assert crosses([flat, steep], [])
    assert crosses([flat], [steep])
    assert not crosses([above], [flat, steep])
    both = np.concatenate([flat[0], steep[0]]), np.concatenate([flat[1], steep[1] + 4])
    assert crosses([both], [])
    assert not crosses([above], [both])


def test_vertices_of_cloth_in_one_place_are_one_for_the_second_judge():
    places, _ = square(0.0, 0.0)
    seam = np.concatenate([places[[0, 1, 2]], places[[0, 2, 3]]]), np.array([[0, 1, 2], [3, 4, 5]])
    assert not crosses([seam], [])


def test_a_bake_is_whole_only_once_it_has_said_so(tmp_path):
    """A cancelled bake saves its .blend too, with the frames that it has; and a whole one is not baked again."""
    order, folder = Order("drape_on_sphere", 100, "1:5", "cpu", 0, "0000000"), tmp_path / "scene"
    assert made(order, folder).frames == 5
    (folder / gallery.BAKED).unlink()
    assert made(order, folder).frames == 5
    assert (folder / gallery.BAKED).exists()

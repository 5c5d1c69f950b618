# SPDX-License-Identifier: GPL-3.0-or-later
"""The gallery shows what make scenes has baked, and nothing that crosses."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from PIL import Image

from taffeta.benchmarks.scenes import exhibit, gallery
from taffeta.benchmarks.scenes.gallery import Order, Row, made

ORDER = Order("drape_on_sphere", 100, "1:12", "cpu", 0, "0000000")


def stored(folder, **numbers):
    folder.mkdir()
    row = Row(ORDER, 100, 48, 0.5, 2.0, 1.05, **numbers)
    (folder / gallery.DONE).write_text(json.dumps(asdict(row)), encoding="utf-8")
    return folder


def test_a_row_counts_frames_and_keeps_the_commit_that_was_measured(tmp_path):
    row = exhibit.shown("drape_on_sphere", stored(tmp_path / "scene", unclean=[7, 9]))
    words = exhibit.table([row]).splitlines()[-1]
    assert words == "| `drape_on_sphere` | 100 | 48 | 0.50 | 2.0 | 1.050 | 0 | 0 | 0 | 0 | 2 | 0000000 |"


@pytest.mark.parametrize("trouble", [{"exact": [3]}, {"drawn": [3]}, {"ipctk": [3]}, {"failed": "no disk"}])
def test_nothing_that_crosses_or_failed_is_shown(tmp_path, trouble):
    with pytest.raises(ValueError, match="drape_on_sphere: "):
        exhibit.shown("drape_on_sphere", stored(tmp_path / "scene", **trouble))
    with pytest.raises(ValueError, match="make scenes SCENES=drape_on_sphere"):
        exhibit.shown("drape_on_sphere", tmp_path / "none")


def test_the_picture_that_moves_ends_with_the_last_frame_and_holds_it(tmp_path, monkeypatch):
    monkeypatch.setattr(exhibit, "STILL", 12)
    monkeypatch.setattr(exhibit, "MOVING", 12)
    monkeypatch.setattr(exhibit, "MOST", 3)
    assert not made(ORDER, tmp_path / "scene").failed
    exhibit.film("drape_on_sphere", tmp_path / "scene", tmp_path)
    assert (
        Image.open(tmp_path / "drape_on_sphere.webp").size == Image.open(tmp_path / "drape_on_sphere_moving.webp").size
    )
    moving = Image.open(tmp_path / "drape_on_sphere_moving.webp")
    assert moving.n_frames == 3
    moving.seek(2)
    moving.load()
    assert moving.info["duration"] == exhibit.HELD

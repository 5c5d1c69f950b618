# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of docs/theory: the command renders what the solver did, and the pages find what they show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from taffeta.benchmarks.pictures.__main__ import FOLDER, PICTURES
from taffeta.benchmarks.pictures.bending import elastica
from taffeta.benchmarks.pictures.stage import hem_distance, woven
from taffeta.benchmarks.stress.shapes import grid

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 250_000  #: bytes of a picture


def python(*arguments: str) -> str:
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_a_picture_shows_cloth_that_the_solver_moved(tmp_path):
    said = python("-m", "taffeta.benchmarks.pictures", "card_house", "--folder", str(tmp_path), "--percentage", "10")
    assert "μ 0.5, frame -1: highest vertex at 98" in said
    show = "import sys, bpy; print(*bpy.data.images.load(sys.argv[1]).pixels[:])"
    values = [float(value) for value in python("-c", show, str(tmp_path / "card_house.png")).split()]
    red = [r > 1.5 * b for r, b in zip(values[::4], values[2::4], strict=True)]
    blue = [b > 1.5 * r for r, b in zip(values[::4], values[2::4], strict=True)]
    assert 0.02 < sum(red) / len(red) < 0.4
    assert 0.02 < sum(blue) / len(blue) < 0.4


def test_every_picture_is_on_a_page_and_every_page_s_picture_is_there():
    shown = set()
    for page in (ROOT / "docs" / "theory").glob("*.md"):
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            picture = (page.parent / link).resolve()
            assert picture.is_file(), f"{page.name}: {link}"
            shown.add(picture)
    assert shown >= {FOLDER / f"{name}.png" for name in PICTURES}


def test_pictures_are_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.png")}
    assert not {name: size for name, size in sizes.items() if size > LARGEST}


def test_the_halves_of_a_cell_become_one_face_and_keep_their_mark():
    mesh = grid([0.0, 1.0, 2.0], [0.0, 1.1, 2.2])
    marked = np.zeros(len(mesh.triangles), bool)
    marked[0] = True
    faces, marks = woven(mesh.positions, mesh.triangles, marked)
    assert [len(face) for face in faces] == [4] * 4
    assert marks.sum() == 1
    assert set(mesh.triangles[0]) <= set(faces[int(np.argmax(marks))])


def test_a_hem_is_as_wide_on_the_long_side_of_a_strip_as_on_its_short_one():
    mesh = grid(np.linspace(0.0, 5.0, 11), np.linspace(0.0, 1.0, 5))
    hem = hem_distance(mesh.positions)
    at = {(x, y): tuple(sorted(row)) for (x, y, _), row in zip(mesh.positions.tolist(), hem.tolist(), strict=True)}
    assert at[2.5, 0.25] == (0.25, 0.5)
    assert at[0.5, 0.5] == (0.5, 0.5)
    assert at[0.0, 0.5] == (0.0, 0.5)


def test_the_elastica_that_is_drawn_is_the_one_that_is_measured():
    from taffeta.benchmarks.material_cases import elastica_tip

    for gamma in (1.0, 14.0, 195.0):
        np.testing.assert_allclose(elastica(gamma, 50)[-1], elastica_tip(gamma), atol=1e-4)

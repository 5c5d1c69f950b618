# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta bind`, and what bake, check and export say of a dense mesh."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.scene import dense
from taffeta.tests.addon.commanding import Commands


@pytest.fixture
def taffeta(capfd) -> Commands:
    return Commands(capfd)


@pytest.fixture
def shot(saved_scene, make_cloth, tmp_path):
    make_cloth("Dense", 40).taffeta.role = "NONE"
    bpy.ops.wm.save_mainfile()
    return tmp_path / "shot.blend"


def test_a_mesh_is_bound_baked_checked_and_exported(taffeta, shot, tmp_path):
    bound = tmp_path / "bound.blend"
    code, answer = taffeta("bind", shot, "--dense", "Dense", "--cloth", "Cloth", "--save-blend", bound)
    assert (code, answer["dense"], answer["cloth"], answer["vertices"]) == (0, "Dense", "Cloth", 41 * 41)
    assert answer["farthest"] < 1e-6
    assert answer["inexact"] == 0
    code, answer = taffeta("bake", bound, "--save-blend", bound)
    assert (code, answer["warnings"]) == (0, [])
    assert taffeta("check", bound)[1]["clean"]
    both = taffeta("export", bound, "--out", tmp_path / "both.abc")[1]["bytes"]
    assert taffeta("export", bound, "--out", tmp_path / "cloth.abc", "--meshes", "cloth")[1]["bytes"] < 0.5 * both
    bpy.ops.wm.open_mainfile(filepath=str(bound))
    bpy.data.objects["Dense"].modifiers.new("Shell", "SOLIDIFY").thickness = 2.0
    bpy.ops.wm.save_mainfile()
    code, answer = taffeta("check", bound)
    assert code == 1
    assert all(verdict["drawn"] > 0 for verdict in answer["verdicts"])
    assert "Dense" in answer["verdicts"][0]["drawn_findings"][0]


def test_a_light_mesh_is_made_where_no_cloth_is_named(taffeta, shot, tmp_path):
    out = tmp_path / "light.blend"
    code, answer = taffeta("bind", shot, "--dense", "Dense", "--vertices", 100, "--save-blend", out)
    assert (code, answer["cloth"]) == (0, "Dense Light")
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert dense.light_of(bpy.data.objects["Dense"]) == bpy.data.objects["Dense Light"]
    assert bpy.data.objects["Dense Light"].hide_render


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--dense", "Dress", "--cloth", "Cloth"], 2, "There is no mesh 'Dress'. There are: Cloth, Floor, Dense"),
        (["--dense", "Floor", "--cloth", "Cloth"], 3, "it takes part in the simulation itself"),
        (["--dense", "Dense", "--cloth", "Floor"], 3, "Floor is no other cloth"),
    ],
)
def test_what_cannot_be_bound_is_said(taffeta, shot, tmp_path, words, code, text):
    found, answer = taffeta("bind", shot, *words, "--save-blend", tmp_path / "out.blend")
    assert found == code
    assert text in answer["error"]["text"]
    assert not (tmp_path / "out.blend").exists()

# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta export` and `taffeta free`: what the buttons do, for programs."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import modifier
from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files import folder as own_folder
from taffeta.tests.addon.baking import played
from taffeta.tests.addon.commanding import Commands
from taffeta.tests.addon.finalising import attribute, item, without_refining


@pytest.fixture
def taffeta(capfd) -> Commands:
    return Commands(capfd)


@pytest.fixture
def shot(baked):
    """The path of a saved file with a whole cache."""
    return bpy.path.abspath(bpy.data.filepath)


@pytest.mark.parametrize("name", ["out.abc", "out.usdc"])
def test_a_file_is_written_with_velocities_where_they_are_asked_for(taffeta, shot, tmp_path, name):
    out = tmp_path / "farm" / name
    code, plain = taffeta("export", shot, "--out", out)
    assert (code, plain["objects"], plain["frames"], plain["bytes"]) == (0, ["Cloth"], [1, 4], out.stat().st_size)
    code, moving = taffeta("export", shot, "--out", out, "--velocity")
    assert (code, moving["bytes"] > plain["bytes"]) == (0, True)


@pytest.mark.parametrize("kind", ["shape-keys", "absolute-shape-keys"])
def test_a_blend_with_shape_keys_needs_no_cache(taffeta, shot, baked, tmp_path, kind):
    expected = played(without_refining(item()), 3)
    out = tmp_path / "hand_off" / "keys.blend"
    code, answer = taffeta("export", shot, "--out", out, "--as", kind)
    assert (code, answer["objects"]) == (0, ["Cloth Shape Keys"])
    assert taffeta("free", shot)[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    np.testing.assert_allclose(played(without_refining(item("Cloth Shape Keys")), 3), expected, rtol=0, atol=2e-7)


def test_a_mesh_is_of_the_frame_asked_for(taffeta, shot, tmp_path):
    code, answer = taffeta("export", shot, "--out", tmp_path / "mesh.blend", "--as", "mesh", "--frame", 3)
    assert (code, answer["objects"]) == (0, ["Cloth Frame 3"])
    assert taffeta("export", shot, "--out", tmp_path / "mesh.blend", "--as", "mesh", "--frame", 9)[0] == 3


def test_velocities_are_in_the_blend(taffeta, shot, tmp_path):
    assert taffeta("export", shot, "--out", tmp_path / "moving.blend", "--as", "velocity")[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moving.blend"))
    assert np.abs(attribute(without_refining(item()), 3)).max() > 1.0


def test_a_bake_that_did_not_save_the_file_is_exported_all_the_same(taffeta, saved_scene, tmp_path):
    shot = tmp_path / "shot.blend"
    assert taffeta("bake", shot)[0] == 0
    assert taffeta("export", shot, "--out", tmp_path / "out.abc")[0] == 0


def test_a_bake_of_other_frames_than_the_files_is_exported_with_these_frames(taffeta, saved_scene, tmp_path):
    shot, out = tmp_path / "shot.blend", tmp_path / "out.blend"
    assert taffeta("bake", shot, "--frames", "2:3")[0] == 0
    code, answer = taffeta("export", shot, "--out", out, "--as", "shape-keys")
    assert code == 7
    assert "begins at frame 2, the scene at frame 1" in answer["error"]["text"]
    code, answer = taffeta("export", shot, "--out", out, "--as", "shape-keys", "--frames", "2:3")
    assert (code, answer["frames"]) == (0, [2, 3])
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 4)


@pytest.mark.parametrize(
    "words",
    [
        ["--out", "out.obj"],
        ["--out", "out"],
        ["--out", "out.blend"],
        ["--out", "out.abc", "--as", "mesh"],
        ["--out", "out.abc", "--frame", "2"],
        ["--out", "out.blend", "--as", "mesh", "--modifiers"],
        ["--out", "out.abc", "--object", "Skirt"],
    ],
)
def test_what_makes_no_sense_is_usage(taffeta, shot, words):
    code, answer = taffeta("export", shot, *words)
    assert code == 2
    assert answer["error"]["text"]


def test_without_a_cache_there_is_nothing_to_export(taffeta, saved_scene, tmp_path):
    code, answer = taffeta("export", tmp_path / "shot.blend", "--out", tmp_path / "out.abc")
    assert code == 4
    assert "Bake first" in answer["error"]["text"]


def test_a_cache_of_another_mesh_is_stale_and_not_exported(taffeta, shot, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=shot)
    item().data.vertices[3].co.z += 0.1
    bpy.ops.wm.save_mainfile()
    code, answer = taffeta("export", shot, "--out", tmp_path / "out.abc")
    assert code == 7
    assert "Cloth is stale" in answer["error"]["text"]
    assert not (tmp_path / "out.abc").exists()


def test_what_was_set_for_the_bake_is_set_again_to_check_and_to_export(taffeta, saved_scene, tmp_path):
    shot, heavy = tmp_path / "shot.blend", ["--set", "Cloth.density=0.5", "--set", "scene.tolerance=0.1"]
    code, answer = taffeta("bake", shot, *heavy)
    assert (code, answer["set"]["Cloth.density"]) == (0, 0.5)
    assert cache.read_contents(tmp_path / "taffeta_cache/shot/Scene").scene["cloths"][0]["material"]["density"] == 0.5
    assert taffeta("check", shot, *heavy)[0] == 0
    assert taffeta("export", shot, "--out", tmp_path / "out.abc", *heavy)[0] == 0
    code, answer = taffeta("export", shot, "--out", tmp_path / "out.abc")
    assert code == 7
    assert "density is 0.12, was 0.5" in answer["error"]["text"]


def test_what_cannot_be_set_is_usage(taffeta, saved_scene, tmp_path):
    code, answer = taffeta("bake", tmp_path / "shot.blend", "--set", "Cloth.density=-1")
    assert code == 2
    assert answer["error"] == {
        "text": "Cloth.density cannot be '-1': it is at least 0.0001",
        "object": "Cloth",
        "code": "TAF-U003",
    }


def test_free_deletes_the_cache_and_tells_how_much(taffeta, shot, tmp_path):
    size = own_folder.size(tmp_path / "taffeta_cache/shot/Scene")
    code, answer = taffeta("free", shot, "--save-blend", tmp_path / "clean.blend")
    assert (code, answer["bytes"], len(answer["freed"])) == (0, size, 1)
    assert not own_folder.holds_bake(tmp_path / "taffeta_cache/shot/Scene")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "clean.blend"))
    assert modifier.find(item()) is None
    assert taffeta("free", shot)[0] == 4


def test_free_leaves_the_cache_of_another_file(taffeta, shot, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=shot)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    assert taffeta("free", tmp_path / "copy.blend")[0] == 4
    assert taffeta("check", shot)[0] == 0

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where caches lie: within their place, whatever a .blend from elsewhere says."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import bpy
import pytest

from taffeta.addon.bake import session
from taffeta.addon.cache import place, status
from taffeta.addon.scene import keys
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.files.folder import DEVICES, holds_bake, of_user
from taffeta.gpu_core.files.lock import locked
from taffeta.tests.addon.commanding import Commands
from taffeta.tests.addon.finalising import item
from taffeta.tests.gpu_core.files.test_hostile import hostile_name, tree

DRAWS = 300


def test_no_stored_key_of_a_scene_or_a_cloth_leads_outside(saved_scene, make_cloth, tmp_path):
    make_cloth("Upper").location.z = 0.2
    draw, home = random.Random(1), tmp_path / "taffeta_cache" / "shot"
    for _ in range(DRAWS):
        saved_scene.taffeta.cache_key = printable(draw)
        item().taffeta.cloth.cache_key = printable(draw)
        whole = place.target(saved_scene)
        part = place.target(saved_scene, cloths=[item()])
        assert whole.parent == home
        assert part.parent == whole / "parts"
        for name in (whole.name, part.name, *keys.assign([item(), item("Upper")]).values()):
            assert not DEVICES.match(name)
            assert name.strip(". ") == name
            assert name


def printable(draw: random.Random) -> str:
    """As a .blend may store it: text that is UTF-8, up to its first NUL."""
    return hostile_name(draw).replace("\ud800", "").split("\0")[0]


def test_a_bake_with_a_hostile_key_writes_within_its_place(saved_scene, tmp_path):
    for name in ("escaped", "Cloth.pc2"):
        (tmp_path / name).write_bytes(b"precious")
    before = tree(tmp_path)
    saved_scene.taffeta.cache_key = "../../../escaped"
    item().taffeta.cloth.cache_key = "../../../../Cloth"
    bpy.ops.taffeta.bake()
    home = tmp_path / "taffeta_cache" / "shot"
    assert {path for path in tree(tmp_path) if not path.is_relative_to(home)} == set(before)
    assert len(list(home.rglob("*.pc2"))) == 1
    bpy.ops.taffeta.free()
    assert not list(home.rglob("*.pc2"))
    assert {path: data for path, data in tree(tmp_path).items() if path in before} == before


@pytest.mark.parametrize("name", ["CON", "nul", "Aux.shirt", "COM1"])
def test_names_that_windows_keeps_for_devices_become_others(name):
    stem = keys.file_stem(name)
    assert not DEVICES.match(stem)
    assert keys.file_stem(stem) == stem


def test_the_users_files_in_the_folder_that_he_chose_stay(saved_scene, tmp_path):
    chosen = tmp_path / "work"
    for name in ("trial", "pause", "cancel", "lock", "worker.log", "bake.log", "cache.json", "Cloth.pc2", "owner.json"):
        (chosen / "job").mkdir(parents=True, exist_ok=True)
        (chosen / name).write_text("mine")
        (chosen / "job" / name).write_text("mine")
    before = tree(chosen)
    saved_scene.taffeta.cache_folder = str(chosen)
    bpy.ops.taffeta.bake()
    assert place.played(item()) == of_user(chosen) == chosen / "taffeta"
    bpy.ops.taffeta.free()
    assert {path: data for path, data in tree(chosen).items() if path in before} == before
    assert {path.name for path in (chosen / "taffeta").iterdir()} == {"lock", "taffeta.txt"}


def test_a_bake_that_is_refused_leaves_the_job_and_the_owner_of_the_one_that_runs(saved_scene):
    bpy.ops.taffeta.bake()
    folder = place.target(saved_scene)
    before = tree(folder)
    saved_scene.frame_end = 3
    with locked(folder):
        held = (folder / "holder.json").read_bytes()
        with pytest.raises(RuntimeError, match=r"Another bake writes into .*: process \d+ on this machine since"):
            bpy.ops.taffeta.bake()
        assert tree(folder) == {**before, folder / "holder.json": held}
    assert session.current is None


def test_a_lost_list_of_contents_is_baked_over_and_freed(saved_scene):
    bpy.ops.taffeta.bake()
    folder = place.target(saved_scene)
    whole = (folder / "Cloth.pc2").read_bytes()
    (folder / "cache.json").unlink()
    bpy.ops.taffeta.bake()
    assert (folder / "Cloth.pc2").read_bytes() == whole
    (folder / "cache.json").unlink()
    bpy.ops.taffeta.free()
    assert {path.name for path in Path(folder).iterdir()} == {"lock", "taffeta.txt"}


# A file that the system copied


@pytest.fixture
def copied(saved_scene, tmp_path):
    """The path of a copy of a baked file, elsewhere: its modifiers look for frames where there are none."""
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    (tmp_path / "elsewhere").mkdir()
    return shutil.copy(tmp_path / "shot.blend", tmp_path / "elsewhere" / "copy.blend")


def test_every_command_finds_the_bake_of_a_copied_file_in_its_default_place(copied, capfd):
    taffeta, own = Commands(capfd), copied.parent / "taffeta_cache" / "copy" / "Scene"
    assert taffeta("check", copied)[0] == 4
    code, baked = taffeta("bake", copied)
    assert (code, baked["cache"]) == (0, str(own))
    code, checked = taffeta("check", copied)
    assert (code, checked.get("cache")) == (0, str(own))
    assert taffeta("bake", copied, "--resume")[0] == 4
    assert taffeta("export", copied, "--out", copied.parent / "cloth.abc")[0] == 0
    assert taffeta("bake", copied, "--frames", "1:6", "--resume")[1]["cache"] == str(own)
    assert taffeta("check", copied, "--frames", "1:6")[0] == 0
    assert {path.parent for path in copied.parent.rglob("cache.json")} == {own}
    code, freed = taffeta("free", copied)
    assert (code, freed["freed"], holds_bake(own)) == (0, [str(own)], False)


def test_check_caches_compares_frames_whose_modifier_looks_elsewhere(copied):
    bpy.ops.wm.open_mainfile(filepath=str(copied))
    folder, path = place.target(bpy.context.scene), item().modifiers["Taffeta Cache"].filepath
    bpy.ops.taffeta.bake()
    item().modifiers["Taffeta Cache"].filepath = path
    bpy.context.scene.collection.objects.link(item().copy())  # which has the modifier, and no bake
    bpy.data.objects["Floor"].location.z -= 0.1
    assert bpy.ops.taffeta.check() == {"FINISHED"}
    assert folder in status.known(bpy.context.scene)
    assert "Floor" in status.held(bpy.context.scene, item()).differs.reason
    assert status.of(bpy.context.scene, item())[0] is CacheState.HIDDEN

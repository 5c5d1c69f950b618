# SPDX-License-Identifier: GPL-3.0-or-later
"""Alembic and USD files, read back by Blender's own importers: the cache's own numbers, whole or not there."""

from __future__ import annotations

import resource
from contextlib import nullcontext
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from taffeta.addon.cache import velocity
from taffeta.addon.cache.frames import BakedFrames
from taffeta.addon.finalise import to_file
from taffeta.addon.scene import modifier
from taffeta.gpu_core.files import point_cache
from taffeta.gpu_core.files.disk import DiskError
from taffeta.tests.addon.finalising import FPS, attribute, choose, differences, evaluated, item, simulated

FILES = {".abc": bpy.ops.taffeta.export_alembic, ".usdc": bpy.ops.taffeta.export_usd}


@pytest.fixture
def noise(scene, make_cloth, tmp_path) -> BakedFrames:
    """40 frames of a sheet of 10 000 vertices in random motion, which no format can compress, with velocities."""
    cloth = make_cloth(divisions=99)
    cloth.data.uv_layers.new(name="UVMap")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    random, path = np.random.default_rng(3), tmp_path / "noise.pc2"
    positions = random.normal(size=(40, len(cloth.data.vertices), 3)).astype(np.float32)
    point_cache.create(path, positions.shape[1], 1)
    for frame in positions:
        point_cache.append(path, frame)
    modifier.play(cloth.modifiers.new(modifier.NAME, "MESH_CACHE"), str(path), 1)
    baked = BakedFrames(cloth, path, positions, 1, FPS)
    velocity.add(baked, velocity.write(baked))
    return baked


def imported(path, scene: bpy.types.Scene) -> bpy.types.Object:
    """The mesh object that Blender's own importer makes of a file, in another scene."""
    other = bpy.data.scenes.new("Other")
    other.render.fps = scene.render.fps
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        if path.suffix == ".abc":
            bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
        else:
            bpy.ops.wm.usd_import(filepath=str(path))
    return next(item for item in other.objects if item.type == "MESH")


@pytest.mark.parametrize("suffix", FILES)
def test_a_file_holds_the_bits_of_the_cache_where_the_object_was(baked, tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    assert FILES[suffix](filepath=str(path)) == {"FINISHED"}
    read = imported(path, baked)
    for frame in range(1, 5):
        positions, world = evaluated(read, frame)
        np.testing.assert_array_equal(positions, simulated(baked)[frame - 1])
        np.testing.assert_allclose(world, evaluated(item(), frame)[1], rtol=0, atol=1e-6)
    assert len(read.data.uv_layers) == 1


@pytest.mark.parametrize("suffix", FILES)
def test_a_file_holds_the_velocities_of_a_cloth_that_has_them(baked, tmp_path, suffix):
    expected = differences(simulated(baked))
    bpy.ops.taffeta.velocity()
    FILES[suffix](filepath=str(tmp_path / f"out{suffix}"))
    read = imported(tmp_path / f"out{suffix}", baked)
    for frame in (1, 2, 4):
        found = attribute(read, frame, read.users_scene[0])
        np.testing.assert_allclose(found, expected[frame - 1], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("suffix", FILES)
def test_with_modifiers_a_file_holds_what_the_viewport_shows(baked, tmp_path, suffix):
    shown = {frame: evaluated(item(), frame)[0] for frame in (1, 4)}
    assert len(shown[1]) > len(item().data.vertices)
    FILES[suffix](filepath=str(tmp_path / f"out{suffix}"), modifiers=True)
    read = imported(tmp_path / f"out{suffix}", baked)
    for frame, positions in shown.items():
        np.testing.assert_array_equal(evaluated(read, frame)[0], positions)


@pytest.mark.parametrize("suffix", FILES)
def test_writing_a_file_changes_nothing_in_the_scene(baked, tmp_path, suffix):
    item().hide_set(True)
    baked.frame_set(2)
    lists = (bpy.data.objects, bpy.data.meshes, bpy.data.scenes, bpy.data.cache_files, bpy.data.collections)
    before = [sorted(entry.name for entry in kind) for kind in lists]
    FILES[suffix](filepath=str(tmp_path / f"out{suffix}"))
    assert [sorted(entry.name for entry in kind) for kind in lists] == before
    assert (baked.frame_current, item().modifiers["Refine"].show_viewport, item().hide_get()) == (2, True, True)
    assert (bpy.context.scene, bpy.context.object) == (baked, item())


def test_several_cloths_go_into_one_file(saved_scene, make_cloth, tmp_path):
    make_cloth("Upper").location.z = 0.2
    bpy.ops.taffeta.bake()
    choose(item(), item("Upper"))
    bpy.ops.taffeta.export_alembic(filepath=str(tmp_path / "both.abc"))
    imported(tmp_path / "both.abc", saved_scene)
    assert len([found for found in bpy.data.scenes["Other"].objects if found.type == "MESH"]) == 2


@pytest.mark.parametrize("suffix", FILES)
@pytest.mark.parametrize("failure", ["_export", "_require_whole"])
def test_a_file_that_is_not_whole_never_takes_the_place_of_one_that_is(baked, tmp_path, monkeypatch, suffix, failure):
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"the one before")
    whole = getattr(to_file, failure)

    def fail(*arguments):
        whole(*arguments)
        raise DiskError("The drive is gone", "Plug it in")

    monkeypatch.setattr(to_file, failure, fail)
    with pytest.raises(RuntimeError, match="The drive is gone"):
        FILES[suffix](filepath=str(path))
    assert path.read_bytes() == b"the one before"
    assert [entry.name for entry in tmp_path.glob("out*")] == [path.name]


@pytest.mark.parametrize("suffix", FILES)
def test_half_a_file_is_noticed_although_the_exporter_reports_success(baked, tmp_path, monkeypatch, suffix):
    export = to_file._export

    def cut(context, frames, items, path, modifiers):
        export(context, frames, items, path, modifiers)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    monkeypatch.setattr(to_file, "_export", cut)
    with pytest.raises(RuntimeError, match="could not be written whole"):
        FILES[suffix](filepath=str(tmp_path / f"out{suffix}"))
    assert not list(tmp_path.glob("out*"))


def test_a_disk_that_fills_up_under_usd_is_noticed_and_leaves_no_file(noise, tmp_path):
    """A limit on the size of files stands in for the disk. Alembic's library would end this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    try:
        with pytest.raises(DiskError, match="could not be written whole"):
            to_file.write(bpy.context, [noise], tmp_path / "out.usdc")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("suffix", FILES)
def test_the_room_on_the_disk_is_looked_at_before_a_library_can_fail_on_it(baked, tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(to_file.shutil, "disk_usage", lambda _: SimpleNamespace(free=2**20))
    with pytest.raises(RuntimeError, match="The disk is too full"):
        FILES[suffix](filepath=str(tmp_path / f"out{suffix}"))


@pytest.mark.parametrize("suffix", FILES)
def test_the_room_asked_for_is_enough_and_not_twice_of_what_is_needed(noise, tmp_path, monkeypatch, suffix):
    path = tmp_path / f"out{suffix}"
    to_file.write(bpy.context, [noise], path)
    for free, enough in ((path.stat().st_size, False), (2 * path.stat().st_size, True)):
        monkeypatch.setattr(to_file.shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        with nullcontext() if enough else pytest.raises(DiskError, match="too full"):
            to_file.write(bpy.context, [noise], path)


def test_a_cache_that_is_blended_out_is_not_written_as_if_it_were_whole(baked, tmp_path):
    modifier.find(item()).factor = 0.5
    with pytest.raises(RuntimeError, match="switched off or blended"):
        bpy.ops.taffeta.export_usd(filepath=str(tmp_path / "out.usdc"))
    assert bpy.ops.taffeta.export_usd(filepath=str(tmp_path / "out.usdc"), modifiers=True) == {"FINISHED"}


def test_another_suffix_is_refused(baked, tmp_path):
    with pytest.raises(RuntimeError, match="neither Alembic nor USD"):
        bpy.ops.taffeta.export_usd(filepath=str(tmp_path / "out.obj"))

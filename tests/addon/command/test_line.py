# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m taffeta …` as a user or a farm runs it: a process, its exit code, its standard output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import zlib

import bpy
import pytest

from taffeta.gpu_core.files import cache, json_lines
from taffeta.gpu_core.files.lock import holder
from taffeta.tests.gpu_core.bake.test_stopping import seconds_until_gone

WAIT = 120  #: s


def command(*arguments, cwd=None, **options) -> subprocess.CompletedProcess:
    line = [sys.executable, "-m", "taffeta", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=WAIT, cwd=cwd, **options)


@pytest.fixture
def shot(scene, make_cloth, make_collider, tmp_path):
    """A saved file: a sheet above a floor, four frames."""
    make_cloth(), make_collider()
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def resave(path, change) -> None:
    """Open the shot, change it, save it."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    change(bpy.data.objects)
    bpy.ops.wm.save_mainfile()


def test_bake_and_check_in_one_go(shot):
    baked = command("bake", shot, "--backend", "cpu")
    assert baked.returncode == 0, baked.stderr
    assert "frame 4: 4 of 4" in baked.stdout
    folder = shot.parent / "taffeta_cache" / "shot" / "Scene"
    assert cache.inspect(folder)[0] is cache.CacheState.READY
    checked = command("check", shot)
    assert checked.returncode == 0, checked.stderr
    assert "all 4 frames are clean" in checked.stdout


def test_json_is_all_there_is_on_standard_output(shot, tmp_path):
    baked = command("bake", shot, "--backend", "cpu", "--save-blend", tmp_path / "out.blend", "--json")
    report = json.loads(baked.stdout)
    assert (report["exit_code"], report["state"], report["frames_done"]) == (0, "done", 4)
    assert report["backend"] == "cpu"
    assert [line["frame"] for line in report["reports"]] == [1, 2, 3, 4]
    checked = json.loads(command("check", tmp_path / "out.blend", "--json").stdout)
    assert (checked["clean"], checked["frames"], len(checked["verdicts"])) == (True, [1, 4], 4)


def test_a_saved_blend_plays_its_cache_from_its_own_place(shot, tmp_path):
    out = tmp_path / "farm" / "result.blend"
    assert command("bake", shot, "--frames", "2:3", "--save-blend", out).returncode == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    own = bpy.data.objects["Cloth"].modifiers["Taffeta Cache"]
    assert own.filepath == "//taffeta_cache/result/Scene/Cloth.pc2"
    assert own.frame_start == 2
    assert (out.parent / "taffeta_cache" / "result" / "Scene" / "Cloth.pc2").is_file()
    assert command("check", out).returncode == 0


def test_a_chosen_cache_folder_is_found_again_from_the_saved_blend(shot, tmp_path):
    out = tmp_path / "farm" / "result.blend"
    assert command("bake", shot, "--cache", tmp_path / "disk", "--save-blend", out).returncode == 0
    assert (tmp_path / "disk" / "taffeta" / "Cloth.pc2").is_file()
    assert command("check", out).returncode == 0
    assert command("bake", out, "--resume").returncode == 4


def test_relative_paths_count_from_where_the_command_runs(shot):
    done = command("bake", shot.name, "--save-blend", "out.blend", "--cache", "here", cwd=shot.parent)
    assert done.returncode == 0, done.stderr
    assert (shot.parent / "here" / "taffeta" / "Cloth.pc2").is_file()
    assert (shot.parent / "out.blend").is_file()


def pull_through(shot):
    """One corner of frame 3 is pulled through the sheet and the floor, in the file; returns its checksum."""
    path = shot.parent / "taffeta_cache" / "shot" / "Scene" / "Cloth.pc2"
    frames = cache.read_frames(path).copy()
    frames[2, 0] = (0.3, 0.3, -3.0)
    data = bytearray(path.read_bytes())
    data[32:] = frames.tobytes()
    path.write_bytes(data)
    return zlib.crc32(frames[2].tobytes())


def test_check_refuses_a_frame_that_is_not_what_was_baked(shot):
    assert command("bake", shot).returncode == 0
    pull_through(shot)
    checked = command("check", shot)
    assert checked.returncode == 10
    assert "Cloth.pc2 is damaged at frame 3" in checked.stderr


def test_check_finds_what_intersects_and_exits_with_1(shot):
    """As if the solver had made it: the checksum is that of the bad frame."""
    assert command("bake", shot).returncode == 0
    checksum = pull_through(shot)
    path = shot.parent / "taffeta_cache" / "shot" / "Scene" / "frames.jsonl"
    lines = json_lines.read(path)
    lines[2]["checksums"]["Cloth"] = checksum
    path.unlink()
    for line in lines:
        json_lines.append(path, line)
    checked = command("check", shot)
    assert checked.returncode == 1
    assert "frame 3: " in checked.stdout
    assert "Floor" in checked.stdout
    assert json.loads(command("check", shot, "--json").stdout)["intersecting_frames"] == [3]
    assert command("check", shot, "--frames", "1:2").returncode == 0


def test_check_without_a_cache_has_nothing_to_do(shot):
    checked = command("check", shot)
    assert checked.returncode == 4
    assert "Bake first" in checked.stderr


def test_check_of_a_corrupt_cache_is_an_error(shot):
    assert command("bake", shot).returncode == 0
    path = shot.parent / "taffeta_cache" / "shot" / "Scene" / "Cloth.pc2"
    path.write_bytes(path.read_bytes()[:-7])
    checked = command("check", shot)
    assert checked.returncode == 10
    assert "cut off" in checked.stderr


def test_check_of_a_foreign_cache_is_an_error(shot):
    folder = shot.parent / "taffeta_cache" / "shot" / "Scene"
    folder.mkdir(parents=True)
    (folder / "Cloth.pc2").write_bytes(b"not ours")
    checked = command("check", shot)
    assert checked.returncode == 10
    assert "not written by Taffeta" in checked.stderr


def test_check_after_the_scene_changed_is_an_error(shot):
    assert command("bake", shot).returncode == 0
    resave(shot, lambda objects: setattr(objects["Floor"], "location", (0, 0, 1)))
    checked = command("check", shot)
    assert checked.returncode == 7
    assert "Floor: its mesh or its motion has changed. Bake from the start" in checked.stderr


def test_a_killed_bake_resumes_to_the_same_bytes(shot):
    resave(shot, lambda objects: setattr(bpy.context.scene, "frame_end", 40))
    path = shot.parent / "taffeta_cache" / "shot" / "Scene" / "Cloth.pc2"
    assert command("bake", shot, "--backend", "cpu").returncode == 0
    unbroken = path.read_bytes()
    line = [sys.executable, "-m", "taffeta", "bake", str(shot), "--backend", "cpu"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert any(text.startswith("frame 5") for text in process.stdout)
        process.kill()
    time.sleep(1.0)  # the worker notices that nobody listens
    checked = command("check", shot)
    assert checked.returncode == 10
    assert "resume" in checked.stderr.lower()
    assert command("bake", shot, "--resume", "--backend", "cpu").returncode == 0
    assert path.read_bytes() == unbroken


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_bake_goes_on_to_its_end_when_nobody_listens_any_more(shot, options):
    line = [sys.executable, "-m", "taffeta", "bake", str(shot), "--backend", "cpu", *options]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert "frame 1" in next(said for said in process.stdout if said.startswith("frame"))
        process.stdout.close()
        assert process.wait(WAIT) == 0
    folder = shot.parent / "taffeta_cache" / "shot" / "Scene"
    assert cache.inspect(folder)[0] is cache.CacheState.READY


def test_a_bake_that_runs_elsewhere_refuses_a_second_and_is_ended_by_cancel(shot):
    resave(shot, lambda objects: setattr(bpy.context.scene, "frame_end", 4000))
    line = [sys.executable, "-m", "taffeta", "bake", str(shot)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any(text.startswith("frame 3") for text in process.stdout)
        for options in ([], ["--resume"]):
            second = command("bake", shot, *options)
            assert second.returncode == 9
            assert re.search(
                r"Another bake writes into .*: process \d+ on this machine since .* command cancel", second.stderr
            )
        ended = command("cancel", shot, "--json")
        process.communicate(timeout=WAIT)
    assert (ended.returncode, process.returncode) == (0, 5)
    assert len(json.loads(ended.stdout)["ended"]) == 1
    again = command("cancel", shot)
    assert again.returncode == 4
    assert "No bake of this scene runs" in again.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="reads Linux's list of processes")
def test_a_command_that_is_killed_takes_its_worker_with_it(shot):
    resave(shot, lambda objects: setattr(bpy.context.scene, "frame_end", 4000))
    line = [sys.executable, "-m", "taffeta", "bake", str(shot)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert any(text.startswith("frame 3") for text in process.stdout)
        worker = holder(shot.parent / "taffeta_cache" / "shot" / "Scene").process
        process.kill()
    assert seconds_until_gone(worker) < 3.0


def test_a_folder_in_the_place_of_a_file_is_said_to_be_one(tmp_path):
    baked = command("bake", tmp_path)
    assert baked.returncode == 3
    assert f"{tmp_path} is a folder. Name a .blend file" in baked.stderr


def test_frames_without_end_are_refused_at_once(shot):
    baked = command("bake", shot, "--frames", "1:100000000")
    assert baked.returncode == 3
    assert "1..100000000 has more than 1048574 frames" in baked.stderr


def test_a_bad_scene_names_the_object(shot):
    resave(shot, lambda objects: setattr(objects["Cloth"].taffeta.cloth, "pin_group", "Nowhere"))
    baked = command("bake", shot, "--json")
    report = json.loads(baked.stdout)
    assert (baked.returncode, report["error"]["object"]) == (3, "Cloth")
    assert "Nowhere" in report["error"]["text"]


def test_a_scene_without_cloth_has_nothing_to_do(shot):
    resave(shot, lambda objects: setattr(objects["Cloth"].taffeta, "role", "NONE"))
    assert command("bake", shot).returncode == 4
    assert command("check", shot).returncode == 4


def test_an_empty_range_is_a_bad_scene(shot):
    baked = command("bake", shot, "--frames", "9:3")
    assert baked.returncode == 3
    assert "9..3" in baked.stderr


def test_a_cache_folder_that_cannot_be_made_is_named(shot, tmp_path):
    (tmp_path / "file").write_text("in the way")
    baked = command("bake", shot, "--cache", tmp_path / "file" / "cache")
    assert baked.returncode == 8
    assert str(tmp_path / "file" / "cache") in baked.stderr


def test_a_cuda_backend_that_is_not_there_is_said_with_the_remedy(shot):
    from taffeta.gpu_core.backend import describe

    if describe()["cuda"]["available"]:
        pytest.skip("this machine has CUDA")
    baked = command("bake", shot, "--backend", "cuda")
    assert baked.returncode == 3
    assert "CPU" in baked.stderr


@pytest.mark.parametrize("content", [None, b"not a blend file"])
def test_a_file_that_is_not_there_or_not_a_blend_is_named(tmp_path, content):
    path = tmp_path / "lost.blend"
    if content is not None:
        path.write_bytes(content)
    baked = command("bake", path)
    assert baked.returncode == 3
    assert "lost.blend" in baked.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bake", "--frames", "1-4", "x.blend"],
        ["bake", "x.blend", "--backend", "tpu"],
        ["sew"],
        ["bake"],
        ["sample", "x"],
        ["bake", "x.blend", "--cache", ""],
        ["run", "x", "--cache", ""],
    ],
)
def test_wrong_usage_exits_with_2(arguments):
    assert command(*arguments).returncode == 2


def test_info_needs_no_blender():
    code = (
        "import sys; sys.modules['bpy'] = None; from taffeta.addon.command.line import main;"
        "sys.exit(main(['info', '--json'], program='taffeta'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT)
    report = json.loads(done.stdout)
    assert (done.returncode, report["exit_code"]) == (0, 0)
    assert report["taffeta"].count(".") == 2
    assert "cpu" in report["backends"]


def test_the_package_imports_without_bpy():
    code = "import sys; sys.modules['bpy'] = None; import taffeta, taffeta.addon, taffeta.addon.command.line"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=WAIT)


def test_a_sample_is_built_at_the_size_asked_for(tmp_path):
    out = tmp_path / "samples" / "drape.blend"
    built = command("sample", "drape_on_sphere", "--vertices", 400, "--out", out, "--json")
    assert built.returncode == 0, built.stderr
    assert json.loads(built.stdout)["vertices"]["Cloth"] == 400
    assert out.is_file()


def test_an_unknown_sample_is_usage_and_lists_the_known(tmp_path):
    built = command("sample", "nothing", "--vertices", 400, "--out", tmp_path / "x.blend")
    assert built.returncode == 2
    assert "drape_on_sphere" in built.stderr


def test_blenders_own_command_uses_the_open_file(shot, capfd):
    from taffeta.addon.command import blender

    bpy.ops.wm.open_mainfile(filepath=str(shot))
    assert blender._run(["bake", "--backend", "cpu"]) == 0
    capfd.readouterr()
    assert blender._run(["check", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["clean"]
    assert hasattr(bpy.types.Scene, "taffeta")

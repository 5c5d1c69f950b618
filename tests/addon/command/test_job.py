# SPDX-License-Identifier: GPL-3.0-or-later
"""A job folder goes to a machine without Blender, is baked there, and comes back as the bake of its file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import bpy
import numpy as np
import pytest

from taffeta.addon.cache import status
from taffeta.addon.device import libraries
from taffeta.addon.device.installation import Installation
from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon import wheels
from taffeta.tests.addon.baking import LONG, folder, frames, played
from taffeta.tests.addon.commanding import Commands

WAIT = 120  #: s
#: A Python in which nothing can import Blender.
BARE = (
    "import sys; sys.modules['bpy'] = None; from taffeta.addon.command.line import main;"
    "sys.exit(main(sys.argv[1:], 'taffeta'))"
)


@pytest.fixture
def taffeta(capfd) -> Commands:
    return Commands(capfd)


def elsewhere(*words: object) -> subprocess.CompletedProcess:
    """As on a machine without Blender."""
    return subprocess.run(
        [sys.executable, "-c", BARE, *map(str, words)], capture_output=True, text=True, timeout=WAIT, check=False
    )


@pytest.fixture
def job(taffeta, saved_scene, tmp_path):
    """The job folder of the shot, somewhere else."""
    code, answer = taffeta("job", tmp_path / "shot.blend", "--out", tmp_path / "travel")
    assert (code, answer["frames"], answer["vertices"]) == (0, [1, 4], {"Cloth": 25})
    shutil.move(tmp_path / "travel", tmp_path / "node" / "work")
    return tmp_path / "node" / "work"


def test_a_job_baked_without_blender_comes_back_as_the_bake_of_its_file(taffeta, job, tmp_path):
    shot = tmp_path / "shot.blend"
    done = elsewhere("run", job, "--backend", "cpu", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["state"], answer["frames_done"], answer["backend"]) == (0, "done", 4, "cpu")
    assert [line["frame"] for line in answer["reports"]] == [1, 2, 3, 4]
    code, answer = taffeta("fetch", shot, "--from", job, "--save-blend", shot)
    assert (code, answer["state"], answer["frames_done"]) == (0, "ready", 4)
    assert taffeta("check", shot)[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    scene = bpy.context.scene
    assert status.of(scene, scene.objects["Cloth"])[0] is CacheState.READY
    np.testing.assert_array_equal(played(scene.objects["Cloth"], 4), frames(job / "cache")[3])


def test_a_job_has_the_bytes_of_a_bake_in_blender(taffeta, job, tmp_path):
    assert elsewhere("run", job, "--backend", "cpu").returncode == 0
    assert taffeta("bake", tmp_path / "shot.blend", "--backend", "cpu")[0] == 0
    own = cache.frames_path(folder(bpy.context.scene), "Cloth")
    assert own.read_bytes() == cache.frames_path(job / "cache", "Cloth").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_an_interrupted_job_is_resumed_and_then_has_nothing_left_to_do(taffeta, saved_scene, tmp_path):
    saved_scene.frame_end = LONG
    bpy.ops.wm.save_mainfile()
    assert taffeta("job", tmp_path / "shot.blend", "--out", tmp_path / "work")[0] == 0
    line = [sys.executable, "-c", BARE, "run", str(tmp_path / "work"), "--cache", str(tmp_path / "frames")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any(text.startswith("frame 3") for text in process.stdout)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT)
    assert process.returncode == 5
    before = cache.inspect(tmp_path / "frames" / "taffeta")
    assert before[0] is CacheState.PARTIAL
    code, answer = taffeta("fetch", tmp_path / "shot.blend", "--from", tmp_path / "frames")
    assert (code, answer["state"], answer["frames_done"]) == (0, "partial", before[2])


def test_a_resumed_job_that_is_complete_says_so(taffeta, job):
    assert elsewhere("run", job).returncode == 0
    done = elsewhere("run", job, "--resume")
    assert done.returncode == 4
    assert "complete" in done.stderr


def test_a_folder_without_a_job_is_named(tmp_path):
    done = elsewhere("run", tmp_path)
    assert done.returncode == 3
    assert "There is no job" in done.stderr


def test_a_device_that_is_not_there_is_said(job):
    from taffeta.gpu_core.backend import describe

    if describe()["cuda"]["available"]:
        pytest.skip("this machine has CUDA")
    done = elsewhere("run", job, "--backend", "cuda")
    assert done.returncode == 3
    assert "CPU" in done.stderr


def test_a_bake_of_another_scene_is_not_brought_into_this_one(taffeta, job, tmp_path):
    shot = tmp_path / "shot.blend"
    assert elsewhere("run", job).returncode == 0
    code, answer = taffeta("fetch", shot, "--from", job, "--set", "Cloth.density=0.5")
    assert code == 7
    assert "density is 0.5, was 0.12" in answer["error"]["text"]
    assert not (tmp_path / "taffeta_cache").exists()


def test_frames_that_were_damaged_on_the_way_never_take_the_place_of_good_ones(taffeta, job, tmp_path):
    shot = tmp_path / "shot.blend"
    assert taffeta("bake", shot)[0] == 0
    assert elsewhere("run", job).returncode == 0
    path = cache.frames_path(job / "cache", "Cloth")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    code, answer = taffeta("fetch", shot, "--from", job)
    assert code == 10
    assert "damaged at frame 4" in answer["error"]["text"]
    assert taffeta("check", shot)[0] == 0


def test_a_bake_that_is_brought_back_takes_the_place_of_the_one_before(taffeta, job, tmp_path):
    shot = tmp_path / "shot.blend"
    assert taffeta("bake", shot, "--frames", "1:2")[0] == 0
    assert elsewhere("run", job).returncode == 0
    assert taffeta("fetch", shot, "--from", job / "cache")[0] == 0
    assert taffeta("check", shot)[0] == 0
    assert len(frames(folder(bpy.context.scene))) == 4
    assert not list((tmp_path / "taffeta_cache").rglob("incoming"))


def test_a_copy_that_breaks_off_leaves_the_bake_that_was_there(taffeta, job, tmp_path, monkeypatch):
    shot = tmp_path / "shot.blend"
    assert taffeta("bake", shot)[0] == 0
    assert elsewhere("run", job).returncode == 0

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("taffeta.addon.cache.place.shutil.copy2", fail)
    code, answer = taffeta("fetch", shot, "--from", job)
    assert code == 8
    assert "The disk is full" in answer["error"]["text"]
    monkeypatch.undo()
    assert taffeta("check", shot)[0] == 0


def test_a_farm_names_the_folder_of_its_gpu_libraries(job, tmp_path, monkeypatch):
    installation = Installation(tmp_path / "gpu", wheels.build(tmp_path / "wheels"), any_machine=True)
    installation.wait()
    monkeypatch.setenv(libraries.VARIABLE, str(tmp_path / "gpu"))
    done = elsewhere("run", job, "--backend", "cuda", "--json")
    assert "there is no CUDA device" in json.loads(done.stdout)["error"]["text"], "other libraries were found"


def test_a_fault_of_ours_is_no_answer_to_a_script(taffeta, saved_scene, tmp_path, monkeypatch):
    def broken(*arguments):
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("taffeta.addon.command.scene.session.Bake", broken)
    code, answer = taffeta("bake", tmp_path / "shot.blend")
    assert code == 11
    assert "ZeroDivisionError: nobody thought of this. This is a fault of Taffeta" in answer["error"]["text"]

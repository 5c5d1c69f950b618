# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that is refused harms nothing of the one that runs, and nothing of the user's."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from taffeta.gpu_core.bake.bake import BakeProcess
from taffeta.gpu_core.bake.events import Frame
from taffeta.gpu_core.files import handover
from taffeta.gpu_core.files.cache import CacheState, inspect
from taffeta.gpu_core.files.folder import free, of_user
from taffeta.gpu_core.files.job import digest, save
from taffeta.tests.gpu_core.small_scene import small_scene

FRAMES = 40


def paused(scene, cache) -> BakeProcess:
    """A worker with its own job that waits somewhere after the third frame."""
    job = handover.incoming(cache)
    save(scene, job)
    worker = BakeProcess(job, cache)
    next(event for event in worker.follow(0.001) if isinstance(event, Frame) and event.done >= 3)
    worker.pause()
    held = -1
    while held != worker.done:
        held = worker.done
        time.sleep(0.5)
        worker.poll()
    return worker


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_bake_that_runs_keeps_its_job_its_log_and_its_pause(tmp_path):
    cache, scene = tmp_path / "cache", small_scene(FRAMES)
    first = paused(scene, cache)
    before = contents(cache)
    other = replace(scene, settings=replace(scene.settings, step_rate=240.0))
    job = handover.incoming(cache)
    save(other, job)
    second = BakeProcess(job, cache)
    list(second.follow())
    assert (second.state, second.error_kind, second.exit_code) == ("failed", "busy", 9)
    assert f"Another bake writes into {cache}: process {first._process.pid} on this machine" in second.error
    assert "end it with the command cancel" in second.error
    handover.discard(job)
    assert contents(cache) == before
    time.sleep(0.5)
    first.poll()
    assert first.done == int(before["frames.jsonl"].count(b"\n"))  # it still waits
    first.proceed()
    list(first.follow())
    assert first.state == "done", first.error
    assert inspect(cache, digest(scene))[::2] == (CacheState.READY, FRAMES)


def test_a_job_is_taken_in_by_the_one_who_has_the_lock(tmp_path):
    cache = tmp_path / "cache"
    worker = paused(small_scene(FRAMES), cache)
    assert sorted(path.name for path in (cache / "job").iterdir())[-1] == "job.json"
    assert not (cache / "incoming").exists()
    worker.kill()


def test_jobs_of_processes_that_are_gone_are_cleared_away_and_others_are_not(tmp_path):
    ours = handover.incoming(tmp_path)
    gone = ours.with_name(ours.name.rsplit("-", 2)[0] + "-99999999-1")
    far = ours.with_name("another_host-99999999-1")
    for place in (ours, gone, far):
        place.mkdir(parents=True)
    handover.clear(tmp_path)
    assert sorted((tmp_path / "incoming").iterdir()) == sorted((ours, far))


FILES = ("trial", "pause", "cancel", "lock", "worker.log", "bake.log", "frames.jsonl", "job.json", "taffeta.txt.new")


def test_the_users_files_in_a_folder_that_he_chose_stay_as_they_are(tmp_path):
    for name in FILES:
        (tmp_path / name).write_text(f"my own {name}")
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "job.json").write_text("mine, too")
    before = contents(tmp_path)
    job = tmp_path / "scene" / "job"
    save(small_scene(3), job)
    cache = of_user(tmp_path)
    worker = BakeProcess(job, cache)
    list(worker.follow())
    assert worker.state == "done", worker.error
    (cache / "holiday.png").write_bytes(b"mine")
    free(cache)
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert (cache / "holiday.png").read_bytes() == b"mine"


def test_without_a_folder_of_ours_in_it_a_full_folder_is_refused(tmp_path):
    (tmp_path / "novel.txt").write_text("mine")
    save(small_scene(3), tmp_path / "elsewhere" / "job")
    worker = BakeProcess(tmp_path / "elsewhere" / "job", tmp_path)
    list(worker.follow())
    assert (worker.error_kind, worker.exit_code) == ("damaged", 10)
    assert "holds files that Taffeta did not write" in worker.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "novel.txt"]


@pytest.mark.parametrize("name", ["bake.log", "worker.log"])
def test_a_refused_bake_writes_no_log(tmp_path, name):
    cache = tmp_path / "cache"
    worker = paused(small_scene(FRAMES), cache)
    before = (cache / name).read_bytes() if (cache / name).exists() else None
    save(small_scene(3), tmp_path / "job")
    list(BakeProcess(tmp_path / "job", cache).follow())
    assert ((cache / name).read_bytes() if (cache / name).exists() else None) == before
    worker.kill()

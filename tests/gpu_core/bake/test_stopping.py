# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker ends soon after whoever wants it to: its parent, a signal, a file – also in the midst of a long step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taffeta.gpu_core.bake.bake import BakeProcess
from taffeta.gpu_core.bake.cancellation import end_bake
from taffeta.gpu_core.bake.events import Frame
from taffeta.gpu_core.bake.stop import GRACE
from taffeta.gpu_core.files.cache import CacheState, inspect
from taffeta.gpu_core.files.handover import is_alive
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.files.lock import holder, locked
from taffeta.tests.gpu_core.small_scene import small_scene

ROOT = Path(__file__).resolve().parents[3]
FRAMES = 400
ACROSS = 250  #: vertices of a side of a sheet whose step takes much longer than anybody is to wait
SLACK = 1.5  #: s for a busy machine to notice, on top of the worker's grace
AT_MOST = GRACE + SLACK


@pytest.fixture(scope="module")
def long_steps(tmp_path_factory):
    job = tmp_path_factory.mktemp("long") / "job"
    save(small_scene(4, ACROSS), job)
    return job


@pytest.fixture
def job(tmp_path):
    save(small_scene(FRAMES), tmp_path / "job")
    return tmp_path / "job"


def in_its_step(job, cache) -> BakeProcess:
    """A worker that has put the start state into the cache, and is a moment into the step after it."""
    worker = BakeProcess(job, cache)
    next(event for event in worker.follow(0.01) if isinstance(event, Frame))
    time.sleep(0.5)
    assert worker.running
    return worker


def seconds_until_gone(process: int) -> float:
    began = time.monotonic()
    while is_alive(process) and not is_defunct(process):
        assert time.monotonic() - began < 60
        time.sleep(0.02)
    return time.monotonic() - began


def is_defunct(process: int) -> bool:
    """Ended, and only waits for somebody to ask how."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def descendants(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): int(parent) for pid, parent in (line.split() for line in listed.splitlines())}
    found = [pid for pid, parent in parents.items() if parent == process]
    return found + [below for pid in found for below in descendants(pid)]


def test_a_cancel_is_heard_in_the_midst_of_a_long_step(long_steps, tmp_path):
    worker = in_its_step(long_steps, tmp_path / "cache")
    worker.cancel()
    began = time.monotonic()
    list(worker.follow(0.01))
    assert time.monotonic() - began < AT_MOST
    assert (worker.state, worker.exit_code) == ("cancelled", 5)
    assert inspect(tmp_path / "cache")[:2] == (CacheState.PARTIAL, "cancelled: 1 of 4 frames")
    with locked(tmp_path / "cache"):
        pass


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a signal ends a process at once")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_heard_in_the_midst_of_a_long_step(long_steps, tmp_path, number):
    worker = in_its_step(long_steps, tmp_path / "cache")
    os.kill(worker._process.pid, number)
    began = time.monotonic()
    list(worker.follow(0.01))
    assert time.monotonic() - began < AT_MOST
    assert (worker.state, worker.exit_code) == ("cancelled", 5)


LEAVE = """
import os, signal, sys, time
from pathlib import Path
from gpu_core.bake.events import Frame
from gpu_core.bake.process import BakeProcess
worker = BakeProcess(Path(sys.argv[1]), Path(sys.argv[2]))
next(event for event in worker.follow(0.01) if isinstance(event, Frame))
print(worker._process.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's list of processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_without_a_parent_ends_within_seconds_also_in_the_midst_of_a_step(long_steps, tmp_path, number):
    command = [sys.executable, "-c", LEAVE, str(long_steps), str(tmp_path / "cache")]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    time.sleep(0.5)
    below = descendants(worker)  # the process that checks the frames
    assert below
    parent.send_signal(number)
    parent.wait()
    parent.stdout.close()
    assert seconds_until_gone(worker) < AT_MOST
    assert all(seconds_until_gone(process) < SLACK for process in below)
    with locked(tmp_path / "cache"):
        pass


def test_a_bake_can_be_ended_by_whoever_finds_its_folder(job, tmp_path):
    cache = tmp_path / "cache"
    worker = in_its_step(job, cache)
    who = holder(cache)
    assert (who.process, who.is_here) == (worker._process.pid, True)
    assert f"process {who.process} on this machine since" in str(who)
    assert end_bake(cache) == who
    list(worker.follow(0.01))
    assert (worker.state, worker.exit_code) == ("cancelled", 5)
    assert end_bake(cache) is None
    assert not (cache / "cancel").exists()
    assert not (cache / "holder.json").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs SIGSTOP")
def test_a_bake_that_does_not_listen_is_ended_all_the_same(job, tmp_path):
    worker = in_its_step(job, tmp_path / "cache")
    os.kill(worker._process.pid, signal.SIGSTOP)
    assert end_bake(tmp_path / "cache").process == worker._process.pid
    list(worker.follow(0.01))
    assert worker.exit_code == -signal.SIGKILL


def test_a_process_that_was_reaped_gets_no_signal(job, tmp_path, monkeypatch):
    """Its number may be another's by then."""
    sent = []
    monkeypatch.setattr("taffeta.gpu_core.bake.process.send_signal", lambda *told: sent.append(told))
    worker = in_its_step(job, tmp_path / "cache")
    worker.cancel()
    list(worker.follow(0.01))
    worker._deadline = worker._deadline and 0.0  # long over
    for _ in range(3):
        worker.poll()
    assert sent == []

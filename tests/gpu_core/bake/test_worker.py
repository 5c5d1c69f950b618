# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker process and its parent: what it says, how it ends, and that the parent survives whatever happens to it."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.gpu_core.bake import process, worker_process
from taffeta.gpu_core.bake.bake import BakeProcess
from taffeta.gpu_core.bake.events import Checked, Frame, to_json
from taffeta.gpu_core.bake.priority import NICENESS
from taffeta.gpu_core.bake.process import time_left
from taffeta.gpu_core.files.cache import CacheState, inspect, read_frames
from taffeta.gpu_core.files.job import digest, save
from taffeta.gpu_core.files.lock import locked
from taffeta.tests.gpu_core.small_scene import small_scene

ROOT = Path(__file__).resolve().parents[3]
FRAMES = 6
LOWEST = 19  # that Linux has
MANY = 400  # long enough to be stopped in mid-bake


@pytest.fixture
def job(tmp_path):
    save(small_scene(FRAMES), tmp_path / "job")
    return tmp_path / "job"


@pytest.fixture
def long_job(tmp_path):
    save(small_scene(MANY), tmp_path / "job")
    return tmp_path / "job"


def start(job, cache, *options, **popen):
    command = [sys.executable, "-m", "gpu_core.bake.worker", str(job), "--cache", str(cache), *options]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **popen
    )


def run(job, cache, *options, **popen):
    """(exit code, events, standard error)"""
    worker = start(job, cache, *options, **popen)
    out, err = worker.communicate()
    events = [json.loads(line) for line in out.splitlines()]
    return worker.returncode, [event for event in events if event["event"] != "certificate"], err


def until_frame(worker, done):
    for line in worker.stdout:
        if json.loads(line).get("done") == done:
            return
    raise AssertionError("the worker ended too soon")


def test_it_says_one_json_object_a_line_and_ends_with_zero(job, tmp_path):
    code, events, err = run(job, tmp_path / "cache")
    assert code == 0
    assert [event["event"] for event in events] == ["start", *["frame"] * FRAMES, "done"]
    assert err == ""
    assert inspect(tmp_path / "cache", digest(job))[0] is CacheState.READY


def test_it_never_imports_bpy(job, tmp_path):
    code = (
        "import sys; sys.modules['bpy'] = None\n"
        "from gpu_core.bake.worker import main\n"
        "sys.exit(main(sys.argv[1:]) or any(name.startswith(('taffeta', 'addon')) for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, str(job), "--cache", str(tmp_path / "cache")]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def bad_scene(job):
    (job / "cloth_000.npz").write_bytes(b"rubbish")


def bad_backend(job):
    scene = small_scene(FRAMES)
    save(replace(scene, settings=replace(scene.settings, backend="abacus")), job)


def wild_speed(job):
    scene = small_scene(FRAMES)
    wild = replace(scene.cloths[0], velocities=np.full_like(scene.cloths[0].positions, 1e30))
    save(replace(scene, cloths=(wild,)), job)


@pytest.mark.parametrize(
    ("spoil", "code", "kind", "text"),
    [
        (bad_scene, 3, "scene", "cloth_000.npz is damaged. Export the scene again"),
        (bad_backend, 3, "backend", "abacus"),
        (wild_speed, 6, "solver", ""),
    ],
)
def test_failures_are_told_in_an_event_and_by_the_exit_code(job, tmp_path, spoil, code, kind, text):
    spoil(job)
    found, events, _ = run(job, tmp_path / "cache")
    assert found == code
    assert events[-1]["event"] == "error"
    assert events[-1]["kind"] == kind
    assert text in events[-1]["text"]
    assert set(events[-1]) == {"event", "kind", "text", "object", "code"}
    assert events[-1]["code"] == {"scene": "TAF-C016", "backend": "TAF-G014", "solver": "TAF-B001"}[kind]


def test_a_scene_error_names_the_object(job, tmp_path):
    header = json.loads((job / "job.json").read_text())
    header["cloths"][0]["material"]["density"] = -1.0
    (job / "job.json").write_text(json.dumps(header))
    header["digest"] = digest_of_bad_scene(job)
    (job / "job.json").write_text(json.dumps(header))
    code, events, _ = run(job, tmp_path / "cache")
    assert code == 3
    assert events[-1]["object"] == "Sheet"
    assert "density is -1.0. Set density above 0" in events[-1]["text"]


def digest_of_bad_scene(job):
    scene = small_scene(FRAMES)
    (cloth,) = scene.cloths
    return digest(replace(scene, cloths=(replace(cloth, material=replace(cloth.material, density=-1.0)),)))


def limit_file_size(limit=15000):  # twelve frames and a half
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def test_a_full_disk_is_said_and_the_frames_before_stay_good(tmp_path):
    """The limit on file size stands in for the disk: the write fails in the middle of a frame."""
    job = tmp_path / "job"
    save(small_scene(16), job)
    code, events, _ = run(job, tmp_path / "cache", preexec_fn=limit_file_size)
    assert code == 8
    assert (events[-1]["event"], events[-1]["kind"]) == ("error", "disk")
    assert "The disk is full" in events[-1]["text"]
    assert inspect(tmp_path / "cache", digest(job)) == (CacheState.PARTIAL, "failed: 12 of 16 frames", 12)
    assert len(read_frames(tmp_path / "cache" / "sheet.pc2")) == 12
    assert run(job, tmp_path / "cache", "--resume")[0] == 0
    assert run(job, tmp_path / "other")[0] == 0
    assert (tmp_path / "cache" / "sheet.pc2").read_bytes() == (tmp_path / "other" / "sheet.pc2").read_bytes()


@pytest.mark.parametrize("limit", [1000, 2000, 5000, 9000])
def test_a_full_disk_is_said_in_one_sentence_whatever_was_written(job, tmp_path, limit):
    """A list of contents, or the solver's state: whose archive once complained on its own."""
    code, events, err = run(job, tmp_path / "cache", preexec_fn=lambda: limit_file_size(limit))
    assert (code, err) == (8, "")
    assert events[-1]["text"].count(str(tmp_path)) == 1


def test_a_cache_folder_that_cannot_be_made_is_a_disk_error(job, tmp_path):
    (tmp_path / "file").write_text("")
    code, events, _ = run(job, tmp_path / "file" / "cache")
    assert code == 8
    assert events[-1]["kind"] == "disk"
    assert "Choose a folder that can exist" in events[-1]["text"]


@pytest.mark.parametrize("how", ["signal", "file"])
def test_it_can_be_stopped_and_keeps_the_frames(long_job, tmp_path, how):
    cache = tmp_path / "cache"
    worker = start(long_job, cache)
    until_frame(worker, 3)
    if how == "signal":
        worker.send_signal(signal.SIGTERM)
    else:
        (cache / "cancel").touch()
    out, _ = worker.communicate()
    assert worker.returncode == 5
    assert json.loads(out.splitlines()[-1]) == {"event": "cancelled"}
    assert not (cache / "cancel").exists()
    state, reason, done = inspect(cache, digest(long_job))
    assert state is CacheState.PARTIAL
    assert reason.startswith("cancelled")
    assert 3 <= done < MANY


def test_it_stops_when_nobody_listens_any_more(long_job, tmp_path):
    worker = start(long_job, tmp_path / "cache")
    until_frame(worker, 2)
    worker.stdout.close()
    assert worker.wait(timeout=20) == 5
    worker.stderr.close()
    assert inspect(tmp_path / "cache")[1].startswith("cancelled")


def test_what_libraries_print_does_not_get_between_the_events(job, tmp_path):
    code = "import os, sys; os.write(1, b'noise')\nfrom gpu_core.bake import worker\n"
    code += "messages = worker.Messages(); print('more noise', flush=True); os.write(1, b'even more')\n"
    code += "messages.send({'event': 'done'})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == 'noise{"event": "done"}\n'
    assert "more noise" in done.stderr


def test_what_is_left_shrinks_with_the_clock_and_grows_with_a_slow_frame():
    pace = [2.0, 2.0]
    assert [time_left(5, pace, since) for since in (0.0, 1.0, 2.0)] == [10.0, 9.0, 8.0]
    assert time_left(5, pace, 8.0) == 16.0  # four more at the pace of 2, 2 and 8
    assert time_left(0, pace, 1.0) == time_left(0, pace, 9.0) == 0.0


def test_the_parent_follows_a_bake_to_its_end(job, tmp_path):
    worker = BakeProcess(job, tmp_path / "cache")
    assert worker.state == "starting"
    assert worker.eta is None
    etas = []
    events = []
    for event in worker.follow(0.001):
        if not isinstance(event, Checked):
            events.append(to_json(event)["event"])
        etas.append(worker.eta)
    assert events == ["start", *["frame"] * FRAMES, "done"]
    assert (worker.state, worker.done, worker.frames, worker.frame) == ("done", FRAMES, FRAMES, 16)
    assert (worker.exit_code, worker.error, worker.running, worker.eta) == (0, "", False, None)
    assert worker.backend == "cpu"
    assert any(eta is not None and eta > 0 for eta in etas)
    assert worker.poll() == []


def test_polling_never_waits(long_job, tmp_path):
    worker = BakeProcess(long_job, tmp_path / "cache")
    waits = []
    while worker.done < 5:
        begin = time.perf_counter()
        worker.poll()
        waits.append(time.perf_counter() - begin)
        time.sleep(0.005)
    worker.kill()
    assert np.median(waits) < 0.1 * worker._seconds[-1]  # a busy machine may hold up one, not most


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells the priority of a thread")
@pytest.mark.parametrize("gives_way", [True, False])
def test_every_thread_of_a_bake_gives_way_to_a_window_where_there_is_one(long_job, tmp_path, gives_way):
    worker = BakeProcess(long_job, tmp_path / "cache", gives_way=gives_way)
    next(event for event in worker.follow(0.001) if isinstance(event, Frame))
    threads = [int(task.name) for task in Path(f"/proc/{worker._process.pid}/task").iterdir()]
    found = {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads}
    session = Path(f"/proc/{worker._process.pid}/autogroup")  # "/autogroup-123 nice 10", where the kernel has them
    of_session = session.read_text().split()[-1:] if session.exists() else []
    worker.kill()
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert found == {min(ours + NICENESS, LOWEST) if gives_way else ours}
    assert of_session in ([], [str(NICENESS if gives_way else 0)])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_the_parent_reports_a_crash_with_signal_frame_and_log(long_job, tmp_path, number):
    worker = BakeProcess(long_job, tmp_path / "cache")
    for event in worker.follow(0.001):
        if isinstance(event, Frame) and event.done == 3:
            os.kill(worker._process.pid, number)
    assert worker.state == "failed"
    assert worker.exit_code == -number
    assert worker.error_kind == "crash"
    assert f"The worker ended with signal {number.value} ({number.name}) after frame {worker.frame}." in worker.error
    assert "resume to go on" in worker.error
    if number is signal.SIGSEGV:
        assert "Segmentation fault" in worker.error  # from the log
    state, _, done = inspect(tmp_path / "cache", digest(long_job))
    assert state is CacheState.PARTIAL
    assert len(read_frames(tmp_path / "cache" / "sheet.pc2")) == done >= 3


def test_the_error_of_a_crash_begins_with_its_name_however_deep_its_threads_were():
    frames = [f'  File "solver.py", line {line} in step' for line in range(2 * worker_process.LOG_LINES)]
    crash = ["baked frame 12", "Fatal Python error: Segmentation fault", "", "Thread 1:", *frames]
    said = worker_process.end_of_log(io.BytesIO("\n".join(crash).encode())).splitlines()
    assert said[0] == "Fatal Python error: Segmentation fault"
    assert len(said) == worker_process.LOG_LINES
    said = worker_process.end_of_log(io.BytesIO("\n".join(frames).encode())).splitlines()
    assert said == frames[-worker_process.LOG_LINES :]


def test_the_parent_passes_on_what_the_worker_says_of_a_bad_job(job, tmp_path):
    bad_scene(job)
    worker = BakeProcess(job, tmp_path / "cache")
    list(worker.follow())
    assert (worker.state, worker.error_kind, worker.exit_code) == ("failed", "scene", 3)
    assert "cloth_000.npz is damaged" in worker.error


def test_a_worker_that_cannot_even_start_is_reported_with_its_log(job, tmp_path, monkeypatch):
    monkeypatch.setattr(worker_process, "ROOT", tmp_path)  # there is no gpu_core
    worker = BakeProcess(job, tmp_path / "cache")
    list(worker.follow())
    assert (worker.state, worker.error_kind, worker.exit_code) == ("failed", "crash", 1)
    assert "exit code 1 before the first frame" in worker.error
    assert "No module named" in worker.error


def test_cancelling_keeps_the_frames(long_job, tmp_path):
    worker = BakeProcess(long_job, tmp_path / "cache")
    for event in worker.follow(0.001):
        if isinstance(event, Frame) and event.done == 3:
            worker.cancel()
            worker.cancel()
    assert (worker.state, worker.exit_code, worker.error) == ("cancelled", 5, "")
    assert 3 <= inspect(tmp_path / "cache")[2] < MANY
    assert not (tmp_path / "cache" / "cancel").exists()


def test_a_worker_that_does_not_listen_is_killed_and_counts_as_cancelled(long_job, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 0.2)
    worker = BakeProcess(long_job, tmp_path / "cache")
    for event in worker.follow(0.001):
        if isinstance(event, Frame) and event.done == 3:
            os.kill(worker._process.pid, signal.SIGSTOP)
            worker.cancel()
    assert (worker.state, worker.exit_code) == ("cancelled", -signal.SIGKILL)
    assert inspect(tmp_path / "cache")[0] is CacheState.PARTIAL


def test_killing_leaves_no_process_and_no_lock(long_job, tmp_path):
    worker = BakeProcess(long_job, tmp_path / "cache")
    while worker.done < 2:
        worker.poll()
        time.sleep(0.005)
    worker.kill()
    assert worker.state == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(worker._process.pid, 0)
    with locked(tmp_path / "cache"):
        pass
    worker.kill()


def test_the_worker_dies_with_a_parent_that_leaves(long_job, tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from gpu_core.bake.process import BakeProcess\n"
        f"worker = BakeProcess(Path({str(long_job)!r}), Path({str(tmp_path / 'cache')!r}))\n"
        "while worker.done < 2: worker.poll(); time.sleep(0.01)\n"
        "print(worker._process.pid)"
    )
    parent = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(parent.stdout), 0)


def test_the_parents_python_variables_do_not_reach_the_worker(job, tmp_path, monkeypatch):
    for name in ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, str(tmp_path / "misleading"))
    worker = BakeProcess(job, tmp_path / "cache")
    list(worker.follow())
    assert worker.state == "done", worker.error


def test_the_parents_side_needs_neither_bpy_nor_scipy():
    code = "import sys; sys.modules.update(bpy=None, scipy=None, cupy=None)\nimport gpu_core.bake.bake"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)

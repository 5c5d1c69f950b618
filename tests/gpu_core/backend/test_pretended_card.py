# SPDX-License-Identifier: GPL-3.0-or-later
"""The CUDA path on a card that nobody has: a strict pretended CuPy runs what NVRTC made of the kernels.

Every sum on the card is NumPy's here, and every kernel has the CPU's arithmetic, so results are compared bit by bit.
What only a real card can show is in docs/theory/performance.md.
"""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from taffeta.addon.device import libraries
from taffeta.addon.device.answer import Exit
from taffeta.benchmarks.speed.kernels import kernels
from taffeta.gpu_core.backend import BackendError, describe, select, signatures, trust
from taffeta.gpu_core.backend import cuda as cuda_backend
from taffeta.gpu_core.bake.process import BakeProcess
from taffeta.gpu_core.files.cache import frames_path
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.live.live import Live
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.sums import DotProduct
from taffeta.tests.gpu_core.backend.conftest import CARD
from taffeta.tests.gpu_core.backend.small_bakes import SCENES, bake
from taffeta.tests.gpu_core.small_scene import (
    assert_frames_are_free_of_intersections,
    small_scene,
)


def kernels_that_ran() -> set[str]:
    from cupy import _card

    return {name.removeprefix("launch_") for name in _card.kernels}


def test_every_kernel_runs_on_the_card_and_gives_the_cpus_bits(cuda):
    cpu = select("cpu")
    for name, (scene, frames, parameters) in SCENES.items():
        (x, reports), (expected, said) = (bake(backend, scene, frames, parameters) for backend in (cuda, cpu))
        assert np.array_equal(x, expected), name
        assert reports == said, name
    rng = np.random.default_rng(1)
    pairs = {"feature": np.int32([[-1, 0], [2, 3]]), "corner": np.int32([[0, 1, 2, 3], [3, 2, 1, 0]])}
    x = rng.random((4, 4), np.float32)
    assert np.array_equal(*(dot_product(backend, 257 * 256) for backend in (cuda, cpu)))
    found = [
        backend.host(distances(backend, {name: backend.array(value, np.int32) for name, value in pairs.items()}, x))
        for backend in (cuda, cpu)
    ]
    assert np.array_equal(*found)
    assert kernels_that_ran() == set(signatures.signatures())


def dot_product(backend, count):
    """Of vertices so many that they are added up in three stages: whether it is negative."""
    product, answer = DotProduct(backend, count), backend.array([-1], np.int32)
    product.product["partial"][:] = -1.0
    backend.run(product.used("negative_total", negative=answer))
    return backend.host(answer)


def distances(backend, pairs, x):
    distance = backend.array(np.zeros(2))
    backend.launch("pair_distance", 2, **pairs, x=backend.array(x), distance=distance)
    return distance


def test_the_time_of_each_kernel_can_be_taken_on_the_card(cuda):
    """A pretended one takes 1 ms for each."""
    found = kernels(cuda, 200, 4)
    assert all(kernel.milliseconds == pytest.approx(kernel.launches) for kernel in found)
    assert {"curvature_times", "candidates", "coarser_restrict"} <= {kernel.kernel for kernel in found}
    assert not {"sequence", "run"} & set(vars(cuda))


def test_the_order_of_the_threads_changes_no_bit(cuda, monkeypatch):
    scene, frames, _ = SCENES["drape"]
    expected = bake(select("cpu"), scene, frames)
    monkeypatch.setenv("PRETENDED_BACKWARDS", "1")
    found = bake(cuda, scene, frames)
    assert np.array_equal(found[0], expected[0])
    assert found[1] == expected[1]


def test_live_with_a_pull_gives_the_cpus_bits(cuda):
    def frames(backend):
        live = Live(small_scene(3, 8), backend)
        for k in range(4):
            if k == 1:
                live.grab("sheet", [0.0, 0.0, 0.12], 0.1, 0.8)
            if k == 3:
                live.release()
            live.advance([0.0, 0.0, 0.12 + 0.02 * k] if k else None)
            yield np.concatenate(live.simulator.positions())

    assert np.array_equal(list(frames(cuda)), list(frames(select("cpu"))))


def test_a_bake_goes_on_from_a_checkpoint_with_the_same_bits(cuda):
    unbroken = Simulator(small_scene(8, 10), cuda)
    for _ in range(3):
        unbroken.advance_frame()
    resumed = Simulator(small_scene(8, 10), cuda)
    state = unbroken.state()
    assert all(type(value) is np.ndarray for value in state.values())
    resumed.restore(state)
    for simulator in (unbroken, resumed):
        simulator.advance_frame()
    assert np.array_equal(np.concatenate(unbroken.positions()), np.concatenate(resumed.positions()))


def test_nothing_of_a_simulation_stays_on_the_card(cupy, cuda):
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()
    simulator = Simulator(small_scene(8, 8), cuda)
    simulator.advance_frame()
    assert pool.used_bytes() > before
    del simulator
    gc.collect()
    cupy.cuda.get_current_stream().synchronize()  # what was launched last still holds its arrays
    assert pool.used_bytes() == before


def test_the_pool_keeps_no_more_than_is_in_use_and_something_to_spare(cupy, cuda, monkeypatch):
    pool, simulator = cupy.get_default_memory_pool(), Simulator(small_scene(8, 8), cuda)
    simulator.advance_frame()
    assert pool.free_bytes() > pool.used_bytes(), "there is much to spare"
    monkeypatch.setattr(cuda_backend, "SPARE", pool.used_bytes() // 2)
    for _ in range(3):
        simulator.advance_frame()
        assert pool.free_bytes() <= pool.used_bytes()


def test_a_workers_cache_has_the_cpus_bytes_and_no_crossing(tmp_path):
    scene = small_scene(5, 10)
    save(scene, tmp_path / "job")
    for backend in ("cpu", "cuda"):
        process = BakeProcess(tmp_path / "job", tmp_path / backend, backend=backend, libraries=[CARD])
        list(process.follow())
        assert process.state == "done", process.error
        assert process.backend == backend
    content = [frames_path(tmp_path / backend, "sheet").read_bytes() for backend in ("cpu", "cuda")]
    assert content[0] == content[1]
    assert_frames_are_free_of_intersections(scene, tmp_path / "cuda", 5)


def test_a_worker_that_runs_out_of_the_cards_memory_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PRETENDED_MEMORY", str(100_000))
    save(small_scene(3, 10), tmp_path / "job")
    process = BakeProcess(tmp_path / "job", tmp_path / "cache", backend="cuda", libraries=[CARD])
    list(process.follow())
    assert process.state == "failed"
    assert "memory" in process.error


#: What the host may do for a step of the small drape: counted, so the same on every machine. Reasons to raise one
#: belong into docs/theory/performance.md.
MOST = {"array operation": 90, "launch": 65, "graph launch": 60, "wait": 20, "blocking copy": 18, "upload": 3}


def test_the_host_does_no_more_for_a_step_than_it_did(cuda):
    from cupy import _card

    _card.counts.clear()
    _, reports = bake(cuda, *SCENES["drape"][:2])
    steps = sum(report.steps for report in reports)
    done = dict.fromkeys(MOST, 0)
    for (what, _), number in _card.counts.items():
        done[what] = done.get(what, 0) + number
    print({what: number / steps for what, number in done.items()})
    assert all(done[what] <= most * steps for what, most in MOST.items())


FAULTS = {
    "no NVRTC": "Install the GPU libraries again",
    "no headers": "Install the GPU libraries again",
    "old card": "update both",
    "driver": "Update the NVIDIA driver",
    "cache": "CUPY_CACHE_DIR",
    "memory": "Close what else uses the card's memory",
    "anything": "report",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_goes_wrong_with_a_card_names_its_mend_and_auto_takes_the_cpu_and_says_so(cupy, monkeypatch, fault):
    monkeypatch.setenv("PRETENDED_FAULT", fault)
    with pytest.raises(BackendError, match=re.escape(FAULTS[fault])):
        select("cuda")
    chosen = select("auto")
    assert chosen.name == "cpu"
    assert FAULTS[fault] in chosen.passed_over


@pytest.mark.parametrize("devices", ["no driver", "0"])
def test_where_there_is_no_card_auto_takes_the_cpu_without_a_word(cupy, monkeypatch, devices):
    monkeypatch.setenv("PRETENDED_DEVICES", devices)
    with pytest.raises(BackendError, match=r"driver|no CUDA device"):
        select("cuda")
    assert select("auto").name == "cpu"
    assert not select("auto").passed_over


@pytest.fixture
def verdicts(tmp_path, monkeypatch):
    monkeypatch.setenv(trust.VARIABLE, str(tmp_path / "kept" / "verdicts.json"))


def test_auto_takes_a_card_once_the_self_test_has_passed_on_it_and_remembers_that(cupy, verdicts, monkeypatch):
    card = select("auto")  # the self-test runs, on the pretended card
    assert card.name == "cuda"
    assert describe()["cuda"]["verdict"].startswith("the self-test passed on it")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it was not remembered"))
    assert select("auto").name == "cuda"
    assert select("auto", vertices=100).name == "cpu"
    monkeypatch.setattr(cupy.cuda.runtime, "driverGetVersion", lambda: 13000)  # another one: it has to run again
    assert trust.known(card) is None


def test_auto_does_not_take_a_card_on_which_the_self_test_failed(cupy, verdicts):
    card = select("cuda")
    trust.remember(card, trust.Verdict(False, "free fall: off by 0.5"))
    chosen = select("auto")
    assert chosen.name == "cpu"
    assert "the self-test failed on it: free fall" in chosen.passed_over
    assert "failed" in describe()["cuda"]["verdict"]


def test_a_self_test_that_dies_is_a_verdict_too(cupy, verdicts, monkeypatch):
    monkeypatch.setattr(trust, "__package__", "nothing.of.this")
    assert not trust.verdict_on(select("cuda")).passed
    assert "code" in trust.known(select("cuda")).text


def test_verdicts_that_cannot_be_read_or_written_are_no_obstacle(cupy, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("{")
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path):
        monkeypatch.setenv(trust.VARIABLE, str(place))
        assert trust.known(select("cuda")) is None
    trust.remember(select("cuda"), trust.Verdict(True, ""))


@pytest.mark.nightly("three minutes on a slow machine, and auto tries it by day")
def test_info_tries_the_self_test_on_the_card(verdicts, monkeypatch):
    monkeypatch.setenv(libraries.VARIABLE, str(CARD))
    run = info_of_cuda()
    assert run.returncode == 0, run.stdout + run.stderr
    assert "self-test on Pretended" in run.stdout
    assert "FAILED" not in run.stdout


@pytest.mark.parametrize(
    ("devices", "remedy"), [("no driver", "Check the NVIDIA driver"), ("0", "Choose the CPU backend")]
)
def test_info_says_what_is_to_be_done_where_there_is_no_card(monkeypatch, verdicts, devices, remedy):
    monkeypatch.setenv(libraries.VARIABLE, str(CARD))
    monkeypatch.setenv("PRETENDED_DEVICES", devices)
    run = info_of_cuda()
    assert run.returncode == Exit.SOLVER_FAILURE, run.stderr
    assert remedy in run.stdout
    assert "Traceback" not in run.stdout + run.stderr


def test_info_says_that_cupy_is_not_installed(monkeypatch, verdicts, tmp_path):
    """As without the libraries: a folder before the real CuPy's that says what Python says where there is none."""
    text = "raise ModuleNotFoundError(\"No module named 'cupy'\", name='cupy')\n"
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "cupy.py").write_text(text)
    monkeypatch.setenv(libraries.VARIABLE, str(tmp_path / "none"))
    run = info_of_cuda()
    assert run.returncode == Exit.SOLVER_FAILURE, run.stderr
    assert "CuPy is not installed" in run.stdout
    assert "Install the GPU libraries" in run.stdout


def info_of_cuda():
    command = [sys.executable, "-m", "taffeta", "info", "--self-test", "--backend", "cuda"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("fault", FAULTS)
def test_info_says_what_is_to_be_done_about_a_card(monkeypatch, verdicts, fault):
    monkeypatch.setenv(libraries.VARIABLE, str(CARD))
    monkeypatch.setenv("PRETENDED_FAULT", fault)
    run = info_of_cuda()
    assert run.returncode == Exit.SOLVER_FAILURE, run.stderr
    assert FAULTS[fault] in run.stdout
    assert "Traceback" not in run.stdout + run.stderr


def test_a_bake_says_why_a_card_that_is_there_was_not_taken(tmp_path, monkeypatch, verdicts):
    monkeypatch.setenv("PRETENDED_FAULT", "driver")
    save(small_scene(2, 71), tmp_path / "job")
    process = BakeProcess(tmp_path / "job", tmp_path / "cache", backend="auto", libraries=[CARD])
    list(process.follow())
    assert (process.state, process.backend) == ("done", "cpu")
    assert any(FAULTS["driver"] in warning for warning in process.warnings)


def test_the_kernels_source_has_every_header_in_it(monkeypatch, tmp_path):
    """CuPy keeps what it compiled by this text: a header that changed must change it."""
    before = signatures.cuda_source()
    assert '#include "' not in before
    assert str(Path.home()) not in before
    for header in signatures.KERNELS.glob("*.h"):
        (tmp_path / header.name).write_text(header.read_text())
    monkeypatch.setattr(signatures, "KERNELS", tmp_path)
    assert signatures.cuda_source() == before
    for header in sorted(tmp_path.glob("*.h")):
        text = header.read_text()
        header.write_text(text + "// another\n")
        assert signatures.cuda_source() != before, header.name
        header.write_text(text)

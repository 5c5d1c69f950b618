"""One source for each kernel: it runs on the CPU, compiles for every CUDA architecture, and refuses wrong arguments."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from taffeta.gpu_core.backend import BackendError, build, describe, select, signatures
from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.backend.cuda import OPTIONS, load_nvrtc
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import small_scene

ARCHITECTURES = (70, 75, 80, 86, 89, 90, 100, 120)


@pytest.fixture(scope="module")
def cpu():
    return select("cpu")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_compiles_to_a_cubin_without_a_gpu(architecture):
    load_nvrtc()
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram(signatures.cuda_source(), "taffeta.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*OPTIONS, f"-arch=sm_{architecture}"))
        cubin = nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    for name in signatures.signatures():
        assert f"launch_{name}".encode() in cubin


def test_kernels_do_all_arithmetic_in_float():
    for header in signatures.KERNELS.glob("*.h"):
        text = re.sub(r"//.*", "", header.read_text())
        assert "double" not in text, header.name
        assert not re.search(r"(?<![\w.])\d+\.\d*(e[-+]?\d+)?(?![\dfe])", text), f"{header.name} has a double literal"


def test_kernels_never_add_floats_atomically():
    for header in signatures.KERNELS.glob("*.h"):
        assert "atomicAdd" not in header.read_text()


def test_every_thread_count_gives_the_same_bits():
    rng = np.random.default_rng(0)
    modes, residual = rng.random((4, 5000), np.float32), rng.random((5000, 4), np.float32)
    results = []
    for threads in (1, 2, 5):
        partial = np.zeros((40, 4), np.float32)
        CpuBackend(threads).launch("restrict_partial", 40, modes, residual, 5000, 512, 10, partial)
        results.append(partial)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    assert np.allclose(results[0].reshape(4, 10, 4).sum(axis=1), modes @ residual, rtol=1e-4)


def test_a_sequence_replays_on_the_same_arrays(cpu):
    x, moved, step = np.zeros((3000, 4), np.float32), np.zeros((3000, 4), np.float32), np.ones((3000, 4), np.float32)
    run = cpu.sequence([("add_increment", 3000, (step, x, moved))] * 3)
    run()
    run()
    assert (x == 6).all()
    assert (moved == 6).all()


def test_a_look_has_what_was_there_when_it_was_taken(cpu):
    seen = np.zeros(3, np.float32)
    look = cpu.look(seen)
    before = look()
    seen += 1
    assert (before() == 0).all()
    assert (look()() == 1).all()


class Ahead(CpuBackend):
    """Reads answers as late as it may on a CUDA device."""

    ahead = 1


def test_a_host_that_runs_ahead_of_its_device_gets_the_same_bits(cpu):
    """The small drape, into contact: it stops each solve and each loop one look later."""
    results = []
    for backend in (cpu, Ahead()):
        simulator = Simulator(small_scene(8, 12), backend)
        reports = [simulator.advance_frame() for _ in range(7)]
        results.append((np.concatenate(simulator.positions()), [(r.iterations, r.contacts) for r in reports]))
    assert results[0][1] == results[1][1]
    assert results[0][1][-1][1] > 0
    assert np.array_equal(results[0][0], results[1][0])


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((10, 4), np.float64),
        np.zeros((10, 3), np.float32),
        np.zeros((20, 4), np.float32)[::2],
        [0.0] * 4,
    ],
)
def test_wrong_arrays_are_refused_before_the_kernel_runs(cpu, bad):
    with pytest.raises(TypeError, match="increment"):
        cpu.launch("add_increment", 10, bad, *(np.zeros((10, 4), np.float32) for _ in range(2)))


def test_a_missing_device_is_said_with_the_mend():
    with pytest.raises(BackendError, match="backend"):
        select("quantum")
    if describe()["cuda"]["available"]:
        assert select("cuda").name == "cuda"
    else:
        with pytest.raises(BackendError, match="CPU backend"):
            select("cuda")


def test_kernels_are_clean_under_the_address_and_undefined_behaviour_sanitizers(tmp_path):
    """A drape with contact and self-collision, in a process of its own with the sanitizers' runtime loaded first."""
    compiler = build.compiler()
    if "ziglang" in compiler:
        pytest.skip("zig brings no runtime of the address sanitizer")
    runtime = subprocess.run([*compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    environment = {**os.environ, "LD_PRELOAD": runtime.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0"}
    script = tmp_path / "sanitized.py"
    script.write_text(
        "from taffeta.gpu_core.backend import build\n"
        "from taffeta.gpu_core.backend.cpu import CpuBackend\n"
        "from taffeta.gpu_core.simulator import Simulator\n"
        "from taffeta.tests.gpu_core.small_scene import small_scene\n"
        "simulator = Simulator(small_scene(8, 12), CpuBackend(path=build.library('sanitize')))\n"
        "reports = [simulator.advance_frame() for _ in range(7)]\n"
        "assert max(report.contacts for report in reports) > 0\n"
        "print('contacts', reports[-1].contacts)\n"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    assert "runtime error" not in run.stderr
    assert "AddressSanitizer" not in run.stderr

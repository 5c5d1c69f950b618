# SPDX-License-Identifier: GPL-3.0-or-later
"""One source for each kernel: it runs on the CPU, compiles for every CUDA architecture, and refuses wrong arguments."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from taffeta.gpu_core.backend import BackendError, build, describe, launch, select, signatures
from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.backend.cuda import OPTIONS, load_nvrtc
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import small_scene

NIGHTLY = pytest.mark.nightly("half a minute on a slow machine; the oldest, a usual one and the newest are seen by day")
BY_DAY = (70, 86, 120)
ARCHITECTURES = [
    each if each in BY_DAY else pytest.param(each, marks=NIGHTLY) for each in (70, 75, 80, 86, 89, 90, 100, 120)
]


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
    """ATOMIC_SUM of `compat.h` is for integers: on floats it is no C++, so the CPU's build would fail."""
    for header in signatures.KERNELS.glob("*.h"):
        text = header.read_text().replace("#define ATOMIC_SUM(address, value) atomicAdd(address, value)", "")
        assert "atomicAdd" not in text


def test_every_thread_count_gives_the_same_bits():
    rng = np.random.default_rng(0)
    modes, residual = rng.random((4, 5000), np.float32), rng.random((5000, 4), np.float32)
    results = []
    for threads in (1, 2, 5):
        partial = np.zeros((40, 4), np.float32)
        CpuBackend(threads).launch(
            "restrict_partial", 40, modes=modes, residual=residual, vertices=5000, chunk=512, chunks=10, partial=partial
        )
        results.append(partial)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    assert np.allclose(results[0].reshape(4, 10, 4).sum(axis=1), modes @ residual, rtol=1e-4)


def test_a_sequence_replays_on_the_same_arrays(cpu):
    x, moved, step = np.zeros((3000, 4), np.float32), np.zeros((3000, 4), np.float32), np.ones((3000, 4), np.float32)
    run = cpu.sequence([launch("add_increment", 3000, increment=step, x=x, displacement=moved)] * 3)
    run()
    run()
    assert (x == 6).all()
    assert (moved == 6).all()


def test_a_look_has_what_was_there_when_it_was_taken(cpu):
    seen = np.zeros(3, np.float32)
    look = cpu.look(seen)
    before = look()
    seen += 1
    assert (before()[0] == 0).all()
    assert (look()()[0] == 1).all()


class Asynchronous(CpuBackend):
    """Reads answers as late as on a CUDA device."""

    asynchronous = True


def test_a_host_that_runs_ahead_of_its_device_gets_the_same_bits(cpu):
    """The small drape, into contact: it stops each solve and each loop one look later."""
    results = []
    for backend in (cpu, Asynchronous()):
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
        cpu.launch("add_increment", 10, increment=bad, x=vectors(10), displacement=vectors(10))


def vectors(count):
    return np.zeros((count, 4), np.float32)


def test_an_array_that_is_too_short_is_refused_and_named(cpu):
    """It ended in a segmentation fault."""
    short = {"increment": vectors(4), "x": vectors(4), "displacement": vectors(4)}
    with pytest.raises(ValueError, match=r"add_increment: increment needs 4000000 elements \(count\), has 4"):
        cpu.launch("add_increment", 4_000_000, **short)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"partial": None}, "missing"),
        ({"y": vectors(10)}, "unknown"),
        ({"chunks": 9.5}, "chunks must be a whole number"),
        ({"chunks": 11}, "partial needs 11 elements"),
        ({"chunks": np.int32(11)}, "partial needs 11 elements"),
        ({"chunks": -3}, "no array can be chunks long"),
        ({"negative": np.zeros(1, np.int32)}, "negative needs 2 elements"),
    ],
)
def test_arguments_that_are_missing_unknown_or_unfit_are_refused(cpu, change, error):
    arguments = {"partial": np.zeros(10, np.float32), "chunks": 10, "negative": np.zeros(2, np.int32)} | change
    if arguments["partial"] is None:
        del arguments["partial"]
    with pytest.raises((TypeError, ValueError), match=error):
        cpu.launch("negative_total", 2, **arguments)


@pytest.mark.parametrize("count", [-1, 2.0, True])
def test_a_count_is_a_whole_number(cpu, count):
    with pytest.raises(TypeError, match="count"):
        cpu.launch("add_increment", count, increment=vectors(2), x=vectors(2), displacement=vectors(2))


def test_lengths_are_whole_numbers_of_any_size(cpu):
    """They were computed in int32 where somebody passed one, and a kernel divided by zero."""
    large = {"modes": np.zeros(4, np.float32), "q": vectors(2), "increment": vectors(1)}
    with pytest.raises(ValueError, match="modes needs 2147483648 elements"):
        cpu.launch("prolong", 1, **large, vertices=np.int32(2**30), rank=np.int32(2))
    with pytest.raises(ValueError, match="no array can be"):
        cpu.launch("touched_modes", 4, modes=large["modes"], touched=np.zeros(1, np.int32), vertices=4, touches=0,
                   columns=np.zeros(4, np.float32))  # fmt: skip
    with pytest.raises(ValueError, match="no array can be"):
        cpu.launch("tree_refit", 1, first_node=-1000, tree=vectors(4))


def test_arrays_over_the_same_things_are_equally_long(cpu):
    """Forces of three triangles and corners of two: one of both belongs to another mesh."""
    arguments = {
        "triangle_start": np.zeros(5, np.int32), "triangle_corner": np.zeros(6, np.int32), "force": vectors(6),
        "rest_inverse": vectors(3), "limited": np.zeros(3, np.float32), "limit_share": 1.0, "residual": vectors(4),
        "added": np.zeros(4, np.float32),
    }  # fmt: skip
    with pytest.raises(ValueError, match="force has 6 elements for 2 \\* triangles, but triangle_corner says that"):
        cpu.launch("membrane_residual", 4, **arguments)


def test_every_array_of_every_kernel_says_how_long_it_is():
    with pytest.raises(ValueError, match="how long"):
        signatures.signature("moved", "const vec *x, float h")
    with pytest.raises(ValueError, match="must be known"):
        signatures.signature("moved", "const vec *x OF(rank * vertices), int rank")
    with pytest.raises(ValueError, match="must be known"):
        signatures.signature("moved", "const vec *x OF(rank * rank)")
    assert all(parameter.length.text for kernel in signatures.signatures().values() for parameter in kernel.arrays)


def test_a_missing_device_is_said_with_the_remedy():
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

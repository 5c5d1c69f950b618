# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine can do: bandwidth at a given working set, and floating-point operations."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ...gpu_core.backend import Backend

REPEATS = 7

MULTIPLY = """
import time, numpy
a = numpy.ones(({n}, {n}), numpy.float32)
def seconds():
    began = time.perf_counter()
    a @ a
    return time.perf_counter() - began
print(2 * {n}**3 / min(seconds() for _ in range(5)))
"""


def processor() -> str:
    """The CPU's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def name(backend: Backend) -> str:
    """The device that the backend computes on."""
    threads = getattr(backend, "threads", None)
    return f"{processor()}, {threads} thread{'s' if threads != 1 else ''}" if threads else backend.device


def bandwidth(backend: Backend, working_set: int) -> float:
    """Bytes a second of a ← a + b, the best of some: two arrays read, one of them written, as traffic.py counts.

    working_set: bytes of both arrays together, so that what fits into a cache is measured in that cache.
    """
    xp, threads = backend.xp, getattr(backend, "threads", 1)
    size = max(1024, working_set // 8 // threads)
    arrays = [(xp.ones(size, xp.float32), xp.ones(size, xp.float32)) for _ in range(threads)]

    def triad(pair: Any) -> None:
        a, b = pair
        for first in range(0, size, CHUNK) if backend.name == "cpu" else (0,):
            last = first + CHUNK if backend.name == "cpu" else size
            xp.add(a[first:last], b[first:last], out=a[first:last])

    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(REPEATS):
            began = time.perf_counter()
            list(pool.map(triad, arrays))
            if backend.name == "cuda":
                xp.cuda.get_current_stream().synchronize()
            best = min(best, time.perf_counter() - began)
    return 12.0 * size * threads / best


CHUNK = 1 << 20  #: elements between which threads may change, so that the interpreter's lock costs nothing


#: Chains of multiplications and additions that need nothing but registers; no product of matrices, which on a card
#: needs a library of half a gigabyte.
CHAINS = r"""
extern "C" __global__ void chains(int rounds, float *out)
{
    float x = threadIdx.x, a[8];
    for (int k = 0; k < 8; ++k) a[k] = k;
    for (int round = 0; round < rounds; ++round)
        for (int k = 0; k < 8; ++k) a[k] = fmaf(a[k], 0.999f, x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
}
"""
BLOCKS, THREADS, ROUNDS = 4096, 256, 4096


def peak_operations(backend: Backend, size: int = 2048) -> float:
    """Operations a second in float32: of a matrix product on as many threads as the CPU backend uses, or of CHAINS."""
    if backend.name == "cuda":
        xp = backend.xp
        chains = xp.RawModule(code=CHAINS, options=(), backend="nvrtc").get_function("chains")
        arguments = np.int32(ROUNDS), xp.zeros(BLOCKS * THREADS, xp.float32)
        best = float("inf")
        for _ in range(1 + REPEATS):  # the first one loads it
            began = time.perf_counter()
            chains((BLOCKS,), (THREADS,), arguments)
            xp.cuda.get_current_stream().synchronize()
            best = min(best, time.perf_counter() - began)
        return 2.0 * 8 * ROUNDS * BLOCKS * THREADS / best
    threads = {key: str(getattr(backend, "threads", 1)) for key in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    command = [sys.executable, "-c", MULTIPLY.format(n=size)]
    run = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True, check=True)
    return float(run.stdout)

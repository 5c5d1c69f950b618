# SPDX-License-Identifier: GPL-3.0-or-later
"""Time and memory against the number of vertices and of threads, and the memory of a very large cloth."""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ...gpu_core.backend import Backend, select
from ...gpu_core.backend.cpu import CpuBackend
from ...gpu_core.simulator import Simulator
from .scenes import built
from .table1 import MEBIBYTE, Row, measure, peak_memory

SIZES = (2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000)
FIRST, LAST = 6, 8  #: frames of the drape that are timed: the middle lies on the sphere, the sides fall around it
GIBIBYTE = 1 << 30
LARGEST_OWNERS = 12  #: rows of the list of what holds the memory


def scaling(backend: Backend, sizes: Sequence[int] = SIZES) -> Iterator[Row]:
    for vertices in sizes:
        yield measure("drape", built("drape", vertices, LAST), backend, FIRST)


def threads(vertices: int, counts: Sequence[int] | None = None) -> Iterator[dict[str, Any]]:
    """The same frames on so many threads of the CPU; None = 1, 2, 4, … and all."""
    every = CpuBackend().threads
    for count in counts or sorted({*(1 << k for k in range(every.bit_length())), every}):
        row = measure("drape", built("drape", vertices, LAST), CpuBackend(threads=count), FIRST)
        yield {"threads": count, **dataclasses.asdict(row)}


def exponent(vertices: Sequence[float], seconds: Sequence[float]) -> float:
    """p of seconds = c vertices^p, or of anything else that grows, by least squares of the logarithms."""
    return float(np.polyfit(np.log(vertices), np.log(seconds), 1)[0])


def large(vertices: int, frames: int, limit: float) -> dict[str, Any]:
    """A drape of `vertices` in a process that may map `limit` GiB at most (as `ulimit -v`): memory, MiB, and seconds.

    Where it runs out of memory the result says so in `failed` and holds what was reached.
    """
    command = [sys.executable, "-m", __name__, str(vertices), str(frames), str(limit)]
    lines: list[dict[str, Any]] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", file=sys.stderr, flush=True)
            lines.append(json.loads(line))
    failed = f"exit code {process.returncode}" if process.returncode else ""
    stages = [line for line in lines if "stage" in line]
    holds: dict[str, float] = next((line["holds"] for line in lines if "holds" in line), {})
    return {"vertices": vertices, "limit_gib": limit, "failed": failed, "stages": stages, "holds": holds}


def _large(vertices: int, frames: int, limit: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(limit * GIBIBYTE),) * 2)
    began, backend = time.perf_counter(), select("cpu")

    def say(stage: str) -> None:
        print(json.dumps({"stage": stage, "seconds": time.perf_counter() - began, "peak": peak_memory(backend),
                          "now": _resident()}), flush=True)  # fmt: skip

    scene = built("drape", vertices, 1 + frames)
    say("scene")
    simulator = Simulator(scene, backend)
    say("simulator")
    for _ in range(frames):
        simulator.advance_frame()
        say(f"frame {simulator.frame}")
    print(json.dumps({"holds": holdings(simulator)}), flush=True)


def _resident() -> float:
    """MiB that the process holds now."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE


def holdings(simulator: Simulator) -> dict[str, float]:
    """MiB of the arrays that the simulator holds between frames, by where they are reached first; the largest ones."""
    sizes: Counter[str] = Counter()
    seen: set[int] = set()
    _walk("", simulator, sizes, seen)
    gc.collect()
    return {path: size / MEBIBYTE for path, size in sizes.most_common(LARGEST_OWNERS)}


def _walk(path: str, thing: Any, sizes: Counter[str], seen: set[int]) -> None:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        base = thing if thing.base is None or not isinstance(thing.base, np.ndarray) else thing.base
        if id(base) not in seen or base is thing:
            seen.add(id(base))
            sizes[path] += base.nbytes
    elif isinstance(thing, sparse.sparray):
        for part in ("data", "indices", "indptr"):
            _walk(path, getattr(thing, part), sizes, seen)
    elif isinstance(thing, list | tuple):
        for part in thing:
            _walk(path, part, sizes, seen)
    elif isinstance(thing, dict):
        for key, part in thing.items():
            _walk(f"{path}.{key}", part, sizes, seen)
    elif dataclasses.is_dataclass(thing) or type(thing).__module__.startswith("taffeta"):
        for key, part in vars(thing).items():
            _walk(f"{path}.{key}".lstrip("."), part, sizes, seen)


if __name__ == "__main__":
    _large(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))

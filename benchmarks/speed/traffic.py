# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes and floating-point operations of the kernels that a step launches, counted, not estimated.

Bytes: each array that a launch is given counts once where the kernel only reads it, twice where it may write it (a
processor reads a line before it writes into it; an array that is read and written is moved twice on any device). A
gather counts as if every line came once, so this is what no order of the memory can go below. Operations: the kernels
themselves, compiled with a float that counts what is done to it (counting.h) and run on the same arrays. What the host
does with arrays between the kernels is not counted.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...gpu_core.backend import Launch
from ...gpu_core.backend.build import compiler
from ...gpu_core.backend.cpu import CpuBackend
from ...gpu_core.backend.signatures import KERNELS, cpu_source, signatures
from .clock import Clock

HERE = Path(__file__).resolve().parent
BOX = 64  #: bytes of a box, four vec
LIBRARY = "counting.so"

Arguments = Mapping[str, Any]

#: Arrays of which a launch touches a known part only: (kernel, argument) to bytes.
PARTS: dict[tuple[str, str], Callable[[int, Arguments], int]] = {
    ("tree_refit", "tree"): lambda count, _: 3 * BOX * count,
    ("patch_box", "tree"): lambda count, _: 2 * BOX * count,
    ("overlapping_patches", "noted"): lambda count, _: 4 * count,  # at least
    ("candidates", "noted"): lambda count, _: 3 * 4 * count,  # at least
    ("restrict_partial", "modes"): lambda count, a: 4 * a["vertices"] * (count // a["chunks"]),
    ("prolong", "modes"): lambda count, a: 4 * a["vertices"] * a["rank"],
    ("touched_modes", "modes"): lambda count, _: 4 * count,
}


@dataclass
class Work:
    """What was done."""

    launches: int = 0
    bytes: int = 0
    operations: int = 0
    arrays: dict[int, int] = field(default_factory=dict)  #: address to bytes of what was touched

    def add(self, other: Work) -> None:
        self.launches += other.launches
        self.bytes += other.bytes
        self.operations += other.operations
        self.arrays |= other.arrays

    @property
    def working_set(self) -> int:
        """Bytes of all arrays together: what a cache would have to hold."""
        return sum(self.arrays.values())


@dataclass
class Traffic:
    """Work by stage of the clock, and by kernel."""

    stages: dict[str, Work] = field(default_factory=lambda: defaultdict(Work))
    kernels: dict[str, Work] = field(default_factory=lambda: defaultdict(Work))

    def add(self, stage: str, kernel: str, work: Work) -> None:
        self.stages[stage].add(work)
        self.kernels[kernel].add(work)


class CountingBackend(CpuBackend):
    """The CPU backend on one thread, launch by launch, every launch added to `traffic` while `counting`."""

    def __init__(self, clock: Clock) -> None:
        self._folder = _counting_library()
        super().__init__(threads=1, path=Path(self._folder.name) / LIBRARY)
        self.clock, self.traffic, self.counting = clock, Traffic(), False
        self._operations = self._library.taffeta_operations
        self._operations.restype = ctypes.c_longlong

    def sequence(self, launches: Sequence[Launch]) -> Callable[[], None]:
        bound = [(item, super(CountingBackend, self).sequence([item])) for item in launches]

        def run() -> None:
            for item, launched in bound:
                before = self._operations()
                launched()
                if self.counting and item.elements > 0:
                    arrays = [a for a in item.arguments.values() if isinstance(a, np.ndarray)]
                    places = {array.ctypes.data: int(array.nbytes) for array in arrays}
                    work = Work(1, bytes_moved(item), self._operations() - before, places)
                    self.traffic.add(self.clock.stage, item.kernel, work)

        return run


def bytes_moved(item: Launch) -> int:
    """What a launch must move at least; see the head of this file."""
    total = 0
    for parameter in signatures()[item.kernel].arrays:
        part = PARTS.get((item.kernel, parameter.name))
        size = part(item.elements, item.arguments) if part else int(item.arguments[parameter.name].nbytes)
        total += size if parameter.constant else 2 * size
    return total


@cache
def _counting_library() -> tempfile.TemporaryDirectory[str]:
    """A folder with the kernels on a float that counts; it lives as long as this process."""
    folder = tempfile.TemporaryDirectory()
    text, made = Path(folder.name) / "counting.cpp", Path(folder.name) / LIBRARY
    text.write_text('#include "counting.h"\n' + cpu_source(), encoding="utf-8")
    includes = [f"-I{place}" for place in (HERE, KERNELS, KERNELS.parent / "backend")]
    options = ["-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run([*compiler(), *options, *includes, str(text), "-o", str(made), "-lpthread", "-lm"], check=True)
    return folder

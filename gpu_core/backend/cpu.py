# SPDX-License-Identifier: GPL-3.0-or-later
"""The CPU backend: NumPy arrays, and the kernels as a shared library with a thread pool."""

from __future__ import annotations

import ctypes
import os
import struct
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .build import is_shipped, library
from .launches import Launch, checked
from .signatures import CHUNK, signatures


class _Slot(ctypes.Union):
    _fields_ = [("pointer", ctypes.c_void_p), ("integer", ctypes.c_int), ("real", ctypes.c_float)]


class _Launch(ctypes.Structure):
    _fields_ = [
        ("range", ctypes.c_void_p), ("slot", ctypes.POINTER(_Slot)), ("count", ctypes.c_int), ("whole", ctypes.c_int)
    ]  # fmt: skip


def cores() -> int:
    """TAFFETA_THREADS, or as many cores as this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(os.environ.get("TAFFETA_THREADS", "0")) or usable


class CpuBackend:
    """Arrays are numpy's; `launch` runs a kernel over `count` elements and returns when all are done."""

    name = "cpu"
    xp: Any = np
    asynchronous = False

    def __init__(self, threads: int | None = None, path: Path | None = None, passed_over: str = "") -> None:
        """threads: None = `cores()`. path: another build of the kernels (sanitizers). passed_over: see `Backend`."""
        self.passed_over = passed_over
        self.threads = threads or cores()
        path = path or library()
        self.library = "shipped with the extension" if is_shipped(path) else "built on this machine"
        self._library = ctypes.CDLL(str(path))
        self._library.taffeta_kernel.restype = ctypes.c_void_p
        self._library.taffeta_kernel.argtypes = [ctypes.c_char_p]
        self._library.taffeta_pool.restype = ctypes.c_void_p
        self._library.taffeta_run.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Launch), ctypes.c_int]
        self._library.taffeta_pool_free.argtypes = [ctypes.c_void_p]
        self._ranges = {name: self._library.taffeta_kernel(name.encode()) for name in signatures()}
        self._pool = self._library.taffeta_pool(self.threads)
        weakref.finalize(self, self._library.taffeta_pool_free, self._pool)

    @property
    def device(self) -> str:
        return f"CPU, {self.threads} threads"

    def array(self, values: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
        """A contiguous copy of `values` on the device."""
        return np.array(values, dtype=dtype, order="C")

    def host(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array

    def launch(self, kernel: str, count: int, /, **arguments: Any) -> None:
        self.sequence([Launch(kernel, count, arguments)])()

    def run(self, launches: Sequence[Launch]) -> None:
        """One after the other, once."""
        self.sequence(launches)()

    def sequence(self, launches: Sequence[Launch]) -> Callable[[], None]:
        """Bind launches once, to be run again and again on the same arrays."""
        table = (_Launch * len(launches))()
        bound: dict[int, tuple[Launch, Any]] = {}  # by launch: a list may repeat one
        for row, item in zip(table, launches, strict=True):
            if id(item) not in bound:
                bound[id(item)] = item, _slots(item)
            row.range, row.slot, row.count = self._ranges[item.kernel], bound[id(item)][1], item.elements
            row.whole = CHUNK if signatures()[item.kernel].summed else 1

        def run(_kept: Any = bound) -> None:
            self._library.taffeta_run(self._pool, table, len(table))

        return run

    def look(self, *arrays: npt.NDArray[Any]) -> Callable[[], Callable[[], tuple[npt.NDArray[Any], ...]]]:
        """Bind a look at these arrays: each call gives the answer to what is in them then."""

        def take() -> Callable[[], tuple[npt.NDArray[Any], ...]]:
            seen = tuple(array.copy() for array in arrays)
            return lambda: seen

        return take

    def ends(self, counts: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], int]:
        """(where each ends of what has these int32 counts, one after the other; how much it is in all)."""
        ends = np.cumsum(counts, dtype=np.int64)
        return ends.astype(np.int32), int(ends[-1]) if len(ends) else 0

    def selected(self, flags: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The indices of the int32 flags that are 1, ascending."""
        return np.flatnonzero(flags).astype(np.int32)

    def tidy(self) -> None:
        """Between two frames. What nobody uses is the system's already."""


def _slots(item: Launch) -> Any:
    signature, arguments = checked(item)
    values = [_address(a) if p.pointer else a for p, a in zip(signature.parameters, arguments, strict=True)]
    return (_Slot * max(1, len(values))).from_buffer_copy(_packing(item.kernel).pack(*values))


@cache
def _packing(kernel: str) -> struct.Struct:
    """Of a launch's arguments, each in its slot."""
    form = ["P" if p.pointer else "f4x" if p.base == "float" else "i4x" for p in signatures()[kernel].parameters]
    return struct.Struct("".join(form) or "8x")


def _address(array: npt.NDArray[Any]) -> int:
    """`array.ctypes.data` in a fifth of its time: a step asks for hundreds of them."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (ValueError, TypeError):  # nothing in it, or not to be written to
        return int(array.ctypes.data)

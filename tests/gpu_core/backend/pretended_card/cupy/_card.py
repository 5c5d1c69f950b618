# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory, streams, events and graphs of a card that does everything as late as it may.

What is launched waits in its stream until somebody has to know: an array operation, a copy that blocks, an event.
Memory is poisoned at birth. A graph keeps addresses, and no array alive. Environment variables make the card another:
PRETENDED_DEVICES (number of cards, or "no driver"), PRETENDED_MEMORY (bytes).
"""

from __future__ import annotations

import os
import sys
import weakref
from collections import Counter, deque
from collections.abc import Callable
from functools import cache

import numpy as np

counts: Counter[tuple[str, str]] = Counter()  #: how often the host did what, and which of our modules asked for it
kernels: set[str] = set()  #: that ran


class CUDARuntimeError(RuntimeError):
    """What the real one says, or a fault that only a pretended card sees."""


class CUDADriverError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


def count(what: str) -> None:
    """The stage is the module of ours, above the backend, that asked for it."""
    frame = sys._getframe(1)
    while frame is not None and not _stage(frame.f_code.co_filename):
        frame = frame.f_back
    counts[what, _stage(frame.f_code.co_filename) if frame else ""] += 1


@cache
def _stage(path: str) -> str:
    _, ours, module = path.rpartition("/gpu_core/")
    return module.removesuffix(".py") if ours and not module.startswith("backend/") and "/tests/" not in path else ""


class Block:
    """An allocation."""

    def __init__(self, size: int) -> None:
        refuse_in_capture("an allocation")
        limit = int(os.environ.get("PRETENDED_MEMORY", "0"))
        if limit and pool.used + size > limit:
            raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes (allocated so far: {pool.used:,} bytes).")
        raw = np.empty(size + 512, np.uint8)
        self.bytes = raw[-raw.ctypes.data % 512 :][:size]
        self.bytes[:] = 0xFF  # no number as a float, −1 as an integer: what a pool hands out is anything
        pool.used += size
        weakref.finalize(self, pool.give, size)


class Pool:
    """Keeps what is given back, and never finds a use for it."""

    used = kept = 0

    def give(self, size: int) -> None:
        self.used -= size
        self.kept += size

    def used_bytes(self) -> int:
        return self.used

    def free_bytes(self) -> int:
        return self.kept

    def total_bytes(self) -> int:
        return self.used + self.kept

    def free_all_blocks(self, stream: object = None) -> None:
        refuse_in_capture("memory given back")
        self.kept = 0


class Stream:
    def __init__(self, null: bool = False, non_blocking: bool = False) -> None:
        self._null, self._alone = null, non_blocking
        self._waiting: deque[Callable[[], object]] = deque()
        self.captured: list[tuple] | None = None

    def __enter__(self) -> Stream:
        current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        current.pop()

    def push(self, work: Callable[[], object]) -> None:
        if self._alone:
            raise CUDARuntimeError("work on a stream that the default stream does not wait for")
        self._waiting.append(work)

    def run(self) -> None:
        while self._waiting:
            self._waiting.popleft()()

    def synchronize(self) -> None:
        refuse_in_capture("a wait")
        count("wait")
        self.run()

    def begin_capture(self, mode: int | None = None) -> None:
        if self._null or self.captured is not None:
            raise CUDARuntimeError("the default stream, or one that captures, cannot begin a capture")
        self.captured = []

    def end_capture(self) -> Graph:
        assert self.captured is not None
        captured, self.captured = self.captured, None
        graph = object.__new__(Graph)
        graph._launches = [(run, [weakref.ref(block) for block in blocks], name) for run, blocks, name in captured]
        count("graph build")
        return graph


class Graph:
    def __init__(self) -> None:
        raise NotImplementedError("a graph is made by capturing a stream")

    def launch(self, stream: Stream | None = None) -> None:
        refuse_in_capture("a graph")
        count("graph launch")
        for run, memory, name in self._launches:
            held = [block() for block in memory]
            if None in held:
                raise CUDARuntimeError(f"a graph uses memory of {name} that was given back")
            current[-1].push(lambda run=run, held=held: run())


class Event:
    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self._stream: Stream | None = None

    def record(self, stream: Stream | None = None) -> None:
        refuse_in_capture("an event")
        self._stream = stream or current[-1]

    def synchronize(self) -> None:
        refuse_in_capture("a wait")
        count("wait")
        if self._stream is not None:
            self._stream.run()


def refuse_in_capture(what: str) -> None:
    if current[-1].captured is not None:
        raise CUDARuntimeError(f"cudaErrorStreamCaptureUnsupported: {what} while the stream is captured")


def settle(what: str) -> None:
    """Before the host's next operation on arrays: whatever waits on the current stream has run."""
    refuse_in_capture(what)
    count(what)
    if current[-1]._alone:
        raise CUDARuntimeError(f"{what} on a stream that the default stream does not wait for")
    current[-1].run()


pool = Pool()
current = [Stream(null=True)]  #: the last one is the current stream

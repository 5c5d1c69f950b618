# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation on its way to the disk: frames are hashed and written in a thread while the next ones are read."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..scene.scene import Scene
from .array_digest import begin_hash, digest_of_hash
from .disk import DiskError, disk_errors, make_folder

Frames = npt.NDArray[Any]

MIB = 2**20
AHEAD = 64 * MIB  #: bytes that may wait for the disk before the reader has to
SMALL = MIB // 4  #: bytes up to which a series needs no file
STAGING = "reading_"  #: begins the name of the folder that holds what is not whole yet
FORGOTTEN = 24 * 3600.0  #: s after which such a folder belongs to a process that died


class FrameSpool:
    """Takes the frames of any number of arrays and holds those that move on disk, so that memory does not grow with
    their number. One thread of its own does the work, in order. `close` deletes what is left on the disk.
    """

    def __init__(self, folder: Path) -> None:
        """folder: where a folder of our own is made as soon as something needs it."""
        self.folder = Path(folder)
        self.series: list[FrameSeries] = []
        self.closed = False
        self._staging: Path | None = None
        self._made = False  #: the folder was not there before
        self._thread = ThreadPoolExecutor(1, "taffeta-frames")
        self._waiting: deque[tuple[Future[Any], int]] = deque()

    def begin(self, frames: int, name: str = "") -> FrameSeries:
        """An array that will have so many frames. name: of its file; without one it gets some name."""
        self.series.append(FrameSeries(self, frames, name or f"series_{len(self.series):03}.npy"))
        return self.series[-1]

    def submit(self, task: Callable[[], object], size: int = 0) -> None:
        """Let the thread do this after all before it. size: bytes that are held in memory until then."""
        self._waiting.append((self._thread.submit(task), size))

    def has_room(self, seconds: float, room: int | None = None) -> bool:
        """Wait, at most so long, until no more than `room` bytes (None: AHEAD) wait for the disk; whether it is so.

        Raises what went wrong in the thread: DiskError.
        """
        until, room = time.monotonic() + seconds, AHEAD if room is None else room
        while self._waiting:
            future, _ = self._waiting[0]
            if not future.done() and sum(size for _, size in self._waiting) <= room:
                return True
            if not wait([future], max(until - time.monotonic(), 0.0)).done:
                return False
            self._waiting.popleft()
            future.result()
        return True

    def is_done(self, seconds: float) -> bool:
        """Wait, at most so long, until nothing is left to do; whether it is so. Raises as `has_room`."""
        return self.has_room(seconds, room=-1)

    def seal(self, scene: Scene) -> None:
        """Let the thread see to it that the scene which was made of the series is valid; `is_done` raises SceneError
        where it is not."""
        self.submit(scene.validate)

    def staging(self) -> Path:
        """Our own folder. Raises DiskError."""
        if self._staging is None:
            self._made = not self.folder.exists()
            make_folder(self.folder)
            with disk_errors(self.folder):
                _sweep(self.folder)
                self._staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=self.folder))
        return self._staging

    def reserve(self) -> None:
        """Raises DiskError where the disk has not got what the series that are written still need."""
        needed = sum(series.bytes_to_come for series in self.series)
        with disk_errors(self.folder):
            free = shutil.disk_usage(self.staging()).free
        if needed > free:
            raise DiskError(
                f"{self.folder} has no room for the frames of what moves: {needed} bytes needed, {free} free "
                f"({needed / MIB:.0f} of {free / MIB:.0f} MiB)",
                "Free some space, bake fewer frames, or choose another folder",
            )

    def close(self) -> None:
        """Delete what is on the disk, as soon as the thread has ended what it does. Arrays stay readable on POSIX."""
        if self.closed:
            return
        self.closed = True
        for future, _ in self._waiting:
            future.cancel()
        self._waiting.clear()
        self._thread.submit(self._clear)
        self._thread.shutdown(wait=False)

    def _clear(self) -> None:
        self.series.clear()
        if self._staging is not None:
            shutil.rmtree(self._staging, ignore_errors=True)
        if self._made:
            with suppress(OSError):  # there is something in it by now
                self.folder.rmdir()


class FrameSeries:
    """One array that comes frame by frame: (F, …), or (1, …) where all frames are the same."""

    def __init__(self, spool: FrameSpool, frames: int, name: str) -> None:
        self.name = name
        self.digest = ""  #: of an array that moves, as `job.describe` has it
        self.array: Frames | None = None
        self._spool = spool
        self._frames = frames
        self._first: Frames | None = None
        self._taken = self._written = 0  #: frames
        self._moves = False  #: a frame had other values; 0 and -0 are the same value
        self._held: list[Frames] | None = None  #: since the last write; None while every bit is as in the first frame
        self._path: Path | None = None

    @property
    def is_file(self) -> bool:
        return self._path is not None and self._moves

    @property
    def bytes_to_come(self) -> int:
        """What will still be written, where it is known to be written at all."""
        return 0 if self._path is None or self._first is None else (self._frames - self._written) * self._first.nbytes

    def append(self, frame: Callable[[], Frames], size: int) -> None:
        """Add a frame. It is made in the thread; size: bytes that it keeps in memory until then."""
        self._spool.submit(lambda: self._take(np.ascontiguousarray(frame())), size)

    def finish(self) -> Frames:
        """The array, read-only and memory-mapped where it is large. Call when the spool `is_done`. Raises DiskError."""
        assert self._first is not None
        if self._held is None or not self._moves:
            self.array = self._first[None]
        else:
            self.digest = digest_of_hash(self._hash)
            self.array = np.stack(self._held) if self._path is None else self._mapped(self._path)
        self._held = None
        return self.array

    def _mapped(self, path: Path) -> Frames:
        self._write()
        with disk_errors(path):
            mapped: Frames = np.load(path, mmap_mode="r", allow_pickle=False)
        return mapped

    def _take(self, frame: Frames) -> None:
        if self._first is None:
            self._first = frame
        elif self._held is None and not np.array_equal(_bits(frame), _bits(self._first)):
            self._expand()
        self._moves = self._moves or not np.array_equal(frame, self._first)
        self._taken += 1
        if self._held is not None:
            self._hold(frame)

    def _expand(self) -> None:
        """From here on each frame is stored; those so far were all as the first."""
        assert self._first is not None
        self._held = []
        self._hash = begin_hash(self._first.dtype, (self._frames, *self._first.shape))
        for _ in range(self._taken):
            self._hold(self._first)

    def _hold(self, frame: Frames) -> None:
        assert self._held is not None
        self._hash.update(frame.data)
        self._held.append(frame)
        if len(self._held) * frame.nbytes > SMALL:
            self._write()

    def _write(self) -> None:
        assert self._first is not None
        if self._path is None:
            self._path = self._spool.staging() / self.name
            self._spool.reserve()
        with disk_errors(self._path), open(self._path, "ab") as file:
            if file.tell() == 0:
                shape, kind = (self._frames, *self._first.shape), np.lib.format.dtype_to_descr(self._first.dtype)
                header = {"descr": kind, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
            for frame in self._held or ():
                file.write(frame.data)
        self._written += len(self._held or ())
        self._held = []


def _bits(frame: Frames) -> Frames:
    return frame.view(f"u{frame.itemsize}")


def _sweep(folder: Path) -> None:
    """Delete what readers left here that were killed."""
    for left in folder.glob(f"{STAGING}*"):
        newest = max((path.stat().st_mtime for path in (left, *left.glob("*"))), default=0.0)
        if time.time() - newest > FORGOTTEN:
            shutil.rmtree(left, ignore_errors=True)

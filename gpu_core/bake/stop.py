# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may stop or hold a worker, and that it stops however long its step takes.

Its parent writes `cancel`, `pause` or `continue` on its standard input; the end of that input is the end of the parent.
Others send SIGTERM, or leave a file (`lock.CANCEL`) in the cache folder. All of it is heard in threads of their own:
the worker's first is in the solver's kernels for minutes.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

LOOK = 0.25  #: s between two looks for the file
PAUSE_LOOK = 0.1  #: s between two looks whether a pause is over
GRACE = 1.0  #: s from a request to the end, in which the step that is at work may end


class Stop:
    """Hears requests from when it is made. Ask `stopped` between steps."""

    def __init__(self, cancel: Path, led: bool, give_up: Callable[[], None]) -> None:
        """cancel: the file. led: a parent speaks on standard input. give_up: ends the process, from another thread;
        called where the solver has not come to its end GRACE seconds after a request."""
        self.asked, self.paused, self.over = threading.Event(), threading.Event(), threading.Event()
        self._cancel, self._give_up = cancel, give_up
        self._woken, waker = socket.socketpair()
        waker.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self._waker = waker
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _heard)
        for thread in (self._watch, self._listen) if led else (self._watch,):
            threading.Thread(target=thread, daemon=True).start()

    def stopped(self) -> bool:
        """Is it time to stop? Waits while it is to pause."""
        while self.paused.is_set() and not self.asked.is_set():
            time.sleep(PAUSE_LOOK)
        return self.asked.is_set()

    def _watch(self) -> None:
        """Signals and the file; then that the end comes."""
        self._woken.settimeout(LOOK)
        while not self.asked.is_set():
            with suppress(TimeoutError):
                self._woken.recv(1)
                self.asked.set()
            if self._is_asked_by_file():
                self.asked.set()
        if not self.over.wait(GRACE):
            self._give_up()

    def _is_asked_by_file(self) -> bool:
        with suppress(OSError):
            return self._cancel.exists()
        return False

    def _listen(self) -> None:
        """Commands a line; below Python's own reader, which would hold up the end of the process."""
        said = b""
        while chunk := _read():
            *lines, said = (said + chunk).split(b"\n")
            for line in lines:
                self._follow(line.strip())
        self.asked.set()

    def _follow(self, command: bytes) -> None:
        match command:
            case b"pause":
                self.paused.set()
            case b"continue":
                self.paused.clear()
            case b"cancel":
                self.asked.set()


def _read() -> bytes:
    try:
        return os.read(0, 4096)
    except OSError:
        return b""


def _heard(number: int, frame: Any) -> None:
    """Python needs a handler; the signal itself has woken the thread that watches."""

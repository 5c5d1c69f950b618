# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGTERM, by which a farm ends its jobs, and Ctrl-C: either ends the command.

Python raises KeyboardInterrupt wherever it is just then. Blender swallows that within its start, its handlers and its
drivers, or is left half set up and crashes. So a signal waits until the command is at work (`interruptible`), and
again while Blender has the word (`deferred`).

Module state on purpose: signals are the process's.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_deferred = True  #: does a signal wait?
_waiting = False  #: has one come that nobody has acted upon?


@contextmanager
def listening() -> Iterator[None]:
    """Signals are heard inside, and wait. SIGPIPE, which says that nobody reads any more, ends nothing: Python ignores
    it, Blender does not."""
    global _waiting
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers: dict[str, Any] = {"SIGTERM": _hear, "SIGPIPE": signal.SIG_IGN}
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as a shell lets a job in the background ignore it
        handlers["SIGINT"] = _hear
    known = {signal.Signals[name]: handler for name, handler in handlers.items() if hasattr(signal, name)}
    before = {number: signal.signal(number, handler) for number, handler in known.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        _waiting = False


@contextmanager
def interruptible() -> Iterator[None]:
    """A signal raises KeyboardInterrupt inside, at once where one has come before."""
    with _waits(False):
        obey()
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """A signal waits inside, for `heard` or for the end."""
    with _waits(True):
        yield
    if not _deferred:
        obey()


def obey() -> None:
    """Raises KeyboardInterrupt where a signal waits."""
    if heard():
        raise KeyboardInterrupt


def heard() -> bool:
    """Has a signal come that waits? Whoever asks acts upon it."""
    global _waiting
    before, _waiting = _waiting, False
    return before


@contextmanager
def _waits(value: bool) -> Iterator[None]:
    global _deferred
    before, _deferred = _deferred, value
    try:
        yield
    finally:
        _deferred = before


def _hear(*_: object) -> None:
    global _waiting
    if not _deferred:
        raise KeyboardInterrupt
    _waiting = True

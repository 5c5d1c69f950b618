# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices: what the CPU and CUDA share is the little that `Backend` names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from .errors import BackendError, NoDeviceError
from .launches import Launch, launch

#: Waits until the device has come so far, and gives what was in each of the arrays.
Answer = Callable[[], tuple[npt.NDArray[Any], ...]]


class Backend(Protocol):
    """An array module, kernel launches over elements, and a prefix sum."""

    name: str
    xp: Any
    library: str  #: where its kernels come from, in words
    asynchronous: bool  #: whether the host can give the device more to do before it has done what it has
    passed_over: str  #: why `auto` did not take a card that is there, in words; or nothing

    @property
    def device(self) -> str: ...
    def array(self, values: npt.ArrayLike, dtype: npt.DTypeLike = ...) -> Any: ...
    def host(self, array: Any) -> npt.NDArray[Any]: ...
    def launch(self, kernel: str, count: int, /, **arguments: Any) -> None: ...
    def run(self, launches: Sequence[Launch]) -> None: ...
    def sequence(self, launches: Sequence[Launch]) -> Callable[[], None]: ...
    def look(self, *arrays: Any) -> Callable[[], Answer]: ...
    def ends(self, counts: Any) -> tuple[Any, int]: ...
    def selected(self, flags: Any) -> Any: ...
    def tidy(self) -> None: ...


#: Vertices from which on a card is faster (docs/theory/performance.md): below, a step on it takes as long however small
#: the cloth, and a processor with eight cores probably less.
CARD_WINS = 5000


def select(name: str = "auto", vertices: int = CARD_WINS) -> Backend:
    """The backend `name`. Raises BackendError.

    auto takes CUDA where a device answers, the self-test has passed on it (it runs the first time), and it is to
    simulate so many vertices of cloth that it wins; else the CPU.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise BackendError(f"there is no backend {name!r}", "Choose auto, cpu or cuda")
    from .cpu import CpuBackend

    if name == "cpu" or (name == "auto" and vertices < CARD_WINS):
        return CpuBackend()
    from .cuda import CudaBackend
    from .trust import verdict_on

    try:
        card = CudaBackend()
        verdict = verdict_on(card) if name == "auto" else None
        if verdict is None or verdict.passed:
            return card
        return CpuBackend(passed_over=f"{UNUSED}: {verdict.in_words}. Run the self-test, or update the NVIDIA driver")
    except BackendError as error:
        if name == "cuda":
            raise
        there = not isinstance(error, NoDeviceError)
        return CpuBackend(passed_over=f"{UNUSED}: {error}" if there else "")


UNUSED = "The graphics card is not used"


def describe() -> dict[str, Any]:
    """What each backend says of itself on this machine, for `taffeta info`; of a card, what the self-test said."""
    result: dict[str, Any] = {}
    for name in ("cpu", "cuda"):
        try:
            backend = select(name)
            result[name] = {"available": True, "device": backend.device, "kernels": backend.library}
            if name == "cuda":
                result[name]["verdict"] = _verdict(backend)
        except (BackendError, OSError) as error:
            result[name] = {"available": False, "reason": str(error)}
    result["threads"] = os.cpu_count()
    return result


def _verdict(card: Any) -> str:
    from .trust import known

    said = known(card)
    return said.in_words if said else "the self-test has not run on it yet: auto will run it"


__all__ = ["Answer", "Backend", "BackendError", "Launch", "describe", "launch", "select"]

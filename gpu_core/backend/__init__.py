# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices: what the CPU and CUDA share is the little that `Backend` names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from .errors import BackendError
from .launches import Launch, launch

Answer = Callable[[], npt.NDArray[Any]]  #: waits until the device has come so far, and gives what was there


class Backend(Protocol):
    """An array module, kernel launches over elements, and a prefix sum."""

    name: str
    xp: Any
    library: str  #: where its kernels come from, in words
    ahead: int  #: answers that the host may leave unread while it gives the device more to do

    @property
    def device(self) -> str: ...
    def array(self, values: npt.ArrayLike, dtype: npt.DTypeLike = ...) -> Any: ...
    def host(self, array: Any) -> npt.NDArray[Any]: ...
    def launch(self, kernel: str, count: int, /, **arguments: Any) -> None: ...
    def sequence(self, launches: Sequence[Launch]) -> Callable[[], None]: ...
    def look(self, array: Any) -> Callable[[], Answer]: ...
    def exclusive_sum(self, counts: Any) -> tuple[Any, int]: ...


def select(name: str = "auto") -> Backend:
    """The backend `name`: auto takes CUDA where a device answers, else the CPU. Raises BackendError."""
    if name not in ("auto", "cpu", "cuda"):
        raise BackendError(f"there is no backend {name!r}", "Choose auto, cpu or cuda")
    if name in ("auto", "cuda"):
        from .cuda import CudaBackend

        try:
            return CudaBackend()
        except BackendError:
            if name == "cuda":
                raise
    from .cpu import CpuBackend

    return CpuBackend()


def describe() -> dict[str, Any]:
    """What each backend says of itself on this machine, for `taffeta info`."""
    result: dict[str, Any] = {}
    for name in ("cpu", "cuda"):
        try:
            backend = select(name)
            result[name] = {"available": True, "device": backend.device, "kernels": backend.library}
        except (BackendError, OSError) as error:
            result[name] = {"available": False, "reason": str(error)}
    result["threads"] = os.cpu_count()
    return result


__all__ = ["Answer", "Backend", "BackendError", "Launch", "describe", "launch", "select"]

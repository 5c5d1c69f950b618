# SPDX-License-Identifier: GPL-3.0-or-later
"""RawModule: NVRTC compiles the source as it does for a card, and its PTX runs on this processor.

PRETENDED_BACKWARDS: the last thread runs first. PRETENDED_FAULT: one of FAULTS happens when the kernels are compiled.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ._array import ndarray
from ._card import CUDADriverError, CUDARuntimeError, OutOfMemoryError, count, current, kernels
from ._ptx import translate

FLAGS = (
    *("-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno"),
    *("-shared", "-fPIC", "-w"),
)
BUILD = Path(__file__).resolve().parents[5] / "build" / "pretended_card"
ADDED = ("-ftz=true", "-arch=compute_86")  #: by CuPy, and by the card that is pretended
TYPES = {"f32": (np.float32, ctypes.c_float), "u32": (np.int32, ctypes.c_int)}


class CompileException(Exception):  # noqa: N818 - CuPy's name
    pass


FAULTS = {
    "no NVRTC": RuntimeError("CuPy failed to load libnvrtc.so.12: OSError: libnvrtc.so.12: cannot open shared object"),
    "no headers": RuntimeError("Failed to auto-detect CUDA root directory. Please specify `CUDA_PATH`"),
    "old card": CompileException("nvrtc: error: invalid value for --gpu-architecture (-arch)"),
    "driver": CUDADriverError(
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the PTX was compiled with an unsupported toolchain."
    ),
    "cache": PermissionError(13, "Permission denied", "kernel_cache"),
    "memory": OutOfMemoryError("Out of memory allocating 512 bytes"),
    "anything": ValueError("nobody has thought of this"),
}


class Range(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint64), ("last", ctypes.c_uint64)]


class RawModule:
    def __init__(self, *, code: str, options: tuple[str, ...], backend: str) -> None:
        self._code, self._options, self._library = code, options, None

    def get_function(self, name: str) -> Kernel:
        if self._library is None:
            if fault := os.environ.get("PRETENDED_FAULT"):
                raise FAULTS[fault]
            self._library, self._entries = _built(_compiled(self._code, self._options))
        return Kernel(self._library, name, self._entries[name])


class Kernel:
    """Looks at the arguments, which CUDA does not: it knows neither their number nor their types."""

    def __init__(self, library: ctypes.CDLL, name: str, kinds: list[str]) -> None:
        self.name, self._kinds = name, kinds
        self._run = getattr(library, f"run_{name}")
        self._run.restype = ctypes.c_uint64

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        if not (0 < grid[0] < 2**31 and 0 < block[0] <= 1024):
            raise CUDADriverError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        if len(arguments) != len(self._kinds):
            raise TypeError(f"{self.name} takes {len(self._kinds)} arguments, got {len(arguments)}")
        values = [self._value(kind, argument) for kind, argument in zip(self._kinds, arguments, strict=True)]
        arrays = [argument for argument in arguments if type(argument) is ndarray]
        table = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        ranges = (Range * len(arrays))(*((place := array.address, place + array.nbytes) for array in arrays))
        launch = ctypes.c_uint32(grid[0]), ctypes.c_uint32(block[0]), bool(os.environ.get("PRETENDED_BACKWARDS"))

        def run(_kept: object = values) -> None:
            kernels.add(self.name)
            if self._run(*launch, table, ranges, len(ranges)):
                raise CUDARuntimeError(f"cudaErrorIllegalAddress: {self.name} went beyond its arrays")

        blocks = [array.block for array in arrays]
        if current[-1].captured is not None:
            current[-1].captured.append((run, blocks, self.name))
        else:
            count("launch")
            current[-1].push(lambda: (run(), blocks))  # freed memory is reused in the order of the stream

    def _value(self, kind: str, argument: Any) -> Any:
        """A number, or an address, as the launch passes it."""
        if kind == "u64" and type(argument) is ndarray and argument.flags.c_contiguous:
            return ctypes.c_uint64(argument.address)
        if kind not in TYPES or type(argument) is not TYPES[kind][0]:
            raise TypeError(f"{self.name} wants a {kind}, got {type(argument)}")
        return TYPES[kind][1](argument.item())


def _compiled(code: str, options: tuple[str, ...]) -> str:
    """The PTX that NVRTC makes, kept by the text it was made from. The backend has loaded NVRTC."""
    made = BUILD / f"{_digest(code, *options, *ADDED)}.ptx"
    if not made.exists():
        _put(made, lambda part: part.write_bytes(_asked_nvrtc(code, options)))
    return made.read_text()


def _asked_nvrtc(code: str, options: tuple[str, ...]) -> bytes:
    nvrtc, program, size = ctypes.CDLL("libnvrtc.so.12"), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"taffeta.cu", 0, None, None)
    given = [option.encode() for option in (*options, *ADDED)]
    failed = nvrtc.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    name = "ProgramLog" if failed else "PTX"
    getattr(nvrtc, f"nvrtcGet{name}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{name}")(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise CompileException(text.value.decode())
    return text.value


def _built(ptx: str) -> tuple[ctypes.CDLL, dict[str, list[str]]]:
    text, entries = translate(ptx)
    made = BUILD / f"{_digest(text, *FLAGS)}.so"
    if not made.exists():
        from taffeta.gpu_core.backend.build import compiler

        command = [*compiler(), *FLAGS, "-x", "c++", "-", "-lm", "-o"]
        _put(made, lambda part: subprocess.run([*command, str(part)], input=text.encode(), check=True))
    return ctypes.CDLL(str(made)), entries


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _put(path: Path, write: Callable[[Path], object]) -> None:
    """Two processes may do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    write(part)
    part.replace(path)

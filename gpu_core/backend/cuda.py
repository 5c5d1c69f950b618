# SPDX-License-Identifier: GPL-3.0-or-later
"""The CUDA backend: CuPy arrays, and the kernels compiled by NVRTC. Imported only where it is asked for."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import BackendError, NoDeviceError
from .launches import Launch, checked
from .signatures import CHUNK, WHOLE_BLOCK, Signature, cuda_source, signatures

UNREAD = 1  #: answers of a look
SPARE = 1 << 30  #: bytes that CuPy's pool may keep for later, however little is in use
BLOCK = 128  #: threads a block: enough warps to hide latency, few enough for kernels with many registers
#: Without contraction to fma, kernels give the CPU's bits (docs/theory/float32.md).
OPTIONS = ("--std=c++17", "-default-device", "-fmad=false")
#: NVRTC in its wheel, on Linux and on Windows; the second of each loads the first.
NVRTC = ("lib/libnvrtc-builtins.so.*", "lib/libnvrtc.so.12", "bin/nvrtc-builtins64_*.dll", "bin/nvrtc64_*_0.dll")
#: What is to be done about an exception of this name, or of a class below it, with this word in its text.
REMEDIES = (
    ("MemoryError", "", "Close what else uses the card's memory."),
    ("OSError", "", "Let CUPY_CACHE_DIR name a folder that can be written."),
    ("RuntimeError", "nvrtc", "Install the GPU libraries again: the compiler of the kernels is missing."),
    ("RuntimeError", "CUDA root", "Install the GPU libraries again: the headers of the kernels' compiler are missing."),
    ("CompileException", "architecture", "The card is older or newer than the GPU libraries: update both."),
    ("CUDADriverError", "", "Update the NVIDIA driver."),
)
OTHERWISE = "Or choose the CPU backend"


def load_nvrtc() -> None:
    """Make the NVRTC of the PyPI wheel visible to CuPy, which looks only for a CUDA toolkit."""
    found = importlib.util.find_spec("nvidia.cuda_nvrtc") if importlib.util.find_spec("nvidia") else None
    if found is None or not found.submodule_search_locations:
        return
    for place in found.submodule_search_locations:
        for pattern in NVRTC:
            for path in sorted(Path(place).glob(pattern)):
                ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def import_cupy() -> Any:
    """cupy. Raises NoDeviceError, or BackendError that says what is wrong with it."""
    try:
        load_nvrtc()
        import cupy
    except ModuleNotFoundError as error:
        raise NoDeviceError(
            f"CuPy is not installed ({error})", "Install the GPU libraries, or choose the CPU backend"
        ) from error
    except Exception as error:  # an import runs whatever it likes
        raise BackendError(
            f"CuPy cannot be loaded ({_in_a_line(error)})", "Install the GPU libraries again, or choose the CPU backend"
        ) from error
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise NoDeviceError(
            f"no CUDA device answers ({_in_a_line(error)})", "Check the NVIDIA driver, or choose the CPU backend"
        ) from error
    if devices == 0:
        raise NoDeviceError("there is no CUDA device", "Choose the CPU backend")
    return cupy


def _not_started(error: Exception) -> BackendError:
    """Of what was raised while the kernels were compiled and loaded."""
    for kind, word, remedy in REMEDIES:
        if kind in (base.__name__ for base in type(error).__mro__) and word in str(error):
            return BackendError(f"the CUDA kernels do not start ({_in_a_line(error)})", f"{remedy} {OTHERWISE}")
    return BackendError(f"the CUDA kernels do not start ({_in_a_line(error)})", f"Please report this. {OTHERWISE}")


def _in_a_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


class CudaBackend:
    """Arrays are cupy's; launches are asynchronous on the current stream."""

    name = "cuda"
    library = "compiled by NVRTC"
    asynchronous = True
    passed_over = ""

    def __init__(self) -> None:
        """Raises BackendError."""
        self.xp: Any = import_cupy()
        try:
            self._module = self.xp.RawModule(code=cuda_source(), options=OPTIONS, backend="nvrtc")
            self._kernels = {name: self._module.get_function(f"launch_{name}") for name in signatures()}
            self._loaded: set[str] = set()  #: kernels that have run
        except Exception as error:  # whatever CuPy, NVRTC, the driver or the disk have to say
            raise _not_started(error) from error

    @property
    def device(self) -> str:
        runtime = self.xp.cuda.runtime
        return str(runtime.getDeviceProperties(runtime.getDevice())["name"].decode())

    @property
    def versions(self) -> tuple[str, ...]:
        """Of what the kernels' results could depend on besides the kernels."""
        runtime = self.xp.cuda.runtime
        known = runtime.getDeviceProperties(runtime.getDevice())
        driver = f"driver {runtime.driverGetVersion()}"
        return f"sm_{known['major']}{known['minor']}", driver, f"CuPy {self.xp.__version__}"

    def array(self, values: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> Any:
        return self.xp.array(values, dtype=dtype, order="C")

    def host(self, array: Any) -> npt.NDArray[Any]:
        return np.asarray(self.xp.asnumpy(array))

    def launch(self, kernel: str, count: int, /, **arguments: Any) -> None:
        self.run([Launch(kernel, count, arguments)])

    def run(self, launches: Sequence[Launch]) -> None:
        """One after the other, once."""
        self._bound(launches)()

    def sequence(self, launches: Sequence[Launch]) -> Callable[[], None]:
        """Bind launches once, to be run again and again on the same arrays.

        They are one CUDA graph as soon as each of the kernels has run once, which loads it: a kernel of a few µs costs
        about as much to launch from Python.
        """
        launch, kernels = self._bound(launches), [item.kernel for item in launches if item.elements > 0]
        if len(kernels) < 2:
            return launch
        return _Replay(self.xp, launch, lambda: self._loaded.issuperset(kernels))

    def _bound(self, launches: Sequence[Launch]) -> Callable[[], None]:
        bound = []
        for item in launches:
            signature, passed = _passed(item)
            if item.elements > 0:
                grid, block = _shape(signature, item.elements)
                bound.append((item.kernel, grid, block, (np.int32(item.elements), *passed)))

        def launch() -> None:
            for kernel, grid, block, arguments in bound:
                self._kernels[kernel](grid, block, arguments)
                self._loaded.add(kernel)

        return launch

    def look(self, *arrays: Any) -> Callable[[], Callable[[], tuple[npt.NDArray[Any], ...]]]:
        """Bind a look at these arrays: each call gives the answer to what is in them once the device has come so far.

        At most UNREAD answers may be unread when the next look is taken.
        """
        from cupyx import empty_pinned

        copies = [[empty_pinned(array.shape, array.dtype) for array in arrays] for _ in range(1 + UNREAD)]
        seen = cycle([(copy, self.xp.cuda.Event(disable_timing=True)) for copy in copies])

        def take() -> Callable[[], tuple[npt.NDArray[Any], ...]]:
            copied, arrived = next(seen)
            for array, copy in zip(arrays, copied, strict=True):
                array.get(out=copy, blocking=False)
            arrived.record()

            def answer() -> tuple[npt.NDArray[Any], ...]:
                arrived.synchronize()
                return tuple(np.array(copy) for copy in copied)

            return answer

        return take

    def ends(self, counts: Any) -> tuple[Any, int]:
        """(where each ends of what has these int32 counts, one after the other; how much it is in all)."""
        ends = self.xp.cumsum(counts, dtype=self.xp.int64)
        return ends.astype(self.xp.int32), int(ends[-1]) if len(ends) else 0

    def selected(self, flags: Any) -> Any:
        """The indices of the int32 flags that are 1, ascending."""
        ends = self.xp.cumsum(flags, dtype=self.xp.int32)
        found = self.xp.empty(int(ends[-1]) if len(ends) else 0, self.xp.int32)
        self.launch("place_flagged", len(flags), flag=flags, end=ends, found=found)
        return found

    def tidy(self) -> None:
        """Between two frames: give the card's memory back to Blender and its renderer, where the pool keeps more than
        is in use. It keeps what is freed, and lists have another size in each step."""
        pool = self.xp.get_default_memory_pool()
        if pool.free_bytes() > max(SPARE, pool.used_bytes()):
            pool.free_all_blocks()


class _Replay:
    """Launches, recorded as a CUDA graph once what they need is loaded: nothing can be while they are recorded."""

    def __init__(self, cupy: Any, launch: Callable[[], None], loaded: Callable[[], bool]) -> None:
        self._cupy, self._launch, self._loaded = cupy, launch, loaded
        self._graph: Any = None

    def __call__(self) -> None:
        if self._graph is None and not self._loaded():
            self._launch()
            return
        if self._graph is None:
            with self._cupy.cuda.Stream(non_blocking=True) as stream:
                stream.begin_capture()
                self._launch()
                self._graph = stream.end_capture()
        self._graph.launch()


def _shape(signature: Signature, elements: int) -> tuple[tuple[int], tuple[int]]:
    """(blocks, threads of each) of a launch."""
    if signature.block:
        return (elements,), (WHOLE_BLOCK,)
    block = CHUNK if signature.summed else BLOCK
    return ((elements + block - 1) // block,), (block,)


def _passed(item: Launch) -> tuple[Signature, list[Any]]:
    """The kernel's signature, and the arguments as a launch takes them: numbers of the kernel's types."""
    signature, passed = checked(item)
    for k, kind in signature.number_kinds:
        passed[k] = kind(passed[k])
    return signature, passed

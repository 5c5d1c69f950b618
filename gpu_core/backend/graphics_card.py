# SPDX-License-Identifier: GPL-3.0-or-later
"""The graphics card: what its driver says, and in words what stands between it and the simulator.

    python -m gpu_core.backend.graphics_card

prints one JSON object: `card` (a Diagnosis), `loads` (why CuPy and NVRTC do not load, or nothing; that needs no card)
and `backends` (see `backend.describe`). It is run in a process of its
own: a driver that hangs or crashes takes nobody with it, and only here and in the worker is CuPy imported.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from . import describe
from .cuda import load_nvrtc

MIB = 2**20
CUDA = 12000  #: what the driver must speak: NVRTC's major version, as 1000 · major + 10 · minor
DRIVER = 525  #: the first release that does, by NVIDIA's table of compatible minor versions
CAPABILITY = (5, 0)  #: the oldest architecture that NVRTC 12.9 compiles for
LITTLE_MEMORY = 1024 * MIB  #: free bytes; CUDA and the kernels alone take some hundred MiB
PATIENCE = 10.0  #: s for nvidia-smi

NO_DEVICE, MISMATCH, UNSUPPORTED = 100, 803, 804  #: of cuInit: CUDA_ERROR_NO_DEVICE, …SYSTEM_DRIVER_MISMATCH, …
CAPABILITY_MAJOR, CAPABILITY_MINOR = 75, 76  #: CUdevice_attribute
NUMBERS = "name,driver_version,memory.total,memory.free"


@dataclass(frozen=True)
class Card:
    name: str
    memory: int  #: bytes
    capability: tuple[int, int]
    free: int | None = None  #: bytes; None where only the driver's library was asked


@dataclass(frozen=True)
class Driver:
    """What libcuda and nvidia-smi said."""

    installed: bool = False
    cuda: int = 0  #: as CUDA above
    release: str = ""  #: “550.54.14”, where nvidia-smi was there to say
    error: int = 0  #: of cuInit
    error_text: str = ""
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """problem: why the card cannot simulate, or nothing; remedy: what helps. The rest is for information."""

    problem: str = ""
    remedy: str = ""
    warning: str = ""
    cards: tuple[Card, ...] = ()
    cuda: str = ""
    release: str = ""


def diagnose(driver: Driver, system: str = sys.platform) -> Diagnosis:
    """Judge what the driver said; system as `sys.platform`."""
    found = Diagnosis(cards=driver.cards, cuda=_version(driver.cuda), release=driver.release)
    problem, remedy = _problem(driver, system)
    if problem:
        return replace(found, problem=problem, remedy=remedy)
    first = driver.cards[0]
    if first.free is not None and first.free < LITTLE_MEMORY:
        amounts = f"{first.free // MIB} of {first.memory // MIB} MiB"
        warning = f"Only {amounts} are free on {first.name}: close other programs that use it"
        return replace(found, warning=warning)
    return found


def _problem(driver: Driver, system: str) -> tuple[str, str]:
    processor = "The processor does the work meanwhile"
    if system == "darwin":
        return "There is no CUDA for macOS", "The processor does the work"
    if not driver.installed:
        return (
            "No NVIDIA driver is installed",
            f"Install NVIDIA's driver, {DRIVER} or later, if there is an NVIDIA card. {processor}",
        )
    if driver.cuda < CUDA:
        name = f"The NVIDIA driver {driver.release}".strip()
        text = f"{name} is too old: it knows CUDA {_version(driver.cuda)}, Taffeta needs {_version(CUDA)}"
        return text, f"Install NVIDIA's driver, {DRIVER} or later. {processor}"
    if driver.error in (MISMATCH, UNSUPPORTED):
        return "The parts of the NVIDIA driver do not belong together", f"Restart the computer. {processor}"
    if driver.error and driver.error != NO_DEVICE:
        text = driver.error_text or f"error {driver.error}"
        return f"The NVIDIA driver does not start: {text}", f"Restart the computer, or install it anew. {processor}"
    if not driver.cards:
        return "The NVIDIA driver finds no card", f"Check that the card is plugged in and switched on. {processor}"
    first = driver.cards[0]
    if first.capability < CAPABILITY:
        has, needs = (".".join(map(str, version)) for version in (first.capability, CAPABILITY))
        return f"{first.name} is too old: its compute capability is {has}, CUDA 12 needs {needs}", processor
    return "", ""


def _version(cuda: int) -> str:
    return f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else ""


def ask() -> Driver:
    """Ask libcuda, and nvidia-smi for what libcuda does not tell."""
    driver = _ask_library()
    return with_numbers(driver, _ask_program()) if driver.installed else driver


def with_numbers(driver: Driver, output: str) -> Driver:
    """Add the release and the free memory from what `nvidia-smi --query-gpu=… --format=csv,noheader,nounits` printed.

    Rows that are no numbers – nvidia-smi complains on standard output too – add nothing.
    """
    free: dict[str, int] = {}
    release = driver.release
    for line in output.splitlines():
        parts = [part.strip() for part in line.rsplit(",", 3)]
        if len(parts) == 4 and parts[1].replace(".", "").isdigit():
            release = parts[1]
            with suppress(ValueError):  # “[N/A]”
                amount = int(parts[3]) * MIB
                free[parts[0]] = min(amount, free.get(parts[0], amount))  # of two alike one cannot know which is which
    cards = tuple(replace(card, free=free.get(card.name)) for card in driver.cards)
    return replace(driver, release=release, cards=cards)


def _ask_library() -> Driver:
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return Driver()
    version = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    error = cuda.cuInit(0)
    if error:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(error, ctypes.byref(text))
        return Driver(True, version.value, error=error, error_text=(text.value or b"").decode(errors="replace"))
    count = ctypes.c_int()
    cuda.cuDeviceGetCount(ctypes.byref(count))
    return Driver(True, version.value, cards=tuple(_ask_card(cuda, index) for index in range(count.value)))


def _ask_card(cuda: ctypes.CDLL, index: int) -> Card:
    device, memory, value = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    capability = []
    for attribute in (CAPABILITY_MAJOR, CAPABILITY_MINOR):
        cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(value.value)
    return Card(name.value.decode(errors="replace"), memory.value, (capability[0], capability[1]))


def _ask_program() -> str:
    command = ["nvidia-smi", f"--query-gpu={NUMBERS}", "--format=csv,noheader,nounits"]
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    with suppress(OSError, subprocess.TimeoutExpired):
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False, creationflags=flags
        )
        return run.stdout
    return ""


def loads() -> str:
    """Why CuPy and NVRTC do not load, or nothing."""
    try:
        load_nvrtc()
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
    except Exception as error:  # an import runs whatever it likes
        return str(error) or type(error).__name__
    return ""


def main() -> None:
    print(json.dumps({"card": asdict(diagnose(ask())), "loads": loads(), "backends": describe()}))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
import os

from .._card import CUDARuntimeError, pool

MEMORY = 8 << 30  #: bytes


def getDeviceCount() -> int:  # noqa: N802 - CUDA's names
    devices = os.environ.get("PRETENDED_DEVICES", "1")
    if devices == "no driver":
        raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")
    return int(devices)


def getDevice() -> int:  # noqa: N802
    return 0


def getDeviceProperties(device: int) -> dict[str, object]:  # noqa: N802
    return {"name": b"Pretended", "totalGlobalMem": MEMORY, "major": 8, "minor": 6}


def memGetInfo() -> tuple[int, int]:  # noqa: N802
    return MEMORY - pool.used, MEMORY


def driverGetVersion() -> int:  # noqa: N802
    return 12090

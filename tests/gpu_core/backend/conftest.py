# SPDX-License-Identifier: GPL-3.0-or-later
"""The pretended card: CuPy's stand-in, in its place, and the CUDA backend on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.backend.cuda import load_nvrtc

CARD = Path(__file__).resolve().parent / "pretended_card"
NAMES = ("cupy", "cupyx")


@pytest.fixture
def cupy(monkeypatch):
    """The pretended CuPy, in the place of the real one."""
    load_nvrtc()
    for name in [name for name in sys.modules if name.split(".")[0] in NAMES]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(CARD)
    import cupy

    assert Path(cupy.__file__).is_relative_to(CARD)
    yield cupy
    for name in [name for name in sys.modules if name.split(".")[0] in NAMES]:
        del sys.modules[name]


@pytest.fixture
def cuda(cupy):
    return select("cuda")

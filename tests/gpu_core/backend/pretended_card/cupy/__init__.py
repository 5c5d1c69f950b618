# SPDX-License-Identifier: GPL-3.0-or-later
"""A strict stand-in for CuPy 13.6 on a machine without a card: what of it Taffeta uses, and no more.

It is imported in CuPy's place by whoever has this folder first in its path. NumPy computes, but arrays are the
device's: what CuPy would refuse is refused, the device runs as late as it may, and kernels are NVRTC's PTX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np
from numpy import bool_, float32, float64, int32, int64, uint8  # noqa: F401 - CuPy has them too

from . import cuda  # noqa: F401
from ._array import allocate, inside, ndarray, ufunc, wrap
from ._card import count, pool, settle
from ._kernels import RawModule  # noqa: F401

__version__ = "13.6.0"
WAITS = {"flatnonzero", "bincount", "unique"}  #: for a number of elements
FUNCTIONS = (
    *("arange", "argsort", "bincount", "concatenate", "cross", "cumsum", "flatnonzero", "full", "full_like", "isin"),
    *("ones", "ones_like", "searchsorted", "sort", "unique", "where", "zeros", "zeros_like"),
)
UFUNCS = ("absolute", "add", "maximum", "minimum", "multiply", "sqrt")


def _function(name: str) -> Callable[..., ndarray]:
    of = getattr(_np, name)

    def call(*arguments: Any, **options: Any) -> ndarray:
        settle("array operation")
        if name in WAITS:
            count("wait")
        if options.get("kind", "stable") != "stable":
            raise ValueError("kind can only be None or 'stable'")
        return wrap(of(*map(inside, arguments), **{key: inside(value) for key, value in options.items()}))

    return call


for _name in FUNCTIONS:
    globals()[_name] = _function(_name)
for _name in UFUNCS:
    globals()[_name] = ufunc(_name)


def array(obj: Any, dtype: Any = None, order: str = "K") -> ndarray:
    settle("array operation" if type(obj) is ndarray else "upload")
    made = _np.array(inside(obj) if type(obj) is ndarray else obj, dtype=dtype, order="C")
    if made.dtype.kind not in "biuf":
        raise ValueError(f"Unsupported dtype {made.dtype}")
    return wrap(made)


def asarray(a: Any, dtype: Any = None) -> ndarray:
    return a if type(a) is ndarray and dtype in (None, a.dtype) else array(a, dtype)


def asnumpy(a: Any) -> Any:
    return a.get() if type(a) is ndarray else _np.asarray(a)


def empty(shape: Any, dtype: Any = float) -> ndarray:
    return allocate(shape, dtype)


def empty_like(a: ndarray) -> ndarray:
    return allocate(a.shape, a.dtype)


def get_default_memory_pool() -> Any:
    return pool

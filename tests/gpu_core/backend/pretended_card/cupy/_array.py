# SPDX-License-Identifier: GPL-3.0-or-later
"""The device's array: NumPy's inside, CuPy's outside. NumPy may not touch it, and it touches no array of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._card import Block, count, current, refuse_in_capture, settle

SCALARS = (bool, int, float, np.generic)


class ndarray:
    __slots__ = ("_values", "block")
    __hash__ = None

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the pretended array has no {name!r}: look whether CuPy has, and add it")

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's numbers have NumPy's operators."""
        return ufunc(function.__name__)(*inputs, **options) if method == "__call__" else NotImplemented

    shape = property(lambda self: self._values.shape)
    dtype = property(lambda self: self._values.dtype)
    ndim = property(lambda self: self._values.ndim)
    size = property(lambda self: self._values.size)
    nbytes = property(lambda self: self._values.nbytes)
    flags = property(lambda self: self._values.flags)
    address = property(lambda self: self._values.ctypes.data)
    T = property(lambda self: _view(self, self._values.T))

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: Any) -> ndarray:
        parts = index if isinstance(index, tuple) else (index,)
        if all(part is None or part is ... or isinstance(part, slice | int | np.integer) for part in parts):
            return _view(self, self._values[parts if any(part is ... for part in parts) else (*parts, ...)])
        settle("array operation")
        if any(getattr(part, "dtype", None) == np.bool_ for part in parts):
            count("wait")  # for the number of elements
        return wrap(self._values[_index(parts)])

    def __setitem__(self, index: Any, value: Any) -> None:
        settle("array operation")
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        with np.errstate(all="ignore"):
            self._values[_index(index if isinstance(index, tuple) else (index,))] = inside(
                value if not isinstance(value, np.ndarray) else value.item()
            )

    def __matmul__(self, other: Any) -> ndarray:
        raise ImportError("libcublas.so.12: cannot open shared object file: No such file or directory")

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        if out is None or blocking:
            settle("blocking copy")
            return np.array(self._values) if out is None else np.copyto(out, self._values)
        refuse_in_capture("a copy")
        count("copy")
        if not isinstance(out, Pinned) or out.shape != self.shape or out.dtype != self.dtype:
            raise TypeError("a copy that does not block needs pinned memory of the array's shape and type")
        out[...] = np.full(out.nbytes, 0xFF, np.uint8).view(out.dtype).reshape(out.shape)  # until then: anything
        (stream or current[-1]).push(lambda source=self._values: np.copyto(out, source))
        return out

    def astype(self, dtype: Any, copy: bool = True) -> ndarray:
        if not copy and self.dtype == np.dtype(dtype):
            return self
        settle("array operation")
        with np.errstate(all="ignore"):
            return wrap(np.ascontiguousarray(self._values).astype(dtype).reshape(self.shape))

    def copy(self) -> ndarray:
        settle("array operation")
        return wrap(self._values.copy())

    def view(self, dtype: Any) -> ndarray:
        return _view(self, self._values.view(dtype))

    def reshape(self, *shape: Any) -> ndarray:
        found = self._values.reshape(*shape)
        if np.shares_memory(found, self._values) or not self.size:
            return _view(self, found)
        settle("array operation")
        return wrap(found)

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    def take(self, indices: Any, axis: int | None = None) -> ndarray:
        settle("array operation")
        return wrap(np.take(self._values, inside(indices), axis=axis, mode="wrap"))

    def sort(self, axis: int = -1) -> None:
        settle("array operation")
        self._values.sort(axis=axis, kind="stable")

    def _scalar(self) -> Any:
        settle("blocking copy")
        return self._values

    def __bool__(self) -> bool:
        return bool(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __index__(self) -> int:
        return self._scalar().__index__()

    def item(self) -> Any:
        return self._scalar().item()

    def tolist(self) -> Any:
        return self._scalar().tolist()


class Pinned(np.ndarray):
    """Memory of the host that the device may write into."""


def allocate(shape: Any, dtype: Any = float) -> ndarray:
    shape = tuple(shape) if isinstance(shape, tuple | list) else (int(shape),)
    array, dtype = object.__new__(ndarray), np.dtype(dtype)
    array.block = Block(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
    array._values = array.block.bytes.view(dtype).reshape(shape)
    return array


def wrap(values: Any) -> ndarray:
    """A device array of its own with these values."""
    array = allocate(np.shape(values), np.asarray(values).dtype)
    array._values[...] = values
    return array


def inside(value: Any) -> Any:
    """What NumPy is to compute with, of an argument of CuPy's. Raises TypeError for an array of NumPy's."""
    if type(value) is ndarray:
        return value._values
    if isinstance(value, list | tuple):
        return type(value)(map(inside, value))
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def ufunc(name: str) -> Callable[..., ndarray]:
    """Element by element: arrays of the device and numbers, never one of NumPy's."""
    function = getattr(np, name)

    def call(*inputs: Any, out: Any = None, **options: Any) -> ndarray:
        settle("array operation")
        if not all(type(value) is ndarray or isinstance(value, SCALARS) for value in inputs):
            raise TypeError(f"Unsupported type {[type(value) for value in inputs]}")
        # An array without axes takes part in the choice of the type, as it does in CuPy.
        given = [value._values.reshape(value.shape or 1) if type(value) is ndarray else value for value in inputs]
        with np.errstate(all="ignore"):
            result = function(*given, **options)
        if all(type(value) is not ndarray or not value.ndim for value in inputs):
            result = np.reshape(result, ())
        if out is None:
            return wrap(result)
        if type(out) is not ndarray or not np.can_cast(result.dtype, out.dtype, "same_kind"):
            raise TypeError(f"output could not be coerced to {out.dtype}")
        out._values[...] = result
        return out

    return call


def _reduction(name: str) -> Callable[..., ndarray]:
    def call(self: ndarray, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ndarray:
        settle("array operation")
        options = {} if dtype is None else {"dtype": dtype}
        return wrap(getattr(np.ascontiguousarray(self._values), name)(axis=axis, keepdims=keepdims, **options))

    return call


def _view(array: ndarray, values: Any) -> ndarray:
    made = object.__new__(ndarray)
    made.block, made._values = array.block, values
    return made


def _index(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index as NumPy takes it; a list or an array of NumPy's in it is uploaded each time."""
    for part in parts:
        if isinstance(part, list | tuple | np.ndarray):
            count("upload")
    return tuple(part._values if type(part) is ndarray else part for part in parts)


OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide"}
OPERATORS |= {"mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
ALONE = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
ALONE |= {"neg": "negative", "abs": "absolute", "invert": "invert"}
for _name in ("sum", "mean", "max", "min", "any", "all"):
    setattr(ndarray, _name, _reduction(_name))
for _name, _of in (OPERATORS | ALONE).items():
    _function = ufunc(_of)
    setattr(ndarray, f"__{_name}__", lambda *inputs, f=_function: f(*inputs))
    if _name in OPERATORS:
        setattr(ndarray, f"__r{_name}__", lambda self, other, f=_function: f(other, self))
        setattr(ndarray, f"__i{_name}__", lambda self, other, f=_function: f(self, other, out=self))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A kernel over so many elements, its arguments by name; and what must hold of them before a device sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .glance import fits
from .signatures import Parameter, Signature, signatures


class Launch(NamedTuple):
    """What `Backend.sequence` takes a list of."""

    kernel: str
    elements: int
    arguments: Mapping[str, Any]  #: by the names of the kernel's parameters


def launch(kernel: str, count: int, /, **arguments: Any) -> Launch:
    """`launch("add_increment", n, increment=…, x=…, displacement=…)`, to be given to `Backend.sequence`."""
    return Launch(kernel, count, arguments)


def checked(item: Launch) -> tuple[Signature, list[Any]]:
    """The kernel's signature, and the arguments in its order.

    Raises TypeError: a name, number, dtype or memory order is not what the kernel declares. ValueError: an array is
    shorter than that, or two that must be equally long are not.
    """
    signature, arguments = signatures()[item.kernel], item.arguments
    if not _fits(item):
        _examine(item, signature)
    return signature, [arguments[name] for name in signature.order]


def _fits(item: Launch) -> bool:
    try:
        return fits(item.kernel)(item.elements, **item.arguments)
    except (TypeError, ValueError, AttributeError, ZeroDivisionError):
        return False


def _examine(item: Launch, signature: Signature) -> None:
    """One argument after the other; raises as `checked` does."""
    arguments = item.arguments
    if arguments.keys() != signature.names:
        missing, unknown = signature.names - arguments.keys(), arguments.keys() - signature.names
        raise TypeError(f"{item.kernel}: missing {sorted(missing)}, unknown {sorted(unknown)}")
    if not isinstance(item.elements, int | np.integer) or isinstance(item.elements, bool) or item.elements < 0:
        raise TypeError(f"{item.kernel}: the count must be a whole number of 0 or more, got {item.elements!r}")
    known = {"count": int(item.elements)}
    for parameter in signature.numbers:
        known[parameter.name] = _number(item.kernel, parameter, arguments[parameter.name])
    lengths: dict[str, tuple[int, str]] = {}  # what other symbols stand for, and which array said so
    for parameter in signature.arrays:
        size = _size(item.kernel, parameter, arguments[parameter.name])
        length = parameter.length
        if length.product or length.symbol in known:
            needed = _needed(item.kernel, parameter, known)
            if size < needed:
                raise ValueError(f"{item.kernel}: {parameter.name} needs {needed} elements ({length.text}), has {size}")
        else:
            number, rest = divmod(size - length.offset, length.scale)
            expected, witness = lengths.setdefault(length.symbol, (number, parameter.name))
            if rest or number != expected:
                raise ValueError(
                    f"{item.kernel}: {parameter.name} has {size} elements for {length.text}, but {witness} says that "
                    f"{length.symbol} is {expected}"
                )


def _number(kernel: str, parameter: Parameter, value: Any) -> Any:
    whole = parameter.base == "int"
    if not isinstance(value, int | np.integer if whole else int | float | np.number):
        kind = "a whole number" if whole else "a number"
        raise TypeError(f"{kernel}: {parameter.name} must be {kind}, got {type(value).__name__}")
    return int(value) if whole else value


def _size(kernel: str, parameter: Parameter, array: Any) -> int:
    """How many elements an array has; of a `vec *`, how many vectors."""
    if getattr(array, "dtype", None) != parameter.dtype:
        wanted, got = parameter.dtype.name, getattr(array, "dtype", type(array))
        raise TypeError(f"{kernel}: {parameter.name} must be {wanted}, got {got}")
    if not array.flags.c_contiguous:
        raise TypeError(f"{kernel}: {parameter.name} is not contiguous")
    if parameter.base != "vec":
        return int(array.size)
    if array.ndim == 0 or array.shape[-1] != 4:
        raise TypeError(f"{kernel}: {parameter.name} must be (…, 4), got {array.shape}")
    return int(array.size) // 4


def _needed(kernel: str, parameter: Parameter, known: Mapping[str, Any]) -> int:
    """How many elements an array must have at least."""
    length = parameter.length
    try:
        needed = length.value(known) if length.product else length.scale * known[length.symbol] + length.offset
    except ZeroDivisionError:
        needed = -1
    if needed < 0:
        raise ValueError(
            f"{kernel}: no array can be {length.text} long, as {parameter.name} must be, with {dict(known)}"
        )
    return int(needed)

"""Checks a launch's arguments against the kernel's signature, the same on every device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .signatures import Parameter, Signature


def check(signature: Signature, arguments: tuple[Any, ...]) -> None:
    """Raise TypeError where an argument's dtype, shape or memory order is not what the kernel declares."""
    if len(arguments) != len(signature.parameters):
        raise TypeError(f"{signature.name} takes {len(signature.parameters)} arguments, got {len(arguments)}")
    for parameter, argument in zip(signature.parameters, arguments, strict=True):
        if parameter.pointer:
            _check_array(signature.name, parameter, argument)
        elif not isinstance(argument, int | float | np.number):
            raise TypeError(f"{signature.name}: {parameter.name} must be a number, got {type(argument).__name__}")


def _check_array(kernel: str, parameter: Parameter, array: Any) -> None:
    if getattr(array, "dtype", None) != parameter.dtype:
        wanted, got = parameter.dtype.name, getattr(array, "dtype", type(array))
        raise TypeError(f"{kernel}: {parameter.name} must be {wanted}, got {got}")
    if not array.flags.c_contiguous:
        raise TypeError(f"{kernel}: {parameter.name} is not contiguous")
    if parameter.base == "vec" and (array.ndim == 0 or array.shape[-1] != 4):
        raise TypeError(f"{kernel}: {parameter.name} must be (…, 4), got {array.shape}")

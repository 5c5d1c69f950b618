# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a launch's arguments are what its kernel declares, at a glance: in a fifth of the time of looking at each.

A step binds some fifty launches with ten arrays each. So for each kernel a function is written out from its signature,
in which every name and length is a word of its text; `launches.checked`, which says what is wrong, then looks only at
what does not fit here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from .signatures import Parameter, Signature, signatures

_NAMES = {
    "FLOAT": np.dtype(np.float32),
    "INT": np.dtype(np.int32),
    "NUMBERS": frozenset({int, float, np.float32, np.float64}),
}


@cache
def fits(kernel: str) -> Callable[..., bool]:
    """(count, **arguments by name) -> whether all is as declared; what it is not sure of does not fit. Raises whatever
    comes of arguments that are no arrays, or too many, or too few."""
    signature, made = signatures()[kernel], dict(_NAMES)
    exec(compile(text(signature), f"<{kernel}>", "exec"), made)  # the text is our own headers'
    return made["fits"]  # type: ignore[return-value]


def text(signature: Signature) -> str:
    """The function's."""
    names = ", ".join(["count", *(parameter.name for parameter in signature.parameters)])
    conditions = ["type(count) is int", "count >= 0", *map(_of_number, signature.numbers), *_of_arrays(signature)]
    return f"def fits({names}):\n    return bool({' and '.join(conditions)})\n"


def _of_number(parameter: Parameter) -> str:
    whole = parameter.base == "int"
    return f"type({parameter.name}) is int" if whole else f"type({parameter.name}) in NUMBERS"


def _of_arrays(signature: Signature) -> Iterator[str]:
    known, told = {"count", *(parameter.name for parameter in signature.numbers)}, set()
    for parameter in signature.arrays:
        name, length, vectors = parameter.name, parameter.length, parameter.base == "vec"
        yield f"{name}.dtype is {'INT' if parameter.base == 'int' else 'FLOAT'}"
        yield f"{name}.flags.c_contiguous"
        if vectors:
            yield f"{name}.shape[-1:] == (4,)"
        size = f"{name}.size // 4" if vectors else f"{name}.size"
        if length.product or length.symbol in known:
            yield f"0 <= {length.text.replace('/', '//')} <= {size}"
            continue
        symbol = f"length_{length.symbol}"
        number = symbol if symbol in told else f"({symbol} := ({size} - {length.offset}) // {length.scale})"
        told.add(symbol)
        yield f"{size} == {length.scale} * {number} + {length.offset}"

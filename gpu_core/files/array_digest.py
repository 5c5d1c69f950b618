# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells arrays apart: a digest of type, shape and values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from hashlib import _Hash as Hash


def begin_hash(kind: npt.DTypeLike, shape: tuple[int, ...]) -> Hash:
    """The hash of an array before its values: they are to follow, in C order."""
    return hashlib.sha256(f"{np.dtype(kind).str} {shape}".encode())


def digest_of_hash(content: Hash) -> str:
    """What `describe` says of an array with this hash."""
    return content.hexdigest()[:32]


def array_digests(arrays: Mapping[str, npt.NDArray[Any]], known: Mapping[str, str] | None = None) -> dict[str, str]:
    return {name: (known or {}).get(name) or _array_digest(array) for name, array in arrays.items()}


def _array_digest(array: npt.NDArray[Any]) -> str:
    content = begin_hash(array.dtype, array.shape)
    content.update(np.ascontiguousarray(array).data)
    return digest_of_hash(content)

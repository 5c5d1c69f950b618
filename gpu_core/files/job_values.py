# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job's header has of a scene, as JSON values, and back: every function for the way back raises some Exception
where a value is not what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from ..scene.arrays import Array
from ..scene.scene import Keys, Material, Painted, Settings
from ..scene.shape import Shape

Values = TypeVar("Values", Settings, Material, Shape)


def plain(values: Settings | Material | Shape) -> dict[str, Any]:
    """The fields as JSON values, each in the type of its default: 24, 24.0 and np.float32(24) are one frame rate."""
    result: dict[str, Any] = {}
    for field in fields(values):
        value = getattr(values, field.name)
        kind: Any = type(field.default)
        result[field.name] = [float(x) for x in value] if kind is tuple else kind(value)
    return result


def maxima(painted: Mapping[str, Painted]) -> dict[str, dict[str, float]]:
    """What `describe` says of painted numbers besides their weights: nothing where there are none."""
    return {"painted": {name: float(entry.maximum) for name, entry in painted.items()}} if painted else {}


def series(keys: Keys) -> dict[str, dict[str, list[Any]]]:
    """What `describe` says of keys: the values from the first frame on. Nothing where there are none."""
    return {"keys": {name: np.asarray(values, np.float64).tolist() for name, values in keys.items()}} if keys else {}


def keys_of(entry: Mapping[str, Any]) -> dict[str, Array]:
    """What `series` made these values of."""
    keys = {}
    for name, values in entry.get("keys", {}).items():
        for value in values:
            _ = [number(part) for part in value] if isinstance(value, list) else number(value)
        keys[name] = np.asarray(values, np.float64)
    return keys


def restored(kind: type[Values], values: Mapping[str, Any]) -> Values:
    """What `plain` made these values of. Raises TypeError where it cannot have been so."""
    made = kind(**values)
    stored = plain(made)
    if any(stored[name] != value for name, value in values.items()):
        raise TypeError("a value of another type")
    fields_of_kind: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
    return kind(**fields_of_kind)


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    value.encode()  # refuses half characters, which no file and no terminal takes
    return value


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)

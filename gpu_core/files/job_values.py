# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job's header has of a scene, as JSON values, and back: every function for the way back raises some Exception
where a value is not what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..scene.air import CHOICES, NUMBERS, Field, FieldWeights
from ..scene.arrays import Array
from ..scene.encounters import Encounter
from ..scene.pins import PinGroup, Pins
from ..scene.scene import Keys, Material, Painted, Settings
from ..scene.shape import Shape

Values = TypeVar("Values", Settings, Material, Shape, FieldWeights)
FIELD_ARRAYS: dict[str, type] = {"location": np.float64, "axis": np.float64}
PIN_ARRAYS: dict[str, type] = {"vertices": np.int32, "targets": np.float64, "weights": np.float32}  #: of a group
SWITCHES = ("gravity_falloff", "global_coordinates")  #: of a field


def plain(values: Settings | Material | Shape | FieldWeights) -> dict[str, Any]:
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


def acting(weights: FieldWeights, fields: tuple[int, ...] | None) -> dict[str, Any]:
    """What `describe` says of the fields that act on a cloth: nothing where all do, as they are."""
    other = {"field_weights": plain(weights)} if weights != FieldWeights() else {}
    return other if fields is None else {**other, "fields": [int(index) for index in fields]}


def field_values(item: Field) -> dict[str, Any]:
    """A field but its arrays and keys."""
    return {
        "name": item.name,
        **{name: str(getattr(item, name)) for name in CHOICES},
        **{name: bool(getattr(item, name)) for name in SWITCHES},
        "seed": int(item.seed),
        **{name: float(getattr(item, name)) for name in NUMBERS},
    }


def field_arrays(item: Field) -> dict[str, Array]:
    """The arrays of a field as they are stored, by their names in `FIELD_ARRAYS`."""
    return {name: np.ascontiguousarray(getattr(item, name), kind) for name, kind in FIELD_ARRAYS.items()}


def pin_arrays(pins: Pins) -> dict[str, Any]:
    """The arrays of pins that are there, as they are stored, by their names in `PIN_ARRAYS`."""
    arrays = {name: getattr(pins, name) for name in PIN_ARRAYS}
    return {name: np.ascontiguousarray(array, PIN_ARRAYS[name]) for name, array in arrays.items() if array is not None}


def field_of(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> Field:
    """What `field_values` made these values of, with its keys."""
    seed = entry["seed"]
    if not isinstance(seed, int) or not 0 <= seed < 2**20:
        raise TypeError(f"{seed!r} is no seed")
    values: dict[str, Any] = {
        **{name: text(entry[name]) for name in ("name", *CHOICES)},
        **{name: truth(entry[name]) for name in SWITCHES},
        **{name: number(entry[name]) for name in NUMBERS},
    }
    return Field(location=arrays["location"], axis=arrays["axis"], seed=seed, keys=keys_of(entry), **values)


def encounter_values(item: Encounter) -> dict[str, Any]:
    """An encounter but its keys."""
    return {
        "first": int(item.first),
        "second": int(item.second),
        "collides": bool(item.collides),
        "friction": None if item.friction is None else float(item.friction),
        "since": None if item.since is None else int(item.since),
        "until": None if item.until is None else int(item.until),
    }


def encounter_of(entry: Mapping[str, Any]) -> Encounter:
    """What `encounter_values` made these values of, with its keys."""
    friction, frames = entry["friction"], {name: entry[name] for name in ("since", "until")}
    return Encounter(
        place(entry["first"]),
        place(entry["second"]),
        truth(entry["collides"]),
        None if friction is None else number(friction),
        **{name: None if value is None else whole(value) for name, value in frames.items()},
        keys=keys_of(entry),
    )


def pins_of(entry: Mapping[str, Any], arrays: Mapping[str, Any]) -> PinGroup:
    """The group of pins of which `describe` said this, with these arrays."""
    count = (arrays["vertices"].size,)
    if arrays["vertices"].shape != count or arrays.get("weights", arrays["vertices"]).shape != count:
        raise ValueError("no list of vertices, or not a weight for each")
    return PinGroup(text(entry["name"]), Pins(**arrays), number(entry["strength"]), keys_of(entry))


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


def whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**31:
        raise TypeError(f"{value!r} is no whole number")
    return value


def place(value: Any) -> int:
    if whole(value) < 0:
        raise ValueError(f"{value} is no place in a list")
    return int(value)


def number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def require_shapes(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Of the arrays of a cloth: what `Scene.validate` takes as it is. Raises KeyError, ValueError."""
    expected = {"warp": arrays["triangles"].shape, "rest_corners": (len(arrays["triangles"]), 3, 3)}
    if "pin_vertices" in arrays:
        expected |= {"pin_vertices": (arrays["pin_vertices"].size,), "pin_weights": (arrays["pin_vertices"].size,)}
    if "world_to_object" in arrays:
        expected |= {"world_to_object": (len(arrays["world_to_object"]), 4, 4)}
    for name, shape in expected.items():
        if name in arrays and arrays[name].shape != shape:
            raise ValueError(f"{name} has the shape {arrays[name].shape}, not {shape}")
    for name in ("warp", "world_to_object"):
        if name in arrays and not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is not finite")

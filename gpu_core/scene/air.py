# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving air and force fields as plain data: Blender's kinds, in SI units and world space (docs/theory/air.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

import numpy as np

from .arrays import Array

FieldKind = Literal["wind", "force", "vortex", "magnetic", "harmonic", "turbulence", "drag"]
FieldShape = Literal["point", "line", "plane"]
FieldFalloff = Literal["sphere", "tube", "cone"]
FieldDirection = Literal["both", "positive", "negative"]

KINDS: tuple[FieldKind, ...] = get_args(FieldKind)
STRONGEST = 1.0e6  #: of any number of a field; float32 tells 0.06 apart there
HIGHEST_POWER = 10.0  #: of a falloff, as in Blender
CHOICES = {"kind": FieldKind, "shape": FieldShape, "falloff": FieldFalloff, "z_direction": FieldDirection}


def _number(default: float) -> Any:
    return field(default=default, metadata={"number": True})


@dataclass(frozen=True)
class Field:
    """One field. It acts along `axis` from `location`, or around them; a strength is a speed in m/s for wind, else what
    docs/theory/air.md has for its kind, in N/m²."""

    name: str
    location: Array  #: (F or 1, 3) per frame of the range, m
    axis: Array  #: (F or 1, 3) unit vectors: the object's z
    kind: FieldKind
    shape: FieldShape = "point"
    falloff: FieldFalloff = "sphere"
    z_direction: FieldDirection = "both"  #: the side of the plane through `location` where it acts
    gravity_falloff: bool = False  #: a force falls off by the square of the distance too
    global_coordinates: bool = False  #: turbulence stays where it is when the object moves
    seed: int = 1  #: of the noise
    strength: float = _number(1.0)
    damping: float = _number(0.0)  #: of harmonic, relative to critical; of drag, linear
    flow: float = _number(0.0)  #: of wind, the share of the cloth's own velocity that counts; else Pa·s/m against it
    wind_factor: float = _number(0.0)  #: 1 = acts along the cloth's normal only
    size: float = _number(0.0)  #: of the eddies of turbulence, rest length of harmonic, m
    power: float = _number(0.0)  #: the force goes with 1 / (1 + distance)^power
    distance_min: float = _number(0.0)  #: m, up to which there is no falloff
    distance_max: float = _number(0.0)  #: m, beyond which there is no force; 0 = no such distance
    radial_power: float = _number(0.0)  #: of tube and cone, across the axis
    radial_min: float = _number(0.0)  #: m of a tube, degrees of a cone
    radial_max: float = _number(0.0)  #: 0 = none
    noise: float = _number(0.0)  #: how much a random part adds to the strength
    keys: Mapping[str, Array] = field(default_factory=dict)  #: of the numbers, as `scene.Keys`


#: The numbers of a field that may change, by name.
NUMBERS = tuple(entry.name for entry in fields(Field) if entry.metadata.get("number"))
#: Those that may be below 0.
SIGNED = frozenset({"strength", "damping", "flow"})


@dataclass(frozen=True)
class FieldWeights:
    """Factors on what acts on one cloth, by the names of its properties."""

    field_all: float = 1.0
    field_gravity: float = 1.0
    field_wind: float = 1.0
    field_force: float = 1.0
    field_vortex: float = 1.0
    field_magnetic: float = 1.0
    field_harmonic: float = 1.0
    field_turbulence: float = 1.0
    field_drag: float = 1.0

    def of(self, kind: FieldKind) -> float:
        """The factor on a field of this kind."""
        weight: float = getattr(self, f"field_{kind}")
        return self.field_all * weight


WEIGHTS = tuple(entry.name for entry in fields(FieldWeights))


def faults(item: Field, frames: int) -> Iterator[tuple[str, str]]:
    """What is wrong with a field of a scene of so many frames: (problem, remedy)."""
    for name, choices in CHOICES.items():
        if getattr(item, name) not in get_args(choices):
            yield f"there is no {name} “{getattr(item, name)}”", f"Use one of {', '.join(get_args(choices))}"
    for name in ("location", "axis"):
        places = getattr(item, name)
        if places.ndim != 2 or places.shape[1] != 3 or len(places) not in (1, frames):
            yield f"its {name} does not fit the frame range", "Export the scene again"
        elif not (np.abs(places) <= STRONGEST).all():
            yield f"its {name} is not a number, or too far away", "Repair its animation"
    for name in NUMBERS:
        values = np.atleast_1d(np.asarray(item.keys.get(name, getattr(item, name)), np.float64))
        if values.ndim != 1 or not 0 < len(values) <= frames:
            yield f"the keys of {name} do not fit the frame range", "Export the scene again"
            return
        most = HIGHEST_POWER if name.endswith("power") else 1.0 if name == "wind_factor" else STRONGEST
        bad = values[~((values >= (-most if name in SIGNED else 0.0)) & (values <= most))]
        if len(bad):
            yield f"{name} is {bad[0]:g}", f"Set it between {-most if name in SIGNED else 0:g} and {most:g}"
    unknown = [name for name in item.keys if name not in NUMBERS]
    if unknown:
        yield f"{unknown[0]} has no keys", f"Key one of {', '.join(NUMBERS)}"


def place_at(places: Array, when: float) -> Array:
    """(…) of (F, …) or (1, …), so many frames after the first, linear between frames."""
    before = min(max(int(np.floor(when)), 0), len(places) - 1)
    after = min(before + 1, len(places) - 1)
    return np.asarray(places[before] + (when - before) * (places[after] - places[before]))


def moments(items: Sequence[Field], when: float) -> Iterator[tuple[Any, ...]]:
    """What the changing ones are so many frames after the first: it need only tell moments apart."""
    for item in items:
        moving = [place_at(places, when).tolist() for _, places in _places(item) if len(places) > 1]
        keys = [float(place_at(values, when)) for values in item.keys.values()]
        random = [when] if item.noise > 0.0 or "noise" in item.keys else []
        if found := (*moving, *keys, *random):
            yield found


def rest_of(item: Field, kept: int, keys: Mapping[str, Array]) -> Field:
    """The field in a range that begins with frame number `kept` (1 is the first) of this one. keys: those left."""
    parts: dict[str, Any] = {name: places[kept - 1 :] if len(places) > 1 else places for name, places in _places(item)}
    return replace(item, **parts, keys=keys)


def _places(item: Field) -> list[tuple[str, Array]]:
    return [("location", item.location), ("axis", item.axis)]

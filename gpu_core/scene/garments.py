# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloths that are sewn to each other are simulated as one, and are told apart again in what leaves the simulation.

Where their numbers differ the one cloth is painted with them: a number with two values, keys and all, is the one where
the weight is 0 and the other where it is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from .arrays import Array, IntArray
from .edges import Cords, Folds
from .error import SceneError
from .pins import PinGroup, Pins
from .scene import OF_CORDS, OF_FOLDS, OF_SEAMS, PAINTABLE, Cloth, Painted, Scene


@dataclass(frozen=True)
class Garments:
    """A scene in which no thread leads from one cloth to another."""

    scene: Scene
    members: tuple[tuple[int, ...], ...]  #: which of the original cloths each of its cloths is made of
    counts: tuple[int, ...]  #: vertices of the original cloths

    def apart(self, values: Sequence[Array]) -> list[Array]:
        """(N, …) of each original cloth, from those of the scene's."""
        result: list[Any] = [None] * len(self.counts)
        for own, cloths in zip(values, self.members, strict=True):
            ends = np.cumsum([self.counts[k] for k in cloths])
            for k, part in zip(cloths, np.split(own, ends[:-1]), strict=True):
                result[k] = part
        return result

    def joined(self, values: Sequence[Array]) -> list[Array]:
        """(N, …) of each of the scene's cloths, from the original ones."""
        return [np.concatenate([values[k] for k in cloths]) for cloths in self.members]

    def number(self, vertices: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """(G,) of vertices (G,) of all original cloths, among those of the scene's."""
        order = np.concatenate(self.apart(np.split(np.arange(sum(self.counts)), self._ends())))
        return np.asarray(order, np.int64)[vertices]

    def _ends(self) -> npt.NDArray[np.int64]:
        return np.cumsum([sum(self.counts[k] for k in cloths) for cloths in self.members])[:-1]


def garments(scene: Scene) -> Garments:
    """Raises SceneError where cloths are sewn to each other that cannot be one."""
    count, sizes = len(scene.cloths), tuple(len(cloth.positions) for cloth in scene.cloths)
    if scene.threads is None or not len(scene.threads):
        return Garments(scene, tuple((k,) for k in range(count)), sizes)
    first, a, second, b = scene.threads.T
    graph = sparse.coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
    part = csgraph.connected_components(graph, directed=False)[1]
    members = tuple(tuple(np.flatnonzero(part == number).tolist()) for number in dict.fromkeys(part.tolist()))
    cloths = []
    for own in members:
        if len(own) == 1:
            cloths.append(scene.cloths[own[0]])
            continue
        start = np.zeros(count, np.int64)
        start[list(own)] = np.cumsum([0, *(sizes[k] for k in own[:-1])])
        among = np.isin(first, own)
        threads = np.column_stack([(start[first] + a)[among], (start[second] + b)[among]]).astype(np.int32)
        cloths.append(_joined([scene.cloths[k] for k in own], threads, [k in first for k in own]))
    return Garments(replace(scene, cloths=tuple(cloths), threads=None), members, sizes)


def _joined(cloths: Sequence[Cloth], threads: IntArray, sewing: Sequence[bool]) -> Cloth:
    """One cloth of several. threads: (S, 2) by its vertices. sewing: which of them those are of."""
    head, offsets = cloths[0], np.cumsum([0, *(len(cloth.positions) for cloth in cloths[:-1])])
    for name in ("self_collision", "fields"):
        _require_same(cloths, name.replace("_", " "), [getattr(cloth, name) for cloth in cloths])
    numbers, painted, keys = _numbers(cloths, sewing)
    values = {name: value for name, value in numbers.items() if name in vars(head)}
    parts = {
        name: replace(getattr(head, name), **{key: numbers[key] for key in vars(getattr(head, name))})
        for name in ("material", "shape", "field_weights")
    }
    pins = [(cloth, first, own) for cloth, first in zip(cloths, offsets, strict=True) for own in [cloth.pins] if own]
    groups = [
        PinGroup(cloth.name, _moved(own, first), cloth.pin_strength, _only(cloth.keys, "pin_strength", "strength"))
        for cloth, first, own in pins
    ]
    groups += [
        replace(group, pins=_moved(group.pins, first))
        for cloth, first in zip(cloths, offsets, strict=True)
        for group in cloth.pin_groups
    ]
    return replace(
        head,
        name=" + ".join(cloth.name for cloth in cloths),
        key=head.cache_key,
        triangles=_concatenated([cloth.triangles + at for cloth, at in zip(cloths, offsets, strict=True)], np.int32),
        rest_positions=np.concatenate([cloth.rest_positions for cloth in cloths]),
        positions=np.concatenate([cloth.positions for cloth in cloths]),
        velocities=_either(cloths, "velocities", lambda cloth: np.zeros_like(cloth.positions)),
        warp=_either(cloths, "warp", lambda cloth: np.tile([1.0, 0.0, 0.0], (len(cloth.triangles), 1))),
        rest_corners=_either(cloths, "rest_corners", lambda cloth: cloth.patterns),
        pins=None,
        pin_groups=tuple(groups),
        seams=np.concatenate([*_shifted(cloths, offsets, "seams"), threads]).astype(np.int32),
        sewing_time=max(cloth.sewing_time for cloth in _concerned(cloths, "sewing_time", sewing)),
        party=_either(cloths, "party", lambda cloth: np.zeros(len(cloth.positions), np.int32)),
        folds=_folds(cloths, offsets),
        cords=_cords(cloths, offsets),
        painted=painted,
        keys=keys,
        world_to_object=None,
        **values | parts | {"pin_strength": 1.0},
    )


def _numbers(
    cloths: Sequence[Cloth], sewing: Sequence[bool]
) -> tuple[dict[str, float], dict[str, Painted], dict[str, Array]]:
    """(values, paint, keys) of the one cloth."""
    numbers: dict[str, float] = {}
    painted: dict[str, Painted] = {}
    keys: dict[str, Array] = {}
    for name in cloths[0].numbers:
        if name == "pin_strength":
            continue
        concerned = _concerned(cloths, name, sewing)
        levels = [_level(cloth, name, cloth.numbers[name]) for cloth in concerned]
        if name in PAINTABLE:
            tops = [
                _level(cloth, f"{name}_max", entry.maximum) if (entry := cloth.painted.get(name)) else level
                for cloth, level in zip(cloths, levels, strict=True)
            ]
            different = list(dict.fromkeys([*levels, *tops]))
            if len(different) > 2:
                _require_same(cloths, name.replace("_", " "), levels)
            if len(different) == 2:
                painted[name] = Painted(_weights(cloths, name, levels, tops, different[0]), different[1].value)
                keys |= different[1].keys(f"{name}_max")
        else:
            _require_same(concerned, name.replace("_", " "), levels)
        numbers[name] = levels[0].value
        keys |= levels[0].keys(name)
    return numbers, painted, keys


def _concerned(cloths: Sequence[Cloth], name: str, sewing: Sequence[bool]) -> Sequence[Cloth]:
    """Those that the number says something of, or all."""
    if name in OF_SEAMS:
        some = [cloth for cloth, own in zip(cloths, sewing, strict=True) if own or cloth.seams is not None]
    elif name in OF_FOLDS:
        some = [cloth for cloth in cloths if cloth.folds is not None]
    else:
        some = [cloth for cloth in cloths if name not in OF_CORDS or cloth.cords is not None]
    return some or cloths[:1]


@dataclass(frozen=True)
class _Level:
    """A number and its keys."""

    value: float
    series: tuple[float, ...]

    def keys(self, name: str) -> dict[str, Array]:
        return {name: np.array(self.series)} if self.series else {}


def _level(cloth: Cloth, name: str, value: float) -> _Level:
    return _Level(value, tuple(cloth.keys[name].tolist()) if name in cloth.keys else ())


def _weights(
    cloths: Sequence[Cloth], name: str, levels: Sequence[_Level], tops: Sequence[_Level], lowest: _Level
) -> npt.NDArray[np.float32]:
    """(N,) how far each vertex is from the first level to the other."""
    parts = []
    for cloth, level, top in zip(cloths, levels, tops, strict=True):
        start, end = float(level != lowest), float(top != lowest)
        entry = cloth.painted.get(name)
        along = np.zeros(len(cloth.positions)) if entry is None else entry.weights
        parts.append(start + (end - start) * along)
    return np.concatenate(parts).astype(np.float32)


def _require_same(cloths: Sequence[Cloth], label: str, values: Sequence[Any]) -> None:
    other = next((cloth for cloth, value in zip(cloths, values, strict=True) if value != values[0]), None)
    if other is not None:
        problem = f"it is sewn to {other.name}, and their {label} is not the same"
        raise SceneError(cloths[0].name, problem, "Give both the same, or do not sew them to each other")


def _moved(pins: Pins, first: int) -> Pins:
    return replace(pins, vertices=(pins.vertices + first).astype(np.int32))


def _only(keys: Mapping[str, Array], name: str, renamed: str) -> dict[str, Array]:
    return {renamed: keys[name]} if name in keys else {}


def _shifted(cloths: Sequence[Cloth], offsets: npt.NDArray[np.int64], name: str) -> list[npt.NDArray[Any]]:
    own = [(getattr(cloth, name), at) for cloth, at in zip(cloths, offsets, strict=True)]
    return [values + at for values, at in own if values is not None]


def _either(cloths: Sequence[Cloth], name: str, otherwise: Any) -> npt.NDArray[Any] | None:
    """The arrays of all; None where none has one."""
    every = [getattr(cloth, name) for cloth in cloths]
    if all(array is None for array in every):
        return None
    return np.concatenate(
        [otherwise(cloth) if array is None else array for cloth, array in zip(cloths, every, strict=True)]
    )


def _concatenated(arrays: Sequence[npt.NDArray[Any]], kind: type) -> npt.NDArray[Any]:
    return np.concatenate(arrays).astype(kind)


def _folds(cloths: Sequence[Cloth], offsets: npt.NDArray[np.int64]) -> Folds | None:
    own = [(cloth.folds, at) for cloth, at in zip(cloths, offsets, strict=True) if cloth.folds is not None]
    if not own:
        return None
    ends = _concatenated([folds.ends + at for folds, at in own], np.int32)
    return Folds(ends, np.concatenate([folds.weights for folds, _ in own]))


def _cords(cloths: Sequence[Cloth], offsets: npt.NDArray[np.int64]) -> Cords | None:
    own = [(cloth.cords, at) for cloth, at in zip(cloths, offsets, strict=True) if cloth.cords is not None]
    if not own:
        return None
    ends = _concatenated([cords.ends + at for cords, at in own], np.int32)
    return Cords(ends, np.concatenate([cords.lengths for cords, _ in own]))

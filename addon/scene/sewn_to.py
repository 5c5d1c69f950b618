# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams between objects: a group of vertices on both, sewn to each other by nearness or by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import bpy
import numpy as np
from scipy.spatial import cKDTree

from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.scene import SceneError
from .painted import Weights, exists


class Ends(NamedTuple):
    """One object's side of a seam."""

    vertices: IntArray  #: (K,)
    places: Array  #: (K, 3) where they begin, world, m
    numbers: IntArray | None  #: (K,) which belong together; None: those that are nearest


class Side(Protocol):
    """Of a reader, what is asked here."""

    item: bpy.types.Object
    ends: dict[str, Ends]


def other_of(item: bpy.types.Object) -> bpy.types.Object | None:
    """The object that this cloth is sewn to, if it is."""
    chosen = item.taffeta.cloth
    return chosen.sew_object if chosen.sew_group else None


def sews(item: bpy.types.Object) -> bool:
    """Has this cloth threads, of its own or to another?"""
    return bool(item.taffeta.cloth.sewing) or other_of(item) is not None


def group_of(item: bpy.types.Object, side: bpy.types.Object) -> str:
    """The group of the seam that `item` has to another object, where `side` is one of the two; else empty."""
    other = other_of(item)
    return item.taffeta.cloth.sew_group if other is not None and side in (item, other) else ""


def trouble(item: bpy.types.Object) -> str:
    """What is in the way of the seam, as far as one sees without evaluating the objects; empty: nothing."""
    other, group = other_of(item), item.taffeta.cloth.sew_group
    if other is None:
        return ""
    if other.taffeta.role != "CLOTH":
        return f"it is sewn to {other.name}, which is no cloth"
    for side in (item, other):
        if not exists(side, group):
            return f"it is sewn to {other.name}, but {side.name} has no vertex group or attribute “{group}”"
    return ""


def ends(item: bpy.types.Object, mesh: bpy.types.Mesh, name: str, weights: Weights, places: Array) -> Ends:
    """places: (N, 3) of all its vertices at the start, world, m. Raises SceneError."""
    attribute = mesh.attributes.get(name)
    if attribute is not None and attribute.domain == "POINT" and attribute.data_type == "INT":
        numbers = np.empty(len(mesh.vertices), np.int32)
        attribute.data.foreach_get("value", numbers)
        chosen = np.flatnonzero(numbers).astype(np.int32)
        return Ends(chosen, places[chosen], numbers[chosen])
    chosen = np.flatnonzero(weights.of(name, "seam")).astype(np.int32)
    if not len(chosen):
        raise SceneError(item.name, f"its group “{name}” for a seam is empty", "Assign the vertices along the seam")
    return Ends(chosen, places[chosen], None)


def threads(readers: Sequence[Side]) -> IntArray | None:
    """(S, 4) as `Scene.threads`, of the cloths that these readers have read; None: no seam. Raises SceneError."""
    number = {reader.item: index for index, reader in enumerate(readers)}
    found = []
    for index, reader in enumerate(readers):
        other, group = other_of(reader.item), reader.item.taffeta.cloth.sew_group
        if other is None:
            continue
        if other not in number or other == reader.item:
            problem = f"it is sewn to {other.name}, which is not simulated with it"
            raise SceneError(reader.item.name, problem, "Give that the role Cloth and bake both, or clear the field")
        own, its = reader.ends[group], readers[number[other]].ends[group]
        pairs = _paired(own, its)
        if not len(pairs):
            problem = f"no number of “{group}” is on {other.name} too, which it is sewn to"
            raise SceneError(reader.item.name, problem, "Give both ends of a seam the same numbers above 0")
        columns = np.full(len(pairs), index), own.vertices[pairs[:, 0]], np.full(len(pairs), number[other])
        found.append(np.column_stack([*columns, its.vertices[pairs[:, 1]]]).astype(np.int32))
    return np.concatenate(found) if found else None


def _paired(own: Ends, other: Ends) -> IntArray:
    """(S, 2) places in both: of equal numbers, or each with the nearest of the other side."""
    if own.numbers is not None and other.numbers is not None:
        return np.argwhere(own.numbers[:, None] == other.numbers[None, :]).astype(np.int32)
    to_other = cKDTree(other.places).query(own.places)[1]
    to_own = cKDTree(own.places).query(other.places)[1]
    pairs = np.concatenate(
        [np.column_stack([np.arange(len(to_other)), to_other]), np.column_stack([to_own, np.arange(len(to_own))])]
    )
    return np.unique(pairs, axis=0).astype(np.int32)

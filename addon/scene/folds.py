# SPDX-License-Identifier: GPL-3.0-or-later
"""Folds of a cloth: an attribute of its edges says which have an angle at rest, and to which side."""

from __future__ import annotations

import bpy
import numpy as np

from ...gpu_core.scene.scene import Folds, SceneError
from . import modifier

CREASE = "crease_edge"  #: Blender's own, as Edge > Edge Crease sets it


def choices(cloth: bpy.types.PropertyGroup, _context: bpy.types.Context, _text: str) -> list[str]:
    """For a property of the cloth that names one."""
    data = cloth.id_data.data
    if not isinstance(data, bpy.types.Mesh):
        return []
    own = [entry.name for entry in data.attributes if _is_of_edges(entry) and not entry.name.startswith(".")]
    return own if CREASE in own else [*own, CREASE]


def may_exist(item: bpy.types.Object) -> bool:
    """As far as one sees without evaluating the object: geometry nodes may yet make it."""
    there = item.type == "MESH" and item.taffeta.cloth.fold_attribute in item.data.attributes
    return there or modifier.may_make_attributes(item)


def of_mesh(item: bpy.types.Object, mesh: bpy.types.Mesh) -> Folds | None:
    """The marked edges of its evaluated mesh; None where the cloth has no folds. Raises SceneError."""
    name = item.taffeta.cloth.fold_attribute
    if not name:
        return None
    attribute = mesh.attributes.get(name)
    if attribute is None:
        raise SceneError(
            item.name, f"there is no attribute “{name}” for its folds", "Choose another one or clear the field"
        )
    if not _is_of_edges(attribute):
        kind = f"one {attribute.data_type.lower()} for each {attribute.domain.lower()}"
        raise SceneError(item.name, f"the attribute “{name}” for its folds has {kind}", "Make it a float for each edge")
    weights, ends = np.empty(len(mesh.edges), np.float32), np.empty((len(mesh.edges), 2), np.int32)
    attribute.data.foreach_get("value", weights)
    mesh.edges.foreach_get("vertices", ends.reshape(-1))
    if not np.isfinite(weights).all():
        raise SceneError(item.name, f"“{name}” for its folds is not a number at an edge", "Repair what makes it")
    marked = np.flatnonzero(weights)
    return Folds(ends[marked], np.clip(weights[marked], -1.0, 1.0).astype(np.float64))


def _is_of_edges(attribute: bpy.types.Attribute) -> bool:
    return attribute.domain == "EDGE" and attribute.data_type == "FLOAT"

# SPDX-License-Identifier: GPL-3.0-or-later
"""What cloth collides with: colliders of the scene, and those in the collections that it instances.

A linked character is usually an empty that instances a collection. Where the empty has the role Collider, every mesh in
its collection is one, with the empty's surface; otherwise those are that have the role themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...gpu_core.scene.arrays import Array


@dataclass(frozen=True)
class Body:
    """One collider, wherever it is."""

    item: bpy.types.Object
    carriers: tuple[bpy.types.Object, ...] = ()  #: the objects that instance it, outermost first
    surface_of: bpy.types.Object | None = None  #: whose thickness and friction it has, where not its own

    @property
    def name(self) -> str:
        return "/".join(item.name for item in (*self.carriers, self.item))

    @property
    def owner(self) -> bpy.types.Object:
        """Whose thickness and friction it has."""
        return self.surface_of or self.item

    @property
    def outermost(self) -> bpy.types.Object:
        """Its object in the scene."""
        return self.carriers[0] if self.carriers else self.item

    def carried(self, depsgraph: bpy.types.Depsgraph) -> Array:
        """(4, 4) from where its collection is to where it is instanced, scene units."""
        matrix = np.eye(4)
        for carrier in self.carriers:
            matrix = matrix @ np.array(carrier.evaluated_get(depsgraph).matrix_world, np.float64)
            matrix[:3, 3] -= matrix[:3, :3] @ np.array(carrier.instance_collection.instance_offset, np.float64)
        return matrix


def carries(item: bpy.types.Object) -> bool:
    """Does this object instance a collection?"""
    return item.instance_type == "COLLECTION" and item.instance_collection is not None


def has_surface(item: bpy.types.Object) -> bool:
    """Is it a mesh, or does it instance one?"""
    return item.type == "MESH" or (carries(item) and any(True for _ in _instanced((item,), item)))


def holds_collider(item: bpy.types.Object) -> bool:
    """Does it instance something that collides?"""
    return carries(item) and any(True for _ in _instanced((item,), None))


def bodies(colliders: Iterable[bpy.types.Object], carriers: Iterable[bpy.types.Object]) -> list[Body]:
    """colliders: of the scene, with that role. carriers: its objects that instance a collection."""
    own = [Body(item) for item in colliders if not carries(item)]
    return [*own, *(body for carrier in carriers for body in _instanced((carrier,), None))]


def _instanced(carriers: tuple[bpy.types.Object, ...], surface_of: bpy.types.Object | None) -> Iterator[Body]:
    carrier = carriers[-1]
    if surface_of is None and carrier.taffeta.role == "COLLIDER":
        surface_of = carrier
    for item in _shown(carrier.instance_collection):
        if carries(item):
            if item not in carriers:  # Blender itself allows no such circle
                yield from _instanced((*carriers, item), surface_of)
        elif item.type == "MESH" and (item.taffeta.role == "COLLIDER" or (surface_of and item.taffeta.role == "NONE")):
            yield Body(item, carriers, surface_of if item.taffeta.role == "NONE" else None)


def _shown(collection: bpy.types.Collection) -> Iterator[bpy.types.Object]:
    """What Blender instances of a collection, each object once."""
    found: dict[bpy.types.Object, None] = {}

    def look(place: bpy.types.Collection) -> None:
        if not place.hide_viewport:
            found.update(dict.fromkeys(item for item in place.objects if not item.hide_viewport))
            for child in place.children:
                look(child)

    look(collection)
    return iter(found)

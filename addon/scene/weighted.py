# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether any vertex has a weight in a vertex group or attribute, cheap enough for drawing.

Of groups Blender tells it vertex by vertex: a tenth of a second for a hundred thousand. So the first vertex that has a
weight is remembered, and looked at again; that none has one is remembered until the mesh changes.
"""

from __future__ import annotations

import bpy
import numpy as np

from . import modifier
from .listening import listen, unlisten

MAKES_WEIGHTS = frozenset({"DATA_TRANSFER", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY"})

#: By the mesh's session_uid and the number of the group: a vertex that has a weight, or None.
_known: dict[tuple[int, int], int | None] = {}


def may_weigh(item: bpy.types.Object, name: str) -> bool:
    """May a vertex have a weight there, as far as one sees without evaluating the object? In other modes than Object
    Mode it is still at work."""
    if item.type != "MESH" or item.mode != "OBJECT" or _may_make_weights(item):
        return True
    if (group := item.vertex_groups.get(name)) is not None:
        return _group_weighs(item.data, group.index)
    attribute = item.data.attributes.get(name)
    if attribute is None or attribute.data_type != "FLOAT":
        return True
    weights = np.empty(len(attribute.data), np.float32)
    attribute.data.foreach_get("value", weights)
    return bool((weights > 0.0).any())


def _may_make_weights(item: bpy.types.Object) -> bool:
    return modifier.may_make_attributes(item) or any(entry.type in MAKES_WEIGHTS for entry in item.modifiers)


def _group_weighs(mesh: bpy.types.Mesh, group: int) -> bool:
    key = mesh.session_uid, group
    if key in _known:
        vertex = _known[key]
        if vertex is None or (vertex < len(mesh.vertices) and _weighs(mesh.vertices[vertex], group)):
            return vertex is not None
    _known[key] = next((vertex.index for vertex in mesh.vertices if _weighs(vertex, group)), None)
    return _known[key] is not None


def _weighs(vertex: bpy.types.MeshVertex, group: int) -> bool:
    return any(element.group == group and element.weight > 0.0 for element in vertex.groups)


@bpy.app.handlers.persistent
def forget(*_: object) -> None:
    """Any mesh may have changed."""
    _known.clear()


@bpy.app.handlers.persistent
def _after_update(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not _known or not depsgraph.id_type_updated("MESH"):
        return
    changed = {update.id.original.session_uid for update in depsgraph.updates if isinstance(update.id, bpy.types.Mesh)}
    for key in [key for key, vertex in _known.items() if vertex is None and key[0] in changed]:
        del _known[key]


HANDLERS = (
    ("depsgraph_update_post", _after_update),
    ("undo_post", forget),
    ("redo_post", forget),
    ("load_post", forget),
)


def register() -> None:
    listen(HANDLERS)


def unregister() -> None:
    unlisten(HANDLERS)
    forget()

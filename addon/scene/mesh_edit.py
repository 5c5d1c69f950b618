# SPDX-License-Identifier: GPL-3.0-or-later
"""A change of an object's own mesh, with its UV maps, groups and shape keys."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy

from ...gpu_core.scene.scene import SceneError


def edit(item: bpy.types.Object, change: Callable[[bmesh.types.BMesh], bool]) -> None:
    """Let `change` have the mesh; it says whether there was anything to change.

    Raises SceneError where there was, and the mesh is not this object's alone.
    """
    mesh = bmesh.new()
    try:
        mesh.from_mesh(item.data)
        if not change(mesh):
            return
        if item.data.library is not None or item.data.users > 1:
            remedy = "Make it single: Object > Relations > Make Single User"
            raise SceneError(item.name, "its mesh is linked or shared", remedy)
        mesh.to_mesh(item.data)
    finally:
        mesh.free()
    item.data.update()

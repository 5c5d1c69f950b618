# SPDX-License-Identifier: GPL-3.0-or-later
"""The places that cross, as they are shown in the viewport: of the scene's start, or of what is drawn now.

Nothing of it is saved: it lasts until it is cleared, or another file comes.
"""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ...gpu_core.contact.patches import Surface
from ...gpu_core.tangled_places import TangledPlaces, at_start, tangled_places
from ..scene.bodies import Body
from ..scene.gather import gather, members
from . import drawn


class Shown(NamedTuple):
    what: str  #: in words
    found: TangledPlaces
    metre: float  #: that a unit of the scene is

    @property
    def lines(self) -> list[list[float]]:
        """(2S, 3) the ends of the lines, in units of the scene."""
        ends: list[list[float]] = (self.found.lines.reshape(-1, 3) / self.metre).tolist()
        return ends


current: Shown | None = None


def show_start(context: bpy.types.Context) -> Shown:
    """What crosses where a bake would begin. Raises SceneError, DiskError."""
    global current
    first = context.scene.frame_start
    scene = gather(context, (first, first))
    current = Shown(f"Start, frame {scene.settings.begins}", at_start(scene), _metre(context))
    return current


def show_frame(context: bpy.types.Context) -> Shown:
    """What crosses as the viewport has it now. Raises SceneError."""
    global current
    present, frame = members(context.scene), context.scene.frame_current
    drawn_bodies = [*map(Body, present.cloths), *present.bodies]
    depsgraph = context.evaluated_depsgraph_get()
    meshes = [drawn.mesh(body, depsgraph, frame) for body in drawn_bodies]
    sizes = [len(points) for points, _ in meshes]
    first = np.cumsum([0, *sizes])
    triangles = [own + at for (_, own), at in zip(meshes, first, strict=False)]
    cloths = sum(len(own) for own in triangles[: len(present.cloths)])
    owner = np.repeat(np.arange(len(meshes)), sizes).astype(np.int32)
    surface = Surface(int(first[-1]), np.concatenate(triangles).astype(np.int32), cloths, owner)
    points = np.concatenate([points for points, _ in meshes])
    names = [body.name for body in drawn_bodies]
    found = tangled_places(names, owner, np.arange(len(points)), points, surface)
    current = Shown(f"Frame {frame}", found, _metre(context))
    return current


def _metre(context: bpy.types.Context) -> float:
    return float(context.scene.unit_settings.scale_length)


def clear() -> None:
    global current
    current = None


def select(context: bpy.types.Context, index: int) -> list[str]:
    """Select the vertices of a place in Edit Mode; returns the objects whose mesh is another than the one that crosses,
    where the object alone is selected."""
    assert current is not None
    place, other = current.found.places[index], []
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for item in context.selected_objects:
        item.select_set(False)
    meshes = []
    for name, vertices in place.vertices.items():
        item = context.view_layer.objects.get(name)
        if item is None or item.type != "MESH" or not vertices:
            other.append(name)
            continue
        item.select_set(True)
        if max(vertices) >= len(item.data.vertices) or item.library is not None:
            other.append(name)
            continue
        for of in (item.data.polygons, item.data.edges):
            of.foreach_set("select", np.zeros(len(of), bool))
        chosen = np.zeros(len(item.data.vertices), bool)
        chosen[vertices] = True
        item.data.vertices.foreach_set("select", chosen)
        meshes.append(item)
    if meshes:
        context.view_layer.objects.active = meshes[0]
        context.tool_settings.mesh_select_mode = (True, False, False)
        bpy.ops.object.mode_set(mode="EDIT")
    return other


def look_at(view: bpy.types.RegionView3D, index: int, near: float) -> None:
    """Turn a view's middle to a place. near: least distance, m."""
    assert current is not None
    place, metre = current.found.places[index], current.metre
    view.view_location = [coordinate / metre for coordinate in place.middle]
    view.view_distance = max(2.0 * place.size, near) / metre

# SPDX-License-Identifier: GPL-3.0-or-later
"""One object as Blender shows it at a frame: its mesh, and its place in the world in metres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
import numpy.typing as npt

from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.scene import SceneError
from .bodies import Body


def is_enabled(target: bpy.types.Object, layer: bpy.types.LayerCollection) -> bool:
    """Is it in this collection of a view layer, or in one of those within, none of them switched off?"""
    if layer.collection.hide_viewport:
        return False
    own = not layer.exclude and layer.collection.objects.get(target.name) == target
    return own or any(is_enabled(target, part) for part in layer.children)


def require_enabled(item: bpy.types.Object, layer: bpy.types.LayerCollection) -> None:
    """Raises SceneError where it is switched off in the view layer with this collection. What another object points to
    has a place even then, but one that does not move."""
    if item.hide_viewport or not is_enabled(item, layer):
        raise disabled(Body(item), layer)


def require_shown(target: bpy.types.Object, depsgraph: bpy.types.Depsgraph, frame: float) -> None:
    """Raises SceneError where keys hide it at this frame: Blender leaves it then where it was last."""
    if target.evaluated_get(depsgraph).hide_viewport:
        raise SceneError(
            target.name,
            f"keys disable it in the viewport at frame {frame:.10g}, where Blender does not move it",
            "Remove those keys; what is hidden in renders alone collides as ever",
        )


def disabled(body: Body, layer: bpy.types.LayerCollection, otherwise: str = " or set its role to None") -> SceneError:
    """What is said of an object that Blender does not evaluate in the view layer with this collection, and where it is
    switched on again. otherwise: what else helps."""
    item = body.outermost
    off = None if item.hide_viewport or is_enabled(item, layer) else _switched_off(item, layer)
    if off is None:
        problem = "it is disabled in the viewport, so Blender does not evaluate it"
        return SceneError(
            body.name, problem, f"Enable it (screen icon in the Outliner; the eye may stay closed){otherwise}"
        )
    if off.exclude:
        problem = f"its collection “{off.name}” is excluded from the view layer, so Blender does not evaluate it"
        return SceneError(body.name, problem, f"Tick the checkbox of that collection in the Outliner{otherwise}")
    problem = f"its collection “{off.name}” is disabled in the viewport, so Blender does not evaluate it"
    return SceneError(
        body.name, problem, f"Enable that collection (screen icon in the Outliner; the eye may stay closed){otherwise}"
    )


def _switched_off(
    item: bpy.types.Object, layer: bpy.types.LayerCollection, above: bpy.types.LayerCollection | None = None
) -> bpy.types.LayerCollection | None:
    """What of this collection and those within keeps the object from being evaluated: its own, where that is excluded,
    for then the Outliner has no screen icon to click. above: the outermost that is disabled."""
    if above is None and layer.collection.hide_viewport:
        above = layer
    if layer.collection.objects.get(item.name) == item and (layer.exclude or above):
        return layer if layer.exclude else above
    return next(filter(None, (_switched_off(item, part, above) for part in layer.children)), None)


@contextmanager
def evaluated_mesh(body: Body, depsgraph: bpy.types.Depsgraph, frame: float) -> Iterator[tuple[bpy.types.Mesh, Array]]:
    """(mesh, (4, 4) from its space to the world, m) as Blender shows the object now. frame: of now, for errors."""
    evaluated = body.item.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        raise disabled(body, depsgraph.view_layer.layer_collection)
    matrix = object_to_world(body, depsgraph, frame)
    try:
        yield evaluated.to_mesh(), matrix
    finally:
        evaluated.to_mesh_clear()


def object_to_world(body: Body, depsgraph: bpy.types.Depsgraph, frame: float) -> Array:
    """(4, 4), to metres. Negative and non-uniform scale are fine, zero is not."""
    matrix = np.array(body.item.evaluated_get(depsgraph).matrix_world, np.float64)
    if body.carriers:
        matrix = body.carried(depsgraph) @ matrix
    matrix[:3] *= depsgraph.scene.unit_settings.scale_length
    if not np.isfinite(matrix).all():
        raise SceneError(body.name, f"its transform is not a number at frame {frame:.10g}", "Repair its animation")
    if np.linalg.matrix_rank(matrix[:3, :3]) < 3:
        raise SceneError(body.name, f"its scale is 0 at frame {frame:.10g}", "Give it a scale other than 0")
    return matrix


def to_world(points: npt.NDArray[np.floating], matrix: Array) -> Array:
    """(N, 3) points of an object in the world, m. matrix: (4, 4)."""
    return points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]

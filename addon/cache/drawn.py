# SPDX-License-Identifier: GPL-3.0-or-later
"""Does what Blender draws cross? The meshes that its dependency graph shows, as they render, before the exact check.

The certificate of a frame is about the triangles that were simulated. Blender draws them, unless a modifier after the
cache makes others of them, or a body renders otherwise than it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import bpy
import numpy as np
from scipy.spatial import cKDTree

from ...gpu_core.check.scene_check import Finding, MeshCheck
from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.seams import TOGETHER
from ..scene import mesh as mesh_arrays
from ..scene import modifier, retiming, sewn_to
from ..scene.bodies import Body
from ..scene.evaluated import evaluated_mesh, to_world
from ..scene.gather import FrameRange, members
from ..scene.render_settings import as_rendered, differs


def findings(context: bpy.types.Context, frames: FrameRange) -> Iterator[tuple[int, list[Finding]]]:
    """Each frame of the animation in this range with what crosses in it.

    Cloth against itself and against all else; bodies among themselves are not looked at. The current frame and all
    modifiers are put back. Raises SceneError.
    """
    scene = context.scene
    present = members(scene)
    cloths = [item for item in present.cloths if modifier.find(item) is not None]
    drawn = [*map(Body, cloths), *present.bodies]
    before = scene.frame_current, scene.frame_subframe
    try:
        with ExitStack() as undo:
            undo.enter_context(retiming.unstretched(scene))
            undo.enter_context(as_rendered(scene, [body.item for body in drawn]))
            for frame in range(frames[0], frames[1] + 1):
                scene.frame_set(frame)
                yield frame, _findings(context.evaluated_depsgraph_get(), frame, drawn, len(cloths))
    finally:
        scene.frame_set(before[0], subframe=before[1])


def differs_from_simulated(scene: bpy.types.Scene) -> bool:
    """May what renders be something else than was simulated?"""
    present = members(scene)
    return any(_changed_after(scene, item) for item in (*present.cloths, *(body.item for body in present.bodies)))


def _changed_after(scene: bpy.types.Scene, item: bpy.types.Object) -> bool:
    """Does something make Blender render other triangles of this object than were simulated?"""
    if item.taffeta.role != "CLOTH":
        return differs(scene, item)
    after = list(item.modifiers)[modifier.place(item) + 1 :]
    return any(entry.show_render and entry.type not in modifier.SHAPELESS for entry in after)


def mesh(body: Body, depsgraph: bpy.types.Depsgraph, frame: int) -> tuple[Array, IntArray]:
    """Vertices (N, 3) in the world, m, and triangles (T, 3) that Blender draws; equal places are one vertex."""
    item = body.item
    with evaluated_mesh(body, depsgraph, frame) as (evaluated, matrix):
        points = mesh_arrays.positions(evaluated)
        triangles = mesh_arrays.triangles(evaluated)
        world = to_world(points, matrix)
    after = list(item.modifiers)[modifier.place(item) + 1 :]
    sewn = sewn_to.sews(item) or (item.taffeta.role == "CLOTH" and item.taffeta.cloth.weld_seams)
    if sewn or any(entry.show_viewport for entry in after):
        world, triangles = _merged(world, triangles)
    return world, triangles


def _merged(points: Array, triangles: IntArray) -> tuple[Array, IntArray]:
    """Modifiers, and threads, leave seams of two vertices in one place, which do not cross for it."""
    places, inverse = np.unique(points, axis=0, return_inverse=True)
    if len(places) == len(points):
        return points, triangles
    merged = inverse.reshape(-1)[triangles]
    whole = (merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 2] != merged[:, 0])
    return places, merged[whole]


def _threads(cloths: Sequence[bpy.types.Object], points: Sequence[Array]) -> IntArray:
    """(S, 4) as `MeshCheck` has them: what lies in one place of two cloths that are sewn to each other."""
    found = [np.zeros((0, 4), np.int64)]
    for index, item in enumerate(cloths):
        other = sewn_to.other_of(item)
        if other is not None and other in cloths:
            at = cloths.index(other)
            near = cKDTree(points[at]).query_ball_point(points[index], TOGETHER)
            own = np.repeat(np.arange(len(near)), [len(each) for each in near])
            its = np.array([vertex for each in near for vertex in each], np.int64)
            found.append(np.column_stack([np.full(len(own), index), own, np.full(len(own), at), its]))
    return np.concatenate(found)


def _findings(depsgraph: bpy.types.Depsgraph, frame: int, bodies: Sequence[Body], cloths: int) -> list[Finding]:
    """cloths: so many of the first are cloth."""
    if not cloths:
        return []
    drawn = [mesh(body, depsgraph, frame) for body in bodies]
    names, sizes = [body.name for body in bodies], [len(points) for points, _ in drawn]
    threads = _threads([body.item for body in bodies[:cloths]], [points for points, _ in drawn])
    check = MeshCheck(names, sizes, [triangles for _, triangles in drawn], cloths, threads=threads)
    return check.findings(frame, np.concatenate([points for points, _ in drawn]))

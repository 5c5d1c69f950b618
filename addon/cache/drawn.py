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
from ..scene import dense as dense_mesh
from ..scene import mesh as mesh_arrays
from ..scene import modifier, retiming, sewn_to
from ..scene.bodies import Body
from ..scene.evaluated import evaluated_mesh, to_world
from ..scene.gather import FrameRange, Members, members
from ..scene.render_settings import as_rendered, differs


def findings(context: bpy.types.Context, frames: FrameRange) -> Iterator[tuple[int, list[Finding]]]:
    """Each frame of the animation in this range with what crosses in it.

    Cloth against itself and against all else; bodies among themselves are not looked at. A dense mesh stands for the
    cloth that it follows, which it lies upon. The current frame and all modifiers are put back. Raises SceneError.
    """
    scene = context.scene
    groups = _judged(members(scene))
    drawn = list(dict.fromkeys(body for cloths, bodies in groups for body in (*cloths, *bodies)))
    before = scene.frame_current, scene.frame_subframe
    try:
        with ExitStack() as undo:
            undo.enter_context(retiming.unstretched(scene))
            undo.enter_context(as_rendered(scene, [body.item for body in drawn]))
            for frame in range(frames[0], frames[1] + 1):
                scene.frame_set(frame)
                yield frame, _findings(context.evaluated_depsgraph_get(), frame, groups)
    finally:
        scene.frame_set(before[0], subframe=before[1])


def _judged(present: Members) -> list[tuple[list[Body], list[Body]]]:
    """(cloths, bodies) that are looked at together: a light mesh that renders as well apart from what follows it."""
    cloths = [Body(item) for item in present.cloths if modifier.find(item) is not None]
    shown = {
        Body(item): dense_mesh.light_of(item) for item in present.followers if not item.hide_viewport
    }  # of others Blender has no mesh, which the Checks say
    dense = [body for body, cloth in shown.items() if cloth is not None and Body(cloth) in cloths]
    light = {shown[body] for body in dense}
    alone = [body for body in cloths if body.item not in light]
    groups = [([*alone, *dense], present.bodies)]
    if any(body.item in light and not body.item.hide_render for body in cloths):
        groups.append(([body for body in cloths if body in alone or not body.item.hide_render], present.bodies))
    return groups


def differs_from_simulated(scene: bpy.types.Scene) -> bool:
    """May what renders be something else than was simulated?"""
    present = members(scene)
    followed = (dense_mesh.light_of(item) for item in present.followers)
    return any(cloth in present.cloths for cloth in followed) or any(
        _changed_after(scene, item) for item in (*present.cloths, *(body.item for body in present.bodies))
    )


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
    if sewn or dense_mesh.find(item) is not None or any(entry.show_viewport for entry in after):
        world, triangles = _merged(world, triangles)
    return world, triangles


def _merged(points: Array, triangles: IntArray) -> tuple[Array, IntArray]:
    """Modifiers, threads and artists leave seams of two vertices in one place, which do not cross for it."""
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


def _findings(
    depsgraph: bpy.types.Depsgraph, frame: int, groups: Sequence[tuple[list[Body], list[Body]]]
) -> list[Finding]:
    """groups: as `_judged`."""
    meshes: dict[Body, tuple[Array, IntArray]] = {}
    found: dict[Finding, None] = {}
    for cloths, bodies in groups:
        together = [*cloths, *bodies]
        for body in together if cloths else ():
            if body not in meshes:
                meshes[body] = mesh(body, depsgraph, frame)
        if cloths:
            found.update(dict.fromkeys(_crossings(frame, together, [meshes[body] for body in together], len(cloths))))
    return list(found)


def _crossings(
    frame: int, bodies: Sequence[Body], drawn: Sequence[tuple[Array, IntArray]], cloths: int
) -> list[Finding]:
    """cloths: so many of the first are cloth."""
    names, sizes = [body.name for body in bodies], [len(points) for points, _ in drawn]
    threads = _threads([body.item for body in bodies[:cloths]], [points for points, _ in drawn])
    check = MeshCheck(names, sizes, [triangles for _, triangles in drawn], cloths, threads=threads)
    return check.findings(frame, np.concatenate([points for points, _ in drawn]))

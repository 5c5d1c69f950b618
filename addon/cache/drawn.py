# SPDX-License-Identifier: GPL-3.0-or-later
"""Does what Blender draws cross? The meshes that its dependency graph shows, as they render, before the exact check.

The certificate of a frame is about the triangles that were simulated. Blender draws them, unless a modifier after the
cache makes others of them, or a body renders otherwise than it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import bpy
import numpy as np
from scipy.spatial import cKDTree

from ...gpu_core.check.scene_check import Exceptions, Finding, MeshCheck
from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.meetings import Meetings
from ...gpu_core.scene.scene import Cloth, Collider, Scene
from ...gpu_core.scene.seams import TOGETHER
from ..scene import collision_properties, encounters, modifier, retiming, sewn_to
from ..scene import dense as dense_mesh
from ..scene import mesh as mesh_arrays
from ..scene.bodies import Body
from ..scene.evaluated import evaluated_mesh, to_world
from ..scene.gather import FrameRange, Members, members
from ..scene.painted import Weights
from ..scene.render_settings import as_rendered, differs

Group = tuple[list[Body], list[Body]]  #: cloths, and the bodies that are looked at with them


def findings(context: bpy.types.Context, frames: FrameRange) -> Iterator[tuple[int, list[Finding]]]:
    """Each frame of the animation in this range with what crosses in it.

    Cloth against itself and against all else; bodies among themselves are not looked at. A dense mesh stands for the
    cloth that it follows, which it lies upon. The current frame and all modifiers are put back. Raises SceneError.
    """
    groups = judged(members(context.scene))
    for frame, depsgraph in played(context, frames, groups):
        yield frame, _findings(depsgraph, frame, groups)


def played(
    context: bpy.types.Context, frames: FrameRange, groups: Sequence[Group]
) -> Iterator[tuple[int, bpy.types.Depsgraph]]:
    """Each frame as these objects render in it, and then the current frame and all modifiers as they were."""
    scene = context.scene
    drawn = list(dict.fromkeys(body.item for cloths, bodies in groups for body in (*cloths, *bodies)))
    before = scene.frame_current, scene.frame_subframe
    try:
        with ExitStack() as undo:
            undo.enter_context(retiming.unstretched(scene))
            undo.enter_context(as_rendered(scene, drawn))
            for frame in range(frames[0], frames[1] + 1):
                scene.frame_set(frame)
                yield frame, context.evaluated_depsgraph_get()
    finally:
        scene.frame_set(before[0], subframe=before[1])


def judged(present: Members) -> list[Group]:
    """(cloths, bodies) that are looked at together: a light mesh that renders as well apart from what follows it."""
    cloths = [Body(item) for item in present.cloths if modifier.find(item) is not None]
    shown = {
        Body(item): dense_mesh.light_of(item) for item in present.followers if not item.hide_viewport
    }  # of others Blender has no mesh, which the Checks say
    dense = [body for body, cloth in shown.items() if cloth is not None and Body(cloth) in cloths]
    light = {shown[body] for body in dense}
    alone = [body for body in cloths if body.item not in light]
    found = [([*alone, *dense], present.bodies)]
    if any(body.item in light and not body.item.hide_render for body in cloths):
        found.append(([body for body in cloths if body in alone or not body.item.hide_render], present.bodies))
    return found


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


class Drawn(NamedTuple):
    points: Array  #: (N, 3) in the world, m
    triangles: IntArray  #: (T, 3)
    left_out: dict[str, Any]  #: (N,) as of `Cloth`, by its names


def mesh(body: Body, depsgraph: bpy.types.Depsgraph, frame: int) -> tuple[Array, IntArray]:
    """Vertices (N, 3) in the world, m, and triangles (T, 3) that Blender draws; equal places are one vertex."""
    return _drawn(body, depsgraph, frame)[:2]


def _drawn(body: Body, depsgraph: bpy.types.Depsgraph, frame: int) -> Drawn:
    item, left_out = body.item, dict[str, Any]()
    with evaluated_mesh(body, depsgraph, frame) as (evaluated, matrix):
        points = mesh_arrays.positions(evaluated)
        triangles = mesh_arrays.triangles(evaluated)
        world = to_world(points, matrix)
        if item.taffeta.role == "CLOTH" and collision_properties.groups(item):
            weights = Weights(item, item.evaluated_get(depsgraph), evaluated)
            left_out = collision_properties.read(item, weights)
        if item.taffeta.role == "COLLIDER" or body.surface_of is not None:
            through = collision_properties.lets_through(item, item.evaluated_get(depsgraph), evaluated)
            triangles = triangles if through is None else collision_properties.stopping(triangles, through)
    after = list(item.modifiers)[modifier.place(item) + 1 :]
    sewn = sewn_to.sews(item) or (item.taffeta.role == "CLOTH" and item.taffeta.cloth.weld_seams)
    if sewn or dense_mesh.find(item) is not None or any(entry.show_viewport for entry in after):
        return _merged(Drawn(world, triangles, left_out))
    return Drawn(world, triangles, left_out)


def _merged(found: Drawn) -> Drawn:
    """Modifiers, threads and artists leave seams of two vertices in one place, which do not cross for it."""
    places, inverse = np.unique(found.points, axis=0, return_inverse=True)
    if len(places) == len(found.points):
        return found
    merged = inverse.reshape(-1)[found.triangles]
    left_out = {
        name: np.bincount(inverse.reshape(-1), own, len(places)) > 0 for name, own in found.left_out.items()
    }  # fmt: skip
    whole = (merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 2] != merged[:, 0])
    return Drawn(places, merged[whole], left_out)


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


def _findings(depsgraph: bpy.types.Depsgraph, frame: int, groups: Sequence[Group]) -> list[Finding]:
    meshes: dict[Body, Drawn] = {}
    found: dict[Finding, None] = {}
    for cloths, bodies in groups:
        together = [*cloths, *bodies]
        for body in together if cloths else ():
            if body not in meshes:
                meshes[body] = _drawn(body, depsgraph, frame)
        if cloths:
            found.update(dict.fromkeys(_crossings(frame, together, [meshes[body] for body in together], len(cloths))))
    return list(found)


def _crossings(frame: int, bodies: Sequence[Body], drawn: Sequence[Drawn], cloths: int) -> list[Finding]:
    """cloths: so many of the first are cloth."""
    names, sizes = [body.name for body in bodies], [len(found.points) for found in drawn]
    threads = _threads([body.item for body in bodies[:cloths]], [found.points for found in drawn])
    exceptions = _exceptions(bodies, drawn, cloths)
    triangles = [found.triangles for found in drawn]
    check = MeshCheck(names, sizes, triangles, cloths, threads=threads, exceptions=exceptions)
    return check.findings(frame, np.concatenate([found.points for found in drawn]))


def _exceptions(bodies: Sequence[Body], drawn: Sequence[Drawn], cloths: int) -> Exceptions:
    """What the user lets through of these meshes, first those of cloth. Dense ones meet what their cloth does."""
    items, others = [dense_mesh.light_of(body.item) or body.item for body in bodies[:cloths]], bodies[cloths:]
    met = encounters.chosen(bpy.context.scene, items, others)
    scene = Scene(
        tuple(
            Cloth(item.name, triangles, points, points, meets=encounters.meets(item, others), **left_out)
            for item, (points, triangles, left_out) in zip(items, drawn, strict=False)
        ),
        tuple(
            Collider(body.name, own.triangles, own.points[None])
            for body, own in zip(others, drawn[cloths:], strict=True)
        ),
        encounters=tuple(encounters.encounter(own, {"friction": 0.0}) for own in met),
    )
    meetings = Meetings(scene)
    return Exceptions(meetings.of_scene(scene), meetings.apart)

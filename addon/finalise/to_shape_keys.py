# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth whose frames are shape keys: a mesh that needs neither the cache nor Taffeta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...gpu_core.scene.scene import SceneError
from ..cache import velocity
from ..cache.frames import BakedFrames
from ..scene import dense, modifier
from ..scene.gather import members
from ..scene.overridable import link_beside
from .to_mesh import new_mesh

PER_FRAME = 25  #: evaluation time of absolute keys; Blender divides it by 100, which quarters survive without rounding
LAST_TIME = 1048574  #: Blender's largest evaluation time


def convert(context: bpy.types.Context, baked: BakedFrames, absolute: bool) -> bpy.types.Object:
    """A copy of the cloth object, with a shape key a frame in place of the cache; the cloth itself is hidden.

    The copy keeps the object's animation and the modifiers after the cache. Those before it, whose result the cache
    replaced, and the velocities, which are read from the cache, are left out. Dense meshes that follow the cloth follow
    the copy from then on.

    Args:
        absolute: the keys follow an evaluation time; otherwise each fades in and out with a value of its own, which
            goes with further keys of the artist's.

    Raises:
        SceneError: see `require_few`.
    """
    if absolute:
        require_few(baked)
    cloth = baked.cloth
    mesh = new_mesh(context, cloth, baked.positions[0], f"{cloth.name} Shape Keys")
    item = cloth.copy()
    item.make_local(clear_liboverride=True)  # the copy of a library override would be one
    item.data, item.name = mesh, mesh.name
    try:
        item.taffeta.role = "NONE"
        _drop_modifiers(item)
        for frame in range(baked.frame_start, baked.frame_end + 1):
            _add_key(item, baked, frame, absolute)
        _animate(mesh.shape_keys, baked, absolute)
    except BaseException:
        bpy.data.objects.remove(item)
        bpy.data.meshes.remove(mesh)
        raise
    link_beside(context.scene, cloth, item)
    for follower in dense.followers(members(context.scene).followers, cloth):
        dense.move_to(follower, item)
    cloth.hide_set(True)
    cloth.hide_render = True
    return item


def require_few(baked: BakedFrames) -> None:
    """Raises SceneError where there are more frames than absolute keys can have."""
    if PER_FRAME * (len(baked.positions) - 1) > LAST_TIME:
        raise SceneError(baked.cloth.name, "too many frames for absolute keys", "Choose relative ones, or a file")


def _drop_modifiers(item: bpy.types.Object) -> None:
    for replaced in list(item.modifiers)[: modifier.place(item) + 1]:
        item.modifiers.remove(replaced)
    velocity.remove(item)


def _add_key(item: bpy.types.Object, baked: BakedFrames, frame: int, absolute: bool) -> None:
    if frame > baked.frame_start and absolute:
        keys = item.data.shape_keys
        keys.use_relative = False
        keys.eval_time = PER_FRAME * (frame - baked.frame_start)  # where the next key goes
    key = item.shape_key_add(name=f"Frame {frame}", from_mix=False)
    key.interpolation = "KEY_LINEAR"
    key.data.foreach_set("co", baked.at(frame).reshape(-1))


def _animate(keys: bpy.types.Key, baked: BakedFrames, absolute: bool) -> None:
    """At each frame one key alone, between two frames both in proportion, before and after the range its ends."""
    curves = _new_curves(keys)
    start, end = baked.frame_start, baked.frame_end
    if absolute:
        _add_curve(curves, "eval_time", [(frame, PER_FRAME * (frame - start)) for frame in range(start, end + 1)])
        return
    for frame in range(start + 1, end + 1):  # the first frame is the basis
        fading = [(frame - 1, 0.0), (frame, 1.0)] + ([(frame + 1, 0.0)] if frame < end else [])
        _add_curve(curves, f'key_blocks["Frame {frame}"].value', fading)


def _new_curves(keys: bpy.types.Key) -> Any:
    """The empty collection of F-curves of a new action that these keys follow."""
    action = bpy.data.actions.new(keys.user.name)
    animation = keys.animation_data_create()
    animation.action = action
    if bpy.app.version < (4, 4, 0):
        return action.fcurves
    animation.action_slot = slot = action.slots.new(id_type="KEY", name=keys.name)
    return action.layers.new("Frames").strips.new(type="KEYFRAME").channelbag(slot, ensure=True).fcurves


def _add_curve(curves: Any, path: str, points: Sequence[tuple[int, float]]) -> None:
    curve = curves.new(path)
    curve.keyframe_points.add(len(points))
    for keyframe, point in zip(curve.keyframe_points, points, strict=True):
        keyframe.co = point
        keyframe.interpolation = "LINEAR"
    curve.update()

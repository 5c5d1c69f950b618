# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own cloth in the file of a sample, in a process of its own; called by benchmarks.scenes.peers.

    python -m taffeta.benchmarks.scenes.blender_peer FILE.blend JOB.npz OUT.npz

JOB: names (C,) of the cloths, of each held_K (P,), pins_K (F, P, 3) world, m, and until_K, the frames in which they
hold; distance that it collides at, m; first and last frame; limit, s. OUT: frames (F − 1, N, 3) of all cloths one
after another, world, m, or as many as there was time for; wall and user (CPU time), s; threads; versions.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ... import register, unregister
from ...addon.scene.gather import members
from ...addon.scene.modifier import play
from ...gpu_core.files import point_cache
from ..blender_cloth import apply_cotton, shown

GROUP = "Held here"


def add_cloth(item: bpy.types.Object, distance: float, first: int, last: int) -> None:
    """Its Cotton preset with self-collision; it keeps `distance`, m, from all."""
    modifier = item.modifiers.new("Cloth", "CLOTH")
    apply_cotton(modifier)
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = first, last
    modifier.collision_settings.use_self_collision = True
    modifier.collision_settings.distance_min = modifier.collision_settings.self_distance_min = distance
    if GROUP in item.vertex_groups:
        modifier.settings.vertex_group_mass = GROUP


def hold(item: bpy.types.Object, held: np.ndarray, targets: np.ndarray, first: int, path: Path) -> None:
    """Pinned vertices follow the mesh, which a cache moves before the cloth. targets: (F, P, 3) world, m."""
    item.vertex_groups.new(name=GROUP).add(held.tolist(), 1.0, "REPLACE")
    rest = np.array([vertex.co for vertex in item.data.vertices])
    inverse = np.array(item.matrix_world.inverted())
    frames = np.repeat(rest[None], len(targets), axis=0)
    frames[:, held] = targets @ inverse[:3, :3].T + inverse[:3, 3]
    point_cache.create(path, len(rest), first)
    for shape in frames.astype(np.float32):
        point_cache.append(path, shape)
    play(item.modifiers.new("Moves", "MESH_CACHE"), str(path), first)


def let_go(item: bpy.types.Object, frame: int) -> None:
    """From this frame on the group's weights are 0: cloth reads them in every frame."""
    weights = item.modifiers.new("Let Go", "VERTEX_WEIGHT_MIX")
    weights.vertex_group_a, weights.mix_set, weights.mix_mode, weights.default_weight_b = GROUP, "A", "SET", 0.0
    for share, at in ((0.0, frame - 1), (1.0, frame)):
        weights.mask_constant = share
        weights.keyframe_insert("mask_constant", frame=at)


def run(job: Any, folder: Path) -> dict[str, Any]:
    scene, first, last = bpy.context.scene, int(job["first"]), int(job["last"])
    scene.frame_start, scene.frame_end = first, last
    scene.frame_set(first)
    cloths, distance = [bpy.data.objects[str(name)] for name in job["names"]], float(job["distance"])
    bodies = members(scene).colliders
    for index, item in enumerate(cloths):
        if len(job[f"held_{index}"]):
            hold(item, job[f"held_{index}"], job[f"pins_{index}"], first, folder / f"held_{index}.pc2")
            if int(job[f"until_{index}"]) <= last - first:
                let_go(item, first + int(job[f"until_{index}"]))
        add_cloth(item, distance, first, last)
    for body in bodies:
        body.modifiers.new("Collision", "COLLISION")
        body.collision.thickness_outer = distance
    scene.frame_set(first)
    frames, began, before = [], time.perf_counter(), os.times().user
    for frame in range(first + 1, last + 1):
        if time.perf_counter() - began > float(job["limit"]):
            break
        scene.frame_set(frame)
        frames.append(np.concatenate([_world(item) for item in cloths]))
    return {
        "frames": np.array(frames), "wall": time.perf_counter() - began, "user": os.times().user - before,
        "threads": len(os.sched_getaffinity(0)), "versions": f"Blender {bpy.app.version_string}",
    }  # fmt: skip


def _world(item: bpy.types.Object) -> np.ndarray:
    matrix: Matrix = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    world = np.array(matrix)
    return np.asarray(shown(item) @ world[:3, :3].T + world[:3, 3])


def main() -> None:
    blend, job, out = sys.argv[1:]
    register()
    try:  # Blender's module hangs at exit where an add-on is left registered
        bpy.ops.wm.open_mainfile(filepath=blend, load_ui=False)
        with np.load(job) as stored:
            np.savez(out, **run(stored, Path(out).parent))
    finally:
        unregister()


if __name__ == "__main__":
    main()

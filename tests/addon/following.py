# SPDX-License-Identifier: GPL-3.0-or-later
"""A light mesh that plays frames, and a dense one over it, in the hands of a test."""

from __future__ import annotations

import struct
from pathlib import Path

import bpy
import numpy as np

from taffeta.addon.scene import modifier, triangulation


def sheet(make_object, name: str, parts: int, role: str = "NONE", lift: float = 0.0) -> bpy.types.Object:
    """A square of quads, 1 m wide, in gentle waves, at this height over that of height 0."""
    line = np.linspace(-0.5, 0.5, parts + 1)
    points = [(x, y, 0.003 * np.sin(6.0 * x) + lift) for y in line for x in line]
    row = parts + 1
    corners = (y * row + x for y in range(parts) for x in range(parts))
    return make_object(name, points, [(a, a + 1, a + row + 1, a + row) for a in corners], role)


def motion(item: bpy.types.Object, frames: int) -> np.ndarray:
    """(F, N, 3) the mesh, as modelled first, rolling up more and more, object space."""
    points = world(item, evaluated=False)
    out = []
    for frame in range(frames):
        bend = 0.9 * frame + 1e-9
        angle = bend * points[:, 0]
        out.append(
            np.column_stack(
                [
                    np.sin(angle) / bend - points[:, 2] * np.sin(angle),
                    points[:, 1],
                    (1 - np.cos(angle)) / bend + points[:, 2] * np.cos(angle),
                ]
            )
        )
    return np.array(out)


def play(item: bpy.types.Object, frames: np.ndarray, path: Path) -> None:
    """Let the cloth show these (F, N, 3), from frame 1 on."""
    header = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, frames.shape[1], 1.0, 1.0, len(frames))
    path.write_bytes(header + frames.astype("<f4").tobytes())
    own = item.modifiers.new(modifier.NAME, "MESH_CACHE")
    modifier.play(own, str(path), 1)
    triangulation.attach(item)


def world(item: bpy.types.Object, frame: int | None = None, evaluated: bool = True) -> np.ndarray:
    """(N, 3) where its vertices are, as Blender shows them."""
    if frame is not None:
        bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get()) if evaluated else item
    points = np.array([vertex.co for vertex in shown.data.vertices], np.float64).reshape(-1, 3)
    matrix = np.array(shown.matrix_world, np.float64)
    return points @ matrix[:3, :3].T + matrix[:3, 3]

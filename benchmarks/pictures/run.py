# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene to what a picture shows of it: the cloths and colliders of one frame."""

from __future__ import annotations

import sys

import numpy as np

from ...gpu_core.backend import select
from ...gpu_core.check.scene_check import Finding, check_frame
from ...gpu_core.scene.scene import Scene
from ...gpu_core.simulator import Simulator
from ...gpu_core.solvers.parameters import NdbParameters
from .part import Part


def run(scene: Scene, frame: int, parameters: NdbParameters | None = None, *, said: str = "") -> list[Part]:
    """Cloths first, then colliders, at `frame`. Triangles of cloth that cross something there are marked.

    said: what the progress on stderr is called.
    """
    simulator = Simulator(scene, select("cpu"), parameters)
    stretch, late, released = 1.0, 0, set[str]()
    while simulator.frame < frame:
        report = simulator.advance_frame()
        stretch, late = max(stretch, report.largest_stretch), late + report.late_steps
        released |= set(report.released)
        print(
            f"{said} frame {simulator.frame} of {frame}, {report.seconds:.1f} s, stretch {report.largest_stretch:.3f}, "
            f"unfinished {report.unfinished_steps} of {report.steps}, released {sorted(report.released)}",
            file=sys.stderr, flush=True,
        )  # fmt: skip
    found = check_frame(scene, frame, [shape.astype(np.float32) for shape in simulator.positions()])
    print(
        f"{said}: {simulator.space.cloth_vertices} vertices, frame {frame}, largest stretch {stretch:.3f}, "
        f"late steps {late}, {len(found)} crossings, released {sorted(released)}",
        flush=True,
    )
    return _parts(scene, simulator, found)


def _parts(scene: Scene, simulator: Simulator, found: list[Finding]) -> list[Part]:
    index = simulator.frame - scene.settings.frame_start
    cloths = [
        Part(
            cloth.name, positions, cloth.triangles, "cloth", dye, cloth.rest_positions,
            _crossing(cloth.name, cloth.triangles, found),
        )
        for dye, (cloth, positions) in enumerate(zip(scene.cloths, simulator.positions(), strict=True))
    ]  # fmt: skip
    colliders = [
        Part(item.name, np.asarray(item.positions[index if item.animated else 0], np.float64), item.triangles)
        for item in scene.colliders
    ]
    return cloths + colliders


def _crossing(name: str, triangles: np.ndarray, found: list[Finding]) -> np.ndarray:
    """(T,) the triangles of `name` that cross something, or have an edge that does."""
    crossing = np.zeros(len(triangles), bool)
    for finding in found:
        if finding.triangle_object == name:
            crossing[finding.triangle] = True
        if finding.edge_object == name:
            crossing |= np.isin(triangles, finding.edge).sum(axis=1) == 2
    return crossing

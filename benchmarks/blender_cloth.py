# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own cloth and Taffeta in the same scene, in one run: time, intersections, stretch.

    python -m taffeta.benchmarks.blender_cloth [--vertices N ...] [--frames F] [--threads T] [--note TEXT]

The scene is the sample `drape_on_sphere`. Blender's cloth has its Cotton preset (which sets quality 5) and
self-collision, at two collision distances: half an edge, and the smallest it accepts, which is its fastest. Its default
of 15 mm is longer than an edge at 10 000 vertices: several seconds per frame and edges twice their length. Both run on
the same --threads cores: the process is bound to them before Blender starts. Prints a table, and puts the run into
results/blender_cloth-<processor>.json in place of one of the same size, frames and threads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .. import register, unregister
from ..addon.scene.gather import cloth_objects, gather, members
from ..gpu_core.check.intersection import unique_edges
from ..gpu_core.check.scene_check import check_frame, to_world
from ..gpu_core.files.cache import frames_path, read_frames
from ..gpu_core.scene.mesh import edge_lengths
from ..gpu_core.scene.scene import Scene
from .speed.machine import processor
from .speed.results import RESULTS, commit

SAMPLE, WIDTH = "drape_on_sphere", 1.0  #: m
SMALLEST = 1.0e-3  #: m, collision distance: the smallest that Blender accepts, and what Taffeta keeps

Frames = npt.NDArray[np.float32]  # (F, N, 3) object space, m


@dataclass(frozen=True)
class Row:
    """What one method made of the scene."""

    method: str
    seconds_per_frame: float  #: over the frames after the first, which is the start state
    intersecting_frames: int
    most_intersections: int  #: in one frame
    largest_stretch: float  #: of any edge in any frame, relative to its rest length
    last_frames_speed: float  #: rms over the vertices, mean of the last 12 frames, m/s


def blender_cloth(blend: Path, frames: int, distance: float) -> tuple[Frames, float]:
    """Positions, and seconds per frame, of Blender's own cloth keeping `distance` (m) from itself and the collider."""
    _open(blend, frames)
    scene = bpy.context.scene
    (cloth,), (collider,) = cloth_objects(scene), members(scene).colliders
    modifier = cloth.modifiers.new("Cloth", "CLOTH")
    apply_cotton(modifier)
    modifier.point_cache.frame_end = frames
    modifier.collision_settings.use_self_collision = True
    collider.modifiers.new("Collision", "COLLISION")
    modifier.collision_settings.distance_min = modifier.collision_settings.self_distance_min = distance
    collider.collision.thickness_outer = distance
    found, start = [], 0.0
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
        if frame == 1:
            start = time.perf_counter()
        found.append(shown(cloth))
    return np.stack(found), (time.perf_counter() - start) / (frames - 1)


def taffeta(blend: Path, frames: int, folder: Path) -> tuple[Frames, float]:
    """The same from Taffeta's own command, on the CPU."""
    command = [sys.executable, "-m", "taffeta", "bake", str(blend), "--frames", f"1:{frames}", "--backend", "cpu"]
    run = subprocess.run([*command, "--cache", str(folder), "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return read_frames(frames_path(folder, _key(folder))), json.loads(run.stdout)["seconds_per_frame"]


def measure(method: str, scene: Scene, positions: Frames, seconds: float) -> Row:
    (cloth,) = scene.cloths
    edges = unique_edges(cloth.triangles)
    rest = edge_lengths(np.asarray(cloth.rest_positions), edges)
    found = [len(check_frame(scene, frame, [shape])) for frame, shape in enumerate(positions, start=1)]
    worlds = [to_world(cloth, shape, index) for index, shape in enumerate(positions)]
    stretch = max(float((edge_lengths(world, edges) / rest).max()) for world in worlds)
    steps = np.diff(np.stack(worlds[-13:]), axis=0) * scene.settings.fps
    speed = float(np.sqrt((steps**2).sum(axis=2).mean(axis=1)).mean())
    return Row(method, seconds, sum(map(bool, found)), max(found), stretch, speed)


def _open(blend: Path, frames: int) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames


def apply_cotton(modifier: bpy.types.Modifier) -> None:
    """Run Blender's own preset file, which sets `bpy.context.cloth`."""
    folder = next(Path(path) for path in bpy.utils.preset_paths("cloth"))
    with bpy.context.temp_override(cloth=modifier):
        exec(compile((folder / "Cotton.py").read_text(encoding="utf-8"), "Cotton.py", "exec"))


def shown(cloth: bpy.types.Object) -> Frames:
    """(N, 3) where its vertices are now, object space, m."""
    vertices = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
    positions = np.empty(3 * len(vertices), np.float32)
    vertices.foreach_get("co", positions)
    return positions.reshape(-1, 3)


def _key(folder: Path) -> str:
    (file,) = folder.glob("*.pc2")
    return file.stem


def compare(vertices: int, frames: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as scratch:
        blend = Path(scratch) / "drape.blend"
        sample = [sys.executable, "-m", "taffeta", "sample", SAMPLE, "--vertices", str(vertices), "--out", str(blend)]
        subprocess.run(sample, check=True, stdout=subprocess.DEVNULL)
        _open(blend, frames)
        scene = gather(bpy.context)
        ours = measure("Taffeta", scene, *taffeta(blend, frames, Path(scratch) / "cache"))
        theirs = [
            measure(f"Blender, {1e3 * distance:.0f} mm", scene, *blender_cloth(blend, frames, distance))
            for distance in (0.5 * WIDTH / (vertices**0.5 - 1.0), SMALLEST)
        ]
        return [ours, *theirs]


def report(rows: list[Row], vertices: int, frames: int, note: str) -> None:
    threads = len(os.sched_getaffinity(0))
    print(f"\n{vertices} vertices, {frames} frames, {processor()}, {threads} threads")
    print(f"{'':16}{'s/frame':>9}{'frames that intersect':>24}{'largest stretch':>18}{'rms speed at the end':>23}")
    for row in rows:
        print(
            f"{row.method:16}{row.seconds_per_frame:9.2f}{row.intersecting_frames:24d}{row.largest_stretch:18.3f}"
            f"{row.last_frames_speed:18.4f} m/s"
        )
    ratios = {row.method: rows[0].seconds_per_frame / row.seconds_per_frame for row in rows[1:]}
    for method, ratio in ratios.items():
        print(f"Taffeta takes {ratio:.2f} times as long as {method}")
    run = {
        "vertices": vertices,
        "frames": frames,
        "threads": threads,
        "commit": commit(),
        "note": note,
        "ratios": ratios,
        "rows": [asdict(row) for row in rows],
    }
    _save(run)


def _save(run: dict[str, Any]) -> None:
    name = re.sub(r"\W+", "_", processor()).strip("_")
    path = RESULTS / f"blender_cloth-{name}.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
    key = ("vertices", "frames", "threads")
    runs = [kept for kept in runs if any(kept[k] != run[k] for k in key)] + [run]
    runs.sort(key=lambda kept: [kept[k] for k in key])
    content = {"processor": processor(), "blender": bpy.app.version_string, "scene": SAMPLE, "runs": runs}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, action="append", metavar="N", help="default: 10 000")
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: all")
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if options.threads < len(cores):  # Blender counts its cores when it is loaded: begin again with fewer
        os.sched_setaffinity(0, cores[: options.threads])
        os.execv(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]])
    register()
    try:
        for vertices in options.vertices or [10_000]:
            report(compare(vertices, options.frames), vertices, options.frames, options.note)
    finally:
        unregister()


if __name__ == "__main__":
    main()

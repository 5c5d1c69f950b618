# SPDX-License-Identifier: GPL-3.0-or-later
"""What playing a bake adds to a frame of the timeline: python -m taffeta.benchmarks.playback [--dense] [--save]

The same mesh in a scene of its own is walked through the timeline without a cache and with one, in turns, with the
add-on on. With --dense it plays in both, and in one a dense mesh follows it: on triangles, as Make Light Mesh makes
them, or on --quads, which Taffeta cuts anew each frame. Prints the median CPU time of a frame change in ms, over all
threads, and that of the clock, both without Blender's drawing; --save puts them into results/playback.json beside what
other Blenders took.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

VERTICES = 40_000
LIGHT, DENSE = 8_000, 100_000  #: vertices, with --dense
APART = 1.0e-3  #: m, between the two
FRAMES = 100
ROUNDS = 5
CLOCKS: dict[str, Callable[[], float]] = {"": time.process_time, "_clock": time.perf_counter}
RESULTS = Path(__file__).resolve().parent / "results" / "playback.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dense", action="store_true", help=f"a mesh of {DENSE} vertices on one of {LIGHT}")
    parser.add_argument("--quads", action="store_true", help="the light mesh has quads")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp()
    import taffeta

    taffeta.register()
    scenes = _dense(options.quads) if options.dense else _cached()
    of = ("dense on quads" if options.quads else "dense") if options.dense else "cache"
    row = {**_head(of, scenes[1]), **_times(*scenes)}
    print(" ".join(f"{name} {value}" for name, value in row.items()))
    if options.save:
        _save(row)
    taffeta.unregister()


def _cached() -> tuple[Any, Any]:
    without, playing = _scene("without", VERTICES), _scene("with", VERTICES)
    _play(playing, Path(tempfile.mkdtemp()))
    return without, playing


def _dense(quads: bool) -> tuple[Any, Any]:
    """Two scenes in which a light mesh plays, the second with a dense one on it."""
    import bpy

    from taffeta.addon.scene import dense

    scenes = _scene("without", LIGHT), _scene("with", LIGHT)
    for scene in scenes:
        if not quads:
            _cut(scene)
        _play(scene, Path(tempfile.mkdtemp()))
    (light,) = scenes[1].objects  # of the scene in the window
    scenes[1].frame_set(1)
    follower = _grid(DENSE)
    points = _points(follower)
    points[:, 2] = _wave(points, 0)[:, 2] + APART
    follower.data.vertices.foreach_set("co", points.reshape(-1))
    dense.bind(bpy.context, follower, light, as_shown=True)
    return scenes


def _cut(scene: Any) -> None:
    """Cut the quads of the scene's cloth into triangles."""
    import bmesh

    (cloth,) = scene.objects
    mesh = bmesh.new()
    mesh.from_mesh(cloth.data)
    bmesh.ops.triangulate(mesh, faces=mesh.faces)
    mesh.to_mesh(cloth.data)
    mesh.free()


def _head(of: str, scene: Any) -> dict[str, Any]:
    import bpy

    from taffeta.benchmarks.speed.machine import processor
    from taffeta.benchmarks.speed.results import commit

    return {
        "of": of, "blender": bpy.app.version_string, "machine": processor(), "threads": len(os.sched_getaffinity(0)),
        "commit": commit(), "vertices": max(len(item.data.vertices) for item in scene.objects),
    }  # fmt: skip


def _times(without: Any, playing: Any) -> dict[str, float]:
    """ms a frame of both scenes by both clocks, in turns."""
    row: dict[str, float] = {}
    for suffix, clock in CLOCKS.items():
        times: dict[str, list[float]] = {"without": [], "with": []}
        for _ in range(ROUNDS):
            times["without"] += _walk(without, clock)
            times["with"] += _walk(playing, clock)
        medians = {name: 1e3 * statistics.median(each) for name, each in times.items()}
        medians["added"] = medians["with"] - medians["without"]
        row |= {f"{name}{suffix}": round(value, 3) for name, value in medians.items()}
    return row


def _scene(name: str, vertices: int) -> Any:
    """A scene with a square of cloth alone, in the window."""
    import bpy

    scene = bpy.data.scenes.new(name)
    scene.frame_start, scene.frame_end = 1, FRAMES
    bpy.context.window.scene = scene
    _grid(vertices).taffeta.role = "CLOTH"
    return scene


def _grid(vertices: int) -> Any:
    import bpy

    side = round(vertices**0.5)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side - 1, y_subdivisions=side - 1)
    return bpy.context.object


def _points(item: Any) -> np.ndarray:
    points = np.empty((len(item.data.vertices), 3), np.float32)
    item.data.vertices.foreach_get("co", points.reshape(-1))
    return points


def _wave(rest: np.ndarray, frame: int) -> np.ndarray:
    return np.asarray(rest + np.sin(7 * rest[:, :1] + 0.3 * frame) * np.array([0.0, 0.0, 0.1]), np.float32)


def _play(scene: Any, folder: Path) -> None:
    """Give the scene's cloth a cache of waves: what moves where makes no difference to the time."""
    from taffeta.addon.cache import writeback
    from taffeta.gpu_core.files import cache, point_cache

    (cloth,) = scene.objects
    rest = _points(cloth)
    path = cache.frames_path(folder, "waves")
    point_cache.create(path, len(rest), scene.frame_start)
    for frame in range(FRAMES):
        point_cache.append(path, _wave(rest, frame))
    writeback.attach({"waves": cloth}, scene.frame_start, folder)


def _walk(scene: Any, clock: Callable[[], float]) -> list[float]:
    """Seconds of each frame change."""
    import bpy

    bpy.context.window.scene = scene
    scene.frame_set(scene.frame_start)
    times = []
    for frame in range(scene.frame_start + 1, scene.frame_end + 1):
        began = clock()
        scene.frame_set(frame)
        times.append(clock() - began)
    return times


def _save(row: dict[str, Any]) -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    key = ("of", "blender", "machine")
    kept = [other for other in rows if any(other.get(name, "cache") != row[name] for name in key)]
    text = json.dumps(sorted([*kept, row], key=lambda entry: (entry.get("of", "cache"), entry["blender"])), indent=1)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
    os._exit(0)  # bpy 4.5 can hang while the interpreter shuts down

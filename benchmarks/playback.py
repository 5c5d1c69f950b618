# SPDX-License-Identifier: GPL-3.0-or-later
"""What playing a bake adds to a frame of the timeline: python -m taffeta.benchmarks.playback [--save]

The same mesh in a scene of its own is walked through the timeline without a cache and with one, in turns, with the
add-on on. Prints the median CPU time of a frame change in ms, over all threads and without Blender's drawing; --save
puts it into results/playback.json beside what other Blenders took.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

VERTICES = 40_000
FRAMES = 100
ROUNDS = 5
RESULTS = Path(__file__).resolve().parent / "results" / "playback.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp()
    import bpy

    import taffeta
    from taffeta.benchmarks.speed.machine import processor
    from taffeta.benchmarks.speed.results import commit

    taffeta.register()
    still, playing = _scene("still"), _scene("playing")
    _play(playing, Path(tempfile.mkdtemp()))
    times: dict[str, list[float]] = {"still": [], "playing": []}
    for _ in range(ROUNDS):
        for scene in (still, playing):
            times[scene.name] += _walk(scene)
    without, with_cache = (1e3 * statistics.median(times[scene.name]) for scene in (still, playing))
    row = {
        "blender": bpy.app.version_string,
        "machine": processor(),
        "commit": commit(),
        "vertices": len(playing.objects[0].data.vertices),
        "without": round(without, 3),
        "with": round(with_cache, 3),
        "added": round(with_cache - without, 3),
    }
    print(" ".join(f"{name} {value}" for name, value in row.items()))
    if options.save:
        _save(row)
    taffeta.unregister()


def _scene(name: str) -> Any:
    """A scene with a square of cloth alone."""
    import bpy

    scene = bpy.data.scenes.new(name)
    scene.frame_start, scene.frame_end = 1, FRAMES
    side = round(VERTICES**0.5)
    bpy.context.window.scene = scene
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side - 1, y_subdivisions=side - 1)
    bpy.context.object.taffeta.role = "CLOTH"
    return scene


def _play(scene: Any, folder: Path) -> None:
    """Give the scene's cloth a cache of waves: what moves where makes no difference to the time."""
    from taffeta.addon.cache import writeback
    from taffeta.gpu_core.files import cache, point_cache

    (cloth,) = scene.objects
    rest = np.array([tuple(vertex.co) for vertex in cloth.data.vertices], np.float32)
    path = cache.frames_path(folder, "waves")
    point_cache.create(path, len(rest), scene.frame_start)
    for frame in range(FRAMES):
        waves = np.sin(7 * rest[:, :1] + 0.3 * frame) * np.array([0.0, 0.0, 0.1])
        point_cache.append(path, (rest + waves).astype(np.float32))
    writeback.attach({"waves": cloth}, scene.frame_start, folder)


def _walk(scene: Any) -> list[float]:
    """CPU seconds of each frame change."""
    import bpy

    bpy.context.window.scene = scene
    scene.frame_set(scene.frame_start)
    times = []
    for frame in range(scene.frame_start + 1, scene.frame_end + 1):
        began = time.process_time()
        scene.frame_set(frame)
        times.append(time.process_time() - began)
    return times


def _save(row: dict[str, Any]) -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    kept = [other for other in rows if (other["blender"], other["machine"]) != (row["blender"], row["machine"])]
    text = json.dumps(sorted([*kept, row], key=lambda entry: entry["blender"]), indent=1)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
    os._exit(0)  # bpy 4.5 can hang while the interpreter shuts down

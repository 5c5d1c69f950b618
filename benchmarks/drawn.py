# SPDX-License-Identifier: GPL-3.0-or-later
"""Random garments of quads and n-gons, baked in Blender: does what Blender draws of them cross?

    python -m taffeta.benchmarks.drawn [--first SEED] [--scenes 300]

Each scene is a crumpling sheet whose faces were joined at random, on a body of quads that folds. Every frame is judged
as the dependency graph shows it, by `taffeta check`'s judge and by ipctk, and once more as Blender would have cut it.
Writes benchmarks/results/drawn.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import bpy

from ..addon import registration
from ..addon.bake import kept, session
from ..addon.bake.state import Phase
from ..addon.cache import drawn
from ..addon.scene import modifier, triangulation
from ..addon.scene.bodies import Body
from .second_judge import crosses

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "drawn.json"
FRAMES = 14


@dataclass
class Tally:
    scenes: int = 0
    frames: int = 0
    crossing: int = 0  #: frames in which the judge finds something in what Blender draws
    disagreeing: int = 0  #: frames in which ipctk says otherwise than the judge
    crossing_without: int = 0  #: frames that would cross in the cuts that Blender makes itself
    scenes_without: int = 0  #: scenes with such a frame
    released: int = 0  #: frames in which a pair had no room, and may cross


def build(seed: int) -> bpy.types.Object:
    """The cloth of a new scene, saved in the open file's folder."""
    rng = random.Random(seed)
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.taffeta.backend, scene.taffeta.step_rate = "CPU", 96.0
    cloth = _sheet(rng)
    _body(rng)
    return cloth


def _sheet(rng: random.Random) -> bpy.types.Object:
    import bmesh  # there is none until bpy is imported

    parts = rng.randint(10, 18)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=parts, y_subdivisions=parts, size=0.4)
    item = bpy.context.object
    item.name = "Cloth"
    mesh = bmesh.new()
    mesh.from_mesh(item.data)
    inner = [edge for edge in mesh.edges if len(edge.link_faces) == 2]
    chosen = rng.sample(inner, rng.randint(0, len(inner) // 8))
    bmesh.ops.dissolve_edges(mesh, edges=chosen, use_verts=False)
    mesh.to_mesh(item.data)
    mesh.free()
    item.rotation_euler = (rng.uniform(0.6, 1.57), rng.uniform(-0.4, 0.4), rng.uniform(0, 3))
    item.location = (0, 0, rng.uniform(0.3, 0.36))  # clear of the waves at the start
    item.taffeta.role = "CLOTH"
    item.taffeta.cloth.preset = rng.choice(["SILK", "COTTON", "JERSEY_KNIT"]) if rng.random() < 0.9 else "DENIM"
    return item


def _body(rng: random.Random) -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=1.2)
    floor = bpy.context.object
    floor.taffeta.role = "COLLIDER"
    wave = floor.modifiers.new("Wave", "WAVE")
    wave.height, wave.width, wave.speed = rng.uniform(0.0, 0.04), 0.3, 0.05
    kind = rng.choice([bpy.ops.mesh.primitive_cube_add, bpy.ops.mesh.primitive_uv_sphere_add])
    kind(location=(rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), -0.35))
    block = bpy.context.object
    block.scale = (0.06, 0.06, 0.3)
    block.taffeta.role = "COLLIDER"


def judge(cloth: bpy.types.Object, tally: Tally) -> None:
    """Every frame of the scene that was baked."""
    scene, before = bpy.context.scene, tally.crossing_without
    bodies = [Body(item) for item in (cloth, *(item for item in scene.objects if item.taffeta.role == "COLLIDER"))]
    for frame, found in drawn.findings(bpy.context, (1, FRAMES)):
        tally.frames += 1
        tally.crossing += bool(found)
        tally.disagreeing += bool(found) != _crosses(bodies, frame)
    own = triangulation.find(cloth)
    if own is None:
        return
    with modifier.otherwise():
        own.show_viewport = own.show_render = False
        for _, found in drawn.findings(bpy.context, (1, FRAMES)):
            tally.crossing_without += bool(found)
    tally.scenes_without += tally.crossing_without > before


def _crosses(bodies: list[Body], frame: int) -> bool:
    """As ipctk says."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    cloth, *others = (drawn.mesh(body, depsgraph, frame) for body in bodies)
    return crosses([cloth], others)


def run(seeds: range) -> Tally:
    """Raises RuntimeError where a scene cannot be baked."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            name = build(seed).name
            bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / f"{seed}.blend"))
            bake = session.Bake(bpy.context)
            session.start(bake)
            bake.wait()
            state = session.finish(bpy.context)
            if state.phase is not Phase.DONE:
                raise RuntimeError(f"seed {seed}: {state.headline}")
            tally.scenes += 1
            tally.released += sum(bool(report.get("released")) for report in bake.reports)
            before = tally.crossing, tally.disagreeing
            judge(bpy.data.objects[name], tally)
            if (tally.crossing, tally.disagreeing) != before:
                print(f"seed {seed}: {asdict(tally)}", file=sys.stderr, flush=True)
            kept.free(bpy.context.scene)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=300)
    options = parser.parse_args()
    registration.register()
    began = time.time()
    try:  # Blender's module hangs at exit where an add-on is left registered
        tally = run(range(options.first, options.first + options.scenes))
    finally:
        registration.unregister()
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False)
    values = {
        "commit": commit.stdout.strip(), "machine": platform.machine(), "blender": bpy.app.version_string,
        "first": options.first, "seconds": round(time.time() - began), **asdict(tally),
    }  # fmt: skip
    RESULTS.write_text(json.dumps(values, indent=1) + "\n")
    print(json.dumps(values, indent=1))
    return 1 if tally.crossing or tally.disagreeing else 0


if __name__ == "__main__":
    sys.exit(main())

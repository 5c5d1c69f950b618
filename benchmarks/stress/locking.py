# SPDX-License-Identifier: GPL-3.0-or-later
"""What one tight contact does to the rest of a cloth: the per-vertex filter beside the paper's global one.

    python -m taffeta.benchmarks.stress.locking [NAME ...] [--vertices N] [--frames F] [--seconds S]

Each scene's first cloth gets a loose patch, 1 m off, that meets nothing: it must fall as backward Euler says,
g (t² + h t) / 2, whatever happens to the rest. Prints a table; adds each run to results/locking.json.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from ...gpu_core.backend import select
from ...gpu_core.scene.scene import Cloth, Scene
from ...gpu_core.simulator import Simulator
from ...gpu_core.solvers.parameters import NdbParameters
from .scenes import SCENES
from .shapes import sheet

RESULTS = Path(__file__).resolve().parents[1] / "results" / "locking.json"
LOOSE = 9  #: vertices of the loose patch
Filter = Literal["vertex", "global"]


@dataclass
class Locking:
    """One run."""

    scene: str
    filter: Filter
    vertices: int
    frames: int  #: done
    fallen: float = 0.0  #: drop of the loose patch over backward Euler's: 1 = it falls with g
    steps: int = 0
    unfinished_steps: int = 0
    halved_steps: int = 0
    late_steps: int = 0
    faults: int = 0  #: crossings that no release explains
    largest_stretch: float = 1.0
    iterations_per_step: float = 0.0
    seconds_per_frame: float = 0.0


def with_loose_patch(scene: Scene) -> Scene:
    """A patch of 3 × 3 vertices joins the first cloth and touches nothing; without air its fall has a closed form."""
    first = scene.cloths[0]
    x, y, z = first.positions.max(axis=0)
    patch = sheet(LOOSE, 0.05).shifted(x + 1.0, y, z + 0.1)
    count = len(first.positions)
    loose: Cloth = replace(
        first,
        triangles=np.concatenate([first.triangles, patch.triangles + count]).astype(np.int32),
        rest_positions=np.concatenate([first.rest_positions, patch.positions]),
        positions=np.concatenate([first.positions, patch.positions]),
        velocities=None if first.velocities is None else np.concatenate([first.velocities, np.zeros((LOOSE, 3))]),
        material=replace(first.material, air_drag=0.0),
    )
    settings = replace(scene.settings, gravity=(0.0, 0.0, -9.81))
    return Scene((loose, *scene.cloths[1:]), scene.colliders, settings)


def locking(
    name: str, vertices: int, filter_: Filter, frames: int | None = None, seconds: float = float("inf")
) -> Locking:
    """The scene's motion, or what of it fits in `seconds`. frames: None = as many as the scene asks for."""
    stress = SCENES[name]
    scene = with_loose_patch(stress.build(vertices, frames or stress.frames))
    simulator = Simulator(scene, select("cpu"), NdbParameters().replaced(filter=filter_))
    count = len(scene.cloths[0].positions)
    began, start = time.perf_counter(), _height(simulator)
    result = Locking(name, filter_, simulator.space.cloth_vertices, 0)
    iterations = 0
    while simulator.frame < scene.settings.frame_end and time.perf_counter() - began < seconds:
        report = simulator.advance_frame()
        result.frames += 1
        result.faults += len(report.faults)
        result.steps += report.steps
        result.unfinished_steps += report.unfinished_steps
        result.halved_steps += report.halved_steps
        result.late_steps += report.late_steps
        result.largest_stretch = max(result.largest_stretch, report.largest_stretch)
        result.seconds_per_frame += report.seconds
        iterations += report.iterations
    t = result.frames / scene.settings.fps
    drop = start[count - LOOSE : count] - _height(simulator)[count - LOOSE : count]
    result.fallen = float(drop.mean() / (0.5 * 9.81 * t * (t + scene.settings.step)))
    result.iterations_per_step = iterations / max(1, result.steps)
    result.seconds_per_frame /= max(1, result.frames)
    return result


def _height(simulator: Simulator) -> np.ndarray:
    return np.concatenate(simulator.positions())[:, 2]


def row(result: Locking) -> str:
    return (
        f"{result.scene:18}{result.filter:8}{result.vertices:9d}{result.frames:7d}{result.fallen:8.4f}"
        f"{result.unfinished_steps:6d}/{result.steps:<5d}{result.halved_steps:7d}{result.late_steps:6d}"
        f"{result.faults:8d}{result.largest_stretch:9.3f}{result.iterations_per_step:11.1f}"
        f"{result.seconds_per_frame:9.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", choices=[*SCENES, []], metavar="NAME", help="None: spout, funnel, jaws, armpit"
    )
    parser.add_argument("--vertices", type=int, default=400)
    parser.add_argument("--frames", type=int)
    parser.add_argument("--seconds", type=float, default=60.0, help="after which a run is cut off")
    options = parser.parse_args()
    print(
        f"{'scene':18}{'filter':8}{'vertices':>9}{'frames':>7}{'fallen':>8}{'unfinished':>12}{'halved':>7}{'late':>6}"
        f"{'faults':>8}{'stretch':>9}{'iterations':>11}{'s/frame':>9}"
    )
    for name in options.names or ("spout", "funnel", "jaws", "armpit"):
        for filter_ in ("vertex", "global"):
            result = locking(name, options.vertices, filter_, options.frames, options.seconds)
            print(row(result), flush=True)
            _keep(result)


def _keep(result: Locking) -> None:
    entries = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    same = (result.scene, result.filter, result.vertices)
    entries = [old for old in entries if (old["scene"], old["filter"], old["vertices"]) != same] + [asdict(result)]
    RESULTS.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

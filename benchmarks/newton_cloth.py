# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIA's Newton (VBD and Style3D) and Taffeta in the same drape, in one run: time a frame, intersections, stretch.

    python -m taffeta.benchmarks.newton_cloth --python VENV/bin/python [--vertices N ...] [--save]

VENV is an environment of its own with `newton` and `warp-lang`; Taffeta does not depend on them. Newton steps at the
same h = 1/192 s with --iterations (10: the default of both solvers), self-contact on, on the CPU, where Warp runs its
kernels on one thread; so Taffeta runs on one thread and on all. Frames --first to --frames are timed: the cloth lies on
the sphere, and nothing is compiled any more. Their stretch is 1000 N/m and their bending that of Newton's examples,
without a strain limit; with a fixed number of iterations that does not change the time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..gpu_core.backend.cpu import CpuBackend
from ..gpu_core.check.intersection import unique_edges
from ..gpu_core.check.scene_check import check_frame
from ..gpu_core.scene.mesh import edge_lengths
from ..gpu_core.scene.scene import Scene
from ..gpu_core.simulator import Simulator
from .speed import machine, page, results
from .speed.scenes import CENTRE, RADIUS, built

PEER = Path(__file__).resolve().parent / "speed" / "newton_peer.py"
SOLVERS = {"vbd": "Newton VBD", "style3d": "Newton Style3D"}
VERSIONS = "newton==1.8.0 warp-lang==1.19.0"  #: that this was written with

MISSING = f"""Newton is not installed for {{python}}. Give an environment of its own:
    python3 -m venv FOLDER && FOLDER/bin/pip install {VERSIONS}
    python -m taffeta.benchmarks.newton_cloth --python FOLDER/bin/python"""

Frames = npt.NDArray[np.float64]  # (F, N, 3) m


@dataclass(frozen=True)
class Row:
    """What one method made of the timed frames."""

    method: str
    vertices: int
    threads: int
    first: int
    last: int
    seconds_per_frame: float
    intersecting_frames: int
    most_intersections: int  #: in one frame
    largest_stretch: float  #: of any edge, relative to its rest length
    mean_height: float  #: of the vertices in the last frame, m: a solve that leaves much of its error falls too slowly


def taffeta(scene: Scene, threads: int) -> tuple[Frames, list[float]]:
    """Positions and seconds of the frames after the first."""
    simulator = Simulator(scene, CpuBackend(threads=threads))
    frames, seconds = [], []
    while simulator.frame < scene.settings.frame_end:
        seconds.append(simulator.advance_frame().seconds)
        frames.append(np.concatenate(simulator.positions()))
    return np.stack(frames), seconds


def newton(python: str, scene: Scene, solver: str, iterations: int) -> tuple[Frames, list[float], str]:
    """The same of a solver of Newton, and the versions."""
    (cloth,), settings = scene.cloths, scene.settings
    with tempfile.TemporaryDirectory() as folder:
        job, out = Path(folder) / "job.npz", Path(folder) / "out.npz"
        np.savez(
            job, positions=cloth.positions, triangles=cloth.triangles, cloth_starts=[0, len(cloth.positions)],
            triangle_starts=[0, len(cloth.triangles)], centre=[0.0, 0.0, CENTRE], radius=RADIUS, bodies=0,
            density=[cloth.material.density], friction=cloth.material.friction, gravity=settings.gravity,
            held=np.zeros(0, np.int32), targets=np.zeros((settings.frames, 0, 3)), until=np.zeros(0, np.int32),
            step=settings.step, steps_per_frame=settings.steps_per_frame, frames=settings.frames - 1,
            limit=np.inf, solver=solver, iterations=iterations, device="cpu",
        )  # fmt: skip
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run([python, str(PEER), str(job), str(out)], check=True, env=environment)
        with np.load(out) as stored:
            return stored["frames"].astype(np.float64), stored["seconds"].tolist(), str(stored["versions"])


def measure(method: str, threads: int, scene: Scene, frames: Frames, seconds: list[float], first: int) -> Row:
    """frames, seconds: from the second frame of the scene on."""
    (cloth,) = scene.cloths
    edges, timed = unique_edges(cloth.triangles), slice(first - 2, None)
    found = [len(check_frame(scene, first + k, [shape])) for k, shape in enumerate(frames[timed])]
    rest = edge_lengths(np.asarray(cloth.rest_positions), edges)
    stretch = max(float((edge_lengths(shape, edges) / rest).max()) for shape in frames[timed])
    return Row(
        method, len(cloth.positions), threads, first, scene.settings.frame_end,
        float(np.mean(seconds[timed])), sum(map(bool, found)), max(found), stretch, float(frames[-1][:, 2].mean()),
    )  # fmt: skip


def compare(options: argparse.Namespace, vertices: int) -> Iterator[dict[str, Any]]:
    scene = built("drape", vertices, options.frames)
    for threads in sorted({1, CpuBackend().threads}):
        row = measure("Taffeta", threads, scene, *taffeta(scene, threads), options.first)
        yield {**asdict(row), "iterations": "to its tolerance", "versions": ""}
    for solver, name in SOLVERS.items():
        frames, seconds, versions = newton(options.python, scene, solver, options.iterations)
        row = measure(name, 1, scene, frames, seconds, options.first)
        yield {**asdict(row), "iterations": f"{options.iterations} a step", "versions": versions}


def _require_newton(python: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    probe = [python, "-c", "import newton, warp"]
    try:
        there = subprocess.run(probe, capture_output=True, check=False, env=environment).returncode == 0
    except OSError:
        there = False
    if not there:
        sys.exit(MISSING.format(python=python))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="of the environment that has Newton")
    parser.add_argument("--vertices", type=int, action="append", metavar="N", help="default: 10 000 and 40 000")
    parser.add_argument("--first", type=int, default=8)
    parser.add_argument("--frames", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--save", action="store_true", help="put the rows into results/ and write the page anew")
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    if not 2 <= options.first <= options.frames:
        parser.error("--first must be 2 or more and not after --frames")
    _require_newton(options.python)
    rows = []
    for vertices in options.vertices or [10_000, 40_000]:
        for row in compare(options, vertices):
            rows.append(row)
            print(
                f"{row['vertices']} vertices, {row['method']}, {row['threads']} threads: "
                f"{row['seconds_per_frame']:.2f} s/frame, {row['intersecting_frames']} frames intersect "
                f"(at most {row['most_intersections']}), largest stretch {row['largest_stretch']:.3f}, "
                f"mean height {row['mean_height']:.3f} m", flush=True,
            )  # fmt: skip
    if options.save:
        command = "python -m taffeta.benchmarks.newton_cloth " + " ".join(sys.argv[1:])
        key = ("vertices", "method", "threads")
        print(results.save(machine.processor(), "newton", rows, key, command, options.note))
        page.write()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The same scenes through Taffeta, Blender's own cloth, and Newton's VBD and Style3D, on this machine's CPU.

Each takes the cloth as the sample starts it, what holds it frame by frame, and the bodies. Times are of the frames
after the first, without compiling and without setting up. What a method cannot do is a row that says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...gpu_core.backend.cpu import CpuBackend
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.mesh import edge_lengths, unique_edges
from ...gpu_core.scene.scene import Cloth, Scene, SceneError
from ...gpu_core.simulator import Simulator, SolverError
from ..speed.results import ROOT
from .held import CannotError, held
from .judge import Judge
from .staged import Staged, StageError, staged

SCENES = ("drape_on_sphere", "twisting_cloth", "stack_on_teapot", "folding")
SIZES = (10_000, 40_000)
NEWTON = ROOT / "build" / "peers" / "newton"  #: an environment of its own
NEWTON_VERSIONS = ("newton==1.8.0", "warp-lang==1.19.0")
NEWTON_PEER = ROOT / "benchmarks" / "speed" / "newton_peer.py"
BLENDER_PEER = "taffeta.benchmarks.scenes.blender_peer"
SMALLEST = 1.0e-3  #: m, the smallest collision distance that Blender accepts, and what Taffeta keeps
FLAT = 1.0e-5  #: of its size, by which a pattern may leave its plane

COLUMNS = (
    "scene", "vertices", "method", "threads", "frames", "wall s per simulated s", "user CPU s per simulated s",
    "frames that intersect", "most crossings in one", "largest stretch", "versions",
)  # fmt: skip

Frames = Sequence[npt.NDArray[np.floating]]  # each (N, 3) of all cloths one after another, world, m

Row = dict[str, Any]


class Run(NamedTuple):
    """What a method made of the frames after the first, or of as many as it had time for."""

    frames: Frames
    wall: float  #: s
    user: float  #: s of CPU time of all its threads, outside of the kernel
    threads: int
    versions: str = ""


@dataclass(frozen=True)
class Measured:
    scene: str
    asked: int  #: vertices
    of: str  #: frames
    method: str
    vertices: int = 0
    threads: int = 0
    frames: int = 0  #: done after the first
    frames_of: int = 0
    wall: float = 0.0  #: s for a simulated second
    user: float = 0.0  #: the same of CPU time
    crossing_frames: int = 0
    most_crossings: int = 0
    largest_stretch: float = 0.0
    versions: str = ""
    failed: str = ""


def taffeta(stage: Staged, limit: float) -> Run:
    scene, backend = stage.scene, CpuBackend()
    try:
        simulator = Simulator(scene, backend)
        while simulator.frame < scene.settings.frame_start:
            simulator.advance_frame()
        frames, began, before = [], time.perf_counter(), os.times().user
        while simulator.frame < scene.settings.frame_end and time.perf_counter() - began < limit:
            simulator.advance_frame()
            frames.append(np.concatenate(simulator.positions()))
    except (SceneError, SolverError) as error:
        raise CannotError(str(error)) from error
    return Run(frames, time.perf_counter() - began, os.times().user - before, backend.threads)


def blender(stage: Staged, limit: float, *, smallest: bool) -> Run:
    """Its own cloth. smallest: with the smallest collision distance; else half of an edge's mean length."""
    distance = SMALLEST if smallest else max(SMALLEST, 0.5 * _mean_edge(stage.scene))
    with TemporaryDirectory() as folder:
        job, out = Path(folder) / "job.npz", Path(folder) / "out.npz"
        settings, pins = stage.scene.settings, dict[str, Any]()
        for index, cloth in enumerate(stage.scene.cloths):
            vertices, targets, held_frames = held(cloth, settings)
            pins |= {f"held_{index}": vertices, f"pins_{index}": targets, f"until_{index}": held_frames}
        np.savez(job, distance=distance, first=settings.frame_start, last=settings.frame_end, limit=limit,
                 names=np.array([cloth.name for cloth in stage.scene.cloths]), **pins)  # fmt: skip
        command = [sys.executable, "-m", BLENDER_PEER, str(stage.blend), str(job), str(out)]
        return _followed(command, out, dict(os.environ))


def newton(stage: Staged, limit: float, *, solver: str, iterations: int) -> Run:
    """One of NVIDIA's Newton at Taffeta's step, in an environment of its own, which is made where there is none."""
    python = newton_python()
    with TemporaryDirectory() as folder:
        job, out = Path(folder) / "job.npz", Path(folder) / "out.npz"
        values = _newton_job(stage.scene)
        if solver == "style3d":
            values["panels"] = np.concatenate([_pattern(cloth) for cloth in stage.scene.cloths])
        np.savez(job, **values, solver=solver, iterations=iterations, limit=limit, device="cpu")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return _followed([python, str(NEWTON_PEER), str(job), str(out)], out, environment)


METHODS: dict[str, Callable[[Staged, float], Run]] = {
    "Taffeta": taffeta,
    "Blender, half an edge": partial(blender, smallest=False),
    "Blender, 1 mm": partial(blender, smallest=True),
    "Newton VBD, 10 iterations": partial(newton, solver="vbd", iterations=10),
    "Newton Style3D, 10 iterations": partial(newton, solver="style3d", iterations=10),
}


def compare(
    names: Sequence[str], sizes: Sequence[int], frames: str, limit: float, methods: Sequence[str]
) -> Iterator[Row]:
    """A row for each scene, size and method. frames: A:B or nothing for all. limit: s for each run."""
    for name in names:
        for vertices in sizes:
            with TemporaryDirectory() as folder:
                try:
                    stage = staged(name, vertices, frames, Path(folder))
                except StageError as error:
                    yield asdict(Measured(name, vertices, frames or "all", "Taffeta", failed=str(error)))
                    continue
                for method in methods:
                    yield asdict(_measured(stage, method, frames or "all", limit))


def _measured(stage: Staged, method: str, of: str, limit: float) -> Measured:
    head = (stage.name, stage.asked, of, method)
    try:
        run = METHODS[method](stage, limit)
        if not run.frames:
            raise CannotError(f"no frame was done in {limit:.0f} s")
    except CannotError as error:
        return Measured(*head, failed=str(error))
    scene, judge = stage.scene, Judge(stage.scene)
    if run.frames[0].shape != (scene.vertices, 3):
        return Measured(*head, failed=f"it has {len(run.frames[0])} vertices for {scene.vertices}")
    ends = np.cumsum([len(cloth.positions) for cloth in scene.cloths])
    for index, places in enumerate(run.frames, start=1):
        judge.look(scene.settings.frame_start + index, np.split(places, ends[:-1]))
    simulated = len(run.frames) / scene.settings.fps
    return Measured(
        *head, scene.vertices, run.threads, len(run.frames), scene.settings.frames - 1, run.wall / simulated,
        run.user / simulated, judge.crossing_frames, judge.most_crossings, judge.largest_stretch, run.versions,
    )  # fmt: skip


def cells(row: Row) -> list[str]:
    """A row as the texts of COLUMNS."""
    if row["failed"]:
        said = f"not done: {row['failed']}"
        return [row["scene"], f"{row['asked']}", row["method"], said, *[""] * (len(COLUMNS) - 4)]
    whole = f"{row['frames']}" if row["frames"] == row["frames_of"] else f"{row['frames']} of {row['frames_of']}"
    return [
        row["scene"], f"{row['vertices']}", row["method"], f"{row['threads']}", whole, f"{row['wall']:.2f}",
        f"{row['user']:.2f}", f"{row['crossing_frames']}", f"{row['most_crossings']}",
        f"{row['largest_stretch']:.3f}", row["versions"],
    ]  # fmt: skip


def newton_python() -> str:
    """Of the environment that has Newton; it is made and filled where it is not there. Raises CannotError."""
    python = NEWTON / "bin" / "python"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    if python.exists() and run(str(python), "-c", "import newton, warp").returncode == 0:
        return str(python)
    print(f"installing {' '.join(NEWTON_VERSIONS)} into {NEWTON.relative_to(ROOT)}", file=sys.stderr, flush=True)
    for command in (
        (sys.executable, "-m", "venv", "--clear", str(NEWTON)),
        (str(python), "-m", "pip", "install", "--quiet", "--no-input", *NEWTON_VERSIONS),
        (str(python), "-c", "import newton, warp"),
    ):
        done = run(*command)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise CannotError(f"Newton cannot be installed: {last}")
    return str(python)


def _followed(command: Sequence[str], out: Path, environment: dict[str, str]) -> Run:
    """Run a peer's process, which writes `out`: frames, wall, user, threads, versions."""
    done = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    if done.returncode or not out.exists():
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise CannotError(last)
    with np.load(out) as stored:
        return Run(
            list(stored["frames"]), float(stored["wall"]), float(stored["user"]), int(stored["threads"]),
            str(stored["versions"]),
        )  # fmt: skip


def _newton_job(scene: Scene) -> dict[str, Any]:
    """All cloth one after another, what is held, and the bodies, which must stand still. Raises CannotError."""
    if moving := [body.name for body in scene.colliders if body.animated]:
        raise CannotError(f"bodies move ({', '.join(moving)}), and its mesh shapes cannot deform")
    settings, starts = scene.settings, np.cumsum([0, *(len(cloth.positions) for cloth in scene.cloths)])
    pins = [held(cloth, settings) for cloth in scene.cloths]
    bodies: dict[str, Any] = {}
    for index, body in enumerate(scene.colliders):
        bodies |= {f"body_{index}_points": body.positions[0], f"body_{index}_triangles": body.triangles}
    return {
        "positions": np.concatenate([cloth.positions for cloth in scene.cloths]),
        "cloth_starts": starts,
        "triangles": np.concatenate([cloth.triangles for cloth in scene.cloths]),
        "triangle_starts": np.cumsum([0, *(len(cloth.triangles) for cloth in scene.cloths)]),
        "density": [cloth.material.density for cloth in scene.cloths],
        "friction": scene.cloths[0].material.friction,
        "gravity": settings.gravity,
        "held": np.concatenate([own.vertices + at for own, at in zip(pins, starts, strict=False)]).astype(np.int32),
        "targets": np.concatenate([own.targets for own in pins], axis=1),
        "until": np.concatenate([np.full(len(own.vertices), own.frames) for own in pins]),
        "step": settings.step, "steps_per_frame": settings.steps_per_frame, "frames": settings.frames - 1,
        "bodies": len(scene.colliders), **bodies,
    }  # fmt: skip


def _pattern(cloth: Cloth) -> Array:
    """(N, 2) its rest shape in its own plane, m, its triangles counter-clockwise. Raises CannotError."""
    rest = np.asarray(cloth.rest_positions) - np.asarray(cloth.rest_positions).mean(axis=0)
    _, size, axes = np.linalg.svd(rest, full_matrices=False)
    a, b, c = rest[cloth.triangles[0]]
    normal = axes[2] * np.sign(axes[2] @ np.cross(b - a, c - a))
    if size[2] > FLAT * size[0]:
        raise CannotError(f"{cloth.name} has no flat pattern, which it needs")
    return np.asarray(rest @ np.column_stack([axes[0], np.cross(normal, axes[0])]))


def _mean_edge(scene: Scene) -> float:
    """m"""
    lengths = [edge_lengths(np.asarray(own.rest_positions), unique_edges(own.triangles)) for own in scene.cloths]
    return float(np.concatenate(lengths).mean())

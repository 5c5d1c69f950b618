# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: the solver at preview quality, frame by frame, among colliders that move as told, with a hand in the cloth.

`python -m gpu_core.live.live FOLDER`, started in the extension's root, reads a JSON object a line from standard input:

    {"command": "begin"}                                  stand where FOLDER/job begins; a second one starts over
    {"command": "step", "moved": true, "hand": [x, y, z]}
        one frame on. moved: FOLDER/moved.npz has what has another place at its end, by the names of `Live.move`.
        hand: where the hand is by then, m; without one, or without a grab, nothing pulls
    {"command": "grab", "cloth": key, "point": [x, y, z], "radius": m, "strength": 0..1}
    {"command": "release"}

and answers the first two on standard output, where nothing else goes:

    {"event": "ready", "turn": 0, "backend": "cpu", "device": "…", "warnings": […]}
    {"event": "frame", "turn": 1, …the solver's report…}
    {"event": "error", "kind": "scene" | "backend" | "solver" | "disk", "text": "…", "object": "…"}

Each answer has put the cloths into `shape_path(FOLDER, key, turn)`, a point cache of one frame; turns are 0 and 1 in
turn, so that a reader who waits for the answer before it asks again never sees a file change. It ends with its input,
or after an error with the exit codes of `worker`.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from ..backend import Backend, select
from ..bake.frame_report import report_values
from ..bake.worker import DONE, Messages, exit_code, failure
from ..files import job
from ..files.cache_writer import to_object
from ..files.disk import disk_errors
from ..files.point_cache import PointCacheHeader
from ..report import FrameReport
from ..scene import keyed
from ..scene.air import Field
from ..scene.arrays import Array, IntArray
from ..scene.mesh import edge_lengths, unique_edges
from ..scene.scene import Cloth, Collider, Scene, SceneError
from ..scene.settings import StartPolicy
from ..simulator import Simulator
from ..solvers.parameters import NEVER, NdbParameters
from .events import Advanced, Ready, to_json
from .process import JOB, MOVED, shape_path

#: Looser where it costs least to look at: a few full CCDs a step, and cloth may be beyond its strain limit for a frame.
PREVIEW = NdbParameters().replaced(accuracy=0.1, outer_iterations=4, damped_after=NEVER, strain_excess=math.inf)
FIRMEST = 0.99  #: weight of a pull; 1 would be a hard pin, which has its way through everything


@dataclass(frozen=True)
class Grab:
    """What a hand holds. G vertices, counted over all cloths."""

    vertices: IntArray  #: (G,)
    weights: Array  #: (G,) as of soft pins
    origins: Array  #: (G, 3) where they were, world, m
    point: Array  #: (3,) where the hand was, world, m
    lead: float  #: most that a spring reaches ahead, m


class Live:
    """A scene of two frames, the last moment and the next, that go on with the clock."""

    def __init__(self, scene: Scene, backend: Backend) -> None:
        """scene: its first frame counts, and its numbers there. Raises SceneError."""
        scene = keyed.at(scene, scene.settings.begins)
        start: StartPolicy = "tolerate" if scene.settings.start == "refuse" else scene.settings.start
        self.scene = Scene(
            tuple(_clocked_cloth(cloth) for cloth in scene.cloths),
            tuple(_clocked_collider(collider) for collider in scene.colliders),
            replace(scene.settings, frame_start=0, frame_end=1, preroll=0, samples_per_frame=1, start=start),
            fields=tuple(_clocked_field(item) for item in scene.fields),
            threads=scene.threads,
        )
        self.simulator = Simulator(self.scene, backend, PREVIEW, relieves=False)
        self._moments = dict(_moments(self.scene))
        self._grab: Grab | None = None

    def move(self, places: Mapping[str, npt.NDArray[Any]]) -> None:
        """Where things are at the next frame's end, by name and number in the scene, three digits: `collider_000`
        (M, 3) m, `pins_000` (P, 3) m, the targets of all a cloth's pins, `space_000` (4, 4), a cloth's world_to_object,
        `location_000` (3,) m and `axis_000` (3,) of a force field.

        Raises SceneError where there is no such thing, or it has another size.
        """
        for name, place in places.items():
            if name not in self._moments or self._moments[name][1].shape != place.shape:
                raise SceneError("Scene", f"{name} is not what it was when Live began", "Start Live again")
            self._moments[name][1] = place

    def grab(self, key: str, point: Sequence[float], radius: float, strength: float) -> None:
        """Take hold of the cloth with this cache key around a world point, m, as far as `radius` along the cloth.

        strength: of the hold at the point, 0..1; it fades to 0 at the radius.
        """
        number = [cloth.cache_key for cloth in self.scene.cloths].index(key)
        cloth, positions = self.scene.cloths[number], self.simulator.positions()
        vertices, share = neighbourhood(cloth.triangles, positions[number], point, radius)
        first = sum(len(part) for part in positions[:number])
        self._grab = Grab(
            (vertices + first).astype(np.int32),
            min(strength, FIRMEST) * share,
            positions[number][vertices],
            np.asarray(point, np.float64),
            float(edge_lengths(cloth.rest_positions, unique_edges(cloth.triangles)).mean()),
        )

    def release(self) -> None:
        """Let go."""
        self._grab = None

    def advance(self, hand: Sequence[float] | None = None) -> FrameReport:
        """To the next frame. hand: where it is, world, m. Raises SolverError."""
        if self._grab is None or hand is None:
            self.simulator.pull([], [], np.zeros((0, 3)))
        else:
            self._pull(self._grab, np.asarray(hand))
        self.simulator.frame = 0
        report = self.simulator.advance_frame()
        for places in self._moments.values():
            places[0] = places[1]
        return report

    def _pull(self, grab: Grab, hand: Array) -> None:
        """Towards the hand, but never more than an edge ahead of where the vertices are going anyway: a spring from
        there to a hand that has left the cloth behind would tear the fabric to many times its length."""
        velocity = self.simulator.state()["velocity"][grab.vertices, :3]
        coasting = np.concatenate(self.simulator.positions())[grab.vertices] + velocity * (
            self.scene.settings.time_scale / self.scene.settings.fps
        )
        ahead = grab.origins + hand - grab.point - coasting
        distance = np.linalg.norm(ahead, axis=1, keepdims=True)
        ahead *= grab.lead / np.maximum(distance, grab.lead)
        self.simulator.pull(grab.vertices, grab.weights, coasting + ahead)

    def write(self, folder: Path, turn: int) -> None:
        """The cloths as they are, each in its object's space. Raises DiskError."""
        for cloth, world in zip(self.scene.cloths, self.simulator.positions(), strict=True):
            shape, path = to_object(cloth, world, 1), shape_path(folder, cloth.cache_key, turn)
            with disk_errors(path):
                path.write_bytes(PointCacheHeader(len(shape), 0.0, 1).pack() + shape.astype("<f4").tobytes())


def neighbourhood(
    triangles: IntArray, positions: Array, point: Sequence[float], radius: float
) -> tuple[IntArray, Array]:
    """(vertices (G,), share (G,) in (0, 1]) nearer than radius to a point, along the edges of the mesh.

    So a fold that lies on another is held alone. The nearest vertex is always in it, share 1; beyond, (1 − (d/r)²)².
    """
    nearest = int(np.argmin(((positions - np.asarray(point)) ** 2).sum(axis=1)))
    edges = unique_edges(triangles)
    graph = sparse.csr_array((edge_lengths(positions, edges), edges.T), shape=(len(positions),) * 2)
    distance = sparse.csgraph.dijkstra(graph, directed=False, indices=nearest, limit=radius)
    vertices = np.flatnonzero(distance < radius) if radius > 0 else np.array([nearest])
    share = (1.0 - (distance[vertices] / radius) ** 2) ** 2 if radius > 0 else np.ones(1)
    return vertices.astype(np.int32), share


def _clocked_cloth(cloth: Cloth) -> Cloth:
    space = np.eye(4)[None] if cloth.world_to_object is None else cloth.world_to_object
    pins = cloth.pins and replace(cloth.pins, targets=_two_moments(cloth.pins.targets))
    return replace(cloth, pins=pins, world_to_object=_two_moments(space))


def _clocked_collider(collider: Collider) -> Collider:
    return replace(collider, positions=_two_moments(collider.positions))


def _clocked_field(item: Field) -> Field:
    return replace(item, location=_two_moments(item.location), axis=_two_moments(item.axis))


def _two_moments(frames: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """The first frame twice, in memory that can be written."""
    return np.repeat(np.asarray(frames[:1]), 2, axis=0)


def _moments(scene: Scene) -> list[tuple[str, npt.NDArray[Any]]]:
    """All that has another place at each frame, (2, …), by name."""
    pinned = [(k, cloth.pins.targets) for k, cloth in enumerate(scene.cloths) if cloth.pins is not None]
    return [
        *((f"collider_{k:03}", collider.positions) for k, collider in enumerate(scene.colliders)),
        *((f"pins_{k:03}", targets) for k, targets in pinned),
        *((f"space_{k:03}", np.asarray(cloth.world_to_object)) for k, cloth in enumerate(scene.cloths)),
        *((f"location_{k:03}", item.location) for k, item in enumerate(scene.fields)),
        *((f"axis_{k:03}", item.axis) for k, item in enumerate(scene.fields)),
    ]


class _Session:
    """Follows the commands in one folder, the first of which is `begin`."""

    _live: Live

    def __init__(self, folder: Path, messages: Messages) -> None:
        self._folder, self._messages, self._turn = folder, messages, 1

    def follow(self, command: Mapping[str, Any]) -> None:
        match command["command"]:
            case "begin":
                scene = job.load(self._folder / JOB)
                device = select(scene.settings.backend, scene.vertices)
                self._live = Live(scene, device)
                warnings = [*filter(None, [device.passed_over]), *self._live.simulator.warnings]
                self._answer(lambda turn: Ready(device.name, device.device, warnings, turn))
            case "step":
                if command.get("moved"):
                    with disk_errors(self._folder / MOVED), np.load(self._folder / MOVED, allow_pickle=False) as file:
                        self._live.move(file)
                report = report_values(self._live.advance(command.get("hand")))
                report.pop("frame")  # of a clock of two frames
                self._answer(lambda turn: Advanced(report, turn))
            case "grab":
                self._live.grab(command["cloth"], command["point"], command["radius"], command["strength"])
            case "release":
                self._live.release()

    def _answer(self, event_of: Callable[[int], Ready | Advanced]) -> None:
        self._turn = 1 - self._turn
        self._live.write(self._folder, self._turn)
        self._messages.send(to_json(event_of(self._turn)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow commands until there are no more, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gpu_core.live.live", description="Simulate cloth frame by frame.")
    parser.add_argument("folder", type=Path)
    messages = Messages()
    session = _Session(parser.parse_args(arguments).folder, messages)
    for line in sys.stdin:
        try:
            session.follow(json.loads(line))
        except Exception as error:  # the parent must hear of every failure, of those nobody thought of too
            failed = failure(error)
            messages.send(to_json(failed))
            return exit_code(failed)
        if messages.reader_is_gone:
            break
    return DONE


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())

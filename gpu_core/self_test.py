# SPDX-License-Identifier: GPL-3.0-or-later
"""Does Taffeta work on this machine? A sheet falls on a ball and a held one beside it swings down, for half a second,
and what must hold is looked at.

    python -m gpu_core.self_test [--backend auto|cpu|cuda]

On standard output one JSON object: device, checks (each name, passed, detail), seconds. Exit code 0 where all passed.
What it says of a graphics card is kept (`backend.trust`).
No result is compared with a recorded one: devices may differ in the last digit, and so in the folds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from .backend import Backend, select
from .backend.cuda import CudaBackend
from .backend.trust import remember, verdict_of
from .check.intersection import unique_edges
from .check.scene_check import check_frame
from .scene.fabrics import COTTON
from .scene.scene import Cloth, Collider, Pins, Scene, Settings
from .simulator import Simulator

SIDE, SIZE = 20, 0.3  #: vertices along an edge of the sheet, and its length, m
RADIUS, DROP = 0.1, 0.03  #: of the ball, and how far above it the sheet starts, m
ASIDE = 0.5  #: from the ball to the sheet that is held by one side, m
FRAMES = 12
FALL_TOLERANCE = 1e-3  #: of the way fallen in one frame, which is some hundred digits of a float32 coordinate
SWING_TOLERANCE = 0.01  #: the same for the free side of a held sheet, which its fold at the pins hardly reaches


def scene() -> Scene:
    """Two cotton sheets in vacuum, so that their fall has a closed form: one above an octahedron made round, one held.

    A sheet that nothing holds is given its momentum back in each step, so that it falls right on a device that loses
    velocities; the held one does not.
    """
    i, j = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    flat = np.stack([i, j, 0 * i], axis=-1).reshape(-1, 3) * (SIZE / (SIDE - 1)) - [SIZE / 2, SIZE / 2, 0.0]
    corner = (i[:-1, :-1] * SIDE + j[:-1, :-1]).ravel()
    halves = [(corner, corner + SIDE, corner + SIDE + 1), (corner, corner + SIDE + 1, corner + 1)]
    triangles = np.concatenate([np.stack(half, axis=1) for half in halves]).astype(np.int32)
    start = flat + [0.0, 0.0, RADIUS + DROP]
    beside, side = start + [ASIDE, 0.0, 0.0], np.arange(SIDE, dtype=np.int32)
    cotton = replace(COTTON.material, air_drag=0.0)
    ball, faces = np.concatenate([np.eye(3), -np.eye(3)]), np.array(list(itertools.product((0, 3), (1, 4), (2, 5))))
    for _ in range(2):
        ball, faces = _rounder(ball, faces)
    return Scene(
        (
            Cloth("Sheet", triangles, flat, start, cotton),
            Cloth("Held sheet", triangles, flat, beside, cotton, pins=Pins(side, beside[side][None])),
        ),
        (Collider("Ball", faces.astype(np.int32), (RADIUS * ball)[None].astype(np.float32)),),
        Settings(frame_start=0, frame_end=FRAMES),
    )


def _rounder(ball: Any, faces: Any) -> tuple[Any, Any]:
    """Each triangle (T, 3) cut in four at the middles of its edges, which go to the unit sphere."""
    edges = unique_edges(faces)
    middles = ball[edges].mean(axis=1)
    number = {tuple(edge): len(ball) + index for index, edge in enumerate(np.sort(edges, axis=1).tolist())}
    finer = []
    for a, b, c in faces.tolist():
        ab, bc, ca = (number[tuple(sorted(pair))] for pair in ((a, b), (b, c), (c, a)))
        finer += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return np.concatenate([ball, middles / np.linalg.norm(middles, axis=1, keepdims=True)]), np.array(finer)


def self_test(backend: Backend) -> list[dict[str, Any]]:
    """The checks: name, passed, detail. Raises what the simulator raises."""
    tested = scene()
    simulator, settings = Simulator(tested, backend), tested.settings
    starts = simulator.positions()
    simulator.advance_frame()
    falls = [(start - now)[:, 2] for start, now in zip(starts, simulator.positions(), strict=True)]
    steps, gravity = settings.steps_per_frame, float(np.linalg.norm(settings.gravity))
    expected = 0.5 * gravity * settings.step**2 * steps * (steps + 1)  # backward Euler's sum
    error, swing = (float(np.abs(fall / expected - 1.0).max()) for fall in (falls[0], falls[1][-SIDE:]))

    crossings, contacts, stretch, middle, unfinished = 0, 0, 1.0, 0.0, 0
    for frame in range(settings.frame_start + 2, settings.frame_end + 1):
        report = simulator.advance_frame()
        positions = simulator.positions()
        crossings += len(check_frame(tested, frame, [cloth.astype(np.float32) for cloth in positions]))
        contacts, stretch = max(contacts, report.contacts), max(stretch, report.largest_stretch)
        middle = float(positions[0][SIDE // 2 * (SIDE + 1), 2])
        unfinished += report.unfinished_steps
        if unfinished:  # a device that loses contact takes minutes for each frame that follows
            break
    above, longest = middle - RADIUS, 1.0 + tested.cloths[0].material.strain_limit
    return [
        _check("free fall", error < FALL_TOLERANCE, f"off by {error:.1e} of backward Euler's {1e3 * expected:.1f} mm"),
        _check("swing", swing < SWING_TOLERANCE, f"the free side of a held sheet falls as far, off by {swing:.1e}"),
        _check(
            "contact",
            contacts > 0 and above > 0.0,
            f"{contacts} contacts, {1e3 * above:.1f} mm above the ball",
        ),
        _check("steps", unfinished == 0, f"{unfinished} found no end"),
        _check("no intersection", crossings == 0, f"{crossings} by the exact check in {frame - 1} frames"),
        _check("stretch", stretch <= longest, f"longest edge {stretch:.3f} of its rest length, {longest:.2f} allowed"),
    ]


def _check(name: str, passed: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "passed": bool(passed), "detail": detail}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m gpu_core.self_test", description="Does Taffeta work here?")
    parser.add_argument("--backend", choices=("auto", "cpu", "cuda"), default="auto")
    began = time.monotonic()
    answer: dict[str, Any] = {"device": "", "checks": []}
    backend: Backend | None = None
    try:
        backend = select(parser.parse_args().backend)
        answer["device"] = backend.device
        answer["checks"] = self_test(backend)
    except Exception as error:  # whatever a device does, the answer says so
        answer["checks"].append(_check("run", False, f"{type(error).__name__}: {error}"))
    answer["seconds"] = time.monotonic() - began
    if isinstance(backend, CudaBackend):
        remember(backend, verdict_of(answer))
    print(json.dumps(answer))
    return 0 if all(check["passed"] for check in answer["checks"]) else 1


if __name__ == "__main__":
    sys.exit(main())

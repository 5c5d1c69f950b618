# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast Live is: python -m taffeta.benchmarks.live [--vertices N …] [--frames N]

The sample drape at the quality that a new scene has, for two seconds; then a corner is pulled up for one. Beside it the
same two seconds at the bake's quality, in one run and on one thread. Prints frames per second of processor time, which
other work on the machine does not change as much as the clock's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..gpu_core.backend import Backend
from ..gpu_core.backend.cpu import CpuBackend
from ..gpu_core.live.live import Live
from ..gpu_core.scene.scene import Scene
from ..gpu_core.simulator import Simulator
from .speed import machine, scenes

STEPS, COARSENESS = 2, 5.0  #: as scene.taffeta has them at first
RADIUS, STRENGTH = 0.1, 0.5
LIFT = 0.01  #: m a frame, 0.24 m/s at 24 frames a second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, nargs="+", default=[900, 2500, 10000])
    parser.add_argument("--frames", type=int, default=48)
    options = parser.parse_args()
    backend = CpuBackend(1)
    print(machine.name(backend))
    print(f"{'vertices':>8} {'begins':>9} {'falls':>16} {'is pulled':>16} {'bake':>16}")
    for vertices in options.vertices:
        print(f"{vertices:>8}", *_row(scenes.drape(vertices, options.frames + 1), backend, options.frames), flush=True)


def _row(scene: Scene, backend: Backend, frames: int) -> Iterator[str]:
    settings = scene.settings
    preview = replace(settings, step_rate=STEPS * settings.fps, tolerance=COARSENESS * settings.tolerance)
    began = time.process_time()
    live = Live(replace(scene, settings=preview), backend)
    yield f"{time.process_time() - began:>7.2f} s"
    yield _rates(frames, lambda _: live.advance())
    positions = live.simulator.positions()[0]
    corner = positions[np.argmin(positions[:, 0] + positions[:, 1])]
    live.grab("Cloth", corner, RADIUS, STRENGTH)
    yield _rates(frames // 2, lambda k: live.advance(corner + [0.0, 0.0, LIFT * (k + 1)]))
    simulator = Simulator(scene, backend)
    yield _rates(frames, lambda _: simulator.advance_frame())


def _rates(frames: int, advance: Callable[[int], object]) -> str:
    """Frames a second of processor time: on the whole, and of the slowest frame."""
    seconds = []
    for frame in range(frames):
        began = time.process_time()
        advance(frame)
        seconds.append(time.process_time() - began)
    return f"{f'{frames / sum(seconds):.1f} ({1 / max(seconds):.1f})':>16}"


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Random variations of the stress scenes, to look for what nobody thought of.

    python -m taffeta.benchmarks.stress.fuzz [--first SEED] [--seconds S]

A seed chooses the scene, the mesh, the time the motion takes, thickness, step rate, a wind-up of the cloths, a turn of
everything and whether yarns rub, so any line can be run again. Prints one line a seed; exit code 1 where a frame
intersects unreported, or where pairs were released although there is room.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

import numpy as np

from ...gpu_core.scene.scene import Cloth, Collider, Scene
from .folded import FOLDED
from .run import Result, run
from .scenes import SCENES
from .shapes import Array, rotation
from .stress import Stress, rubbing

PATIENCE = 12.0  #: s a seed
#: bodies that fold never leave room, and a seed keeps what it has drawn before they were there
DRAWN = [name for name in SCENES if SCENES[name] not in FOLDED]


def drawn(seed: int) -> tuple[Stress, int, int, str]:
    """What a seed draws: (stress, vertices, frames, what was chosen in words)."""
    generator = np.random.default_rng(seed)
    return varied(SCENES[str(generator.choice(DRAWN))], generator)


def varied(base: Stress, generator: np.random.Generator) -> tuple[Stress, int, int, str]:
    """(stress, vertices, frames, what was chosen in words)."""
    vertices = int(generator.integers(40, 160))
    frames = int(generator.integers(max(6, base.frames // 4), base.frames + 1))
    thicker, slower = float(generator.choice([0.2, 1, 1, 3])), float(generator.choice([0.25, 0.5, 1]))
    squeezes = base.squeezes or vertices < base.coarsest or thicker > base.thickest
    speed = float(generator.choice([0, 0, 3, 15]))
    turn = rotation(tuple(generator.normal(size=3)), generator.uniform(0.0, 6.0))
    pushes = [0.5 * speed * generator.normal(size=3) for _ in range(64)]
    rubs = bool(generator.integers(2))

    def build(vertices: int, frames: int) -> Scene:
        scene = base.build(vertices, frames)
        settings = replace(
            scene.settings, step_rate=scene.settings.step_rate * slower, gravity=tuple(turn @ scene.settings.gravity)
        )
        cloths = tuple(_cloth(c, turn, thicker, push) for c, push in zip(scene.cloths, pushes, strict=False))
        chosen = Scene(cloths, tuple(_collider(collider, turn, thicker) for collider in scene.colliders), settings)
        return rubbing(chosen) if rubs else chosen

    build.__name__ = base.name
    words = f"{base.name} {vertices} vertices, ξ × {thicker:g}, step rate × {slower:g}, push {speed:g} m/s"
    words += ", yarns rub" if rubs else ""
    return replace(base, build=build, squeezes=squeezes), vertices, frames, words


def _cloth(cloth: Cloth, turn: Array, thicker: float, push: Array) -> Cloth:
    velocity = (np.zeros_like(cloth.positions) if cloth.velocities is None else cloth.velocities) @ turn.T + push
    pins = cloth.pins
    if pins is not None:
        velocity[pins.vertices] = 0.0
        pins = replace(pins, targets=np.asarray(pins.targets, np.float64) @ turn.T)
    start = cloth.positions @ turn.T
    return replace(cloth, positions=start, velocities=velocity, pins=pins, thickness=cloth.thickness * thicker)


def _collider(collider: Collider, turn: Array, thicker: float) -> Collider:
    path = (np.asarray(collider.positions, np.float64) @ turn.T).astype(np.float32)
    return replace(collider, positions=path, thickness=collider.thickness * thicker)


def line(result: Result, squeezes: bool) -> str:
    words = [f"{result.frames_done} of {result.frames} frames, stretch {result.largest_stretch:.2f}"]
    if not result.free:
        words.append(f"INTERSECTS in {result.intersecting_exact}: {result.first_finding} {result.faults}")
    if result.released and not squeezes:
        words.append(f"RELEASED {', '.join(result.released)} after {result.late_steps} late steps")
    return "; ".join([*words, *([result.cut_off] if result.cut_off else [])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--seconds", type=float, default=300.0)
    options = parser.parse_args()
    began, seed, free = time.perf_counter(), options.first, True
    while time.perf_counter() - began < options.seconds:
        stress, vertices, frames, words = drawn(seed)
        result = run(stress, vertices, frames, seconds=PATIENCE)
        print(f"{seed}: {words}: {line(result, stress.squeezes)}", flush=True)
        seed, free = seed + 1, free and result.free and (stress.squeezes or not result.released)
    sys.exit(0 if free else 1)


if __name__ == "__main__":
    main()

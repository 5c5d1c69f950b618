# SPDX-License-Identifier: GPL-3.0-or-later
"""Small scenes that need every kernel but two, and what a backend makes of them: a card has the CPU's bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taffeta.benchmarks.balloon import pinched_balloon
from taffeta.gpu_core.scene.fabrics import COTTON
from taffeta.gpu_core.scene.scene import Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import NdbParameters, paper, preset
from taffeta.tests.gpu_core.small_scene import every_field, full_scene, painted, pocket, sewn_tube, small_scene
from taffeta.tests.gpu_core.swinging import swinging


def bake(backend, scene, frames, parameters=None):
    """All that a simulation says of `frames` frames: positions, and what each report counts."""
    simulator = Simulator(scene, backend, parameters)
    reports = [replace(simulator.advance_frame(), seconds=0.0) for _ in range(frames)]
    return np.concatenate(simulator.positions()), reports


def of_solver(scene, solver):
    return replace(scene, settings=replace(scene.settings, solver=solver))


def of_cotton(scene):
    return replace(scene, cloths=tuple(replace(cloth, material=COTTON.material) for cloth in scene.cloths))


def of_changing_cloth(scene):
    """All is painted; stiffness, friction and thickness change, bending and the yarns' friction come from nothing."""
    keys = {name: np.array([value] * 2 + [2.0 * value]) for name, value in (("shear", 5.0), ("friction_max", 0.5))} | {
        "bend": np.array([0.0, 0.0, 2e-4]),
        "bend_friction": np.array([0.0, 0.0, 2e-3]),
        "thickness": np.array([2e-3, 3e-3]),
    }
    (cloth,) = scene.cloths
    bare = replace(cloth.material, bend=0.0, bend_friction=0.0)
    paint = {name: entry for name, entry in painted(cloth).painted.items() if not name.startswith("bend")}
    cloth = replace(cloth, material=bare, painted=paint, keys=keys)
    return replace(scene, cloths=(cloth,), keys={"time_scale": np.array([1.0, 1.0, 0.7])})


CHOICES = NdbParameters()
CONSTANT = CHOICES.replaced(system="constant")
SCENES = {
    "drape": (small_scene(8, 12), 7, None),
    "cotton that rubs": (of_cotton(small_scene(4, 8)), 3, None),
    "all there is": (full_scene(), 1, None),
    "every field": (replace(small_scene(3, 5), fields=every_field()), 2, None),
    "a balloon": (pinched_balloon(60), 3, None),
    "painted and keyed": (of_changing_cloth(swinging(5)), 4, None),
    "as the paper prints it": (small_scene(5, 8), 3, paper()),
    "constant matrix": (small_scene(8, 10), 3, CONSTANT),
    "constant matrix, Jacobi": (small_scene(8, 8), 3, CONSTANT.replaced(relaxation="jacobi")),
    "constant matrix, damped": (swinging(3), 1, CONSTANT),
    "subspace, then Newton": (small_scene(8, 10), 5, preset("subspace")),
    "a tube that is sewn": (replace(sewn_tube(4, 16), settings=Settings(frame_end=16, step_rate=96.0)), 15, None),
    "three faces at an edge": (pocket(7, 3), 2, None),
    "no multilevel": (small_scene(8, 8), 3, CHOICES.replaced(multilevel=False)),
    "PD with IPC": (of_solver(small_scene(4, 6), "pd_ipc"), 2, None),
}

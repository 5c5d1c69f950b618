# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stress scene is, and how its parts are put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...gpu_core.scene.fabrics import RESIDUAL_CURVATURE
from ...gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, Settings
from .shapes import Array, Mesh


@dataclass(frozen=True)
class Stress:
    """A scene by name. The first line of `build`'s docstring says what is hard about it."""

    build: Callable[[int, int], Scene]  #: (vertices of all cloths together, frames) to a scene; both approximate
    frames: int  #: of the full motion
    squeezes: bool = False  #: colliders or pins leave less room than the thickness: only here may pairs be released
    coarsest: int = 0  #: vertices below which pairs were released, and with four times as many none were
    thickest: float = np.inf  #: times its thickness, beyond which the layers need more than the gap

    @property
    def name(self) -> str:
        return self.build.__name__


def cloth(
    name: str,
    mesh: Mesh,
    *,
    rest: Array | None = None,
    pins: Pins | None = None,
    velocity: tuple[float, float, float] | None = None,
    thickness: float = 1.0e-3,
    material: Material | None = None,
) -> Cloth:
    """rest: (N, 3), None = as it starts."""
    start = mesh.positions
    return Cloth(
        name,
        mesh.triangles,
        start if rest is None else rest,
        start,
        material or Material(),
        None if velocity is None else np.tile(velocity, (len(start), 1)),
        pins=pins,
        thickness=thickness,
    )


def limited(scene: Scene, limit: float) -> Scene:
    """The scene with another strain limit, 0.05 = 5 %."""
    cloths = (replace(c, material=replace(c.material, strain_limit=limit)) for c in scene.cloths)
    return replace(scene, cloths=tuple(cloths))


def rubbing(scene: Scene) -> Scene:
    """The scene with yarns that rub when cloth bends, as those of the presets do."""
    cloths = (
        replace(c, material=replace(c.material, bend_friction=RESIDUAL_CURVATURE * c.material.bend))
        for c in scene.cloths
    )
    return replace(scene, cloths=tuple(cloths))


def held(mesh: Mesh, chosen: npt.NDArray[np.bool_], path: Array | None = None) -> Pins:
    """Hard pins on the chosen (N,) vertices; path: (F, N, 3) of the whole mesh, None = they stay."""
    at = np.flatnonzero(chosen).astype(np.int32)
    return Pins(at, (mesh.positions[None] if path is None else path)[:, at])


def collider(name: str, mesh: Mesh, path: Array | None = None, *, thickness: float = 1.0e-3) -> Collider:
    """path: (F, N, 3), None = it stays."""
    where = mesh.positions[None] if path is None else path
    return Collider(name, mesh.triangles, where.astype(np.float32), thickness=thickness)


def scene(
    cloths: list[Cloth],
    colliders: list[Collider],
    frames: int,
    *,
    fps: float = 24.0,
    step_rate: float = 192.0,
    weightless: bool = False,
    resolve: bool = False,
) -> Scene:
    """resolve: cloth inside of bodies is drawn out. Everything else that is not asked for is what a user gets."""
    gravity = (0.0, 0.0, 0.0 if weightless else -9.81)
    settings = Settings(
        1,
        frames,
        fps=fps,
        step_rate=step_rate,
        gravity=gravity,
        backend="cpu",
        start="resolve" if resolve else "tolerate",
    )
    return Scene(tuple(cloths), tuple(colliders), settings)


def jittered(mesh: Mesh, amount: float, seed: int = 1) -> Mesh:
    """Each vertex moved by up to `amount` m, so that no symmetry holds a scene up."""
    noise = np.random.default_rng(seed).uniform(-amount, amount, mesh.positions.shape)
    return Mesh(mesh.positions + noise, mesh.triangles)

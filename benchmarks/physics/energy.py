# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy and momentum: nothing may appear from nowhere (docs/theory/physics.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...gpu_core.elasticity.assembly import Assembly, assemble
from ...gpu_core.scene.scene import Cloth, Material
from .motion import GRAVITY, Motion, Positions, simulate
from .result import Result, Solve
from .shapes import square, turned

RATE = 192.0  #: steps per second; every step is a frame here
ROUNDING = 1e-6  #: of the energy at the start: what float32 positions and velocities leave of a sum


def elastic_energy(data: Assembly, x: Positions) -> float:
    """Ψ of kernel `membrane_project` and `bending_project` at x (N, 3), J; flat rest shapes, in float64."""
    a, b, c = (x[data.triangles[:, k]] for k in range(3))
    gradient = np.stack([b - a, c - a], axis=2) @ data.membrane.rest_inverse.reshape(-1, 2, 2)
    sigma = np.linalg.svd(gradient, compute_uv=False)
    rotation, warp, weft, limit = data.membrane.stiffness.T
    columns = np.linalg.norm(gradient, axis=1) - 1.0
    energy = rotation * ((sigma - 1.0) ** 2).sum(1) + warp * columns[:, 0] ** 2 + weft * columns[:, 1] ** 2
    energy += limit * (np.maximum(sigma - data.membrane.limit[:, None], 0.0) ** 2).sum(1)
    curvature = data.bending.rows @ x
    return float(0.5 * energy.sum() + 0.5 * (data.bending.stiffness[:, None] * curvature**2).sum())


def kinetic_energy(motion: Motion) -> npt.NDArray[np.float64]:
    """(F,) J."""
    return np.asarray(0.5 * np.einsum("n,fnk->f", motion.mass, motion.velocities**2))


def free_run(solve: Solve, seconds: float = 1.0) -> Iterator[Result]:
    """A thrown, shaken sheet without air: its energy is never above what it had at the start."""
    points, triangles = square(13, 0.3)
    shake = np.stack(
        [0 * points[:, 0], np.sin(20 * points[:, 1]), np.cos(25 * points[:, 0] + 10 * points[:, 1])], axis=1
    )
    cloth = Cloth("Sheet", triangles, points, points, Material(air_drag=0.0), velocities=0.7 * shake + [0.2, 0.0, 1.0])
    data = assemble((cloth,), 1.0 / RATE, solve.parameters.elasticity)
    for name, g in (("gravity off", 0.0), ("gravity on", GRAVITY)):
        motion = simulate(cloth, solve=solve, seconds=seconds, fps=RATE, rate=RATE, gravity=(0.0, 0.0, -g))
        total = _total(motion, data, g)
        yield Result(f"free run, {name}: highest energy above the start's", total.max() - total[0], 0.0, 1e-3, "E₀")
        gain = max(0.0, np.diff(total).max())
        yield Result(f"free run, {name}: largest gain of a step", gain, 0.0, ROUNDING, "E₀")
        if not g:
            lost = _farthest(_momentum(motion), _momentum(motion)[0]) / _scale(motion)
            yield Result(f"free run, {name}: momentum lost", lost, 0.0, 1e-6, "Σm|v|")
        centre = motion.centre()[-1] - motion.centre()[0]
        ideal = seconds * motion.centre_velocity()[0] - [0.0, 0.0, g * _fall(motion)]
        away = float(np.linalg.norm(centre - ideal))
        yield Result(f"free run, {name}: centre of mass from BE's place", 1e3 * away, 0.0, 0.1, "mm")


def collision(solve: Solve) -> Iterator[Result]:
    """Two free sheets meet without friction, the second hit off its centre and at an angle."""
    for name, ratio, speed in (("equal, head on", 1.0, [0.0, 0.0, -2.0]), ("1 : 3, oblique", 3.0, [0.8, 0.3, -2.0])):
        points, triangles = square(11, 0.2)
        materials = [Material(density=0.12 * r, friction=0.0, air_drag=0.0, bend=1e-4) for r in (1.0, ratio)]
        offset = np.array([0.0, 0.0, 0.02]) if ratio == 1.0 else np.array([-0.06, 0.02, 0.02])
        cloths = (
            Cloth("Upper", triangles, points, points + offset, materials[0], velocities=np.tile(speed, (121, 1))),
            Cloth("Lower", triangles, points, points, materials[1]),
        )
        motion = simulate(cloths, solve=solve, seconds=0.25, fps=RATE, rate=RATE, gravity=(0.0, 0.0, 0.0))
        momentum, scale = _momentum(motion), _scale(motion)
        yield Result(f"collision, {name}: momentum lost", _farthest(momentum, momentum[0]) / scale, 0.0, 1e-6, "Σm|v|")
        angular = _angular_momentum(motion)
        own = angular[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(_angular_loss(motion), axis=0)])
        apart = _farthest(angular, own) / (0.1 * scale)
        yield Result(f"collision, {name}: angular momentum beside BE's", apart, 0.0, 1e-3, "Σm|v|·0.1 m")
        kinetic = kinetic_energy(motion)
        inelastic = 0.5 * float(momentum[0] @ momentum[0]) / motion.mass.sum()
        left = (kinetic[-1] - inelastic) / (kinetic[0] - inelastic)
        yield Result(f"collision, {name}: kinetic energy left, plastic 0, elastic 1", left, 0.5, 0.5)
        contacts = max(report.contacts for report in motion.reports)
        yield Result(f"collision, {name}: pairs in contact at the most", contacts, 0.0, None)


def thrown(solve: Solve, speeds: Sequence[float] = (4.0, 8.0, 12.0, 24.0)) -> Iterator[Result]:
    """Two free sheets that close in at `speeds`, askew and without friction: no step adds to their energy.

    At 24 m/s they close in by more than half their size in a step: a contact's force at its end is not the force on the
    way then.
    """
    points, triangles = square(15, 0.2)
    material, above = Material(friction=0.0, air_drag=0.0), np.array([0.03, 0.02, 0.05])
    for speed in speeds:
        velocity = np.tile([0.0, 0.0, 0.5 * speed], (len(points), 1))
        cloths = (
            Cloth("Upper", triangles, points, turned(0.3, points) + above, material, velocities=-velocity),
            Cloth("Lower", triangles, points, points, material, velocities=velocity),
        )
        data = assemble(cloths, 1.0 / RATE, solve.parameters.elasticity)
        motion = simulate(cloths, solve=solve, seconds=0.12, fps=RATE, rate=RATE, gravity=(0.0, 0.0, 0.0))
        total, name = _total(motion, data), f"thrown together at {speed:g} m/s"
        yield Result(f"{name}: highest energy above the start's", total.max() - total[0], 0.0, ROUNDING, "E₀")
        yield Result(f"{name}: largest gain of a step", max(0.0, np.diff(total).max()), 0.0, ROUNDING, "E₀")
        yield Result(f"{name}: energy at the end", total[-1], 0.0, None, "E₀")


def shut(solve: Solve) -> Iterator[Result]:
    """A flat sheet thrown shut like a book while it is pressed together in its plane, by 8 % in the first step.

    E of a triangle that is compressed while it turns is not convex: at 1/192 and 1/384 the exact minimum of a step has
    more energy than its start (0.9 and 0.3 % of it).
    """
    points, triangles = square(17, 0.3)
    beside, side = np.abs(points[:, 0]) / 0.15, np.sign(points[:, 0])
    velocity = 8.0 * np.stack([-0.3 * side * beside, 0.0 * beside, beside], axis=1)
    cloth = Cloth("Sheet", triangles, points, points, Material(friction=0.0, air_drag=0.0), velocities=velocity)
    for rate in (RATE, 2 * RATE, 4 * RATE, 8 * RATE):
        data = assemble((cloth,), 1.0 / rate, solve.parameters.elasticity)
        motion = simulate(cloth, solve=solve, seconds=0.03, fps=rate, rate=rate, gravity=(0.0, 0.0, 0.0))
        total = _total(motion, data)
        name = f"thrown shut at 8 m/s, h 1/{rate:g}: highest energy above the start's"
        yield Result(name, total.max() - total[0], 0.0, ROUNDING, "E₀")


def _total(motion: Motion, data: Assembly, g: float = 0.0) -> npt.NDArray[np.float64]:
    """(F,) kinetic, elastic and potential energy, relative to the kinetic energy at the start."""
    elastic = np.array([elastic_energy(data, x) for x in motion.positions])
    kinetic = kinetic_energy(motion)
    return np.asarray((kinetic + elastic + g * (motion.positions[:, :, 2] @ motion.mass)) / kinetic[0])


def _fall(motion: Motion) -> float:
    """s²: g times it is how far backward Euler falls from rest, in the steps that were taken, n equal ones a frame."""
    taken = np.array([report.steps for report in motion.reports])
    return float((np.arange(len(taken)) + (taken + 1.0) / (2.0 * taken)).sum() * motion.interval**2)


def _momentum(motion: Motion) -> Positions:
    """(F, 3) kg·m/s."""
    return np.asarray(np.einsum("n,fnk->fk", motion.mass, motion.velocities))


def _scale(motion: Motion) -> float:
    """Σ m |v| at the start, kg·m/s."""
    return float(motion.mass @ np.linalg.norm(motion.velocities[0], axis=1))


def _angular_momentum(motion: Motion) -> Positions:
    """(F, 3) about the mean start, kg·m²/s."""
    arm = motion.positions - motion.positions[0].mean(axis=0)
    return np.asarray(np.einsum("n,fnk->fk", motion.mass, np.cross(arm, motion.velocities)))


def _angular_loss(motion: Motion) -> Positions:
    """(F − 1, 3) what BE itself changes where inner forces have no torque at the step's end: h Σ m v' × v.

    A step that was halved counts as one, which it is not quite: 8e-4 Σm|v|·0.1 m of the oblique collision.
    """
    turn = np.cross(motion.velocities[1:], motion.velocities[:-1])
    return np.asarray(np.einsum("n,fnk->fk", motion.mass, turn) * motion.interval)


def _farthest(series: Positions, wanted: Positions) -> float:
    return float(np.linalg.norm(series - wanted, axis=1).max())

"""Energy and momentum: nothing may appear from nowhere (validation.md §12, method.md §12)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...gpu_core.elasticity.assembly import Assembly, assemble
from ...gpu_core.scene import Cloth, Material
from .motion import GRAVITY, Motion, Positions, simulate
from .result import Result, Solve
from .shapes import square

RATE = 192.0  #: steps per second; every step is a frame here


def elastic_energy(data: Assembly, x: Positions) -> float:
    """Ψ of kernel `membrane_project` and `bending_project` at x (N, 3), J; flat rest shapes, in float64."""
    a, b, c = (x[data.triangles[:, k]] for k in range(3))
    gradient = np.stack([b - a, c - a], axis=2) @ data.rest_inverse.reshape(-1, 2, 2)
    left, sigma, right = np.linalg.svd(gradient, full_matrices=False)
    rotation, warp, weft, limit = data.membrane_stiffness.T
    columns = np.linalg.norm(gradient, axis=1) - 1.0
    energy = rotation * ((sigma - 1.0) ** 2).sum(1) + warp * columns[:, 0] ** 2 + weft * columns[:, 1] ** 2
    energy += limit * (np.maximum(sigma - data.limit[:, None], 0.0) ** 2).sum(1)
    curvature = data.rows @ x
    return float(0.5 * energy.sum() + 0.5 * (data.row_stiffness[:, None] * curvature**2).sum())


def kinetic_energy(motion: Motion) -> npt.NDArray[np.float64]:
    """(F,) J."""
    return np.asarray(0.5 * np.einsum("n,fnk->f", motion.mass, motion.velocities**2))


def free_run(solve: Solve) -> Iterator[Result]:
    """A thrown, shaken sheet without air: the energy of no step is above that of the step before."""
    points, triangles = square(13, 0.3)
    shake = np.stack([0 * points[:, 0], np.sin(20 * points[:, 1]), np.cos(25 * points[:, 0] + 10 * points[:, 1])], axis=1)
    cloth = Cloth("Sheet", triangles, points, points, Material(air_drag=0.0), velocities=0.7 * shake + [0.2, 0.0, 1.0])
    data = assemble((cloth,), 1.0 / RATE, "hinge", limit_in_hessian=False)
    for name, g in (("gravity off", 0.0), ("gravity on", GRAVITY)):
        motion = simulate(cloth, solve=solve, seconds=1.0, fps=RATE, rate=RATE, gravity=(0.0, 0.0, -g))
        elastic = np.array([elastic_energy(data, x) for x in motion.positions])
        height = motion.positions[:, :, 2] @ motion.mass
        total = kinetic_energy(motion) + elastic + g * height
        scale = kinetic_energy(motion)[0]
        yield Result(f"free run, {name}: largest gain of a step", np.diff(total).max() / scale, 0.0, 1e-4, "of the start")
        # the centre of mass follows BE's own parabola, which loses m g² h t/2
        lost = total[0] - total[-1]
        own = 0.5 * motion.mass.sum() * g**2 / RATE * 1.0
        yield Result(f"free run, {name}: lost beside the fall's own", (lost - own) / scale, 0.0, None, "of the start")


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
        momentum = np.einsum("n,fnk->fk", motion.mass, motion.velocities)
        scale = float(motion.mass @ np.linalg.norm(motion.velocities[0], axis=1))
        yield Result(f"collision, {name}: momentum lost", _farthest(momentum) / scale, 0.0, 1e-5, "of Σm|v|")
        arm = motion.positions - motion.positions[0].mean(axis=0)
        angular = np.einsum("n,fnk->fk", motion.mass, np.cross(arm, motion.velocities))
        reach = float(motion.mass @ (np.linalg.norm(motion.velocities[0], axis=1) * 0.1))
        yield Result(f"collision, {name}: angular momentum lost", _farthest(angular) / reach, 0.0, 0.02, "of Σm|v|·0.1 m")
        kinetic = kinetic_energy(motion)
        inelastic = 0.5 * float(momentum[0] @ momentum[0]) / motion.mass.sum()
        yield Result(f"collision, {name}: kinetic energy left, 0 = plastic", (kinetic[-1] - inelastic) / (kinetic[0] - inelastic), 0.5, 0.5)  # fmt: skip
        contacts = max(report.contacts for report in motion.reports)
        yield Result(f"collision, {name}: pairs in contact at the most", contacts, 0.0, None)


def _farthest(series: Positions) -> float:
    return float(np.linalg.norm(series - series[0], axis=1).max())

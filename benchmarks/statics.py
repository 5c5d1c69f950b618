# SPDX-License-Identifier: GPL-3.0-or-later
"""Equilibrium of a cloth in float64: Newton's method on exactly the energy that `elasticity/` assembles.

Shares with the product only the assembled arrays, so a difference from a closed form is the energy's, and a difference
between this and the simulator is the solver's. Flat rest shapes, no contact, no strain limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from ..gpu_core.elasticity.assembly import Assembly

Array = npt.NDArray[np.float64]


#: A full Newton step this small, relative to the size of the cloth, has arrived; rounding may keep the force above it.
STILL = 1e-7


class Equilibrium(NamedTuple):
    positions: Array  #: (N, 3) m
    residual: float  #: largest force on a free vertex, relative to the largest weight of a vertex
    iterations: int


class Statics:
    """Energy, gradient and Hessian of membrane, bending and a constant force. N vertices, T triangles."""

    def __init__(self, assembly: Assembly, force: Array) -> None:
        """force: (N, 3) N."""
        if np.any(assembly.membrane.stiffness[:, 3] > 0.0) or np.any(assembly.bending.rest):
            raise ValueError("Statics knows neither strain limits nor curved rest shapes")
        self.force, self.stiffness = force, assembly.membrane.stiffness[:, :3]
        self.free = np.repeat(assembly.free > 0.0, 3)
        self.gradient = _deformation_operator(assembly)  # (2T, N): columns of F
        rows, stiffness = assembly.bending.rows, assembly.bending.stiffness
        self.bending = (rows.T @ sparse.diags_array(stiffness) @ rows).tocsr()

    def energy(self, x: Array) -> float:
        f1, f2, trace = self._deformation(x)
        k = self.stiffness
        rotation = 0.5 * k[:, 0] * ((f1**2).sum(1) + (f2**2).sum(1) - 2.0 * trace + 2.0)
        warp, weft = (0.5 * k[:, a] * (np.linalg.norm(f, axis=1) - 1.0) ** 2 for a, f in ((1, f1), (2, f2)))
        return float((rotation + warp + weft).sum() + 0.5 * (x * (self.bending @ x)).sum() - (self.force * x).sum())

    def forces(self, x: Array) -> Array:
        """(N, 3) −∇E, pinned rows included."""
        f1, f2, trace = self._deformation(x)
        slope = self._stress(f1, f2, trace)
        return np.asarray(self.force - self.gradient.T @ slope.reshape(-1, 3) - self.bending @ x)

    def hessian(self, x: Array) -> sparse.csc_array:
        """(3N, 3N) ∇²E, coordinates of a vertex side by side."""
        f1, f2, trace = self._deformation(x)
        k, one = self.stiffness, np.eye(3)
        blocks = np.zeros((len(f1), 2, 3, 2, 3))
        blocks -= k[:, 0, None, None, None, None] * _trace_hessian(f1, f2, trace)
        for a, f in ((0, f1), (1, f2)):
            length = np.linalg.norm(f, axis=1)[:, None, None]
            along = np.einsum("ti,tj->tij", f, f) / length**2
            unit = (1.0 - 1.0 / length) * one + along / length
            blocks[:, a, :, a] += k[:, 0, None, None] * one + k[:, 1 + a, None, None] * unit
        size = 6 * len(f1)
        at = np.arange(size).reshape(-1, 6)
        rows, columns = np.repeat(at, 6, axis=1).ravel(), np.tile(at, (1, 6)).ravel()
        inner = sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(size, size)).tocsr()
        wide = sparse.kron(self.gradient, sparse.eye_array(3), format="csr")
        return (wide.T @ inner @ wide + sparse.kron(self.bending, sparse.eye_array(3))).tocsc()

    def _deformation(self, x: Array) -> tuple[Array, Array, Array]:
        """Columns f1, f2 (T, 3) of F and the sum (T,) of its singular values, √(|f1|² + |f2|² + 2|f1×f2|)."""
        columns = (self.gradient @ x).reshape(-1, 2, 3)
        f1, f2 = columns[:, 0], columns[:, 1]
        area = np.linalg.norm(np.cross(f1, f2), axis=1)
        return f1, f2, np.sqrt((f1**2).sum(1) + (f2**2).sum(1) + 2.0 * area)

    def _stress(self, f1: Array, f2: Array, trace: Array) -> Array:
        """(T, 2, 3) ∂E/∂F."""
        k, result = self.stiffness, np.empty((len(f1), 2, 3))
        rotated = _trace_gradient(f1, f2, trace)
        for a, f in ((0, f1), (1, f2)):
            length = np.linalg.norm(f, axis=1)[:, None]
            result[:, a] = k[:, 0, None] * (f - rotated[:, a]) + k[:, 1 + a, None] * (f - f / length)
        return result


def _trace_gradient(f1: Array, f2: Array, trace: Array) -> Array:
    """(T, 2, 3) gradient of the sum of the singular values: the nearest rotation."""
    normal = np.cross(f1, f2)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return np.stack([f1 + np.cross(f2, normal), f2 + np.cross(normal, f1)], axis=1) / trace[:, None, None]


def _trace_hessian(f1: Array, f2: Array, trace: Array) -> Array:
    """(T, 2, 3, 2, 3) second derivative of s = √q: (q″/2 − s′ s′)/s."""
    cross = np.cross(f1, f2)
    area = np.linalg.norm(cross, axis=1)
    normal = cross / area[:, None]
    turn = np.stack([_cross_matrix(-f2), _cross_matrix(f1)], axis=2)  # d cross = turn · (df1, df2): (T, 3, 2, 3)
    flat = (np.eye(3) - np.einsum("ti,tj->tij", normal, normal)) / area[:, None, None]
    half = np.einsum("tiam,tij,tjbn->tambn", turn, flat, turn)
    mixed = -_cross_matrix(normal)  # d(normal · f1×f2)/df1 df2
    half[:, 0, :, 1] += mixed
    half[:, 1, :, 0] += mixed.transpose(0, 2, 1)
    for a in range(2):
        half[:, a, :, a] += np.eye(3)
    slope = _trace_gradient(f1, f2, trace)
    return np.asarray((half - np.einsum("tam,tbn->tambn", slope, slope)) / trace[:, None, None, None, None])


def _cross_matrix(v: Array) -> Array:
    """(T, 3, 3) with M w = v × w."""
    result = np.zeros((len(v), 3, 3))
    result[:, 0, 1], result[:, 0, 2], result[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    return result - result.transpose(0, 2, 1)


def _deformation_operator(assembly: Assembly) -> sparse.csr_array:
    inverse = assembly.membrane.rest_inverse.reshape(-1, 2, 2)
    gradient = np.stack([-inverse.sum(axis=1), inverse[:, 0], inverse[:, 1]], axis=1)  # (T, 3, 2)
    count = len(assembly.triangles)
    row = 2 * np.arange(count)[:, None, None] + np.arange(2)
    row, column = np.broadcast_to(row, gradient.shape), np.broadcast_to(assembly.triangles[:, :, None], gradient.shape)
    shape = (2 * count, assembly.vertices)
    return sparse.coo_array((gradient.ravel(), (row.ravel(), column.ravel())), shape=shape).tocsr()


def equilibrium(statics: Statics, start: Array, tolerance: float = 1e-6, limit: int = 400) -> Equilibrium:
    """Newton with a shifted Hessian and backtracking from `start` (N, 3). Raises ArithmeticError past the limit.

    A step must lower the energy. Where rounding hides by how much, the work of the mean of the forces at its two ends
    tells: with slivers, whose gradients are large, energies are rough long before the forces are.
    """
    x, free = start.copy(), statics.free
    weight = np.abs(statics.force).max()
    scale = float(statics.hessian(start).diagonal().mean())
    shift, energy = 1e-4 * scale, statics.energy(x)
    rounding = 1e-12 * float(statics.stiffness.sum())  # the membrane's energy is a difference of such sums
    for iteration in range(limit):
        force = statics.forces(x).ravel()
        residual = float(np.abs(force[free]).max()) / weight
        if residual < tolerance:
            return Equilibrium(x, residual, iteration)
        matrix = statics.hessian(x)[free][:, free]
        step = np.zeros(x.size)
        taken = False
        while not taken:
            shifted = (matrix + shift * sparse.eye_array(matrix.shape[0])).tocsc()
            step[free] = linalg.splu(shifted, permc_spec="MMD_AT_PLUS_A").solve(force[free])
            moved = x + step.reshape(-1, 3)
            reached = statics.energy(moved)
            work = 0.5 * (force + statics.forces(moved).ravel()) @ step
            falls = reached < energy if abs(reached - energy) > rounding else work > 0.0
            taken = bool(falls and force @ step > 0.0)
            shift = max(0.2 * shift, 1e-13 * scale) if taken else 8.0 * shift
            if shift > 1e6 * scale:
                raise ArithmeticError(f"no descent, residual {residual:.2e}")
        x, energy = moved, reached
        if np.abs(step).max() < STILL * np.ptp(start) and shift < 1e-12 * scale:
            return Equilibrium(x, residual, iteration)
    raise ArithmeticError(f"no equilibrium in {limit} iterations, residual {residual:.2e}")

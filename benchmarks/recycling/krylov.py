# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients with a coarse space, deflated, and the Ritz vectors that a solve leaves; vectors in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

Array = npt.NDArray[np.float64]  # (N, 3), or (k, N, 3)
Operator = Callable[[Array], Array]

RANK = 1e-6  #: of the largest, below which a direction is rounding


class System(NamedTuple):
    """K Δx = r, and two preconditioners."""

    product: Operator
    aggregates: Operator  #: blocks and aggregates (solvers/multilevel.py)
    blocks: Operator  #: each vertex's own block
    residual: Array

    def energy(self, x: Array) -> float:
        """√(xᵀKx)."""
        return float(np.sqrt(max(0.0, float((x * self.product(x)).sum()))))

    def images(self, vectors: Array) -> Array:
        """K times each."""
        return np.stack([self.product(v) for v in vectors])


@dataclass
class Run:
    """One solve. All that is left of each iteration: solution, M⁻¹r and r."""

    solutions: list[Array] = field(default_factory=list)
    directions: list[Array] = field(default_factory=list)
    residuals: list[Array] = field(default_factory=list)


class Space:
    """The span of W (k, N, 3), with K W: solutions within it, and what deflation takes off a direction."""

    def __init__(self, vectors: Array, images: Array) -> None:
        self.vectors, self.images = vectors, images
        self._factor = scipy.linalg.cho_factor(np.einsum("anc,bnc->ab", vectors, images))

    def within(self, v: Array) -> Array:
        """W (WᵀKW)⁻¹ Wᵀ v."""
        return self._combined(self.vectors, v)

    def doubled(self, v: Array) -> Array:
        """W (WᵀKW)⁻¹ (KW)ᵀ v: what v has in it, in K's product."""
        return self._combined(self.images, v)

    def _combined(self, against: Array, v: Array) -> Array:
        weights = scipy.linalg.cho_solve(self._factor, np.einsum("anc,nc->a", against, v))
        return np.asarray(np.einsum("a,anc->nc", weights, self.vectors))

    def beside(self, base: Operator) -> Operator:
        """The preconditioner M⁻¹ + W (WᵀKW)⁻¹ Wᵀ."""
        return lambda r: base(r) + self.within(r)


def gradients(system: System, precondition: Operator, most: int, *, exact: float, deflated: Space | None = None) -> Run:
    """Until √(r·M⁻¹r) is a share `exact` of what it was; deflated as by Saad et al. 2000, algorithm 3.6."""
    run, x, r = Run(), np.zeros_like(system.residual), system.residual
    if deflated:
        x = deflated.within(r)
        r = r - system.product(x)
    z = precondition(r)
    p = z - deflated.doubled(z) if deflated else z
    first = energy = float((r * z).sum())
    for _ in range(most):
        run.solutions.append(x)
        run.directions.append(z)
        run.residuals.append(r)
        if energy <= exact**2 * first:
            break
        image = system.product(p)
        length = energy / float((p * image).sum())
        x, r = x + length * p, r - length * image
        z = precondition(r)
        before, energy = energy, float((r * z).sum())
        p = (z - deflated.doubled(z) if deflated else z) + (energy / before) * p
    return run


def modal(system: System, modes: Array) -> Space:
    """V's three directions each; modes: (r, N)."""
    vectors = np.zeros((3 * len(modes), modes.shape[1], 3))
    for axis in range(3):
        vectors[axis * len(modes) : (axis + 1) * len(modes), :, axis] = modes
    return Space(vectors, system.images(vectors))


class Recycled(NamedTuple):
    """What is handed from solve to solve."""

    vectors: Array  #: (k, N, 3) Ritz vectors of M⁻¹K
    others: Array  #: (k, N, 3) M times these


def ritz(system: System, run: Run, before: Recycled | None, count: int) -> Recycled:
    """The `count` smoothest in what the last vectors and this solve's directions span; M as it was for each."""
    vectors, others = np.array(run.directions), np.array(run.residuals)
    if before is not None:
        vectors, others = np.concatenate([before.vectors, vectors]), np.concatenate([before.others, others])
    size = np.sqrt(np.abs(np.einsum("anc,anc->a", vectors, others)))[:, None, None]
    vectors, others = vectors / size, others / size
    mass, stiffness = (np.einsum("anc,bnc->ab", vectors, b) for b in (others, system.images(vectors)))
    weight, basis = np.linalg.eigh(0.5 * (mass + mass.T))
    kept = basis[:, weight > RANK * weight[-1]] / np.sqrt(weight[weight > RANK * weight[-1]])
    _, turned = np.linalg.eigh(kept.T @ (0.5 * (stiffness + stiffness.T)) @ kept)
    chosen = (kept @ turned)[:, :count]
    return Recycled(np.einsum("ak,anc->knc", chosen, vectors), np.einsum("ak,anc->knc", chosen, others))

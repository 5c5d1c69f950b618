# SPDX-License-Identifier: GPL-3.0-or-later
"""The choices of the solver `ndb`, in groups: the defaults are what measured best, `paper()` is Lan 2024.

Where a default comes from: docs/theory/method.md and docs/theory/ndb.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from ..contact.barrier import PAPER_LAW, BarrierLaw
from ..elasticity.choices import ElasticityChoices
from ..scene.settings import SolverPreset

NEVER = 1 << 20  #: more full CCDs than a step has


@dataclass(frozen=True)
class NewtonChoices:
    """Newton's iterations: the energies' curvature at x, solved by preconditioned conjugate gradients."""

    accuracy: float = 0.05  #: share of the residual that conjugate gradients may leave
    max_gradients: int = 200  #: iterations of conjugate gradients
    multilevel: bool = True  #: preconditioned on aggregates too, or by each vertex's block alone
    #: of the residual's energy, beyond which half of an iteration's increment is taken back; with `mixed` H too
    growth: float = 4.0
    max_retreats: int = 4  #: how often that may happen to one increment


@dataclass(frozen=True)
class SubspaceChoices:
    """Local–global iterations with a constant matrix H: subspace, then relaxation."""

    large_rank: int = 120  #: r̄, columns of U: warm start, and global solves without contact
    small_rank: int = 30  #: r, columns of V: global solves with contact
    warm_iterations: int = 4  #: ModalLG iterations of the warm start
    relaxation: Literal["chebyshev", "jacobi", "a_jacobi"] = "chebyshev"
    sweeps: int = 20  #: relaxation sweeps of a global solve
    jacobi_weight: float | None = None  #: ω; None = 1.33/λ_max(D⁻¹H), the largest that is stable with some reserve
    base: Literal["iterate", "rest"] = "iterate"  #: X of eq. 16 and 18
    gram: Literal["syrk", "stored"] = "syrk"  #: VᵀΔHV from the touched rows, or from eq. 19's stored outer products


@dataclass(frozen=True)
class IterationLimits:
    """How many iterations a step may take. An outer one ends with a full CCD, the inner ones lie between two."""

    min_iterations: int = 3  #: of a step in contact: the first two may only loosen what stuck
    inner_iterations: int = 5  #: between two full CCDs
    reused_iterations: int = 2  #: full CCDs of a step with H, beyond which it is the curvature's
    outer_iterations: int = 30  #: full CCDs of a step
    late_iterations: int = 40  #: full CCDs while a collider has not arrived


@dataclass(frozen=True)
class OscillationDamping:
    """Contact set up at one feasible state may lead to a second, and from there back: late in a step all go shorter."""

    damped_after: int = 2  #: full CCDs of a step, after which all go half the way only
    oscillations_per_halving: int = 3  #: full CCDs that take back what the one before did, until that is halved again
    max_halvings: int = 3  #: how often it is halved again
    damped_iterations: int = 10  #: inner iterations from then on, if they are more


@dataclass(frozen=True)
class ConvergenceCriteria:
    """When a step counts as solved."""

    inner_tolerance: float | None = None  #: ‖Δx‖∞ as a velocity, m/s; None = the scene's tolerance
    reuse_share: float = 0.1  #: of that, the error which iterations with H seem to leave (solvers/rate.py)
    mean_share: float = 0.03  #: root mean square of ‖Δx‖ over a cloth that counts as converged, relative to the largest
    acceleration_share: float = 0.1  #: of the change of a cloth's velocity in a step, that ‖Δx‖ (rms) may be besides
    finest_tolerance: float = 2.0e-3  #: that a cloth without acceleration is solved to, m/s
    strain_excess: float = 5.0e-3  #: stretch beyond the strain limit that a converged step may leave


@dataclass(frozen=True)
class FreeCloth:
    """What must hold for cloth that nothing outside holds."""

    momentum: bool = True  #: it moves as a whole exactly as inertia has it (solvers/momentum.py)
    energy_share: float = 5.0e-7  #: of its kinetic energy, that a step may seem to add to it
    energy_speed: float = 5.0e-4  #: m/s; and what would take it from rest to this speed: positions are rounded


@dataclass(frozen=True)
class ContactChoices:
    law: BarrierLaw = field(default_factory=BarrierLaw)
    activation: float = 1.0e-3  #: least d̂, m
    near_slack: float = 1.0e-3  #: contacts are prepared this much beyond ξ + d̂ + the motion's reach, m
    filter: Literal["vertex", "global"] = "vertex"


@dataclass(frozen=True)
class ResidualForwarding:
    """Eq. 20–24: what a step leaves unsolved moves the next one's inertial target."""

    forwarding: bool = False
    forwarding_cap: float | None = 2.0e-3  #: largest forwarded displacement, m
    forwarding_time: float = 1.0  #: ε_TOI: forwards when less than this fraction of the motion could be taken


@dataclass(frozen=True)
class NdbParameters:
    """All choices. No two groups have a field of the same name, so `replaced` needs none of theirs."""

    #: matrix of the global step: the energies' curvature at x; H; or H, and the curvature where H finds no end
    system: Literal["newton", "constant", "mixed"] = "newton"
    guess: Literal["adaptive", "inertial"] = "adaptive"  #: a step begins with the last one's share of g, or at z
    start: Literal["feasible", "warm"] = "feasible"  #: where its iterations begin
    newton: NewtonChoices = field(default_factory=NewtonChoices)
    subspace: SubspaceChoices = field(default_factory=SubspaceChoices)
    limits: IterationLimits = field(default_factory=IterationLimits)
    oscillation: OscillationDamping = field(default_factory=OscillationDamping)
    convergence: ConvergenceCriteria = field(default_factory=ConvergenceCriteria)
    free_cloth: FreeCloth = field(default_factory=FreeCloth)
    contact: ContactChoices = field(default_factory=ContactChoices)
    elasticity: ElasticityChoices = field(default_factory=ElasticityChoices)
    residual: ResidualForwarding = field(default_factory=ResidualForwarding)

    def replaced(self, **choices: Any) -> NdbParameters:
        """With other choices, by name: `parameters.replaced(sweeps=8, filter="global")`. Raises TypeError."""
        changed: dict[str, Any] = {}
        for name, value in choices.items():
            owner = GROUP_OF.get(name)
            if owner is None:
                changed[name] = value  # one of its own; `replace` refuses what is none
            else:
                changed[owner] = replace(changed.get(owner, getattr(self, owner)), **{name: value})
        return replace(self, **changed)


#: Which group has a choice of this name.
GROUP_OF: dict[str, str] = {
    choice.name: group.name
    for group in fields(NdbParameters)
    if group.name not in ("system", "guess", "start")
    for choice in fields(getattr(NdbParameters(), group.name))
}


def paper() -> NdbParameters:
    """What the paper prints, as far as it prints it; docs/theory/claims.md says what of this does not work.

    Where its text bears two readings, the one that works: docs/theory/subspace.md, "sentence by sentence".
    """
    return NdbParameters(system="constant", guess="inertial", start="feasible").replaced(
        relaxation="a_jacobi", jacobi_weight=1.0, base="iterate", gram="stored", filter="global", bending="hinge",
        law=PAPER_LAW, limit="constant", limit_ratio=2.0, forwarding=True, forwarding_cap=None,
        min_iterations=1, inner_iterations=15, outer_iterations=10, damped_after=NEVER, inner_tolerance=0.015,
        mean_share=1.0, finest_tolerance=1.0e6, strain_excess=float("inf"), momentum=False,
    )  # fmt: skip


def preset(name: SolverPreset) -> NdbParameters:
    return {"paper": paper, "subspace": subspace_reuse}.get(name, NdbParameters)()


def subspace_reuse() -> NdbParameters:
    """H where it finds a step's end; without the warm start, which a feasible start takes back."""
    return NdbParameters(system="mixed").replaced(warm_iterations=0)

"""The choices of the `ndb` solver: the defaults are what measured best (method.md §14), `paper()` is Lan 2024."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..contact.barrier import PAPER_LAW, BarrierLaw
from ..elasticity.bending import BendingForm
from ..elasticity.membrane import LIMIT_RATIO
from ..scene.scene import SolverPreset

NEVER = 1 << 20  #: more full CCDs than a step has


@dataclass(frozen=True)
class NdbParameters:
    system: Literal["newton", "constant"] = "newton"  #: matrix of the global step: the energies' curvature at x, or H
    accuracy: float = 0.05  #: share of the residual that a Newton step may leave (conjugate gradients)
    multilevel: bool = True  #: gradients preconditioned on aggregates too, or by each vertex's block alone
    gradients: int = 200  #: most conjugate-gradient iterations of a Newton step
    large_rank: int = 120  #: r̄, columns of U: warm start, and global solves without contact
    small_rank: int = 30  #: r, columns of V: global solves with contact
    warm_iterations: int = 4  #: ModalLG iterations of the warm start
    least_iterations: int = 3  #: LG iterations of a step in contact at least: the first two may only loosen what stuck
    inner_iterations: int = 5  #: most LG iterations between two full CCDs
    outer_iterations: int = 30  #: most full CCDs of a step; more only while a collider has not arrived
    late_iterations: int = 40  #: most full CCDs while a collider has not arrived
    halved_from: int = 2  #: full CCDs of a step, after which all go half the way only
    halved_again: int = 3  #: full CCDs that take back what the one before did, after which that share is halved again
    most_halvings: int = 3  #: how often it is at most
    halved_iterations: int = 10  #: most LG iterations between two full CCDs from then on, if they are more
    inner_tolerance: float | None = None  #: ‖Δx‖∞ as a velocity, m/s; None = the scene's tolerance
    growth: float = 4.0  #: of the residual's energy, beyond which half of a Newton step is taken back
    retreats: int = 4  #: most halvings of one Newton step
    mean_share: float = 0.03  #: root mean square of ‖Δx‖ over a cloth that counts as converged, relative to the largest
    acceleration_share: float = 0.1  #: of the change of a cloth's velocity in a step, that ‖Δx‖ (rms) may be besides
    finest: float = 2.0e-3  #: tolerance that a cloth without acceleration is solved to, m/s
    strain_excess: float = 5.0e-3  #: stretch beyond the strain limit that a converged step may leave
    hardening: float = 0.5  #: share of strain_excess beyond which a limit is harder in the next step
    momentum: bool = True  #: cloth that nothing holds moves as a whole exactly as inertia has it (momentum.py)
    heat: float = 5.0e-7  #: share of its kinetic energy that a step may seem to give to cloth that nothing holds
    heat_speed: float = 5.0e-4  #: m/s; and what would take it from rest to this speed: positions are rounded
    relaxation: Literal["chebyshev", "jacobi", "a_jacobi"] = "chebyshev"
    sweeps: int = 20  #: relaxation sweeps of a global solve
    jacobi_weight: float | None = None  #: ω; None = 1.33/λ_max(D⁻¹H), the largest that is stable with some reserve
    base: Literal["iterate", "rest"] = "iterate"  #: X of eq. 16 and 18
    gram: Literal["syrk", "stored"] = "syrk"  #: VᵀΔHV from the touched rows, or from eq. 19's stored outer products
    filter: Literal["vertex", "global"] = "vertex"
    guess: Literal["adaptive", "inertial"] = (
        "adaptive"  #: the warm start begins with the last step's share of g, or at z
    )
    start: Literal["feasible", "warm"] = "feasible"  #: where the LG loop begins
    law: BarrierLaw = field(default_factory=BarrierLaw)
    activation: float = 1.0e-3  #: least d̂, m
    near_slack: float = 1.0e-3  #: contacts are prepared this much beyond ξ + d̂ + the motion's reach, m
    bending: BendingForm = "plate"
    limit: Literal["added", "constant"] = "added"  #: strain limit in ΔH while it acts, or everywhere in H
    limit_ratio: float = LIMIT_RATIO  #: stiffness of the strain limit relative to the stretch below it
    forwarding: bool = False  #: residual forwarding (§8)
    forwarding_cap: float | None = 2.0e-3  #: largest forwarded displacement, m
    forwarding_time: float = 1.0  #: ε_TOI: forwards when less than this fraction of the motion could be taken


def paper() -> NdbParameters:
    """What the paper prints, as far as it prints it. See method.md §14 for what of this does not work."""
    return NdbParameters(
        system="constant",
        relaxation="a_jacobi", jacobi_weight=1.0, base="rest", gram="stored", filter="global", start="warm",
        guess="inertial", bending="hinge",
        law=PAPER_LAW, limit="constant", limit_ratio=2.0, forwarding=True, forwarding_cap=None,
        least_iterations=1, inner_iterations=15, outer_iterations=10, halved_from=NEVER, inner_tolerance=0.015,
        mean_share=1.0, finest=1.0e6, strain_excess=float("inf"), momentum=False,
    )  # fmt: skip


def preset(name: SolverPreset) -> NdbParameters:
    return paper() if name == "paper" else NdbParameters()

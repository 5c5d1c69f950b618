"""The local step: inertia and elastic forces of all cloths as kernel launches (method.md §1, §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..elasticity.assembly import Assembly, transpose_rows, triangle_incidence

Launch = tuple[str, int, tuple[Any, ...]]

HARDEST = 16.0  #: how many times stiffer than at first a strain limit becomes
SOFTEST = 1e-30  #: of a row of bending; softer ones hold nothing
STILL_AIR = 0.5  #: m/s, u of the drag of small swings: plates of 0.2 m that swing at 0.03–0.1 m/s give 0.6–1.2


class LinearSystem(Protocol):
    """What the residual kernels write into; N cloth vertices."""

    residual: Any  #: (N, 4) N
    rest_diagonal: Any  #: (N,) of the rest-shape H, N/m
    added: Any  #: (N,) ΔH
    total_diagonal: Any  #: (N,) of H + ΔH
    triangle_block: Any  #: (9T, 4) the membrane's second derivative by triangle, or None


class Solve(NamedTuple):
    """One linear solve, bound to where x will be."""

    begin: Callable[[], float]  #: sets the matrix up at x and may begin; returns r·M⁻¹r there, J (0: not known)
    finish: Callable[[], None]  #: writes the increment


class Elastic:
    """Device arrays of the elastic terms. N cloth vertices."""

    def __init__(
        self,
        backend: Backend,
        assembly: Assembly,
        step: float,
        gravity: tuple[float, float, float],
        limit_share: float,
    ) -> None:
        """step: h, s. gravity: m/s². limit_share: 1 = the strain limit enters ΔH where it acts, 0 = H holds it."""
        self.backend, self.vertices, self.h = backend, assembly.vertices, step
        self.gravity = backend.array([[*gravity, 0.0]])
        integers = lambda values: backend.array(values, np.int32)  # noqa: E731
        xp, triangles, rows = backend.xp, len(assembly.triangles), assembly.rows
        self.corners = integers(assembly.triangles)
        self.incident = tuple(map(integers, triangle_incidence(assembly.triangles, self.vertices)))
        self.rest_inverse = backend.array(assembly.rest_inverse)
        self.membrane_stiffness = backend.array(assembly.membrane_stiffness)
        self.limit = backend.array(assembly.limit)
        self.membrane_force = xp.zeros((2 * triangles, 4), xp.float32)
        self.limited, self.limit_share = xp.zeros(triangles, xp.float32), limit_share
        self._excess, self.hardness = xp.zeros(triangles, xp.float32), xp.ones(triangles, xp.float32)
        self._gain = xp.zeros(triangles, xp.float32)
        self.rows = integers(rows.indptr), integers(rows.indices), backend.array(rows.data)
        self.row_stiffness, self.row_rest = backend.array(assembly.row_stiffness), backend.array(assembly.row_rest)
        first, rubbing = assembly.plate_start[:-1], assembly.row_rubbing
        self.row_rest *= backend.array(1.0 - rubbing[:, None])
        self.rubs, self._rubbing = bool(np.any(assembly.plate_most)), backend.array(rubbing)
        self.slid = xp.zeros((len(rubbing) if self.rubs else 0, 4), xp.float32)
        self._held = xp.zeros_like(self.row_rest)
        self._plates = (
            integers(assembly.plate_start),
            backend.array(assembly.row_stiffness[first] * rubbing[first]),
            backend.array(assembly.plate_most),
        )
        self.row_hinge = integers(assembly.row_hinge)
        start, row, coefficient = transpose_rows(rows)
        self.gather = integers(start), integers(row), backend.array(coefficient)
        self.bending_force = xp.zeros((max(1, rows.shape[0]), 4), xp.float32)
        self.curved = bool(np.any(assembly.row_rest))
        self.normal = xp.zeros((self.vertices, 4), xp.float32)
        self.inertia, self.free = backend.array(assembly.mass / step**2), backend.array(assembly.free)
        self.drag = backend.array(assembly.drag)
        self._pinned = backend.array(assembly.pin_stiffness)
        self.pin_stiffness = self._pinned.copy()
        self.pin_target = xp.zeros((self.vertices, 4), xp.float32)

    def pull(self, stiffness: npt.NDArray[np.float64]) -> None:
        """Springs (N,) to `pin_target` besides those of the soft pins, N/m, in place of the last call's."""
        self.pin_stiffness[:] = self._pinned + self.backend.array(stiffness)

    def resume(self, hardness: Any, slid: Any) -> None:
        """Take up what the step before left: hardness (T,) of the strain limits, `slid` (R, 4) of yarns that rub."""
        self.hardness[:] = hardness
        self.slid[:] = slid

    def inertia_target(
        self, start: Any, velocity: Any, forwarded: Any, gravity_share: Any, adaptive: bool,
        displacement: Any, inertial: Any, guess: Any, z: Any,
    ) -> None:  # fmt: skip
        """z (N, 4) ← where inertia, gravity and air alone would take the cloth; the rest: see the kernel."""
        drag = (
            start, velocity, self.normal, self.drag, forwarded, STILL_AIR, self.h, self.gravity, gravity_share,
            float(adaptive), displacement, inertial, guess, z,
        )  # fmt: skip
        self.backend.sequence([self._normals(start), ("inertia_target", self.vertices, drag)])()

    def residual_launches(self, x: Any, z: Any, system: LinearSystem) -> list[Any]:
        """Kernels that fill the system's residual (N, 4) = −∇(inertia + Ψ) at x, its ΔH and diag(H + ΔH); and the
        membrane's second derivative at x, for a system that has use for it."""
        gather = (
            x, z, self.inertia, self.free, *self.incident, self.membrane_force, *self.gather, self.bending_force,
            self.pin_stiffness, self.pin_target, self.rest_inverse, self.limited, self.limit_share,
            system.rest_diagonal, system.residual, system.added, system.total_diagonal,
        )  # fmt: skip
        membrane = (
            x, self.corners, self.rest_inverse, self.membrane_stiffness, self.limit, self.hardness,
            self.membrane_force, self.limited,
        )  # fmt: skip
        project: Launch = ("membrane_project", len(self.corners), membrane)
        if system.triangle_block is not None:
            project = ("membrane_curvature", len(self.corners), (*membrane, system.triangle_block))
        return [project, *self._bending_launches(x), ("elastic_residual", self.vertices, gather)]

    def strain_excess(self, x: Any) -> float:
        """By how much any triangle at x (V, 4) is stretched beyond its strain limit; not above 0: nowhere."""
        self._strain(x)
        return float(self._excess.max()) if len(self.corners) else 0.0

    def harden(self, x: Any, least: float, most: float) -> Any:
        """(T,) hardness of the strain limits after a step that ends at x (V, 4): see kernel `limit_hardness`."""
        self._strain(x)
        self.backend.launch("limit_hardness", len(self.corners), self._excess, least, most, HARDEST, self.hardness)
        return self.hardness.copy()

    def lie(self, x: Any) -> Any:
        """(R, 4) of bending rows whose yarns bear nothing at x (V, 4); (0, 4) where no yarns rub."""
        return self._slide(x, self.backend.xp.zeros_like(self._plates[2]))

    def turn(self, x: Any) -> None:
        """Turn what yarns that rub hold on to, `slid`, as the cloth is turned at x (V, 4)."""
        if self.rubs:
            held = (x, self.row_hinge, self.normal, self._rubbing, self.slid, self._held)
            self.backend.sequence([self._normals(x), ("bending_turn", len(self.slid), held)])()

    def slide(self, x: Any) -> Any:
        """(R, 4) where yarns have slid to after a step that ends at x (V, 4); (0, 4) where none rub."""
        return self._slide(x, self._plates[2])

    def _slide(self, x: Any, most: Any) -> Any:
        slid, (first, stiffness, _) = self.slid.copy(), self._plates
        if self.rubs:
            slide = (first, stiffness, most, x, *self.rows, self.row_hinge, self.normal, slid)
            self.backend.sequence([self._normals(x), ("bending_slide", len(most), slide)])()
        return slid

    def gain(self, start: Any, x: Any, of: Any) -> float:
        """J: by how much more the membrane and the bending of cloth `of` (N,) hold at x than at `start` (V, 4)."""
        self.backend.launch(
            "membrane_gain", len(self.corners), start, x, self.corners, self.rest_inverse, self.membrane_stiffness,
            self.limit, self._gain,
        )  # fmt: skip
        membrane = self._gain[of[self.corners[:, 0]]].sum(dtype=self.backend.xp.float64)
        bent = of[self.row_hinge[:, 0]]
        before, after = self._bending_energy(start, bent), self._bending_energy(x, bent)
        return float(membrane + after - before)

    def _bending_energy(self, x: Any, of: Any) -> Any:
        """J, of the rows `of` (R,) at x (V, 4)."""
        self.turn(x)
        self.backend.sequence(self._bending_launches(x))()
        force, stiffness = self.bending_force[: len(of)][of].astype(self.backend.xp.float64), self.row_stiffness[of]
        return 0.5 * ((force * force).sum(axis=1) / self.backend.xp.maximum(stiffness, SOFTEST)).sum()

    def _strain(self, x: Any) -> None:
        strained = (x, self.corners, self.rest_inverse, self.membrane_stiffness, self.limit, self._excess)
        self.backend.launch("strain_excess", len(self.corners), *strained)

    def _bending_launches(self, x: Any) -> list[Launch]:
        rows = (
            *self.rows, self.row_stiffness, self.row_hinge, self.row_rest, self.normal, self._held, self.bending_force,
        )  # fmt: skip
        normals = [self._normals(x)] if self.curved else []
        return [*normals, ("bending_project", len(self.row_rest), (x, *rows))]

    def _normals(self, x: Any) -> tuple[str, int, tuple[Any, ...]]:
        return ("vertex_normal", self.vertices, (x, self.corners, *self.incident, self.normal))
